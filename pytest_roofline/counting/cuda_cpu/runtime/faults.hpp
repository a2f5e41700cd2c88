// Findings: collected in the order of discovery; a fatal one ends the launch.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "fibers.hpp"

namespace roofline {

constexpr size_t kMaxFaults = 64;

struct Place {
    u64 pc = 0, other_pc = 0;
    int region = kNoRegion;
    i64 offset = 0;
    u64 size = 0;
    Site site{};
};

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
    std::snprintf(fault.file, sizeof fault.file, "%s", place.site.file);
    return fault;
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
        launch.faults.push_back(fault);
    }
    if (fatal) {
        launch.abort = true;
        if (current && current->stack) abandon();
    }
}

}  // namespace roofline
