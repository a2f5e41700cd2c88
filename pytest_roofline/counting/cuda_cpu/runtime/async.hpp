// cp.async: executed when waited for, so that a missing or too weak wait shows.
#pragma once

#include "atomics.hpp"

namespace roofline {

inline bool valid_copy(u64 destination, u64 source, u32 size, u32 copied, u64 pc) {
    Place place;
    place.pc = pc;
    place.size = size;
    if (size != 4 && size != 8 && size != 16) {
        report(Kind::async_copy, place, true, "cp.async copies 4, 8 or 16 bytes, not %u", size);
    } else if (copied > size) {
        report(Kind::async_copy, place, true, "cp.async fills more zeros than the %u bytes that it writes", size);
    } else if (destination % size || source % size) {
        report(Kind::misaligned, place, true, "cp.async of %u bytes needs source and destination aligned to them", size);
    } else if (destination - shared.low >= shared.length) {
        report(Kind::out_of_bounds, place, true, "the destination of a cp.async is not shared memory");
    }
    return !launch.abort;
}

// Copies of different `variant` are different instructions.
inline void start_copy(u64 destination, u64 source, u32 size, u32 copied, u64 return_address, u32 variant) {
    Thread& t = *current;
    const u64 pc = relative(return_address);
    if (!valid_copy(destination, source, size, copied, pc)) return;
    if (launch.flags) {
        if (copied) access(source, copied, kRdOnly | kCopy, return_address, 2 * variant, false);
        // The destination is taken from now on: checked and counted as the store that it becomes.
        access(destination, size, kWrite | kCopy, return_address, 2 * variant + 1);
        u8* state = &shared.state[destination - shared.low];
        for (u32 i = 0; i < size; ++i) state[i] |= kInFlight;
    }
    t.copies.push_back({destination, source, return_address, size, copied, t.commit_groups});
}

inline void complete_copies(u32 groups_left) {
    Thread& t = *current;
    size_t kept = 0;
    for (const AsyncCopy& copy : t.copies) {
        if (copy.group + groups_left >= t.commit_groups) {
            t.copies[kept++] = copy;
            continue;
        }
        if (launch.flags) {
            u8* state = &shared.state[copy.destination - shared.low];
            for (u32 i = 0; i < copy.size; ++i) state[i] = static_cast<u8>((state[i] | kInitialised) & ~kInFlight);
            if (launch.flags & kCheckRaces) {
                const u64 offset = copy.destination - shared.low;
                const Subject subject{kSharedRegion, static_cast<i64>(offset), copy.size, kWrite, relative(copy.pc)};
                check_race(shared_cells.data(), offset, t, subject, copy.destination, true);
            }
        }
        std::memcpy(reinterpret_cast<void*>(copy.destination), reinterpret_cast<void*>(copy.source), copy.copied);
        std::memset(reinterpret_cast<void*>(copy.destination + copy.copied), 0, copy.size - copy.copied);
    }
    t.copies.resize(kept);
}

}  // namespace roofline

RL_API void rl_copy_async(void* destination, const void* source, uint32_t size, uint32_t zeros) {
    roofline::start_copy(reinterpret_cast<uint64_t>(destination), reinterpret_cast<uint64_t>(source), size, size - zeros, RL_CALLER, 0);
}

// The same where the code branches over the number of zeros: each number has an instruction of its own.
RL_API void rl_copy_async_by_zeros(void* destination, const void* source, uint32_t size, uint32_t zeros) {
    roofline::start_copy(reinterpret_cast<uint64_t>(destination), reinterpret_cast<uint64_t>(source), size, size - zeros, RL_CALLER, zeros);
}

RL_API void rl_copy_commit() { ++roofline::current->commit_groups; }

RL_API void rl_copy_wait(uint32_t groups_left) { roofline::complete_copies(groups_left); }
