// What runs only where blocks are under way at the same time. -DBUG=n plants a bug; its lines are marked // BUG n.

#ifndef BUG
#define BUG 0
#endif

struct Tile {
    volatile int state;  // 1: its sum is known, 2: the sum up to its end too
    volatile int sum, prefix;
};

// Prefix sums of one number per block by a decoupled look-back. met[b] says how many tiles of which only the sum was known
// the block b has added up.
extern "C" __global__ void look_back(const int* x, int* y, int* tiles, int* met) {
    Tile* tile = reinterpret_cast<Tile*>(tiles);
    __shared__ int before;
    const int block = blockIdx.x;
    if (threadIdx.x == 0) {
        tile[block].sum = x[block];  // BUG 1
        if (BUG != 1) __threadfence();
        tile[block].state = 1;
        int sum = 0, partial = 0;
        for (int b = block - 1; b >= 0; --b) {
            int state;
            while ((state = tile[b].state) == 0) {
            }
            __threadfence();
            if (state == 2) {
                sum += tile[b].prefix;
                break;
            }
            ++partial;
            sum += BUG == 2 ? tile[b].prefix : tile[b].sum;  // BUG 1 // BUG 2
        }
        met[block] = partial;
        before = sum;
        tile[block].prefix = sum + x[block];
        __threadfence();
        tile[block].state = 2;
    }
    __syncthreads();
    if (threadIdx.x == 33) y[block] = before + x[block];
}

// Blocks take turns by a lock: a counter beside it is safe, one that is read before the lock is not.
extern "C" __global__ void locked_count(int* lock, int* count, int* seen) {
    __shared__ int mine;
    if (threadIdx.x == 0) {
        const int early = BUG == 1 ? *count : 0;  // BUG 1
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        mine = BUG == 1 ? early : *count;  // BUG 1
        *count = mine + 1;                 // BUG 1
        __threadfence();
        atomicExch(lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 40) seen[blockIdx.x] = mine;
}

// Every block says hello and then looks who else has: how many there are depends on who runs at the same time.
extern "C" __global__ void present(int* here, int* most) {
    if (threadIdx.x != 0) return;
    atomicAdd(here, 1);
    atomicMax(most, atomicAdd(here, 0));
    atomicSub(here, 1);
}

// What a block keeps in shared memory, in registers and at its barriers is its own, whoever runs meanwhile.
extern "C" __global__ void own_memory(int* ticket, int* out) {
    __shared__ int values[64];
    const int t = threadIdx.x;
    for (int round = 0; round < 3; ++round) {
        values[t] = blockIdx.x * 1000 + round * 100 + t;
        __syncthreads();
        if (t == round) atomicAdd(ticket, 1);
        const int other = values[63 - t];
        if (t == 63 - round) atomicAdd(ticket, 1);
        out[(blockIdx.x * 3 + round) * 64 + t] = other;
        __syncthreads();
    }
}
