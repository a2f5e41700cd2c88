// Where memory lives. Every buffer has a slot of address space of its own, so wide that no 32-bit index leaves it, and a
// byte map beside it that says for every byte whether it belongs to the view and whether it has been written.
#pragma once

#include <sys/mman.h>

#include "faults.hpp"

namespace roofline {

constexpr u32 kSlots = 128;
constexpr u64 kPage = 4096;

struct Mapping {
    u64 low = 0, bytes = 0;
};

struct Region {
    u64 base = 0, size = 0;
    u64 placed = 0;  // of `base`: the offset in its allocation
    bool read_only = false;
    Mapping data, map, cells;
    u8* state = nullptr;           // one ByteState per byte
    struct Cell* shadow = nullptr;  // one per four bytes (races.hpp)
};

struct Arena {
    u64 low = 0, length = 0;
    u32 shift = 0;
    Region regions[kSlots];

    bool reserve() {
        if (low) return true;
        // 256 GiB a slot, so that no 32-bit index leaves it; less where the address space is limited, as in an emulator.
        for (shift = 38; shift >= 26; --shift) {
            length = static_cast<u64>(kSlots) << shift;
            void* base = mmap(nullptr, length + (1ull << shift), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (base == MAP_FAILED) continue;
            low = (reinterpret_cast<u64>(base) + (1ull << shift) - 1) >> shift << shift;
            return true;
        }
        length = 0;
        return false;
    }

    Region* find(u64 address) {
        return address - low < length ? &regions[(address - low) >> shift] : nullptr;
    }
};

inline Arena arena;

// The window of the running block's shared memory: the thread-local segment of the module.
struct Shared {
    u64 low = 0, length = 0;
    std::vector<Span> spans;  // variables, relative to low; the dynamic array included
    std::vector<u8> state;
};

inline Shared shared;

// The __device__ variables of the module, all initialised.
struct ModuleMemory {
    u64 low = 0, length = 0;
    std::vector<u8> state;
};

inline ModuleMemory module_memory;

inline u64 round_up(u64 value, u64 unit) { return (value + unit - 1) / unit * unit; }

inline bool grow(Mapping& mapping, u64 bytes) {
    if (mapping.bytes >= bytes) return true;
    if (mapping.bytes) munmap(reinterpret_cast<void*>(mapping.low), mapping.bytes);
    mapping = {};
    bytes = round_up(bytes, kPage);
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    mapping = {reinterpret_cast<u64>(base), bytes};
    return true;
}

struct Footprint {
    u64 read = 0, written = 0;  // bytes, each counted once
};

inline Footprint footprint(const Region& region) {
    Footprint result;
    for (u64 at = 0; at < region.size; at += 8) {  // the map is longer than the region, and zero there
        u64 states;
        std::memcpy(&states, region.state + at, sizeof states);
        result.read += static_cast<u64>(__builtin_popcountll(states & 0x0101010101010101ull * kRead));
        result.written += static_cast<u64>(__builtin_popcountll(states & 0x0101010101010101ull * kWritten));
    }
    return result;
}

inline u8 canary(u64 address) { return static_cast<u8>((address * 0x9E3779B97F4A7C15ull) >> 56) | 1; }

template <class F>
inline void for_slack(const Region& region, F&& f) {
    for (u64 a = region.data.low; a < region.base; ++a) f(a);
    for (u64 a = region.base + region.size; a < region.data.low + region.data.bytes; ++a) f(a);
}

// Opens slot `slot` for `size` bytes that start `placed` bytes into their allocation; returns their address, the same
// modulo 256, or 0 without memory.
inline u64 open_region(u32 slot, u64 size, u64 placed) {
    if (slot >= kSlots || !arena.reserve()) return 0;
    Region& region = arena.regions[slot];
    const u64 residue = placed % 256;
    const u64 extent = round_up(residue + size, 256), pages = round_up(extent ? extent : 256, kPage);
    if (pages > 1ull << (arena.shift - 1)) return 0;
    const u64 middle = arena.low + (static_cast<u64>(slot) << arena.shift) + (1ull << (arena.shift - 1));
    if (region.data.bytes != pages) {
        if (region.data.bytes) {
            mmap(reinterpret_cast<void*>(region.data.low), region.data.bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
            region.data = {};
        }
        if (mprotect(reinterpret_cast<void*>(middle), pages, PROT_READ | PROT_WRITE)) return 0;
        region.data = {middle, pages};
    }
    region.base = middle + pages - (extent ? extent : 256) + residue;
    region.size = size;
    region.placed = placed;
    region.read_only = false;
    for_slack(region, [](u64 a) { *reinterpret_cast<u8*>(a) = canary(a); });
    region.state = nullptr;
    region.shadow = nullptr;
    return region.base;
}

inline void check_canaries(u32 slots) {
    for (u32 slot = 0; slot < slots; ++slot) {
        const Region& region = arena.regions[slot];
        u64 bad = 0;
        for_slack(region, [&](u64 a) { if (!bad && *reinterpret_cast<u8*>(a) != canary(a)) bad = a; });
        if (!bad) continue;
        Place place;
        place.region = static_cast<int>(slot);
        place.offset = static_cast<i64>(bad - region.base);
        place.pc = slot + 1;  // keeps the findings of two buffers apart
        report(Kind::guard_overwritten, place, false, "bytes outside the buffer were overwritten");
    }
}

}  // namespace roofline
