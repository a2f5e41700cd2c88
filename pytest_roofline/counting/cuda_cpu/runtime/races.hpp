// Race detection: one cell per four bytes remembers the last write and two reads. Two cells fill a cache line, because
// moving them is what most of the time goes into; the second read, which few cells have, lies elsewhere. A cell that is
// accessed in pieces (half, char) splits into four cells of one byte.
#pragma once

#include "doubts.hpp"

namespace roofline {

enum AccessFlag : u32 {
    kRdOnly = 0,
    kWrite = 1,
    kAtomic = 2,
    kVolatile = 4,
    kBlockScope = 8,
    kReleasing = 16,  // volatile store after a fence
    kDecided = 16,    // of a plain read: its thread has come back to the address
    kCopy = 32,       // by cp.async
    kMatrix = 64,     // by ldmatrix
    kSplit = 128,     // no access: the cell is split
};

struct Cell {
    Stamp write, read;
    u32 write_pc, read_pc;
    u32 more;  // index in second_reads or, of a split cell, in split_cells; 0: none
    u16 tag;   // launch
    u8 write_flags, read_flags;
};
static_assert(sizeof(Cell) == 32);

struct Read {
    Stamp stamp;
    u32 pc, flags;
};

inline u16 launch_tag = 0;
inline std::vector<Cell> split_cells;
inline std::vector<Read> second_reads;

struct Subject {  // what is accessed, for the report
    int region;
    i64 offset;
    u32 size, flags;
    u64 pc;
};

// A write that raced, judged again after it happened: nothing changed if the value was there already.
struct SameValue {
    bool waiting = false;
    u64 address = 0;
    u32 size = 0;
    u8 before[16];
    Fault fault;
};

inline SameValue same_value;

inline void settle_same_value() {
    if (!same_value.waiting) return;
    same_value.waiting = false;
    if (std::memcmp(reinterpret_cast<void*>(same_value.address), same_value.before, same_value.size) == 0) return;
    if (launch.faults.size() < kMaxFaults) add_fault(same_value.fault);
}

// `doubted`: it is between a plain read and an atomic. `reader`: the thread that may swap what it has read, or null.
RL_COLD inline void race(const Subject& s, u64 address, Stamp other, u32 other_pc, const char* what, bool two_writes,
                         bool doubted = false, Thread* reader = nullptr) {
    if (doubted && is_swapped(s.flags & kWrite ? other_pc : static_cast<u32>(s.pc))) return;
    Place place;
    place.pc = s.pc;
    place.other_pc = other_pc;
    place.region = s.region;
    place.offset = s.offset;
    place.size = s.size;
    if (!two_writes && block_of(other) == this_block()) place.reader = s.flags & kWrite ? thread_of(other) : current->linear;
    const Kind kind = s.region == kSharedRegion ? Kind::shared_race : Kind::global_race;
    const u64 block = block_of(other) - 1;
    const u32* g = launch.spec->grid;
    const u32* b = launch.spec->block;
    const u32 t = thread_of(other);
    char text[300];
    std::snprintf(text, sizeof text, "%s: nothing orders it after the access of block (%llu,%llu,%llu) thread (%u,%u,%u)", what,
                  static_cast<unsigned long long>(block % g[0]), static_cast<unsigned long long>(block / g[0] % g[1]),
                  static_cast<unsigned long long>(block / (static_cast<u64>(g[0]) * g[1])), t % b[0], t / b[0] % b[1],
                  t / (b[0] * b[1]));
    if (doubted) {
        const bool writes = s.flags & kWrite;
        Doubt doubt{make_fault(kind, place), {launch.block, launch.epoch, {}, 0}, writes ? other : stamp_of(*current),
                    writes ? other_pc : static_cast<u32>(s.pc), address, s.size, 0};
        std::snprintf(doubt.fault.text, sizeof doubt.fault.text, "%s", text);
        if (place.reader != kNobody) doubt.who.threads.set(place.reader);
        doubt_race(reader, doubt);
        return;
    }
    if (two_writes && (launch.flags & kAllowSameValue) && !(s.flags & kAtomic)) {
        settle_same_value();
        same_value.waiting = true;
        same_value.address = address;
        same_value.size = std::min<u32>(s.size, 16);
        std::memcpy(same_value.before, reinterpret_cast<void*>(address), same_value.size);
        same_value.fault = make_fault(kind, place);
        std::snprintf(same_value.fault.text, sizeof same_value.fault.text, "%s", text);
        return;
    }
    report(kind, place, false, "%s", text);
}

// May two unordered accesses stand side by side? Atomics may, within their scope, beside volatile accesses too. Two of these
// may, except between lanes of one warp, where `volatile` is no replacement for __syncwarp.
RL_HOT bool compatible(const Thread& t, Stamp other, u32 mine, u32 theirs) {
    const u32 strong = kAtomic | kVolatile;
    if (!(mine & strong) || !(theirs & strong)) return false;
    const bool same_block = block_of(other) == this_block();
    if (((mine | theirs) & kBlockScope) && !same_block) return false;
    return ((mine | theirs) & kAtomic) || !same_block || thread_of(other) / kWarp != t.warp || ((mine | theirs) & kReleasing);
}

RL_HOT bool conflicts(const Thread& t, Stamp other, u32 mine, u32 theirs) {
    return other && !happened_before(t, other) && !compatible(t, other, mine, theirs);
}

// Is this read of no more use: empty, of the thread itself, or ordered before all that this block still does?
RL_HOT bool outdated(Stamp read, const Thread& t, bool shared_memory) {
    if (!read) return true;
    if (block_of(read) != this_block()) return shared_memory;
    return thread_of(read) == t.linear || epoch_of(read) != launch.epoch;
}

// The first and the latest reader are kept: any later writer is unordered with one of them, if with anybody.
RL_HOT void note_read(Cell& c, const Thread& t, Stamp now, const Subject& s, bool shared_memory) {
    if (outdated(c.read, t, shared_memory)) {
        c.read = now;
        c.read_flags = static_cast<u8>(s.flags);
        c.read_pc = static_cast<u32>(s.pc);
        if (c.more && outdated(second_reads[c.more].stamp, t, shared_memory)) second_reads[c.more].stamp = 0;
        return;
    }
    if (!c.more) {
        if (second_reads.empty()) second_reads.resize(1);
        c.more = static_cast<u32>(second_reads.size());
        second_reads.emplace_back();
    }
    second_reads[c.more] = {now, static_cast<u32>(s.pc), s.flags};
}

Thread* thread_of_access(Stamp s);  // residents.hpp

// The thread that may be about to compare and swap what it has read plainly; null: it is not.
RL_COLD inline Thread* who_may_swap(const Read& read) {
    if (read.flags & kDecided) return nullptr;
    Thread* const reader = thread_of_access(read.stamp);
    return reader && reader->status != Status::done ? reader : nullptr;
}

// A write by `t` against a read of the same bytes; true: they race, which is reported.
RL_HOT bool races_with_read(const Thread& t, const Read& read, const Subject& s, u64 address, bool shared_memory) {
    if (shared_memory && block_of(read.stamp) != this_block()) return false;
    if (RL_LIKELY(!conflicts(t, read.stamp, s.flags, read.flags))) return false;
    const bool doubted = (s.flags & kAtomic) && !(read.flags & (kAtomic | kVolatile));
    race(s, address, read.stamp, read.pc, "write-read race", false, doubted, doubted ? who_may_swap(read) : nullptr);
    return true;
}

RL_HOT void check_cell(Cell& c, const Thread& t, Stamp now, const Subject& s, u64 address, bool shared_memory) {
    if (shared_memory && c.write && block_of(c.write) != this_block()) c.write = 0;
    if (conflicts(t, c.write, s.flags, c.write_flags)) {
        const bool w = s.flags & kWrite;
        const bool plain = !(s.flags & (kWrite | kAtomic | kVolatile));
        race(s, address, c.write, c.write_pc, w ? "write-write race" : "read-write race", w,
             plain && (c.write_flags & kAtomic), current);
    }
    if (!(s.flags & kWrite)) {
        note_read(c, t, now, s, shared_memory);
        return;
    }
    if (!races_with_read(t, {c.read, c.read_pc, c.read_flags}, s, address, shared_memory) && c.more)
        races_with_read(t, second_reads[c.more], s, address, shared_memory);
    // An atomic right behind a plain store of the same thread orders nothing: the store stays what others race with.
    const u32 strong = kAtomic | kVolatile;
    if ((s.flags & strong) && c.write == now && !(c.write_flags & strong)) return;
    c.write = now;
    c.write_flags = static_cast<u8>(s.flags);
    c.write_pc = static_cast<u32>(s.pc);
}

RL_COLD inline void split(Cell& c) {
    const u32 first = static_cast<u32>(split_cells.size());
    for (int k = 0; k < 4; ++k) {
        split_cells.push_back(c);
        if (!c.more) continue;
        split_cells.back().more = static_cast<u32>(second_reads.size());
        second_reads.push_back(Read(second_reads[c.more]));
    }
    c.more = first;
    c.write_flags = kSplit;
}

// The cell of one byte; null while its cell is whole.
RL_HOT Cell* split_cell(const Cell& c, u64 offset) {
    return c.write_flags & kSplit ? &split_cells[c.more + (offset & 3)] : nullptr;
}

// The thread comes back by an atomic to what it has read plainly: the read was for that if it is a compare and swap.
inline void decide_read(u32 pc, Stamp read, auto& flags, const Thread& t, bool swaps) {
    const bool own = read && block_of(read) == this_block() && thread_of(read) == t.linear && epoch_of(read) == launch.epoch;
    if (!own || (flags & (kAtomic | kVolatile | kDecided))) return;
    if (swaps) note_swapped(pc);
    flags |= swaps ? kAtomic : kDecided;
}

inline void decide_reads(Cell& c, const Thread& t, bool swaps) {
    decide_read(c.read_pc, c.read, c.read_flags, t, swaps);
    if (!c.more) return;
    Read& second = second_reads[c.more];
    decide_read(second.pc, second.stamp, second.flags, t, swaps);
}

inline void decide_reads(Cell* cells, u64 offset, u32 size, const Thread& t, bool swaps) {
    for (u64 at = offset; at < offset + size; ++at) {
        Cell& c = cells[at >> 2];
        if (c.tag != launch_tag) continue;
        if (Cell* const part = split_cell(c, at)) {
            decide_reads(*part, t, swaps);
        } else if (at == offset || !(at & 3)) {
            decide_reads(c, t, swaps);
        }
    }
}

// Bytes [offset, offset + size) of a buffer whose cells are `cells`.
RL_HOT void check_race(Cell* cells, u64 offset, const Thread& t, const Subject& s, u64 address, bool shared_memory) {
    const Stamp now = stamp_of(t);
    for (u64 at = offset, end = offset + s.size; at < end;) {
        Cell& c = cells[at >> 2];
        if (c.tag != launch_tag) {
            c = Cell{};
            c.tag = launch_tag;
        }
        const u64 next = std::min<u64>((at | 3) + 1, end);
        if (RL_LIKELY(next - at == 4 && !(c.write_flags & kSplit))) {
            check_cell(c, t, now, s, address, shared_memory);
        } else {
            if (!(c.write_flags & kSplit)) split(c);
            for (u64 k = at; k < next; ++k) check_cell(*split_cell(c, k), t, now, s, address, shared_memory);
        }
        at = next;
    }
}

}  // namespace roofline
