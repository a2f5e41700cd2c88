// What the memory system does with one warp's request: 32-byte sectors of global memory, wavefronts of shared memory.
#pragma once

#include <algorithm>

#include "abi.hpp"

namespace roofline {

struct Request {
    u32 mask = 0;  // active lanes
    u32 size = 0;  // bytes per lane
    u64 address[32];
};

inline u32 lanes_of(const Request& r) { return static_cast<u32>(__builtin_popcount(r.mask)); }

inline u32 unique(u64* values, u32 count) {
    if (!std::is_sorted(values, values + count)) std::sort(values, values + count);
    return static_cast<u32>(std::unique(values, values + count) - values);
}

// The most usual request: a full warp on neighbours.
inline bool packed(const Request& r) {
    if (r.mask != ~0u) return false;
    u64 different = 0;
    for (u32 l = 0; l < 32; ++l) different |= (r.address[l] - r.address[0]) ^ (static_cast<u64>(r.size) * l);
    return !different;
}

inline u32 sectors(const Request& r) {
    if (packed(r)) return static_cast<u32>(((r.address[0] + 32 * r.size - 1) >> 5) - (r.address[0] >> 5) + 1);
    u64 touched[32 * 2];
    u32 count = 0;
    for (u32 l = 0; l < 32; ++l) {
        if (!(r.mask >> l & 1)) continue;
        const u64 first = r.address[l] >> 5, last = (r.address[l] + r.size - 1) >> 5;
        if (!count || touched[count - 1] != first) touched[count++] = first;
        if (last != first) touched[count++] = last;
    }
    return unique(touched, count);
}

// The sectors that as many distinct elements need when they lie packed and aligned.
inline u32 ideal_sectors(const Request& r) {
    if (packed(r)) return r.size;
    u64 addresses[32];
    u32 count = 0;
    for (u32 l = 0; l < 32; ++l)
        if (r.mask >> l & 1) addresses[count++] = r.address[l];
    return (unique(addresses, count) * r.size + 31) / 32;
}

struct Wavefronts {
    u32 total = 0, groups = 0, degree = 0;
};

// The two usual requests of a full warp without conflict: one word, or neighbours.
inline bool conflict_free(const Request& r) {
    if (r.mask != ~0u || r.size != 4) return false;
    u64 same = 0, step = 0;
    for (u32 l = 1; l < 32; ++l) {
        same |= r.address[l] ^ r.address[0];
        step |= (r.address[l] - r.address[0]) ^ (4ull * l);
    }
    return !(same & ~3ull) || !step;
}

// Lanes [first, first + count) served together: as many wavefronts as distinct words in the worst bank.
inline void serve(const Request& r, u32 first, u32 count, bool atomic, Wavefronts& result) {
    u64 words[32 * 4];
    u32 n = 0;
    for (u32 l = first; l < first + count; ++l) {
        if (!(r.mask >> l & 1)) continue;
        for (u32 byte = 0; byte < std::max(r.size, 4u); byte += 4) words[n++] = (r.address[l] + byte) >> 2;
    }
    if (!n) return;
    if (!atomic) n = unique(words, n);  // same word: broadcast; atomics on one word follow each other
    u32 per_bank[32] = {}, degree = 0;
    for (u32 i = 0; i < n; ++i) degree = std::max(degree, ++per_bank[words[i] & 31]);
    result.total += degree;
    result.groups += 1;
    result.degree = std::max(result.degree, degree);
}

// Two parts of a wide request go together if lanes i and i^1, or all i and i^2, want the same address. Of 16 bytes, a lane
// that takes no part is no match for one that does.
inline bool pairs(const Request& r, u32 first, u32 count) {
    for (u32 step = 1; step <= 2; ++step) {
        bool all = true;
        for (u32 l = first; l < first + count && all; ++l) {
            const u32 other = l ^ step;
            const bool here = r.mask >> l & 1, there = r.mask >> other & 1;
            all = here && there ? r.address[l] == r.address[other] : here == there || r.size <= 8;
        }
        if (all) return true;
    }
    return false;
}

// 32 lanes of up to 4 bytes go at once, 8 bytes by half warps, 16 bytes by quarters. Halves (of 8-byte requests) and
// quarters (of each half, 16 bytes) join when the lanes pair up: a broadcast of 16 bytes takes two wavefronts.
inline Wavefronts wavefronts(const Request& r) {
    Wavefronts result;
    if (conflict_free(r)) {
        result = {1, 1, 1};
    } else if (r.size <= 4) {
        serve(r, 0, 32, false, result);
    } else if (r.size <= 8) {
        if (pairs(r, 0, 32)) {
            serve(r, 0, 32, false, result);
        } else {
            serve(r, 0, 16, false, result);
            serve(r, 16, 16, false, result);
        }
    } else {
        for (u32 half = 0; half < 32; half += 16) {
            if (pairs(r, half, 16)) {
                serve(r, half, 16, false, result);
            } else {
                serve(r, half, 8, false, result);
                serve(r, half + 8, 8, false, result);
            }
        }
    }
    return result;
}

// Atomics: 8 bytes by half warps; lanes on one word follow each other, but those that only count up are added first; a
// compare and swap sends two operands.
inline Wavefronts atomic_wavefronts(const Request& r, u32 how) {
    Wavefronts result;
    if (r.size <= 4) {
        serve(r, 0, 32, how != kCounts, result);
    } else {
        serve(r, 0, 16, true, result);
        serve(r, 16, 16, true, result);
    }
    if (how == kSwaps) result.total *= 2;
    return result;
}

// Neither floats nor 64-bit numbers are added in shared memory: a loop loads, adds and swaps where nothing has changed
// meanwhile. In each round every bank serves the first lane that is left (of each half warp, if there are two), and an
// address one lane.
struct Spin {
    u32 rounds = 0, swaps = 0, loads = 0;  // the latter two: wavefronts
};

inline void serve_first(Request& r, u32 first, u32 count, u64* served, u32& n) {
    const u32 shift = r.size > 4 ? 3 : 2;
    u32 busy = 0;
    for (u32 l = first; l < first + count; ++l) {
        const u32 bank = 1u << (r.address[l] >> shift & (r.size > 4 ? 15 : 31));
        if (!(r.mask >> l & 1) || busy & bank) continue;
        busy |= bank;
        if (std::find(served, served + n, r.address[l]) != served + n) continue;
        served[n++] = r.address[l];
        r.mask &= ~(1u << l);
    }
}

inline Spin spin(Request r) {
    Spin result;
    const u32 together = r.size > 4 ? 16 : 32;
    while (r.mask) {
        u64 served[32];
        u32 n = 0;
        result.rounds += 1;
        result.loads += wavefronts(r).total;
        for (u32 first = 0; first < 32; first += together) {
            result.swaps += r.mask >> first & (together == 32 ? ~0u : 0xFFFFu) ? 2 : 0;
            serve_first(r, first, together, served, n);
        }
    }
    return result;
}

// ldmatrix: the rows of one matrix, which eight lanes name, go together; matrices do not join.
inline Wavefronts matrix_wavefronts(const Request& r) {
    Wavefronts result;
    for (u32 first = 0; first < 32; first += 8) serve(r, first, 8, false, result);
    return result;
}

// The sectors that a GPU counts for a cp.async: of 4 and 8 bytes those of any load; of 16 bytes, which bypass L1, one for
// every sector of shared memory that is written from every line of 128 bytes that is read.
inline u32 copy_sectors(const Request& source, const Request& destination) {
    if (destination.size < 16) return sectors(source);
    u64 moves[32];
    u32 count = 0;
    for (u32 l = 0; l < 32; ++l)
        if (source.mask >> l & 1) moves[count++] = (source.address[l] >> 7) << 20 | (destination.address[l] >> 5 & 0xFFFFF);
    return unique(moves, count);
}

struct Contention {
    u32 sectors = 0, degree = 0;  // degree: the most lanes on one address
};

inline u32 most_on_one_address(const Request& r) {
    u64 addresses[32];
    u32 count = 0, most = 0;
    for (u32 l = 0; l < 32; ++l)
        if (r.mask >> l & 1) addresses[count++] = r.address[l];
    std::sort(addresses, addresses + count);
    for (u32 i = 0, run = 0; i < count; ++i) {
        run = i && addresses[i] == addresses[i - 1] ? run + 1 : 1;
        most = std::max(most, run);
    }
    return most;
}

// Lines of 128 bytes go one of four ways, which a hash of the line's number picks.
inline u32 way_of(u64 line) {
    return static_cast<u32>(__builtin_parityll(line & 0x35) | __builtin_parityll(line & 0x1A) << 1);
}

// Every way serves its lanes in their order: it visits the line of the first that is left, and serves there all lanes of
// this line whose bank no lane before them waits for, with this line or with another one. So lanes on one address follow
// each other, and a line may be visited again for one whose bank was taken. Addresses are those in an allocation.
inline Contention contention(const Request& r) {
    Contention result;
    result.degree = most_on_one_address(r);
    for (u32 waiting = r.mask; waiting;) {
        const u64 line = r.address[__builtin_ctz(waiting)] >> 7;
        const u32 way = way_of(line);
        u64 touched[32];
        u32 busy = 0, served = 0, count = 0;
        for (u32 l = 0; l < 32; ++l) {
            const u64 address = r.address[l];
            if (!(waiting >> l & 1) || way_of(address >> 7) != way) continue;
            const u32 banks = (r.size > 4 ? 3u : 1u) << (address >> 2 & 31);
            if (address >> 7 == line && !(banks & busy)) {
                served |= 1u << l;
                touched[count++] = address >> 5;
            }
            busy |= banks;
        }
        waiting &= ~served;
        result.sectors += unique(touched, count);
    }
    return result;
}

}  // namespace roofline
