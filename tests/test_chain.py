"""Launches that may start before the kernel in front of them ends, against a driver that only looks at what it gets."""

from __future__ import annotations

import ctypes
import types

import pytest

from pytest_roofline import chain


@pytest.fixture
def told(monkeypatch):
    """What ``cuLaunchKernelEx`` was given, read as the C structures of cuda.h lie; it returns ``told["error"]``."""
    found: dict = {"error": 0}

    def launch_ex(config, function, parameters, extra):
        at = ctypes.addressof(config._obj)
        words = (ctypes.c_uint * 7).from_address(at)
        attribute = ctypes.c_void_p.from_address(at + 40).value
        found.update(
            grid=tuple(words[:3]),
            block=tuple(words[3:6]),
            shared=words[6],
            stream=ctypes.c_void_p.from_address(at + 32).value,
            attributes=ctypes.c_uint.from_address(at + 48).value,
            id=ctypes.c_uint.from_address(attribute).value,
            value=ctypes.c_int.from_address(attribute + 8).value,
            function=function.value,
            parameters=parameters.value,
            extra=extra.value,
        )
        return found["error"]

    monkeypatch.setattr(chain, "_driver", lambda: types.SimpleNamespace(cuLaunchKernelEx=launch_ex))
    return found


def test_a_launch_is_described_as_the_driver_wants_it(told):
    """Offsets of CUlaunchConfig and CUlaunchAttribute; attribute 6 is programmatic stream serialisation."""
    chain.launch(11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0)
    assert told == {
        "error": 0,
        "grid": (1, 2, 3),
        "block": (4, 5, 6),
        "shared": 7,
        "stream": 8,
        "attributes": 1,
        "id": 6,
        "value": 1,
        "function": 11,
        "parameters": 9,
        "extra": None,
    }
    assert ctypes.sizeof(chain._Attribute) == 72


def test_what_the_driver_refuses_is_told(told):
    """With the number, which says whether a context was missing."""
    told["error"] = 801
    with pytest.raises(chain.ChainedLaunchError, match="CUDA error 801") as caught:
        chain.launch(11, 1, 1, 1, 1, 1, 1, 0, 0, 9, 0)
    assert caught.value.status == 801
