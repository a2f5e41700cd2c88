// One block at a time: threads run in turn until each has returned or waits; then barriers open, or nobody can go on.
#pragma once

#include "collectives.hpp"
#include "staleness.hpp"

namespace roofline {

constexpr u64 kIdleRounds = 20000;  // rounds in which every thread only polled
constexpr u64 kPatience = 16;       // such rounds before a block makes room for one that was set aside

inline std::vector<u32> thread_order;
inline u32 cursor = 0;  // next thread of thread_order that has not started

// One pass over the threads of the block: each that can run gets a turn.
struct Pass {
    u32 position = 0;
    bool ran = false, advanced = false;  // advanced: some thread did more than poll
};

inline Pass pass;

inline void finish_thread(Thread& t) {
    if (same_value.waiting) settle_same_value();
    if (t.doubts) decide_doubts(t, 0, 0, false);
    t.status = Status::done;
    if (!t.copies.empty()) t.copies.clear();
    leave_warp(t);
}

inline Thread& begin_thread(Stack* stack) {
    Thread& t = threads[thread_order[cursor++]];
    t.stack = stack;
    t.stack_low = stack->low;
    t.status = Status::ready;
    current = &t;
    progress = progress + 1;
    return t;
}

// The body of every fiber: start threads until none is left; a thread that waits keeps the fiber until it ends.
inline void fiber_body() {
    for (;;) {
        Stack* const stack = current->stack;
        for (;;) {
            launch.spec->entry(launch.spec->arguments);
            finish_thread(*current);
            if (cursor == launch.threads || launch.abort) break;
            begin_thread(stack);
        }
        free_stacks.push_back(stack);
        Stack* const next = next_turn();
        switch_context(*stack, next ? *next : scheduler_context);
    }
}

// The running thread, if any, has stopped: the stack of the one whose turn is next, which is now the running thread.
// Null when the pass is over; the scheduler's is then the turn.
inline Stack* next_turn() {
    if (current) pass.advanced |= !(current->status == Status::ready && current->polling);
    current = nullptr;
    if (launch.abort || launch.set_aside) return nullptr;
    if (cursor < launch.threads) {
        Stack* const stack = take_stack();
        pass.ran = true;
        begin_thread(stack);
        prepare(*stack, fiber_body);
        return stack;
    }
    while (pass.position < launch.threads) {
        Thread& t = threads[thread_order[pass.position++]];
        if (t.status != Status::ready) continue;
        pass.ran = true;
        t.polling = t.has_published = false;
        current = &t;
        progress = progress + 1;
        return t.stack;
    }
    return nullptr;
}

inline void run_pass(u32 first) {
    pass = {first};
    if (Stack* const stack = next_turn()) switch_context(scheduler_context, *stack);
}

inline void set_order() {
    const u32 n = launch.threads;
    thread_order.resize(n);
    for (u32 i = 0; i < n; ++i) thread_order[i] = i;
    if (launch.spec->order == 1) std::reverse(thread_order.begin(), thread_order.end());
    if (launch.spec->order != 2) return;
    u64 state = launch.spec->seed * 6364136223846793005ull + launch.block * 1442695040888963407ull + 1;
    for (u32 i = n; i > 1; --i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        std::swap(thread_order[i - 1], thread_order[(state >> 33) % i]);
    }
}

// What stays the same for all blocks of a launch.
inline void name_threads() {
    const u32* extent = launch.spec->block;
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        t.index = {i % extent[0], i / extent[0] % extent[1], i / (extent[0] * extent[1])};
        t.linear = i;
        t.warp = i / kWarp;
        t.lane = i % kWarp;
    }
    for (u32 w = 0; w < launch.warps; ++w) {
        warps[w].size = std::min(kWarp, launch.threads - w * kWarp);
        warps[w].ordered = true;
    }
}

// What the block before has learnt of the order of accesses, if anything but barriers ordered any.
inline void forget_order() {
    launch.epoch = 0;
    for (u32 w = 0; w < launch.warps; ++w) {
        if (!warps[w].ordered) continue;
        std::memset(warps[w].clocks, 0, sizeof warps[w].clocks);
        warps[w].ordered = false;
    }
    if (launch.uses_volatile) {
        seen_by_block.clear();
        for (u32 i = 0; i < launch.threads; ++i) threads[i].seen.clear();
    }
    if (!launch.fenced) return;
    launch.known.reset();
    for (Known& fenced : launch.fences) fenced.reset();
    shared_variables.clear();
    for (u32 i = 0; i < launch.threads; ++i) threads[i].forget_order();
}

void forget_named_barriers();  // named_barriers.hpp

inline void begin_block() {
    forget_order();
    forget_named_barriers();
    for (u32 w = 0; w < launch.warps; ++w) {
        Warp& warp = warps[w];
        warp.alive = warp.size == 32 ? ~0u : (1u << warp.size) - 1;
        warp.pending.clear();
    }
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        t.status = Status::fresh;
        t.site = {};  // not that of the launch before, maybe of another module
        t.clock = 0;
        t.polling = t.has_published = false;
        t.pauses = 0;
        t.doubts = 0;
        t.commit_groups = 0;
    }
    for (const Span& s : shared.spans) {
        std::memset(reinterpret_cast<void*>(shared.low + s.low), 0xFF, s.size);
        if (launch.flags) std::memset(shared.state.data() + s.low, kValid, s.size);
    }
    set_order();
    cursor = 0;
}

inline void open_barrier() {
    u64 count = 0;
    bool all = true, any = false;
    for (u32 i = 0; i < launch.threads; ++i) {
        if (threads[i].status != Status::barrier) continue;
        const bool predicate = threads[i].operand != 0;
        count += predicate;
        all &= predicate;
        any |= predicate;
    }
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        if (t.status != Status::barrier) continue;
        t.result = t.barrier_kind == 1 ? count : t.barrier_kind == 2 ? all : any;
        t.status = Status::ready;
    }
    join_block();
    join_seen();
    launch.epoch = static_cast<u16>(launch.epoch + 1);
    if (launch.epoch == 0) forget_accesses();  // epochs start again: what they stood for is long ordered
    ++launch.totals.barriers;
    for (u32 w = 0; w < launch.warps; ++w) count_warp(w);
}

// Who stands nearer to the cause? Of barriers the one that comes first in the source, since a later one is where the paths
// join again; otherwise who has waited longest, since others wait because of it.
inline bool nearer(const Thread& a, const Thread& b) {
    const bool barriers = a.status == Status::barrier && b.status == Status::barrier;
    if (barriers) return a.site.line < b.site.line;
    if ((a.status == Status::barrier) != (b.status == Status::barrier)) return b.status == Status::barrier;
    return a.waits_since < b.waits_since;
}

RL_COLD inline std::string who_waits_where(bool& only_barriers, Thread*& witness) {
    std::vector<std::pair<std::string, u32>> places;
    u32 done = 0;
    only_barriers = true;
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        if (t.status == Status::done) {
            ++done;
            continue;
        }
        if (!witness || nearer(t, *witness)) witness = &t;
        char text[200];
        if (t.status == Status::barrier) {
            std::snprintf(text, sizeof text, "at the barrier of line %d", t.site.line);
        } else if (t.status == Status::named) {
            only_barriers = false;
            std::snprintf(text, sizeof text, "at the named barrier %d of line %d", static_cast<int>(t.operand), t.site.line);
        } else {
            only_barriers = false;
            std::snprintf(text, sizeof text, "in %s with mask 0x%08x at line %d", name_of(t.collective), t.mask, t.site.line);
        }
        const auto known = std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.first == text; });
        if (known != places.end()) {
            ++known->second;
        } else {
            places.emplace_back(text, 1);
        }
    }
    std::string result;
    for (const auto& [text, count] : places) result += std::to_string(count) + " threads wait " + text + ", ";
    return result + std::to_string(done) + " have returned";
}

RL_COLD inline void report_stuck() {
    bool only_barriers;
    Thread* witness = nullptr;
    const std::string text = who_waits_where(only_barriers, witness);
    Place place;
    place.site = witness->site;
    for (u32 i = 0; i < launch.threads; ++i)
        if (threads[i].status == Status::barrier && !(threads[i].site == witness->site)) place.other_line = threads[i].site.line;
    current = witness;
    if (only_barriers) note_divergence();
    report(only_barriers ? Kind::divergent_barrier : Kind::deadlock, place, false, "%s", text.c_str());
    current = nullptr;
    launch.abort = true;
}

// Nobody is ready. Opens what can be opened; false when the block is stuck.
inline bool unblock() {
    bool resolved = false;
    for (u32 w = 0; w < launch.warps; ++w)
        if (!warps[w].pending.empty()) resolved |= resolve_active_mask(w);
    if (resolved) return true;
    Thread* first = nullptr;
    u32 waiting = 0;
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        if (t.status == Status::done) continue;
        if (t.status != Status::barrier) return false;
        if (!first) first = &t;
        if (!(t.site == first->site) || t.barrier_kind != first->barrier_kind) return false;
        ++waiting;
    }
    if (waiting < launch.threads) {
        Place place;
        place.site = first->site;
        current = first;
        note_divergence();
        report(Kind::divergent_barrier, place, false, "%u of %u threads reach the barrier, the others have returned", waiting,
               launch.threads);
        current = nullptr;
    }
    open_barrier();
    return true;
}

inline bool finished() {
    for (u32 w = 0; w < launch.warps; ++w)
        if (warps[w].alive) return false;
    return true;
}

RL_COLD inline void report_livelock() {
    Place place;
    u32 polling = 0;
    for (u32 i = 0; i < launch.threads; ++i) {
        Thread& t = threads[i];
        if (t.status != Status::ready) continue;
        ++polling;
        if (!current) {
            current = &t;
            place.pc = t.operand;
        } else if (t.operand != place.pc) {
            place.other_pc = t.operand;
        }
    }
    const bool one = launch.blocks == 1;
    report(Kind::livelock, place, false,
           "%u threads of the block poll memory that nobody changes any more: a lock that is never free, or a flag that nobody sets%s",
           polling, one ? "" : " (blocks are taken up in order, so that none may wait for a later one)");
    current = nullptr;
    launch.abort = true;
}

bool other_block_waits();  // residents.hpp

inline u64 idle_rounds = 0;  // since some thread of any block did more than poll

// Gives the threads of a block their turns until all have returned, or until it is set aside.
inline void continue_block() {
    while (!launch.abort && !launch.set_aside && !finished()) {
        run_pass(0);
        if (launch.abort || launch.set_aside) return;
        if (!pass.ran && !unblock()) {
            report_stuck();
            return;
        }
        idle_rounds = pass.advanced || !pass.ran ? 0 : idle_rounds + 1;
        if (idle_rounds > kIdleRounds) {
            report_livelock();
            return;
        }
        launch.set_aside = idle_rounds % kPatience == kPatience - 1 && other_block_waits();
    }
}

inline void start_block() {
    begin_block();
    run_pass(launch.threads);  // starts every thread, and gives none a second turn
    continue_block();
}

}  // namespace roofline

RL_API uint64_t rl_barrier(uint32_t kind, uint32_t predicate, int line, const char* file) {
    roofline::Thread& t = *roofline::current;
    if (roofline::same_value.waiting) roofline::settle_same_value();
    t.barrier_kind = kind;
    t.operand = predicate;
    t.site = {file, line};
    t.status = roofline::Status::barrier;
    roofline::wait();
    return t.result;
}
