// The state of a launch: threads, warps, the running block. One operating-system thread runs everything.
#pragma once

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "abi.hpp"
#include "knowledge.hpp"
#include "log.hpp"

#define RL_HOT __attribute__((always_inline)) inline
#define RL_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define RL_COLD __attribute__((noinline, cold))
#define RL_CALLER reinterpret_cast<uint64_t>(__builtin_return_address(0))

namespace roofline {

constexpr u32 kWarp = 32;
constexpr u32 kMaxThreads = 1024;
constexpr u32 kRecentPolls = 4;

struct Dim {
    u32 x, y, z;
};

struct Site {
    const char* file = "";
    int line = 0;
    bool operator==(const Site& o) const { return line == o.line && (file == o.file || !std::strcmp(file, o.file)); }
};

enum class Status : u8 { fresh, ready, barrier, named, collective, done };

enum class Collective : u32 {
    syncwarp,
    shfl,
    shfl_up,
    shfl_down,
    shfl_xor,
    ballot,
    any,
    all,
    reduce_add,
    reduce_min,
    reduce_max,
    reduce_and,
    reduce_or,
    reduce_xor,
    match_any,
    match_all,
    active_mask,
    lanes,  // a function over the operands of all lanes: wmma, mma, ldmatrix
};

using LanesFunction = void (*)(void* const* lanes, u32 mask);

struct AsyncCopy {
    u64 destination, source, pc;
    u32 size, copied, group;
};

enum Scope : int { kDeviceFence, kBlockFence, kScopes };

// The latest fence of a thread that orders for a scope, and what the thread knew there (clocks.hpp).
struct Fence {
    bool set = false;
    u16 epoch = 0, clock = 0, released_epoch = 0;
    u16 warp_clocks[kWarp] = {};
    Known known, released;
};

struct Released {
    u64 address = 0;
    u32 stores = 0;
    Known to_block, to_device;
    bool operator==(const Released&) const = default;
};

struct Stack;

struct StrongWrite {  // a volatile or atomic store (staleness.hpp)
    u64 stamp, number;  // number: counts those of all launches
    u32 pc;
};

struct Thread {
    void* context = nullptr;
    Stack* stack = nullptr;
    u64 stack_low = 0;
    Dim index{};
    u32 linear = 0, warp = 0, lane = 0;
    Status status = Status::done;
    bool polling = false;
    bool has_published = false;  // since its last turn it has stored what others may wait for
    u8 pauses = 0;               // how often it has let others run for that (residents.hpp)
    u8 next_poll = 0, idle_updates = 0;
    u32 doubts = 0;  // the first of a list of races that this thread may yet explain (doubts.hpp)
    u64 polls[kRecentPolls] = {};  // places and addresses looked at last
    u16 clock = 0;
    u32 commit_groups = 0;
    Site site;
    // barrier and collective operands
    Collective collective{};
    u32 mask = 0, barrier_kind = 0;
    u64 waits_since = 0;  // in switches of the launch
    u64 operand = 0, result = 0;
    int argument = 0, width = 32;
    bool reduce_signed = false;
    void* lane_data = nullptr;
    LanesFunction lanes_function = nullptr;
    Log log;
    std::vector<AsyncCopy> copies;
    Fence fences[kScopes];
    Known known, latest;  // acquired since the block's last barrier; that with the last acquisition
    Released last_release;
    std::vector<StrongWrite> seen;  // staleness.hpp

    void forget_order() {
        for (Fence& fence : fences) fence = {};
        known.reset();
        latest.reset();
        last_release = {};
    }
};

struct Pending {
    u32 mask, arrived;
    Collective collective;
    Site site;
};

struct Warp {
    u32 alive = 0, size = 0;
    std::vector<Pending> pending;
    bool ordered = false;  // some clock is not zero
    u16 clocks[kWarp][kWarp] = {};  // clocks[a][b]: accesses of lane b below it happened before lane a's next
};

struct Launch {
    const LaunchSpec* spec = nullptr;
    u32 flags = 0;
    Dim block_index{};
    u64 block = 0, blocks = 0;  // linear
    u32 threads = 0, warps = 0;
    u16 epoch = 0;  // barriers passed by this block
    u64 module_base = 0;
    std::vector<Span> segments, writable_segments;
    Known known;                // acquired by any thread of the block before its last barrier
    Known fences[kScopes];      // fenced by any: after the barrier all may release it
    bool abort = false;
    bool set_aside = false;      // the running block stops here for another one (residents.hpp)
    bool has_published = false;  // ... may do so: since its last turn it has stored what others may wait for
    u32 times_aside = 0;         // ... has done so
    i64 ticks = 0;               // what clock64() has come to
    bool eager = false;          // threads pause often (residents.hpp)
    bool fenced = false;         // some thread of the launch has fenced or acquired
    bool uses_volatile = false;  // some thread has made a volatile access to global memory
    std::vector<Fault> faults;
    std::unordered_map<u64, u32> fault_index;
    Totals totals{};
    std::vector<TensorCount> tensor_counts;
};

inline Launch launch;
inline Thread* current = nullptr;
inline std::vector<Thread> threads(kMaxThreads);
inline std::vector<Warp> warps(kMaxThreads / kWarp);
inline volatile u64 progress = 0;  // thread starts and switches: what the watchdog watches

RL_HOT u64 relative(u64 pc) { return pc - launch.module_base; }

}  // namespace roofline
