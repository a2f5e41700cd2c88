// A fence missing between two volatile stores, or loads, of different blocks. Neither is a race: volatile accesses are
// relaxed atomics. But who has seen the later of two stores need not see the earlier one, so that a volatile load of it,
// which nothing orders after the store, may return what was there before. An atomic update never does.
#pragma once

#include "access.hpp"

namespace roofline {

inline std::unordered_map<u64, StrongWrite> strong_writes;  // by address, the last of each
inline std::vector<StrongWrite> seen_by_block;              // before its last barrier

inline void forget_strong_writes() {
    strong_writes.clear();
    seen_by_block.clear();
}

// Did `earlier` come before `later` in the order of one block?
inline bool precedes(const StrongWrite& earlier, const StrongWrite& later) {
    if (block_of(earlier.stamp) != block_of(later.stamp) || earlier.number >= later.number) return false;
    return thread_of(earlier.stamp) == thread_of(later.stamp) || epoch_of(earlier.stamp) != epoch_of(later.stamp);
}

RL_COLD inline void stale_read(u64 address, u32 size, u64 pc, const StrongWrite& write, const StrongWrite& seen) {
    Place place;
    place.pc = pc;
    place.other_pc = write.pc;
    place.size = size;
    if (const Region* region = arena.find(address)) {
        place.region = static_cast<int>(region - arena.regions);
        place.offset = static_cast<i64>(address - region->base);
    }
    report(Kind::global_race, place, false,
           "a fence is missing: block %llu stored what is read here before another value that this block has seen (store %llu "
           "after %llu), but nothing orders the two",
           static_cast<unsigned long long>(block_of(write.stamp) - 1), static_cast<unsigned long long>(seen.number),
           static_cast<unsigned long long>(write.number));
}

// A volatile or atomic load of global memory: is it ordered after the store that it reads, if it should be?
inline void note_strong_read(Thread& t, u64 address, u32 size, bool atomic, u64 pc) {
    const auto found = strong_writes.find(address);
    if (found == strong_writes.end() || block_of(found->second.stamp) == this_block()) return;
    const StrongWrite& write = found->second;
    if (!atomic && !happened_before(t, write.stamp)) {
        for (const auto* seen : {&t.seen, &seen_by_block}) {
            const auto later = std::find_if(seen->begin(), seen->end(), [&](const StrongWrite& s) { return precedes(write, s); });
            if (later == seen->end()) continue;
            stale_read(address, size, pc, write, *later);
            break;
        }
    }
    for (StrongWrite& s : t.seen) {
        if (s.stamp >> 32 != write.stamp >> 32) continue;  // another thread's
        if (s.number < write.number) s = write;
        return;
    }
    t.seen.push_back(write);
}

inline void note_strong_write(const Thread& t, u64 address, u64 pc) {
    static u64 number = 0;
    strong_writes[address] = {stamp_of(t), ++number, static_cast<u32>(pc)};
}

// __syncthreads: what one thread of the block has seen, all have.
inline void join_seen() {
    if (!launch.uses_volatile) return;
    for (u32 i = 0; i < launch.threads; ++i) {
        std::vector<StrongWrite>& seen = threads[i].seen;
        seen_by_block.insert(seen_by_block.end(), seen.begin(), seen.end());
        seen.clear();
    }
}

}  // namespace roofline
