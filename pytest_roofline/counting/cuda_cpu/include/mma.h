// nvcuda::wmma. Fragments hold their elements in tiles of 8 rows by 32 bits times four, as mma.sync does; a fragment of
// half precision repeats them up to the 16 elements that CUDA's type has.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "rl/unset.hpp"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

template <class T>
struct rl_storage {
    using type = T;
};
template <>
struct rl_storage<precision::tf32> {
    using type = float;
};
template <class T>
constexpr const char* rl_pipeline() {
    if constexpr (std::is_same_v<T, __half>) return "fp16_tensor";
    else if constexpr (std::is_same_v<T, __nv_bfloat16>) return "bf16_tensor";
    else if constexpr (std::is_same_v<T, precision::tf32>) return "tf32_tensor";
    else if constexpr (std::is_same_v<T, double>) return "fp64_tensor";
    else return "int8_tensor";
}

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    using element_type = typename rl_storage<T>::type;
    using storage_element_type = element_type;
    static constexpr const char* pipeline = rl_pipeline<T>();
    static constexpr bool is_a = std::is_same_v<Use, matrix_a>, is_b = std::is_same_v<Use, matrix_b>;
    static constexpr int rows = is_b ? K : M, columns = is_a ? K : N;
    static constexpr int distinct = rows * columns / 32;
    static constexpr int num_elements = std::is_same_v<T, __half> && (is_a || is_b) ? 16 : distinct;
    element_type x[num_elements];

    // Row and column of element e of a lane. `along` elements of a lane are neighbours in the direction of k (of a row
    // for accumulators).
    static RL_FORCE void place(int lane, int e, int& row, int& column) {
        constexpr int along = !is_a && !is_b ? 2 : sizeof(element_type) >= 4 ? 1 : 4 / static_cast<int>(sizeof(element_type));
        constexpr int depth = is_b ? rows : columns;   // extent in the direction of k
        constexpr int across = is_b ? columns : rows;
        constexpr int tiles_across = across / 8, tiles_deep = depth / (4 * along);
        const int tile = e / along, outer = lane >> 2, inner = (lane & 3) * along + e % along;
        const int t_across = is_b ? tile / tiles_deep : tile % tiles_across;
        const int t_deep = is_b ? tile % tiles_deep : tile / tiles_across;
        const int far = t_across * 8 + outer, deep = t_deep * 4 * along + inner;
        row = is_b ? deep : far;
        column = is_b ? far : deep;
    }
};

template <class Use, int M, int N, int K, class T, class L, class V>
RL_INLINE void fill_fragment(fragment<Use, M, N, K, T, L>& f, V value) {
    for (int e = 0; e < f.num_elements; ++e) f.x[e] = static_cast<typename fragment<Use, M, N, K, T, L>::element_type>(value);
}
RL_INLINE float __float_to_tf32(float x) {
    return rl_bits<float>((rl_bits<uint32_t>(x) + 0x1000u) & 0xFFFFE000u);
}

template <class T>
RL_UNSEEN inline __attribute__((noinline)) void rl_require_matrix(const T* p, unsigned ld, int line, const char* file) {
    // CUDA asks for 32 bytes; with bytes as operands its own samples step by 16.
    if (reinterpret_cast<uintptr_t>(p) % (sizeof(T) == 1 ? 16 : 32))
        rl_fail(RL_WARP_MATRIX, "the pointer of a wmma access is not aligned to 32 bytes (of 8-bit elements: 16)", line, file);
    if (ld * sizeof(T) % 16) rl_fail(RL_WARP_MATRIX, "the leading dimension of a wmma access is not a multiple of 16 bytes", line, file);
}

// Moves a lane's elements; neighbours in memory go as one access. Shared 16-bit operands go through ldmatrix: lane l
// names one row of 16 bytes.
template <class F, class T>
RL_UNSEEN __attribute__((noinline)) void rl_move(F& f, T* p, unsigned ld, bool by_rows, bool store, uint64_t pc) {
    const int lane = static_cast<int>(rl_lane());
    const bool matrices = !store && sizeof(T) == 2 && (F::is_a || F::is_b) && rl_is_shared(p);
    if (matrices) {
        const int rows = by_rows ? F::rows : F::columns, chunks = (by_rows ? F::columns : F::rows) / 8;
        const int total = rows * chunks;
        for (int first = 0, piece = 0; first < total; first += 32, ++piece) {
            const int mine = (first + lane) % total;
            rl_access(p + static_cast<size_t>(mine % rows) * ld + mine / rows * 8, 16, 2, pc, static_cast<uint32_t>(piece));
        }
    }
    for (int e = 0, piece = 0; e < F::distinct; ++piece) {
        int row, column, count = 1;
        F::place(lane, e, row, column);
        T* at = p + (by_rows ? static_cast<size_t>(row) * ld + column : static_cast<size_t>(column) * ld + row);
        while (e + count < F::distinct && (count + 1) * sizeof(T) <= 8) {
            F::place(lane, e + count, row, column);
            T* next = p + (by_rows ? static_cast<size_t>(row) * ld + column : static_cast<size_t>(column) * ld + row);
            if (next != at + count) break;
            ++count;
        }
        if (count * sizeof(T) == 6) count = 1;
        if (!matrices) rl_access(at, static_cast<uint32_t>(count * sizeof(T)), store, pc, static_cast<uint32_t>(piece));
        for (int k = 0; k < count; ++k) {
            if (store) at[k] = f.x[e + k];
            else f.x[e + k] = at[k];
        }
        e += count;
    }
    for (int e = F::distinct; !store && e < F::num_elements; ++e) f.x[e] = f.x[e % F::distinct];
}

#define RL_HERE reinterpret_cast<uint64_t>(rl_here())
extern "C" void* rl_here();  // the place of the call in the kernel

template <class Use, int M, int N, int K, class T, class L>
RL_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, L>& f, const typename rl_storage<T>::type* p, unsigned ld, RL_SITE) {
    rl_require_matrix(p, ld, line, file);
    rl_move(f, const_cast<typename rl_storage<T>::type*>(p), ld, std::is_same_v<L, row_major>, false, RL_HERE);
}
template <int M, int N, int K, class T>
RL_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned ld, layout_t layout, RL_SITE) {
    rl_require_matrix(p, ld, line, file);
    rl_move(f, const_cast<T*>(p), ld, layout == mem_row_major, false, RL_HERE);
}
template <int M, int N, int K, class T>
RL_INLINE void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned ld, layout_t layout, RL_SITE) {
    rl_require_matrix(p, ld, line, file);
    rl_move(const_cast<fragment<accumulator, M, N, K, T>&>(f), p, ld, layout == mem_row_major, true, RL_HERE);
}

template <class D, class A, class B, class C>
struct rl_mma {
    D* d;
    const A* a;
    const B* b;
    const C* c;
    int line;
    const char* file;

    // The operand that `from` picks of each lane's call.
    template <class F>
    RL_UNSEEN static void require_set(void* const* lanes, F from, const char* text) {
        const auto at = [&](int lane) -> const rl_mma& { return *static_cast<const rl_mma*>(lanes[lane]); };
        const auto& first = *from(at(0));
        const size_t count = sizeof first.x / sizeof first.x[0];
        rl_require_set([&](int lane) { return from(at(lane))->x; }, count, text, at(0).line, at(0).file);
    }

    // Products in the accumulator's precision; the order of the sum is k ascending.
    RL_UNSEEN static void run(void* const* lanes, uint32_t) {
        require_set(lanes, [](const rl_mma& op) { return op.a; }, "nobody has loaded or filled the fragment matrix_a of this mma_sync");
        require_set(lanes, [](const rl_mma& op) { return op.b; }, "nobody has loaded or filled the fragment matrix_b of this mma_sync");
        require_set(lanes, [](const rl_mma& op) { return op.c; }, "nobody has loaded or filled the accumulator of this mma_sync");
        using Sum = std::conditional_t<std::is_integral_v<typename C::element_type>, int,
                                       std::conditional_t<std::is_same_v<typename C::element_type, double>, double, float>>;
        static Sum a[A::rows][A::columns], b[B::rows][B::columns], sum[C::rows][C::columns];
        int row, column;
        for (int lane = 0; lane < 32; ++lane) {
            const rl_mma& op = *static_cast<const rl_mma*>(lanes[lane]);
            for (int e = 0; e < A::distinct; ++e) A::place(lane, e, row, column), a[row][column] = static_cast<Sum>(op.a->x[e]);
            for (int e = 0; e < B::distinct; ++e) B::place(lane, e, row, column), b[row][column] = static_cast<Sum>(op.b->x[e]);
            for (int e = 0; e < C::distinct; ++e) C::place(lane, e, row, column), sum[row][column] = static_cast<Sum>(op.c->x[e]);
        }
        for (int i = 0; i < C::rows; ++i)
            for (int k = 0; k < A::columns; ++k)
                for (int j = 0; j < C::columns; ++j) sum[i][j] += a[i][k] * b[k][j];
        for (int lane = 0; lane < 32; ++lane) {
            const rl_mma& op = *static_cast<const rl_mma*>(lanes[lane]);
            for (int e = 0; e < D::distinct; ++e)
                D::place(lane, e, row, column), op.d->x[e] = static_cast<typename D::element_type>(sum[row][column]);
        }
        const rl_mma& op = *static_cast<const rl_mma*>(lanes[0]);
        rl_count_tensor(A::pipeline, 2ull * C::rows * C::columns * A::columns, op.line, op.file);
    }
};

template <int M, int N, int K, class TD, class TA, class LA, class TB, class LB, class TC>
RL_INLINE void mma_sync(fragment<accumulator, M, N, K, TD>& d, const fragment<matrix_a, M, N, K, TA, LA>& a,
                        const fragment<matrix_b, M, N, K, TB, LB>& b, const fragment<accumulator, M, N, K, TC>& c, RL_SITE) {
    using Op = rl_mma<fragment<accumulator, M, N, K, TD>, fragment<matrix_a, M, N, K, TA, LA>,
                      fragment<matrix_b, M, N, K, TB, LB>, fragment<accumulator, M, N, K, TC>>;
    Op op{&d, &a, &b, &c, line, file};
    rl_lanes(&op, &Op::run, line, file);
}

}  // namespace wmma
}  // namespace nvcuda
