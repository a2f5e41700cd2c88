"""Hypothesis strategies for the shapes that break kernels, around the multiples of a tile.

They shrink towards small dense aligned shapes. All are small: an interpreter pays per program and per loop iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from pytest_roofline.ids import Shape

_PRIMES = (3, 7, 13, 31, 61, 97, 127, 251, 509, 1021, 2039, 4093)
OFFSETS = st.sampled_from((0, 0, 0, *range(1, 16)))


def edges(tile: int, most: int) -> list[int]:
    """The extents up to ``most`` at which tiled loops go wrong, ascending.

    Nothing, one, a tile and two tiles with their neighbours, powers of two with theirs, and primes.
    """
    around = [t + d for t in (tile, 2 * tile, *(1 << k for k in range(1, most.bit_length() + 1))) for d in (-1, 0, 1)]
    return sorted({e for e in (0, 1, *around, *_PRIMES) if 0 <= e <= most})


def extents(tile: int, most: int | None = None) -> st.SearchStrategy[int]:
    """One extent from 0 to ``most`` (default: a little over two tiles), half of the time at an edge."""
    most = 2 * tile + tile // 2 + 1 if most is None else most
    return st.sampled_from(edges(tile, most)) | st.integers(0, most)


def vectors(tile: int, most: int | None = None) -> st.SearchStrategy[Shape]:
    """Shapes ``(n,)`` with base pointers shifted by 0 to 15 elements."""
    return st.builds(lambda n, offset: Shape((n,), offset), extents(tile, most), OFFSETS)


def matrices(
    tiles: Sequence[int],
    rows: Callable[[Shape], int],
    *,
    most: Sequence[int | None] | None = None,
    transposable: bool = False,
) -> st.SearchStrategy[Shape]:
    """Shapes of ``len(tiles)`` extents, long and thin ones among them, with shifted base pointers, padded rows and
    transposed views.

    ``rows(shape)`` is the length of the longest row that any pitched argument stores; pitches are drawn from there on.
    ``most`` bounds each extent.
    """
    limits = list(most) if most is not None else [None] * len(tiles)
    square = st.tuples(*(extents(t, m) for t, m in zip(tiles, limits, strict=True)))
    thin = st.tuples(square, st.integers(0, len(tiles) - 1), st.integers(0, 2)).map(
        lambda drawn: (*drawn[0][: drawn[1]], drawn[2], *drawn[0][drawn[1] + 1 :])
    )

    def laid_out(dims: tuple[int, ...], offset: int, padding: int | None, transposed: bool) -> Shape:
        dense = Shape(dims, offset, None, transposed)
        return dense if padding is None else Shape(dims, offset, rows(dense) + padding, transposed)

    padding = st.none() | st.integers(0, 9)
    return st.builds(laid_out, square | thin, OFFSETS, padding, st.booleans() if transposable else st.just(False))
