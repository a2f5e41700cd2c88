"""The made-up address space: exact sets of elements, far from each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from pytest_roofline.counting.triton_cpu.regions import AddressSpace, tensors_in  # noqa: E402


def regions(*tensors):
    """Regions of unnamed tensors."""
    return AddressSpace((f"t{i}", t) for i, t in enumerate(tensors)).regions


@st.composite
def views(draw):
    """Strided, shifted, transposed and broadcast views of one buffer of 1000 floats."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    strides = draw(st.lists(st.integers(0, 40), min_size=len(shape), max_size=len(shape)))
    return torch.zeros(1000).as_strided(shape, strides, draw(st.integers(0, 400)))


@given(views())
def test_legal_elements_are_exactly_those_of_the_view(view):
    """Element by element, against the definition of strides."""
    (region,) = regions(view)
    places = {sum(i * s for i, s in zip(index, view.stride(), strict=True)) for index in np.ndindex(*view.shape)}
    assert region.granules == max(places) + 1
    legal = set(range(region.granules)) if region.legal is None else set(np.flatnonzero(region.legal).tolist())
    assert legal == places


def test_a_dense_view_needs_no_flags():
    """Large tensors cost nothing, however their dimensions are turned."""
    for view in (torch.zeros(8, 9), torch.zeros(8, 9).t(), torch.zeros(2, 3, 4).permute(2, 0, 1), torch.zeros(1)[0]):
        assert regions(view)[0].legal is None


def test_a_large_dense_tensor_is_mapped_at_once():
    """Four terabytes of addresses: flags per element would not fit into memory."""
    (region,) = regions(torch.empty(1 << 40, device="meta"))
    assert (region.granules, region.legal) == (1 << 40, None)


def test_interleaved_views_share_a_region_and_slices_do_not():
    """Even and odd elements overlap in range; the halves of a buffer do not, so running over is seen."""
    buffer = torch.zeros(100)
    (shared,) = regions(buffer[0::2], buffer[1::2])
    assert (shared.name, shared.granules) == ("t0/t1", 100)
    assert [r.granules for r in regions(buffer[:40], buffer[40:])] == [40, 60]


def test_views_of_different_types_share_granules_of_the_smallest():
    """A byte view and a float view of one buffer."""
    buffer = torch.zeros(8)
    (region,) = regions(buffer, buffer.view(torch.uint8)[2:5])
    assert (region.shift, region.granules) == (0, 32)


def test_narrower_accesses_refine_the_granules():
    """Flags keep their meaning."""
    (region,) = regions(torch.zeros(4)[::2])
    assert region.legal.tolist() == [True, False, True]
    assert region.refine(2) == 2
    assert region.legal.tolist() == [True, True, False, False, True, True]


@given(st.lists(st.integers(1, 64), min_size=1, max_size=5), st.integers(-(2**40), 2**40))
def test_no_offset_reaches_another_region(sizes, offset):
    """However far an address is off, it belongs to the slot of its tensor; legal ones map back to the real ones."""
    tensors = [torch.zeros(n) for n in sizes]
    space = AddressSpace((f"t{i}", t) for i, t in enumerate(tensors))
    for tensor in tensors:
        start = space.made_up(tensor)
        ((region, _),) = space.split(np.array([start + 4 * offset], np.int64))
        assert region is not None
        assert region.low == tensor.data_ptr()
        assert space.real(np.array([start], np.uint64))[0] == tensor.data_ptr()
        assert start % (1 << 24) == tensor.data_ptr() % (1 << 24)


def test_an_empty_tensor_has_no_region_even_inside_another():
    """Its address is that of an element of the other, its region is not."""
    whole = torch.zeros(8)
    space = AddressSpace([("whole", whole), ("empty", whole[3:3])])
    ((region, _),) = space.split(np.array([space.made_up(whole[3:3])], np.int64))
    assert region is None


def test_pointers_into_several_tensors_are_split_and_mapped_back():
    """Lane by lane."""
    x, y = torch.zeros(4), torch.zeros(4)
    space = AddressSpace([("x", x), ("y", y)])
    mixed = np.array([space.made_up(x), space.made_up(y) + 4, space.made_up(x) + 8], np.uint64)
    parts = {region.name: list(part) for region, part in space.split(mixed.view(np.int64))}
    assert parts == {"x": [0, 2], "y": [1]}
    assert space.real(mixed).tolist() == [x.data_ptr(), y.data_ptr() + 4, x.data_ptr() + 8]


def test_real_addresses_belong_to_nobody():
    """A pointer that a kernel loads from memory is no argument."""
    x = torch.zeros(4)
    space = AddressSpace([("x", x)])
    assert [r for r, _ in space.split(np.array([x.data_ptr()], np.int64))] == [None]


def test_tensors_are_found_in_tuples():
    """With the place in the name."""
    x, y = torch.zeros(1), torch.zeros(2)
    assert [name for name, _ in tensors_in("pair", (x, (3, y)))] == ["pair[0]", "pair[1][1]"]
