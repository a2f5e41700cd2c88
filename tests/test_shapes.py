"""Drawn shapes are valid, small, and contain what breaks kernels."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings

from pytest_roofline.ids import Shape
from pytest_roofline.shapes import edges, extents, matrices, vectors


def test_edges_hold_what_tiled_loops_get_wrong():
    """Nothing, one, the tile and its double with their neighbours, powers of two with theirs, primes; ascending."""
    found = edges(48, 200)
    assert {0, 1, 47, 48, 49, 95, 96, 97, 31, 32, 33, 127, 128, 129, 61} <= set(found)
    assert found == sorted(set(found))
    assert max(found) <= 200


@given(extents(64))
def test_extents_stay_small(extent):
    """A little over two tiles: an interpreter pays per program."""
    assert 0 <= extent <= 2 * 64 + 64 // 2 + 1


@given(vectors(64, 100))
def test_vectors_are_shifted_by_up_to_fifteen_elements(shape):
    """One extent, an offset, and no other layout."""
    assert shape == Shape(shape.dims, shape.offset)
    assert len(shape.dims) == 1
    assert shape.dims[0] <= 100
    assert 0 <= shape.offset <= 15


@given(matrices((16, 32), lambda shape: max(shape.dims), most=(40, None), transposable=True))
def test_pitches_hold_the_longest_row(shape):
    """Whatever argument stores the longest row, it fits; ids read back."""
    assert shape.dims[0] <= 40
    assert shape.pitch is None or shape.pitch >= max(shape.dims)
    assert Shape.parse(str(shape)) == shape


@given(matrices((16, 16, 16), lambda shape: max(shape.dims)))
def test_shapes_are_transposed_only_on_request(shape):
    """An operation without a transposable argument never sees the suffix."""
    assert not shape.transposed


LAYOUTS = matrices((16, 16), lambda shape: max(shape.dims), transposable=True)


@pytest.mark.parametrize(
    "wanted",
    [
        lambda s: s.dims[0] > 16 and s.dims[1] in (1, 2),
        lambda s: s.dims[1] > 16 and s.dims[0] in (1, 2),
        lambda s: 0 in s.dims,
        lambda s: s.dims[0] == 16 and s.dims[1] % 16 == 1,
        lambda s: s.offset == 15,
        lambda s: s.pitch is not None and s.pitch > max(s.dims) > 0,
        lambda s: s.transposed and s.size > 0,
    ],
    ids=["long_thin", "short_wide", "empty", "tile_and_next", "offset", "padded", "transposed"],
)
def test_every_kind_of_shape_is_drawn(wanted):
    """Each kind is found within the examples of an ordinary run."""
    assert wanted(find(LAYOUTS, wanted, settings=settings(max_examples=2000, derandomize=True, database=None)))


def test_shapes_shrink_to_the_plainest():
    """A failure that any shape shows is reported for an empty dense aligned one."""
    assert find(LAYOUTS, lambda s: True) == Shape((0, 0))
