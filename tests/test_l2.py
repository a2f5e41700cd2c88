"""The access-policy window is set around launches, sized to what is set aside, and taken off again."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline import l2  # noqa: E402


class Driver:
    """Answers like the CUDA driver and notes the windows that streams get."""

    def __init__(self, set_aside: int, widest: int, error: int = 0):
        self.windows = []
        self.cuStreamSetAttribute = self._answer(self._set, error)
        self.cuCtxGetLimit = self._answer(lambda out, _: self._store(out, ctypes.c_size_t, set_aside))
        self.cuDeviceGetAttribute = self._answer(lambda out, *_: self._store(out, ctypes.c_int, widest))

    @staticmethod
    def _answer(act, error: int = 0):
        def call(*arguments):
            act(*arguments)
            return error

        return call

    @staticmethod
    def _store(out, kind, value: int) -> None:
        out._obj.value = kind(value).value

    def _set(self, stream, attribute, window) -> None:
        w = window._obj
        self.windows.append((stream.value, attribute, w.base, w.nbytes, round(w.hit_ratio, 6), w.hit, w.miss))


@pytest.fixture
def on_gpu(monkeypatch):
    """A tensor that says it is on a GPU, and the driver of that GPU."""

    def make(nbytes: int, **driver):
        fake = Driver(**driver)
        monkeypatch.setattr(l2, "_driver", lambda: fake)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=77))
        l2._widest_window.cache_clear()
        tensor = SimpleNamespace(
            is_cuda=True,
            device=SimpleNamespace(index=0),
            nbytes=nbytes,
            numel=lambda: nbytes // 4,
            data_ptr=lambda: 0x1000,
        )
        return tensor, fake

    yield make
    l2._widest_window.cache_clear()


OFF = (77, 1, None, 0, 0.0, 0, 0)


def test_a_tensor_that_fits_is_kept_whole(on_gpu):
    """Every access hits the window, and what lies outside streams."""
    tensor, driver = on_gpu(4096, set_aside=8192, widest=1 << 20)
    with l2.persisting(tensor):
        assert driver.windows == [(77, 1, 0x1000, 4096, 1.0, 2, 1)]
    assert driver.windows[1:] == [OFF]


def test_of_a_larger_tensor_the_share_is_kept_that_fits(on_gpu):
    """The hit ratio bounds what is kept to what is set aside."""
    tensor, driver = on_gpu(65536, set_aside=16384, widest=1 << 20)
    with l2.persisting(tensor):
        pass
    assert driver.windows[0] == (77, 1, 0x1000, 65536, 0.25, 2, 1)


def test_a_window_is_no_wider_than_the_device_allows(on_gpu):
    """The rest of the tensor is accessed as usual."""
    tensor, driver = on_gpu(65536, set_aside=16384, widest=32768)
    with l2.persisting(tensor):
        pass
    assert driver.windows[0] == (77, 1, 0x1000, 32768, 0.5, 2, 1)


def test_the_window_goes_when_the_body_fails(on_gpu):
    """A launcher that refuses its arguments leaves the stream as it was."""
    tensor, driver = on_gpu(4096, set_aside=8192, widest=1 << 20)
    with pytest.raises(ValueError, match="refused"), l2.persisting(tensor):
        raise ValueError("refused")
    assert driver.windows[-1] == OFF


def test_an_error_of_the_driver_is_told(on_gpu):
    """With its code."""
    tensor, _ = on_gpu(4096, set_aside=8192, widest=1 << 20, error=801)
    with pytest.raises(RuntimeError, match="CUDA error 801"), l2.persisting(tensor):
        pass


def test_a_cpu_has_no_window(monkeypatch):
    """Nor is a driver asked for."""
    monkeypatch.setattr(l2, "_driver", lambda: pytest.fail("asked for a driver"))
    with l2.persisting(torch.zeros(4)):
        pass


def test_the_window_has_the_size_of_the_union_that_holds_it():
    """The driver reads 64 bytes, CUlaunchAttributeValue's."""
    assert ctypes.sizeof(l2._Window) == 64


@pytest.mark.parametrize(("capability", "wanted"), [((8, 0), False), ((9, 0), True), ((10, 0), True)])
def test_only_large_streams_keep_what_they_read(monkeypatch, capability, wanted):
    """From 400 MiB on, and on GPUs from Hopper on."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    tensor = SimpleNamespace(device=torch.device("cuda", 0))
    l2._is_hopper.cache_clear()
    try:
        assert l2.streamed(l2.STREAM_BYTES, tensor) is wanted
        assert not l2.streamed(l2.STREAM_BYTES - 1, tensor)
    finally:
        l2._is_hopper.cache_clear()


def test_on_a_cpu_nothing_is_streamed():
    """There is no L2 to keep anything in."""
    assert not l2.streamed(1 << 40, torch.empty(1))
