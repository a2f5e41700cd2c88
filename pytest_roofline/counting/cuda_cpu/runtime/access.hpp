// One load or store of one thread: which memory it touches, whether it may, what it is counted as.
#pragma once

#include "races.hpp"

namespace roofline {

RL_HOT u64 spread(u8 bits) { return bits * 0x0101010101010101ull; }

constexpr u64 kNearby = 64 * 1024;  // further away from the shared variables it is no index of them that is wrong

// `whole`: the size of what the access is a piece of.
RL_COLD inline void bad_pointer(u64 address, u32 size, u32 flags, u64 pc, u64 whole = 0) {
    const char* verb = flags & kWrite ? "write" : "read";
    Place place;
    place.pc = pc;
    place.size = size;
    if (shared.length && address + kNearby >= shared.low && address < shared.low + shared.length + kNearby) {
        place.region = kSharedRegion;
        place.offset = static_cast<i64>(address - shared.low);
        report(Kind::out_of_bounds, place, true, "%s of %u bytes outside the shared variables", verb, size);
        return;
    }
    if (Region* region = arena.find(address); region && region->size + region->data.bytes) {
        place.region = static_cast<int>(region - arena.regions);
        place.offset = static_cast<i64>(address - region->base);
        const bool gap = place.offset >= 0 && static_cast<u64>(place.offset) < region->size;
        report(Kind::out_of_bounds, place, true, "%s of %u bytes %s", verb, size,
               gap ? "in a gap of the view (between its rows or elements)" : "outside the buffer");
        return;
    }
    place.offset = static_cast<i64>(address);
    place.size = std::max<u64>(whole, size);
    report(Kind::invalid_pointer, place, true, "%s of %llu bytes at 0x%llx, which no argument points to%s", verb,
           static_cast<unsigned long long>(place.size),
           static_cast<unsigned long long>(address), address < kPage ? " (null pointer)" : "");
}

RL_COLD inline void not_readable(u8 state, Place place) {
    place.reader = current->linear;
    if (state & kInFlight) {
        report(Kind::async_copy, place, false, "access to bytes that a cp.async is still writing; wait for it first");
    } else {
        report(Kind::uninitialised_read, place, false, "read of bytes that nobody has written");
    }
}

// Bounds, initialisation and footprint of bytes whose states start at `state`. False: not all of them may be touched.
RL_HOT bool touch(u8* state, const Place& place, u32 flags) {
    const u64 size = place.size;
    const bool writes = flags & kWrite, reads = !writes || (flags & kAtomic);
    u8 all = 0xFF, any = 0;
    for (u64 i = 0; i < size; ++i) {
        all &= state[i];
        any |= state[i];
    }
    if (!(all & kValid)) return false;
    if ((reads && !(all & kInitialised)) || (any & kInFlight)) {
        not_readable(any, place);
        for (u64 i = 0; i < size; ++i) state[i] = static_cast<u8>((state[i] | kInitialised) & ~kInFlight);
    }
    const u8 add = static_cast<u8>((reads ? kRead : 0) | (writes ? kInitialised | kWritten : 0));
    for (u64 i = 0; i < size; ++i) state[i] |= add;
    return true;
}

template <class Word>
RL_HOT bool touch_word(u8* state, const Place& place, u32 flags) {
    Word word;
    std::memcpy(&word, state, sizeof word);
    const bool writes = flags & kWrite;
    const Word need = static_cast<Word>(spread(writes && !(flags & kAtomic) ? kValid : kValid | kInitialised));
    if (RL_LIKELY((word & need) == need && !(word & static_cast<Word>(spread(kInFlight))))) {
        word |= static_cast<Word>(
            spread(static_cast<u8>((writes ? kInitialised | kWritten : kRead) | (flags & kAtomic ? kRead : 0))));
        std::memcpy(state, &word, sizeof word);
        return true;
    }
    return touch(state, place, flags);
}

RL_HOT bool touch_bytes(u8* state, const Place& place, u32 flags) {
    switch (place.size) {
        case 1: return touch_word<u8>(state, place, flags);
        case 2: return touch_word<u16>(state, place, flags);
        case 4: return touch_word<u32>(state, place, flags);
        case 8: return touch_word<u64>(state, place, flags);
        default: return touch(state, place, flags);
    }
}

inline std::vector<Cell> shared_cells, module_cells;

// Starts the shadow afresh: a tag marks the cells in use; when the tags run out, all cells are cleared.
inline void forget_accesses() {
    split_cells.clear();
    second_reads.clear();
    if (++launch_tag) return;
    launch_tag = 1;
    std::fill(shared_cells.begin(), shared_cells.end(), Cell{});
    std::fill(module_cells.begin(), module_cells.end(), Cell{});
    for (Region& region : arena.regions)
        if (region.cells.bytes) std::memset(reinterpret_cast<void*>(region.cells.low), 0, region.cells.bytes);
}

// Constants of the module itself, and what is next to its variables.
inline void other_access(u64 address, u32 size, u32 flags, u64 pc, u64 whole) {
    const LaunchSpec& spec = *launch.spec;
    const u64 at = address - launch.module_base;
    const Span* end = spec.objects + spec.objects_count;
    const Span* next = std::upper_bound(spec.objects, end, at, [](u64 v, const Span& s) { return v < s.low; });
    const u64 extent = next != spec.objects ? next[-1].size & ~kConstantSpan : 0;
    if (next != spec.objects && at - next[-1].low + size <= extent) {
        if (!(flags & kWrite)) return;
        Place place;
        place.pc = pc;
        place.size = size;
        place.offset = static_cast<i64>(at);
        report(Kind::read_only, place, false, "write to a constant of the module");
        return;
    }
    const bool writable_data = std::any_of(launch.writable_segments.begin(), launch.writable_segments.end(),
                                           [&](const Span& s) { return address - s.low < s.size; });
    const bool data = std::any_of(launch.segments.begin(), launch.segments.end(),
                                  [&](const Span& s) { return address - s.low < s.size; });
    if (data && !writable_data && !(flags & kWrite)) return;  // literals
    if (data) {
        Place place;
        place.pc = pc;
        place.size = size;
        place.offset = static_cast<i64>(at);
        report(Kind::out_of_bounds, place, true, "access of %u bytes outside the module's __constant__ and __device__ variables",
               size);
        return;
    }
    bad_pointer(address, size, flags, pc, whole);
}

RL_COLD inline void misaligned(const Place& place, u64 address) {
    report(Kind::misaligned, place, true, "%llu-byte access at an address that is %llu modulo %llu",
           static_cast<unsigned long long>(place.size), static_cast<unsigned long long>(address % place.size),
           static_cast<unsigned long long>(place.size));
}

struct Target {
    int region;
    u64 offset;
    u8* state;
    Cell* cells;
};

// The buffer or shared variable around an address; false: neither.
RL_HOT bool locate(u64 address, u32 size, Target& target) {
    if (address - shared.low < shared.length) {
        target = {kSharedRegion, address - shared.low, shared.state.data() + (address - shared.low), shared_cells.data()};
        return target.offset + size <= shared.length;
    }
    if (address - arena.low >= arena.length) {
        if (address - module_memory.low >= module_memory.length) return false;
        const u64 offset = address - module_memory.low;
        target = {kModuleRegion, address - launch.module_base, &module_memory.state[offset],
                  module_cells.data() - (module_memory.low - launch.module_base) / 4};
        return *target.state & kValid && target.state[size - 1] & kValid;
    }
    const u64 slot = (address - arena.low) >> arena.shift;
    const Region& region = arena.regions[slot];
    const u64 offset = address - region.base;
    if (offset >= region.size || offset + size > region.size) return false;
    target = {static_cast<int>(slot), offset, region.state + offset, region.shadow};
    return true;
}

RL_HOT Space space_of(u32 flags, bool on_chip) {
    const bool writes = flags & kWrite;
    if (RL_LIKELY(!(flags & (kAtomic | kCopy | kMatrix)))) {
        if (on_chip) return writes ? Space::shared_store : Space::shared_load;
        return writes ? Space::global_store : Space::global_load;
    }
    if (flags & kCopy) return writes ? Space::copy_store : Space::copy_load;
    if (flags & kMatrix) return on_chip ? Space::matrix_load : Space::global_load;
    return on_chip ? Space::shared_atomic : Space::global_atomic;
}

RL_HOT void access(u64 address, u32 size, u32 flags, u64 return_address, u32 piece = 0, bool aligned = true,
                   u64 whole = 0) {
    Thread* t = current;
    if (!t || !launch.flags || address - t->stack_low < kStackBytes) return;
    const u64 pc = relative(return_address);
    if (same_value.waiting) settle_same_value();
    const bool swaps = (flags & kAtomic) && piece == kSwaps;
    if (t->doubts) decide_doubts(*t, address, size, swaps);
    Target target;
    if (!locate(address, size, target)) {
        if (address - shared.low < shared.length || address - arena.low < arena.length) {
            bad_pointer(address, size, flags, pc);
        } else {
            other_access(address, size, flags, pc, whole);
        }
        return;
    }
    if (*target.state & kHidden) return;
    if (launch.flags & kCheckAccesses) {
        Place place;
        place.pc = pc;
        place.region = target.region;
        place.offset = static_cast<i64>(target.offset);
        place.size = size;
        if (aligned && (address & (size - 1))) misaligned(place, address);
        if (!touch_bytes(target.state, place, flags)) {
            bad_pointer(address, size, flags, pc);
            return;
        }
        if ((flags & kWrite) && target.region >= 0 && arena.regions[target.region].read_only)
            report(Kind::read_only, place, false, "write to a buffer that is an input");
    }
    if (launch.flags & kCheckRaces) {
        const Subject subject{target.region, static_cast<i64>(target.offset), size, flags, pc};
        if (flags & kAtomic) decide_reads(target.cells, target.offset, size, *t, swaps);
        check_race(target.cells, target.offset, *t, subject, address, target.region == kSharedRegion);
    }
    if (launch.flags & kCount) {
        const Space space = space_of(flags, target.region == kSharedRegion);
        t->log.access(pc, size, space, piece, address);
    }
}

// A copy of unknown alignment (a struct): the GPU moves its members, taken to be words where the address allows.
inline void access_pieces(u64 address, u64 size, u32 flags, u64 return_address) {
    const u64 whole = size;
    for (u32 piece = 0; size; ++piece) {
        u32 step = 4;
        while (step > size || (address & (step - 1))) step >>= 1;
        access(address, step, flags, return_address, piece, true, piece ? 0 : whole);
        address += step;
        size -= step;
    }
}

}  // namespace roofline
