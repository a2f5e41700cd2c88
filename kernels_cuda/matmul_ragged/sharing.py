"""How the steps along k are shared out among blocks."""

from __future__ import annotations

from typing import NamedTuple

from .._mma import multiprocessors as multiprocessors

JOIN_WARPS, JOINED = 8, 128  # warps of a block that joins, and elements of one of them
GROUP = 8  # rows of tiles that are walked column by column
MOST_SHARED = 0.9  # of the blocks: a last wave fuller than this is not worth the detour through the workspace
PARTS = 256  # into which k is split at most


class Shares(NamedTuple):
    """Of ``tiles`` the first ``whole`` are computed undivided by ``blocks``; the others are cut into ``pieces``."""

    tiles: int
    whole: int
    pieces: int
    blocks: int

    @property
    def shared(self) -> int:
        return self.tiles - self.whole

    @property
    def runs(self) -> int:
        """Pieces that a shared tile is made of, at most: those that lie within it, and one at each end."""
        return self.pieces // self.shared + 2


def shared_out(tiles: int, steps: int, blocks: int, slots: int) -> Shares:
    """Whole tiles as long as every block has one, equal pieces of the steps of those that are left.

    A run that is less than a tile takes one of ``slots`` of the workspace: at most as many as pieces and tiles.
    """
    shared = tiles % blocks
    pieces = min(blocks, shared * steps, slots - shared)
    if shared > MOST_SHARED * blocks or pieces <= shared:
        return Shares(tiles, tiles, 1, min(tiles, blocks))
    return Shares(tiles, tiles - shared, pieces, blocks if tiles > blocks else pieces)


def join_share(parts: int) -> int:
    """Warps that take turns at the same elements when ``parts`` are added up: a power of two, up to all of a block."""
    return min(JOIN_WARPS, 1 << (parts - 1).bit_length())
