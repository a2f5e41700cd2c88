"""``__global__`` signatures are read as the compiler reads them, and numbers become exactly the C type asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_roofline.signature import Parameter, find, parameter_names, parse, scalar

SOURCE = """
// __global__ void commented_out(int n);
/* __global__ void also_commented_out(
   int n); */
__device__ float helper(float x);

extern "C" __global__ void plain(const float* __restrict__ x, float * y, long long n, unsigned flags) {}

template <typename T, int BLOCK = 256>
__global__ void __launch_bounds__(1024) templated(
    const T* __restrict__ x,  // the input
    T *const y, int n) {}

__global__ __launch_bounds__(BLOCK) void attribute_first(const volatile unsigned char *bytes, size_t n, bool flag) {}

template <class T, class Accumulator>
__global__ void two_types(const T* x, Accumulator scale, __nv_bfloat16 const* z, long long int n) {}

__global__ void no_parameters() {}
__global__ void void_parameters(void) {}
"""


def types(expression: str) -> list[str]:
    return [str(p) for p in find(SOURCE, expression).parameters]


def test_kernels_are_found_by_name_and_nothing_else_is():
    """Comments and device functions are no kernels."""
    assert set(parse(SOURCE)) == {
        "plain", "templated", "attribute_first", "two_types", "no_parameters", "void_parameters",
    }  # fmt: skip


def test_qualifiers_vanish_from_types():
    """const, volatile and __restrict__ in any place leave element type, pointer and name."""
    assert types("plain") == ["float* x", "float* y", "long long n", "unsigned flags"]
    assert types("attribute_first") == ["unsigned char* bytes", "size_t n", "bool flag"]


def test_template_arguments_replace_their_parameters():
    """Types mention the arguments of the name expression; defaulted parameters may be left out."""
    assert types("templated<float, 32>") == ["float* x", "float* y", "int n"]
    assert types("templated< __half >") == ["__half* x", "__half* y", "int n"]
    assert types("two_types<__half, float>") == ["__half* x", "float scale", "__nv_bfloat16* z", "long long int n"]


def test_kernels_without_parameters():
    """Both spellings of an empty parameter list are empty."""
    assert types("no_parameters") == types("void_parameters") == []


def test_too_many_template_arguments_are_refused():
    """The message names the kernel's template parameters."""
    with pytest.raises(ValueError, match=r"templated has the template parameters T, BLOCK, got float, 32, 1"):
        find(SOURCE, "templated<float, 32, 1>")


@pytest.mark.parametrize("expression", ["missing", "plain<", "helper", ""])
def test_an_unknown_kernel_lists_the_known_ones(expression):
    """The message lists what the file has."""
    with pytest.raises(ValueError, match="attribute_first, no_parameters, plain"):
        find(SOURCE, expression)


@pytest.mark.parametrize("parameter", ["float** x", "float x[4]", "const float&", "int (*f)(int)"])
def test_parameters_that_cannot_be_passed_are_refused(parameter):
    """A pointer to a pointer, an array, a reference or a function pointer is named, not guessed at."""
    with pytest.raises(ValueError, match="odd"):
        find(f"__global__ void odd({parameter}) {{}}", "odd")


def test_an_uninstantiated_type_is_named():
    """A template parameter without an argument is no type that a tensor can have."""
    parameter = find(SOURCE, "templated").parameters[0]
    with pytest.raises(TypeError, match=r"parameter T\* x.*known are"):
        _ = parameter.c_type


@pytest.mark.parametrize(
    ("c_type", "numpy_type"),
    [
        ("int", np.int32),
        ("unsigned", np.uint32),
        ("long long", np.int64),
        ("long long int", np.int64),
        ("size_t", np.uint64),
        ("short", np.int16),
        ("signed char", np.int8),
        ("float", np.float32),
        ("double", np.float64),
        ("half", np.float16),
    ],
)
def test_numbers_get_exactly_the_parameters_type(c_type, numpy_type):
    """CuPy would pass every int as 64 bits and every float as double."""
    assert type(scalar(Parameter("n", c_type, False), 3)) is numpy_type


@given(st.integers(-(2**40), 2**40))
def test_int_is_range_checked(value):
    """A number that needs more than 32 bits is refused, never truncated."""
    parameter = Parameter("n", "int", False)
    if -(2**31) <= value < 2**31:
        assert scalar(parameter, value) == value
    else:
        with pytest.raises(OverflowError, match=f"parameter int n: {value} does not fit"):
            scalar(parameter, value)


@pytest.mark.parametrize(("c_type", "value"), [("unsigned", -1), ("size_t", -1), ("float", 1e39), ("half", 70000.0)])
def test_values_outside_the_type_are_refused(c_type, value):
    """Unsigned types take no negative number, floats no finite number that would become infinite."""
    with pytest.raises(OverflowError, match="parameter"):
        scalar(Parameter("n", c_type, False), value)


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinity_is_a_float(value):
    """An infinity that was asked for is passed."""
    assert scalar(Parameter("x", "float", False), value) == value


@pytest.mark.parametrize(
    ("c_type", "value"), [("int", 1.0), ("int", True), ("float", True), ("bool", 1), ("int", "1"), ("int", None)]
)
def test_numbers_of_another_kind_are_refused(c_type, value):
    """A float is no int, and a truth value neither."""
    with pytest.raises(TypeError, match=rf"parameter {c_type} n"):
        scalar(Parameter("n", c_type, False), value)


def test_truth_values():
    """Python's and NumPy's truth values go into bool."""
    parameter = Parameter("flag", "bool", False)
    assert [scalar(parameter, value) for value in (True, np.False_)] == [np.True_, np.False_]


def test_bfloat16_by_value_is_refused():
    """NumPy has no such number; the message says what to do."""
    with pytest.raises(TypeError, match="pass float and convert in the kernel"):
        scalar(Parameter("x", "__nv_bfloat16", False), 1.0)


def test_tensor_maps_are_parameters_by_value():
    """The one structure that a kernel may take; clusters and launch bounds stand in any order."""
    source = """
    template <typename T, int CLUSTER>
    __global__ void __launch_bounds__(384, 1) __cluster_dims__(CLUSTER, 1, 1)
    copied(const __grid_constant__ TensorMap a, const TensorMap* b, int n) {}
    """
    a, b, n = find(source, "copied<float, 2>").parameters
    assert (str(a), a.tensor_map, b.tensor_map, n.tensor_map) == ("TensorMap a", True, False, False)


MIXED = """
#define VECTORS const float* x, float* y
#define ALL VECTORS, \\
            int n
struct Pair { int a, b; };
__global__ void table(float* const* rows, float* y) {}
__global__ void structs(const Pair p, Pair* q, void (*callback)(int)) {}
__global__ void beside_it(const float* x, float* y) {}
__global__ void half_macro(VECTORS, int n) {}
__global__ void macro(ALL) {}
template <class T> __global__ void arrays(const T x[], T y[4], int) {}
"""


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        ("table", ["rows", "y"]),
        ("structs", ["p", "q", ""]),
        ("beside_it", ["x", "y"]),
        ("half_macro", ["x", "y", "n"]),
        ("macro", ["x", "y", "n"]),
        ("arrays<float>", ["x", "y", "int"]),
    ],
)
def test_names_of_parameters_of_any_type(kernel, names):
    """Names need no type that can be passed; a parameter without a name at its usual place has an empty one."""
    assert parameter_names(MIXED, kernel) == names


def test_a_parameter_that_cannot_be_read_hides_no_other_kernel():
    """Only the kernel that has it is refused."""
    assert [str(p) for p in find(MIXED, "beside_it").parameters] == ["float* x", "float* y"]
    with pytest.raises(ValueError, match="rows"):
        find(MIXED, "table")


def test_macros_in_parameters_are_read():
    """A list of parameters may come from macros of the file, also from one within another."""
    assert [str(p) for p in find(MIXED, "macro").parameters] == ["float* x", "float* y", "int n"]
