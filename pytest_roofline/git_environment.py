"""The environment in which git is asked about the repository that a folder lies in."""

from __future__ import annotations

import os
from collections.abc import Mapping

OF_A_REPOSITORY = frozenset(  # git rev-parse --local-env-vars, without what configures git
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
"""What a hook of a repository exports, so that whatever it runs takes that one for its own."""


def own_repository(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with ``extra``, in which git finds a repository by its folder alone."""
    return {**{name: value for name, value in os.environ.items() if name not in OF_A_REPOSITORY}, **(extra or {})}
