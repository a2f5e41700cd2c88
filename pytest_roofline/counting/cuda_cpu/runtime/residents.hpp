// Several blocks under way, as on a GPU, where they run at the same time: before an access by which blocks talk to each
// other, one that has stored something since its last turn may be set aside for another. What a block has of its own then
// changes places with that of the other. In the same way a thread pauses for the others of its block.
#pragma once

#include "named_barriers.hpp"

namespace roofline {

constexpr u32 kRandom = 2, kInterleaved = 3;  // of LaunchSpec::order
constexpr u8 kSurePauses = 3, kMostPauses = 20;
constexpr size_t kMostAside = 3;

struct Resident {
    u64 block = 0;
    Dim block_index{};
    u16 epoch = 0;
    u32 cursor = 0, times_aside = 0;
    std::vector<u32> thread_order;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    Known known, fences[kScopes];
    std::vector<StrongWrite> seen_by_block;
    std::vector<Lessons> lessons;
    NamedBarrier named_barriers[kNamedBarriers];
    std::unordered_map<u64, SyncVariable> shared_variables;
    std::vector<u8> shared_bytes, shared_state;
    std::vector<Cell> shared_cells;
};

inline std::vector<std::unique_ptr<Resident>> aside, spare;
inline u64 schedule = 0;  // state of the generator that decides

inline u32 decide() {
    schedule = schedule * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<u32>(schedule >> 33);
}

// The running block's state for another's. References to threads stay good: the arrays change places, not their elements.
inline void exchange(Resident& other) {
    std::swap(launch.block, other.block);
    std::swap(launch.block_index, other.block_index);
    std::swap(launch.epoch, other.epoch);
    std::swap(launch.times_aside, other.times_aside);
    std::swap(cursor, other.cursor);
    thread_order.swap(other.thread_order);
    threads.swap(other.threads);
    warps.swap(other.warps);
    launch.known.swap(other.known);
    std::swap(launch.fences, other.fences);
    seen_by_block.swap(other.seen_by_block);
    lessons.swap(other.lessons);
    std::swap(named_barriers, other.named_barriers);
    shared_variables.swap(other.shared_variables);
    for (const Span& s : shared.spans) {
        u8* mine = reinterpret_cast<u8*>(shared.low + s.low);
        std::swap_ranges(mine, mine + s.size, other.shared_bytes.data() + s.low);
    }
    shared.state.swap(other.shared_state);
    shared_cells.swap(other.shared_cells);
}

inline std::unique_ptr<Resident> new_resident() {
    if (!spare.empty()) {
        std::unique_ptr<Resident> result = std::move(spare.back());
        spare.pop_back();
        return result;
    }
    auto result = std::make_unique<Resident>();
    result->threads.resize(launch.warps * kWarp);
    result->warps.resize(launch.warps);
    result->shared_bytes.resize(shared.length);
    result->shared_state = shared.state;
    result->shared_cells.resize(shared_cells.size());
    return result;
}

// The running block waits for another turn; its place is for a new one.
inline void set_aside() {
    if (same_value.waiting) settle_same_value();
    ++launch.times_aside;
    launch.set_aside = launch.has_published = false;
    std::unique_ptr<Resident> other = new_resident();
    exchange(*other);
    launch.times_aside = 0;
    name_threads();
    aside.push_back(std::move(other));
}

// Continues a block that was set aside, if its turn is before that of the block `next`: so it is when no room or no block is
// left, or by chance. The oldest first, so that each has its turn.
inline bool take_up_one(u64 next) {
    if (aside.empty()) return false;
    if (next < launch.blocks && aside.size() <= kMostAside && !(idle_rounds || decide() % 2)) return false;
    std::unique_ptr<Resident> other = std::move(aside.front());
    aside.erase(aside.begin());
    exchange(*other);
    spare.push_back(std::move(other));
    return true;
}

inline Thread* thread_of_access(Stamp s) {
    if (block_of(s) == this_block()) return &threads[thread_of(s)];
    for (const auto& other : aside)
        if (other->block + 1 == block_of(s)) return &other->threads[thread_of(s)];
    return nullptr;
}

inline bool other_block_waits() { return !aside.empty(); }

inline bool on_chip(u64 address) { return address - shared.low < shared.length; }

// A thread is about to make a volatile or atomic access. In half of the launches it pauses the first times for sure; then,
// and in the others, each pause makes its next half as likely, so that a thread of many atomics ends.
inline void may_pause() {
    if (!launch.flags) return;
    Thread& t = *current;
    if (!t.has_published || t.pauses >= kMostPauses) return;
    const u32 reluctance = launch.eager ? std::max<u32>(t.pauses, kSurePauses) - kSurePauses : t.pauses + 1u;
    if (!(decide() >> (31 - reluctance))) {
        ++t.pauses;
        t.status = Status::ready;
        t.polling = false;
        wait();
    }
}

// The same for the whole block.
inline void may_set_aside(u64 address) {
    if (!launch.flags || on_chip(address)) return;  // without hooks at its loads a block that polls would never stop
    if (launch.has_published && aside.size() < kMostAside && launch.times_aside < 20 && !(decide() >> (30 - launch.times_aside))) {
        launch.set_aside = true;
        current->status = Status::ready;
        current->polling = false;
        wait();
    }
}

inline void forget_residents() {
    aside.clear();
    spare.clear();
    threads.resize(kMaxThreads);
    warps.resize(kMaxThreads / kWarp);
    idle_rounds = 0;
    schedule = launch.spec->seed * 2862933555777941757ull + 3037000493ull;
    for (int i = 0; i < 3; ++i) decide();
    launch.eager = decide() >> 30;
}

inline void name_block(u64 block) {
    const u32* grid = launch.spec->grid;
    launch.block = block;
    launch.block_index = {static_cast<u32>(block % grid[0]), static_cast<u32>(block / grid[0] % grid[1]),
                          static_cast<u32>(block / (static_cast<u64>(grid[0]) * grid[1]))};
    launch.has_published = false;
}

}  // namespace roofline
