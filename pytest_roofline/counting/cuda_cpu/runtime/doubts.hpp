// Races between a plain read and an atomic, which count only if the read was for more than a compare and swap: a loop around
// atomicCAS begins with such a read, and the swap confirms or refuses what it saw. The reader's next access to that address
// decides, a barrier and the thread's end too. What is decided against the read is told at the end of the launch, unless a
// swap has followed that place of the source in another thread: a maximum needs none where what was read is larger already.
#pragma once

#include "clocks.hpp"

namespace roofline {

struct Doubt {
    Fault fault;
    Readers who;
    Stamp read;
    u32 read_pc;
    u64 address, size;
    u32 next;  // of the same thread, by number; 0: none
};

inline std::vector<Doubt> doubts;       // by number less one; Thread::doubts begins a list of them
inline std::vector<u32> free_doubts;  // numbers to use again
inline std::vector<Doubt> refuted;       // by no swap
inline std::vector<u32> swapped_reads;  // places of reads that a compare and swap has followed

inline bool is_swapped(u32 pc) { return std::find(swapped_reads.begin(), swapped_reads.end(), pc) != swapped_reads.end(); }

inline void note_swapped(u32 pc) {
    if (!is_swapped(pc)) swapped_reads.push_back(pc);
}

inline bool same_race(const Fault& a, const Fault& b) {
    return a.kind == b.kind && a.pc == b.pc && a.other_pc == b.other_pc;
}

RL_COLD inline void refute(const Doubt& doubt) {
    for (Doubt& known : refuted) {
        if (!same_race(known.fault, doubt.fault)) continue;
        ++known.fault.count;
        if (known.who.block == doubt.who.block && known.who.epoch == doubt.who.epoch) known.who.threads |= doubt.who.threads;
        return;
    }
    if (refuted.size() < kMaxFaults) refuted.push_back(doubt);
}

// `reader`: the thread that may swap yet; null: it will not.
RL_COLD inline void doubt_race(Thread* reader, Doubt doubt) {
    doubt.who.found = ++discoveries;
    if (!reader) return refute(doubt);
    for (u32 k = reader->doubts; k; k = doubts[k - 1].next)
        if (same_race(doubts[k - 1].fault, doubt.fault)) return;
    if (free_doubts.empty()) {
        doubts.emplace_back();
        free_doubts.push_back(static_cast<u32>(doubts.size()));
    }
    const u32 number = free_doubts.back();
    free_doubts.pop_back();
    doubt.next = reader->doubts;
    doubts[number - 1] = doubt;
    reader->doubts = number;
}

// The thread accesses `size` bytes at `address`; a size of zero: it ends.
RL_COLD inline void decide_doubts(Thread& t, u64 address, u32 size, bool swaps) {
    for (u32* link = &t.doubts; *link;) {
        const u32 number = *link;
        Doubt& doubt = doubts[number - 1];
        if (size && (address >= doubt.address + doubt.size || doubt.address >= address + size)) {
            link = &doubt.next;
            continue;
        }
        *link = doubt.next;
        if (swaps && epoch_of(doubt.read) == launch.epoch) {
            note_swapped(doubt.read_pc);
        } else {
            refute(doubt);
        }
        doubt.read = 0;
        free_doubts.push_back(number);
    }
}

inline void forget_doubts() {
    doubts.clear();
    free_doubts.clear();
    refuted.clear();
    swapped_reads.clear();
}

// Nobody swaps any more: what is still open is a race, too.
RL_COLD inline void conclude_doubts() {
    for (const Doubt& open : doubts)
        if (open.read) refute(open);
    for (const Doubt& doubt : refuted) {
        const bool known = std::any_of(launch.faults.begin(), launch.faults.end(),
                                       [&](const Fault& fault) { return same_race(fault, doubt.fault); });
        if (!known && !is_swapped(doubt.read_pc) && launch.faults.size() < kMaxFaults) add_fault(doubt.fault, doubt.who);
    }
    for (Doubt& open : doubts) open.read = 0;
    refuted.clear();
}

}  // namespace roofline
