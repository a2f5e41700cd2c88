// What crosses between the runtime and its Python front end (abi.py mirrors this file field by field).
#pragma once

#include <cstddef>
#include <cstdint>

#define RL_API extern "C" __attribute__((visibility("default")))

namespace roofline {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

enum Flag : u32 {
    kCheckAccesses = 1,  // bounds, alignment, initialisation, read-only buffers
    kCheckRaces = 2,
    kCount = 4,
    kAllowSameValue = 8,  // two unordered writes of the value already there are no race
};

enum class Kind : u32 {
    out_of_bounds = 1,
    invalid_pointer,
    misaligned,
    uninitialised_read,
    shared_race,
    global_race,
    divergent_barrier,
    deadlock,
    livelock,
    inactive_lane,
    wrong_mask,
    async_copy,
    warp_matrix,
    read_only,
    undefined_behaviour,
    trap,
    crash,
    stack_overflow,
    endless_loop,
    guard_overwritten,
    unsupported,
    time_limit,
    uninitialised_register,
};

// The state of one byte of a buffer or of shared memory.
enum ByteState : u8 {
    kValid = 1,
    kInitialised = 2,
    kInFlight = 4,  // destination of a cp.async that nobody has waited for
    kRead = 8,
    kWritten = 16,
    kHidden = 32,  // not the program's: guards of variables with constructors
};

// What an atomic in shared memory is made of: the piece of its event.
constexpr u32 kSwaps = 1;   // compare and swap
constexpr u32 kCounts = 2;  // adds one and needs no result
constexpr u32 kSpins = 3;   // a loop
constexpr u32 kSpinLoads = 4;

constexpr int kNoRegion = -1;
constexpr int kSharedRegion = -2;
constexpr int kModuleRegion = -3;  // __device__ variables; offsets count from the start of the module

struct Fault {
    u32 kind, count;
    u32 block[3], thread[3];
    u64 pc, other_pc;  // relative to the module; 0: not known
    i64 offset;        // bytes from the start of the buffer, or of the shared window
    int region;        // number of the buffer, kNoRegion or kSharedRegion
    int line;          // 0: find it from pc
    u32 symptom;       // of a divergent barrier found later
    int other_line;    // 0: find it from other_pc
    u64 size;
    char file[256];
    char text[384];
};

struct LineCount {
    u64 pc;
    u32 kind, size;
    u64 requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, max_degree;
    u64 merged_requests, merged_wavefronts;
};

struct Totals {
    u64 threads, blocks, barriers, collectives, switches;
};

// The matrix operations of one place in the source.
struct TensorCount {
    const char* pipeline;
    const char* file;
    u64 line, executed, flops;
};

struct Span {
    u64 low, size;
};

constexpr u64 kHiddenSpan = 1ull << 63;    // added to the size of a hidden variable
constexpr u64 kConstantSpan = 1ull << 62;  // added to the size of a variable that a kernel may not write

struct LaunchSpec {
    void (*entry)(void**);
    void** arguments;
    u32 grid[3], block[3];
    u32 dynamic_bytes, flags, slots, order;
    u64 seed, anchor;         // anchor: an address in the module's thread-local segment
    const Span* shared;       // thread-local variables of the module, relative to its segment
    const Span* objects;      // other variables of the module, relative to its load address
    u64 shared_count, objects_count;
    double time_limit;        // seconds that one thread may run without a barrier or its end
    double launch_limit;      // seconds of the processor that the whole launch may take
};

}  // namespace roofline
