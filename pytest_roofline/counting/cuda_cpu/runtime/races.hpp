// Race detection: one cell per four bytes remembers the last write and two reads. A cell that is accessed in pieces
// (half, char) splits into four cells of one byte.
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
};

struct Cell {
    Stamp write, read[2];
    u32 write_pc, read_pc[2];
    u32 split;  // index of four cells in split_cells, 0: none
    u16 tag;    // launch
    u8 write_flags, read_flags[2];
    u8 unused[3];
};

inline u16 launch_tag = 0;
inline std::vector<Cell> split_cells;

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
    if (launch.faults.size() < kMaxFaults) launch.faults.push_back(same_value.fault);
}

RL_COLD inline void race(const Subject& s, u64 address, Stamp other, u32 other_pc, const char* what, bool two_writes) {
    Place place;
    place.pc = s.pc;
    place.other_pc = other_pc;
    place.region = s.region;
    place.offset = s.offset;
    place.size = s.size;
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

// May two unordered accesses stand side by side? Atomics may, within their scope. Volatile accesses may too, except
// between lanes of one warp, where `volatile` is no replacement for __syncwarp.
RL_HOT bool compatible(const Thread& t, Stamp other, u32 mine, u32 theirs) {
    const u32 strong = kAtomic | kVolatile;
    if (!(mine & strong) || !(theirs & strong)) return false;
    const bool same_block = block_of(other) == this_block();
    if (((mine | theirs) & kBlockScope) && !same_block) return false;
    const bool both_atomic = mine & theirs & kAtomic;
    return both_atomic || !same_block || thread_of(other) / kWarp != t.warp || ((mine | theirs) & kReleasing);
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
    const int slot = outdated(c.read[0], t, shared_memory) ? 0 : 1;
    c.read[slot] = now;
    c.read_flags[slot] = static_cast<u8>(s.flags);
    c.read_pc[slot] = static_cast<u32>(s.pc);
    if (slot == 0 && c.read[1] && outdated(c.read[1], t, shared_memory)) c.read[1] = 0;
}

RL_HOT void check_cell(Cell& c, const Thread& t, Stamp now, const Subject& s, u64 address, bool shared_memory) {
    if (shared_memory && c.write && block_of(c.write) != this_block()) c.write = 0;
    if (conflicts(t, c.write, s.flags, c.write_flags)) {
        const bool w = s.flags & kWrite;
        race(s, address, c.write, c.write_pc, w ? "write-write race" : "read-write race", w);
    }
    if (!(s.flags & kWrite)) {
        note_read(c, t, now, s, shared_memory);
        return;
    }
    for (int k = 0; k < 2; ++k) {
        if (shared_memory && c.read[k] && block_of(c.read[k]) != this_block()) c.read[k] = 0;
        if (!conflicts(t, c.read[k], s.flags, c.read_flags[k])) continue;
        race(s, address, c.read[k], c.read_pc[k], "write-read race", false);
        break;
    }
    c.write = now;
    c.write_flags = static_cast<u8>(s.flags);
    c.write_pc = static_cast<u32>(s.pc);
}

RL_COLD inline void split(Cell& c) {
    if (split_cells.empty()) split_cells.resize(1);
    Cell whole = c;
    whole.split = 0;
    c.split = static_cast<u32>(split_cells.size());
    for (int k = 0; k < 4; ++k) split_cells.push_back(whole);
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
        if (RL_LIKELY(next - at == 4 && !c.split)) {
            check_cell(c, t, now, s, address, shared_memory);
        } else {
            if (!c.split) split(c);
            const u32 base = c.split;
            for (u64 k = at; k < next; ++k) check_cell(split_cells[base + (k & 3)], t, now, s, address, shared_memory);
        }
        at = next;
    }
}

}  // namespace roofline
