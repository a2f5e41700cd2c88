// Findings: collected in the order of discovery; a fatal one ends the launch.
#pragma once

#include <bitset>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "fibers.hpp"

namespace roofline {

constexpr size_t kMaxFaults = 64;
constexpr u32 kNobody = ~0u;

struct Place {
    u64 pc = 0, other_pc = 0;
    int region = kNoRegion;
    i64 offset = 0;
    u64 size = 0;
    Site site{};
    int other_line = 0;
    u32 reader = kNobody;  // thread of this block that read what is wrong
};

// Who read what a finding is about. By that a cause is told from a symptom: see note_divergence.
struct Readers {
    u64 block;
    u16 epoch;
    std::bitset<kMaxThreads> threads;
    u64 found;  // number of the discovery; a doubted race is added later than it is found
};

inline std::vector<Readers> readers;  // of each finding
inline u64 discoveries = 0;

inline Fault make_fault(Kind kind, const Place& place) {
    Fault fault{};
    fault.kind = static_cast<u32>(kind);
    fault.count = 1;
    const Dim block = launch.block_index, thread = current ? current->index : Dim{};
    const u32 blocks[3] = {block.x, block.y, block.z}, indices[3] = {thread.x, thread.y, thread.z};
    std::memcpy(fault.block, blocks, sizeof blocks);
    std::memcpy(fault.thread, indices, sizeof indices);
    fault.pc = place.pc;
    fault.other_pc = place.other_pc;
    fault.region = place.region;
    fault.offset = place.offset;
    fault.size = place.size;
    fault.line = place.site.line;
    fault.other_line = place.other_line;
    std::snprintf(fault.file, sizeof fault.file, "%s", place.site.file);
    return fault;
}

inline void add_fault(const Fault& fault, const Readers& who) {
    launch.faults.push_back(fault);
    readers.resize(launch.faults.size());
    readers.back() = who;
}

inline void add_fault(const Fault& fault) { add_fault(fault, {launch.block, launch.epoch, {}, ++discoveries}); }

// At the end of a launch: into the order of discovery.
inline void sort_faults() {
    std::vector<size_t> order(launch.faults.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [](size_t a, size_t b) { return readers[a].found < readers[b].found; });
    std::vector<Fault> sorted;
    for (const size_t i : order) sorted.push_back(launch.faults[i]);
    launch.faults.swap(sorted);
}

void conclude_doubts();  // doubts.hpp

// Some threads wait at a barrier and the others will not come. Reads by those others behind the barrier are no bugs of their
// own: races and unwritten bytes that no waiting thread has read, since the barrier before, are symptoms. What waiting threads
// have read may on the contrary be why the threads went different ways.
inline void note_divergence() {
    conclude_doubts();
    std::bitset<kMaxThreads> waiting;
    for (u32 i = 0; i < launch.threads; ++i) waiting[i] = threads[i].status == Status::barrier;
    for (size_t i = 0; i < launch.faults.size(); ++i) {
        const Kind kind = static_cast<Kind>(launch.faults[i].kind);
        const bool candidate = kind == Kind::shared_race || kind == Kind::global_race || kind == Kind::uninitialised_read;
        if (!candidate || readers[i].block != launch.block || readers[i].epoch != launch.epoch) continue;
        launch.faults[i].symptom = (readers[i].threads & waiting).none();
    }
}

// Ends the launch: the running thread never continues.
[[noreturn]] inline void abandon() {
    launch.abort = true;
    for (;;) wait();
}

__attribute__((format(printf, 4, 5))) RL_COLD inline void report(Kind kind, const Place& place, bool fatal,
                                                                  const char* format, ...) {
    const u64 key = static_cast<u64>(kind) * 0x9E3779B97F4A7C15ull ^ place.pc * 31 ^ place.other_pc * 17 ^
                    static_cast<u64>(place.site.line) << 40;
    const auto known = launch.fault_index.find(key);
    if (known != launch.fault_index.end()) {
        ++launch.faults[known->second].count;
    } else if (launch.faults.size() < kMaxFaults) {
        Fault fault = make_fault(kind, place);
        va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(fault.text, sizeof fault.text, format, arguments);
        va_end(arguments);
        launch.fault_index[key] = static_cast<u32>(launch.faults.size());
        add_fault(fault);
    }
    if (place.reader != kNobody) {
        const auto entry = launch.fault_index.find(key);
        if (entry != launch.fault_index.end() && readers[entry->second].block == launch.block)
            readers[entry->second].threads.set(place.reader);
    }
    if (fatal) {
        launch.abort = true;
        if (current && current->stack) abandon();
    }
}

}  // namespace roofline
