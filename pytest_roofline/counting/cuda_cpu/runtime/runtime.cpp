// Runs CUDA C++ kernels, compiled for the host, one block after another on one thread. See docs/cuda-on-cpu.md.
#include <dlfcn.h>
#include <link.h>

#include "signals.hpp"

namespace roofline {

constexpr u64 kKeepCells = 256u << 20;  // bytes of shadow that a slot keeps between launches

struct ModuleSearch {
    u64 code, anchor;
};

int inspect(dl_phdr_info* info, size_t, void* data) {
    const auto& search = *static_cast<ModuleSearch*>(data);
    bool mine = false;
    for (int k = 0; k < info->dlpi_phnum; ++k) {
        const auto& header = info->dlpi_phdr[k];
        mine |= header.p_type == PT_LOAD && search.code - info->dlpi_addr - header.p_vaddr < header.p_memsz;
    }
    if (!mine) return 0;
    launch.module_base = info->dlpi_addr;
    for (int k = 0; k < info->dlpi_phnum; ++k) {
        const auto& header = info->dlpi_phdr[k];
        if (header.p_type == PT_TLS) {
            shared.low = reinterpret_cast<u64>(info->dlpi_tls_data);
            shared.length = header.p_memsz;
        } else if (header.p_type == PT_LOAD) {
            const Span span{info->dlpi_addr + header.p_vaddr, header.p_memsz};
            launch.segments.push_back(span);
            if (header.p_flags & PF_W) launch.writable_segments.push_back(span);
        }
    }
    return 1;
}

// The __device__ variables: from the first to the last of them, which nothing else of the module has to fear, because
// only their bytes are valid.
void find_module_memory(const LaunchSpec& spec) {
    module_memory = {};
    u64 low = ~0ull, high = 0;
    for (u64 i = 0; i < spec.objects_count; ++i) {
        const Span& s = spec.objects[i];
        if (s.size & kConstantSpan) continue;
        low = std::min(low, s.low);
        high = std::max(high, s.low + s.size);
    }
    if (low >= high) return;
    low &= ~15ull;
    module_memory.low = launch.module_base + low;
    module_memory.length = high - low;
    module_memory.state.assign(module_memory.length + 16, 0);
    for (u64 i = 0; i < spec.objects_count; ++i) {
        const Span& s = spec.objects[i];
        if (!(s.size & kConstantSpan)) std::memset(&module_memory.state[s.low - low], kValid | kInitialised, s.size);
    }
    module_cells.assign(module_memory.length / 4 + 4, Cell{});
}

void find_runtime() {
    if (!runtime_segments.empty()) return;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
            const u64 here = reinterpret_cast<u64>(&find_runtime);
            std::vector<Span> segments;
            bool mine = false;
            for (int k = 0; k < info->dlpi_phnum; ++k) {
                const auto& header = info->dlpi_phdr[k];
                if (header.p_type != PT_LOAD) continue;
                segments.push_back({info->dlpi_addr + header.p_vaddr, header.p_memsz});
                mine |= here - segments.back().low < segments.back().size;
            }
            if (mine) runtime_segments = segments;
            return mine ? 1 : 0;
        },
        nullptr);
}

void find_module(const LaunchSpec& spec) {
    launch.segments.clear();
    launch.writable_segments.clear();
    shared = {};
    ModuleSearch search{reinterpret_cast<u64>(spec.entry), spec.anchor};
    dl_iterate_phdr(inspect, &search);
    shared.state.assign(shared.length, 0);
    for (u64 i = 0; i < spec.shared_count; ++i) {
        const Span& s = spec.shared[i];
        if (s.size & kHiddenSpan) {
            std::memset(shared.state.data() + s.low, kHidden, s.size & ~kHiddenSpan);
        } else if (s.size) {
            shared.spans.push_back(s);
        }
    }
    if (shared_cells.size() < shared.length / 4 + 2) shared_cells.resize(shared.length / 4 + 2);
    find_module_memory(spec);
}

bool open_shadow(const LaunchSpec& spec) {
    for (u32 slot = 0; slot < kSlots; ++slot) {
        Region& region = arena.regions[slot];
        if (slot >= spec.slots) {
            region.size = 0;
            continue;
        }
        if (!(spec.flags & kCheckRaces)) continue;
        if (!grow(region.cells, (region.size / 4 + 2) * sizeof(Cell))) return false;
        region.shadow = reinterpret_cast<Cell*>(region.cells.low);
    }
    return true;
}

void close_shadow() {
    for (Region& region : arena.regions) {
        if (region.cells.bytes <= kKeepCells) continue;
        munmap(reinterpret_cast<void*>(region.cells.low), region.cells.bytes);
        region.cells = {};
    }
}

void run_blocks() {
    for (u64 next = 0; !launch.abort;) {
        if (take_up_one(next)) {
            continue_block();
        } else if (next < launch.blocks) {
            name_block(next++);
            start_block();
        } else {
            return;
        }
        if (launch.set_aside) {
            set_aside();
            continue;
        }
        ++launch.totals.blocks;
        launch.totals.threads += launch.threads;
    }
}

void run(const LaunchSpec& spec) {
    launch = {};
    launch.spec = &spec;
    launch.flags = spec.flags;
    launch.threads = spec.block[0] * spec.block[1] * spec.block[2];
    launch.warps = (launch.threads + kWarp - 1) / kWarp;
    launch.blocks = static_cast<u64>(spec.grid[0]) * spec.grid[1] * spec.grid[2];
    flow.clear();
    used_results.clear();
    forget_strong_writes();
    line_counts.clear();
    sync_variables.clear();
    shared_variables.clear();
    forget_residents();
    reset_stacks();
    same_value.waiting = false;
    forget_doubts();
    for (Thread& t : threads) {
        t.log.clear();
        t.copies.clear();
        t.seen.clear();
        t.forget_order();
    }
    name_threads();
    forget_accesses();
    find_module(spec);
    find_runtime();
    Containment containment;
    if (sigsetjmp(escape, 1) == 0) {
        run_blocks();
    } else {
        report_crash();
    }
    current = nullptr;
    if (same_value.waiting) settle_same_value();
    conclude_doubts();
}

}  // namespace roofline

using namespace roofline;

RL_API uint64_t rl_open(uint32_t slot, uint64_t size, uint64_t placed) { return open_region(slot, size, placed); }

// The byte map of an open slot, one ByteState per byte; 0 without memory.
RL_API uint64_t rl_map(uint32_t slot) {
    Region& region = arena.regions[slot];
    if (!grow(region.map, region.size + 16)) return 0;
    region.state = reinterpret_cast<u8*>(region.map.low);
    std::memset(region.state + region.size, 0, 16);
    return region.map.low;
}

// How many bytes of an open slot have been read and written.
RL_API void rl_footprint(uint32_t slot, uint64_t* read, uint64_t* written) {
    const Footprint found = footprint(arena.regions[slot]);
    *read = found.read;
    *written = found.written;
}

RL_API void rl_read_only(uint32_t slot) { arena.regions[slot].read_only = true; }

// Runs a launch; the number of findings, or -1 without memory.
RL_API int rl_launch(const LaunchSpec* spec) {
    if (!open_shadow(*spec)) return -1;
    run(*spec);
    check_canaries(spec->slots);
    sort_faults();
    close_shadow();
    return static_cast<int>(launch.faults.size());
}

RL_API const Fault* rl_faults() { return launch.faults.data(); }
RL_API uint64_t rl_line_counts(const LineCount** out) {
    *out = line_counts.data();
    return line_counts.size();
}
RL_API const Totals* rl_totals() { return &launch.totals; }

// Who wrote a byte last: block, thread and place of its cell; false when nobody did in this launch.
RL_API int rl_last_writer(uint32_t slot, uint64_t offset, uint64_t* block, uint32_t* thread, uint64_t* pc) {
    const Region& region = arena.regions[slot];
    if (!region.shadow || offset >= region.size) return 0;
    const Cell* cell = &region.shadow[offset / 4];
    if (cell->tag != launch_tag) return 0;
    if (const Cell* part = split_cell(*cell, offset)) cell = part;
    if (!cell->write) return 0;
    *block = block_of(cell->write) - 1;
    *thread = thread_of(cell->write);
    *pc = cell->write_pc;
    return 1;
}

RL_API uint64_t rl_abi() {
    return sizeof(Fault) * 1000003 + sizeof(LineCount) * 10007 + sizeof(LaunchSpec) * 101 + sizeof(Totals) + sizeof(TensorCount);
}

RL_API Dim rl_thread_index() { return current->index; }
RL_API Dim rl_block_index() { return launch.block_index; }
RL_API Dim rl_block_extent() { return {launch.spec->block[0], launch.spec->block[1], launch.spec->block[2]}; }
RL_API Dim rl_grid_extent() { return {launch.spec->grid[0], launch.spec->grid[1], launch.spec->grid[2]}; }
RL_API uint32_t rl_lane() { return current->lane; }
RL_API int rl_is_shared(const void* p) { return reinterpret_cast<uint64_t>(p) - shared.low < shared.length; }
RL_API int rl_is_global(const void* p) {
    const uint64_t address = reinterpret_cast<uint64_t>(p);
    return arena.find(address) || address - module_memory.low < module_memory.length;
}
// One matrix operation of a warp, by the pipeline that does it.
RL_API void rl_count_tensor(const char* pipeline, uint64_t flops, int line, const char* file) {
    if (!(launch.flags & kCount)) return;
    for (TensorCount& c : launch.tensor_counts) {
        if (c.line != static_cast<u64>(line) || std::strcmp(c.file, file) || std::strcmp(c.pipeline, pipeline)) continue;
        ++c.executed;
        c.flops += flops;
        return;
    }
    launch.tensor_counts.push_back({pipeline, file, static_cast<u64>(line), 1, flops});
}
RL_API uint64_t rl_tensor_counts(const TensorCount** out) {
    *out = launch.tensor_counts.data();
    return launch.tensor_counts.size();
}

// The kernel says that something is wrong: a failed assertion, __trap, an operand a matrix operation cannot take.
RL_API void rl_fail(uint32_t kind, const char* text, int line, const char* file) {
    Place place;
    place.site = {file, line};
    report(static_cast<Kind>(kind), place, true, "%s", text);
}
RL_API void* rl_here() { return __builtin_return_address(0); }
