// What Hopper's asynchronous machinery looks like from a kernel: barriers in shared memory, tiled copies through tensor
// maps, clusters. Thin wrappers of PTX (PTX ISA, "Parallel Synchronization", "Data Movement and Conversion"); sm_90a.
#pragma once

// A CUtensorMap, encoded by the host and passed by value: the copy engine reads it from the kernel's parameters.
struct alignas(64) TensorMap {
    unsigned char opaque[128];
};

constexpr unsigned SWIZZLE_BYTES = 128;  // a row of every tile in shared memory; its 16-byte parts are swizzled
constexpr int WARPGROUP = 128;           // threads that issue a wgmma together

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// ---- Barriers: addresses are those of 64-bit words in shared memory.

__device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the copy engine and to the other blocks of the cluster.
__device__ __forceinline__ void barrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One arrival, and `bytes` more that copies must bring before the phase completes.
__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival at the barrier that block `rank` of the cluster has at the same place.
__device__ __forceinline__ void barrier_arrive(unsigned barrier, unsigned rank) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n"
        "}" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

// Waits until the phase of that parity has completed.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

// ---- Copies of a box of a tensor; x counts elements along its rows, y counts rows.

__device__ __forceinline__ void prefetch(const TensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

__device__ __forceinline__ void load_box(unsigned to, const TensorMap& map, int x, int y, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            to),
        "l"(&map), "r"(x), "r"(y), "r"(barrier)
        : "memory");
}

// The same into every block of the cluster that `blocks` has a bit for, at the same place, telling the barrier there.
__device__ __forceinline__ void load_box(unsigned to, const TensorMap& map, int x, int y, unsigned barrier,
                                         unsigned short blocks) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
        : "memory");
}

__device__ __forceinline__ void store_box(const TensorMap& map, int x, int y, unsigned from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
                 "r"(y), "r"(from)
                 : "memory");
}

__device__ __forceinline__ void stores_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until all but this thread's last `PENDING` stores have read their shared memory, so that it may be written again.
template <int PENDING = 0>
__device__ __forceinline__ void stores_have_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

// Orders this thread's ordinary writes to shared memory before what the copy engine reads there after a barrier.
__device__ __forceinline__ void shared_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- Warpgroups and clusters.

// A barrier of one warpgroup; barrier 0 is that of __syncthreads.
__device__ __forceinline__ void warpgroup_sync(int number) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(WARPGROUP) : "memory");
}

template <int REGISTERS>
__device__ __forceinline__ void registers_give_back() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS>
__device__ __forceinline__ void registers_take() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

__device__ __forceinline__ unsigned cluster_rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// ---- Kernels after one another: the next may take its places while this one still runs, and waits itself for its end.

__device__ __forceinline__ void let_next_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ __forceinline__ void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- Results: four 8 x 8 matrices of 16-bit elements, each lane giving the address of one row of one of them.

__device__ __forceinline__ void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
                 "r"(d)
                 : "memory");
}

__device__ __forceinline__ void store_pair(unsigned to, unsigned a, unsigned b) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory");
}
