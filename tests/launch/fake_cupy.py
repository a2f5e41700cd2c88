"""A CuPy that only records: a tensor's address is an address on any device."""

from __future__ import annotations

import ctypes
import types

import torch

from pytest_roofline import nvrtc


class FakeKernel:
    """A RawKernel: its attributes are its own; launches go to the function behind ``kernel.ptr``."""

    FIRST = 0x7F00_0000_0000
    max_dynamic_shared_size_bytes = 0
    shared_size_bytes = 0  # static ones

    def __init__(self, cupy, name):
        self.name = name
        self.kernel = types.SimpleNamespace(ptr=self.FIRST + len(cupy.loaded))
        cupy.loaded.append(self)


MIXED = (ctypes.c_uint8, ctypes.c_double, ctypes.c_int8, ctypes.c_int64, ctypes.c_int16, ctypes.c_float, ctypes.c_uint)


class FakeDriverError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__("CUDA_ERROR_INVALID_VALUE: invalid argument")


class FakeDriver(types.ModuleType):
    """``cupy.cuda.driver``, as far as a launch uses it; ``refusals`` are what the next launches fail with."""

    def __init__(self, cupy):
        super().__init__("driver")
        self.cupy, self.refusals = cupy, []
        self.kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_float)

    def launchKernel(self, function, *rest):  # noqa: N802
        *extents, shared, stream, addresses, _ = rest
        if self.refusals:
            raise FakeDriverError(self.refusals.pop(0))
        kernel = self.cupy.loaded[function - FakeKernel.FIRST]
        kinds = {"add<float>": self.kinds, "mixed": MIXED}.get(kernel.name, ())
        pointers = (ctypes.c_void_p * len(kinds)).from_address(addresses)
        values = [kind.from_address(pointer).value for kind, pointer in zip(kinds, pointers, strict=True)]
        device = torch.cuda.current_device()
        self.cupy.launches.append((kernel.name, tuple(extents[:3]), tuple(extents[3:]), values, shared, device, stream))


class FakeCupy(types.ModuleType):
    """As much of CuPy as a launch touches."""

    def __init__(self, *, with_from_external):
        super().__init__("cupy")
        self.launches, self.compiled, self.entered, self.loaded, self.freed = [], [], [], [], []
        streams = types.SimpleNamespace()
        if with_from_external:
            streams.from_external = lambda obj: self.entering(("stream", obj.__cuda_stream__()))
        self.cuda = types.SimpleNamespace(
            Stream=streams,
            ExternalStream=lambda handle: self.entering(("external", handle)),
            Device=lambda index: self.entering(("device", index)),
            runtime=types.SimpleNamespace(free=self.freed.append),
            driver=FakeDriver(self),
        )

    def entering(self, what):
        cupy = self

        class Context:
            compute_capability = "90"

            def __enter__(self):
                cupy.entered.append(what)

            def __exit__(self, *error):
                cupy.entered.pop()

        return Context()

    def compile_kernel(self, source, text, name, options, arch, headers):
        self.compiled.append((source.name, name, options, arch, headers))
        return nvrtc.Compiled(source.with_suffix(".cubin"), name)

    def RawModule(self, path):  # noqa: N802
        assert path.endswith(".cubin")
        return types.SimpleNamespace(get_function=lambda name: FakeKernel(self, name))
