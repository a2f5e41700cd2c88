// Race detection: one cell per four bytes remembers the last write and two reads. Two cells fill a cache line, because
// moving them is what most of the time goes into; the second read, which few cells have, lies elsewhere. A cell that is
// accessed in pieces (half, char) splits into four cells of one byte.
#pragma once

#include "clocks.hpp"

namespace roofline {

enum AccessFlag : u32 {
    kRdOnly = 0,
    kWrite = 1,
    kAtomic = 2,
    kVolatile = 4,
    kBlockScope = 8,
    kReleasing = 16,  // volatile store after a fence
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

// Races between a plain read and an atomic, by number less one. A loop around atomicCAS begins with such a read, of which
// nothing but what to compare with depends: the race counts unless the reader's next access is a compare and swap there, or
// has been of another thread. (A maximum needs none where the value read is larger already.)
inline std::vector<Fault> doubtful_races;
inline std::vector<u32> swapped_reads;  // places of reads that a compare and swap has followed

inline bool is_swapped(u32 pc) { return std::find(swapped_reads.begin(), swapped_reads.end(), pc) != swapped_reads.end(); }

RL_COLD inline void settle_doubtful(Thread& t, bool swaps_there) {
    const Fault fault = doubtful_races[t.doubtful - 1];
    t.doubtful = 0;
    if (swaps_there || is_swapped(static_cast<u32>(fault.pc)) || launch.faults.size() >= kMaxFaults) return;
    for (const Fault& known : launch.faults)
        if (known.kind == fault.kind && known.pc == fault.pc && known.other_pc == fault.other_pc) return;
    add_fault(fault);
}

// `doubt`: the thread whose next access decides; null: none.
RL_COLD inline void race(const Subject& s, u64 address, Stamp other, u32 other_pc, const char* what, bool two_writes,
                         Thread* doubt) {
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
    if (doubt) {
        if (doubt->doubtful || is_swapped(static_cast<u32>(s.flags & kWrite ? other_pc : s.pc))) return;
        doubtful_races.push_back(make_fault(kind, place));
        std::snprintf(doubtful_races.back().text, sizeof doubtful_races.back().text, "%s", text);
        doubt->doubtful = static_cast<u32>(doubtful_races.size());
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

// The thread that has done nothing since a plain read but may be about to compare and swap there; null: it is not.
RL_COLD inline Thread* who_may_swap(const Read& read, u64 address) {
    if (read.flags & (kAtomic | kVolatile)) return nullptr;
    if (is_swapped(read.pc)) return current;
    Thread* const reader = thread_of_access(read.stamp);
    return reader && reader->status != Status::done && reader->log.last_address() == address ? reader : nullptr;
}

// A write by `t` against a read of the same bytes; true: they race, which is reported.
RL_HOT bool races_with_read(const Thread& t, const Read& read, const Subject& s, u64 address, bool shared_memory) {
    if (shared_memory && block_of(read.stamp) != this_block()) return false;
    if (RL_LIKELY(!conflicts(t, read.stamp, s.flags, read.flags))) return false;
    race(s, address, read.stamp, read.pc, "write-read race", false, s.flags & kAtomic ? who_may_swap(read, address) : nullptr);
    return true;
}

RL_HOT void check_cell(Cell& c, const Thread& t, Stamp now, const Subject& s, u64 address, bool shared_memory) {
    if (shared_memory && c.write && block_of(c.write) != this_block()) c.write = 0;
    if (conflicts(t, c.write, s.flags, c.write_flags)) {
        const bool w = s.flags & kWrite;
        const bool plain = !(s.flags & (kWrite | kAtomic | kVolatile));
        race(s, address, c.write, c.write_pc, w ? "write-write race" : "read-write race", w,
             plain && (c.write_flags & kAtomic) ? current : nullptr);
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

// The thread compares and swaps what it has just read: the read was for that.
inline void forgive_read(Cell* cells, u64 offset, u32 size, const Thread& t) {
    const auto forgive = [](u32 pc, auto& read_flags) {
        if (!(read_flags & (kAtomic | kVolatile)) && !is_swapped(pc)) swapped_reads.push_back(pc);
        read_flags |= kAtomic;
    };
    const auto own = [&](Stamp s) { return s && block_of(s) == this_block() && thread_of(s) == t.linear; };
    for (u64 at = offset >> 2; at < (offset + size + 3) >> 2; ++at) {
        Cell& c = cells[at];
        if (c.tag != launch_tag || (c.write_flags & kSplit)) continue;
        if (own(c.read)) forgive(c.read_pc, c.read_flags);
        if (c.more && own(second_reads[c.more].stamp)) forgive(second_reads[c.more].pc, second_reads[c.more].flags);
    }
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
