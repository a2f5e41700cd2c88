// Threads and blocks that wait for each other in turn: locks, tickets, a game without end. Bugs are marked // BUG.

// A lock that serves in the order of arrival. One lane of every warp takes it `rounds` times.
extern "C" __global__ void ticket_lock(unsigned* next, unsigned* serving, int* count, int rounds) {
    if (threadIdx.x % 32) return;
    for (int k = 0; k < rounds; ++k) {
        const unsigned mine = atomicAdd(next, 1u);
        while (atomicAdd(serving, 0u) != mine) {
        }
        __threadfence();
        *count += 1;
        __threadfence();
        atomicAdd(serving, 1u);
    }
}

// The same without the fence in front of the hand-over.
extern "C" __global__ void ticket_without_fence(unsigned* next, unsigned* serving, int* count, int rounds) {
    if (threadIdx.x % 32) return;
    for (int k = 0; k < rounds; ++k) {
        const unsigned mine = atomicAdd(next, 1u);
        while (atomicAdd(serving, 0u) != mine) {
        }
        *count += 1;  // BUG
        atomicAdd(serving, 1u);
    }
}

__device__ void take(int* lock) {
    while (atomicCAS(lock, 0, 1)) {
    }
    __threadfence();
}
__device__ void give(int* lock) {
    __threadfence();
    atomicExch(lock, 0);
}

// Moves `amount` from one account to another under both locks, the lower one first.
extern "C" __global__ void transfers(const int* from, const int* to, int* balance, int* locks, int rounds) {
    if (threadIdx.x % 32) return;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int k = 0; k < rounds; ++k) {
        const int a = from[warp * rounds + k], b = to[warp * rounds + k];
        if (a == b) continue;
        take(locks + min(a, b));
        take(locks + max(a, b));
        balance[a] -= 1;
        balance[b] += 1;
        give(locks + max(a, b));
        give(locks + min(a, b));
    }
}

// Two warps of a block take two locks in opposite orders.
extern "C" __global__ void inverted_warps(int* locks, int* count) {
    if (threadIdx.x % 32) return;
    const int warp = threadIdx.x / 32;
    while (atomicCAS(locks + warp % 2, 0, 1)) {  // BUG
    }
    while (atomicCAS(locks + 1 - warp % 2, 0, 1)) {  // BUG
    }
    __threadfence();
    *count += 1;
    give(locks + 1 - warp % 2);
    give(locks + warp % 2);
}

// The same with locks in shared memory.
extern "C" __global__ void inverted_shared(int* count) {
    __shared__ int locks[2];
    if (threadIdx.x < 2) locks[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32) return;
    const int warp = threadIdx.x / 32;
    while (atomicCAS(locks + warp % 2, 0, 1)) {  // BUG
    }
    while (atomicCAS(locks + 1 - warp % 2, 0, 1)) {  // BUG
    }
    __threadfence_block();
    *count += 1;
    __threadfence_block();
    atomicExch(locks + 1 - warp % 2, 0);
    atomicExch(locks + warp % 2, 0);
}

// Two threads throw a ball for ever: each always has something to do.
extern "C" __global__ void endless_game(int* ball) {
    for (;;) {
        while (atomicAdd(ball, 0) % 2 != static_cast<int>(threadIdx.x)) {  // BUG
        }
        atomicAdd(ball, 1);  // BUG
    }
}

// The largest of all numbers by compare and swap, begun with a plain read as in CUDA's guide.
__device__ void raise(double* at, double v) {
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(at);
    unsigned long long old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(fmax(v, __longlong_as_double(seen))));
    } while (old != seen);
}
// The same; who sees a larger number swaps nothing.
__device__ void raise_if_larger(double* at, double v) {
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(at);
    unsigned long long old = *bits;
    while (v > __longlong_as_double(old)) {
        const unsigned long long seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(v));
        if (old == seen) break;
    }
}
extern "C" __global__ void largest_by_swaps(const double* x, double* largest, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        raise(largest, x[i]);
        raise_if_larger(largest + 1, x[i]);
    }
}

// The sum is read while others still add to it.
extern "C" __global__ void read_beside_swaps(const double* x, double* largest, double* out) {
    raise(largest, x[threadIdx.x]);  // the race is with the swap in there
    out[threadIdx.x] = *largest;     // BUG
}

// What a block learns of another through a narrow fence and a narrow hand-over, it may tell on: order is transitive.
extern "C" __global__ void passed_on(int* data, int* inner, int* outer, int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 7;
        __threadfence_block();
        atomicExch_block(inner, 1);
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        while (atomicAdd_block(inner, 0) == 0) {
        }
        __threadfence();
        atomicExch(outer, 1);
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (atomicAdd(outer, 0) == 0) {
        }
        __threadfence();
        *out = *data;
    }
}

// A narrow fence between two wide ones takes nothing from the first.
extern "C" __global__ void two_fences(int* data, int* flag, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 7;
        __threadfence();
        data[1] = 8;  // BUG
        __threadfence_block();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        *out = *data + (out[1] ? data[1] : 0);  // BUG
    }
}
