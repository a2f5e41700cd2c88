// Containment: a memory fault, a stack overflow or an endless loop in a kernel ends the launch, not the process.
#pragma once

#include <csignal>
#include <ctime>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "callbacks.hpp"

namespace roofline {

struct Crash {
    int signal = 0;
    u64 address = 0, pc = 0;
};

inline sigjmp_buf escape;
inline std::vector<Span> runtime_segments;
inline Crash crash;
inline u64 watched_progress = 0, watched_block = 0;
inline double stuck_seconds = 0, block_seconds = 0;
inline double launch_started = 0;  // seconds of the processor

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kSignalCount = 5;
constexpr double kTick = 0.25, kImpatientTick = 0.001;
constexpr double kBlockPatience = 6;  // a block may take this many times the limit of one thread

inline int watchdog_signal() { return SIGRTMAX - 3; }

inline u64 interrupted_pc(void* context) {
#if defined(__x86_64__)
    return static_cast<u64>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

inline bool in_module(u64 pc) {
    return std::any_of(launch.segments.begin(), launch.segments.end(), [&](const Span& s) { return pc - s.low < s.size; });
}

inline bool in_runtime(u64 pc) {
    return std::any_of(runtime_segments.begin(), runtime_segments.end(), [&](const Span& s) { return pc - s.low < s.size; });
}

inline void on_crash(int signal, siginfo_t* info, void* context) {
    crash = {signal, reinterpret_cast<u64>(info->si_addr), interrupted_pc(context)};
    siglongjmp(escape, 1);
}

inline timer_t watchdog_timer;

inline double worked() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline void arm(double seconds) {
    itimerspec spec{};
    spec.it_interval.tv_sec = spec.it_value.tv_sec = static_cast<time_t>(seconds);
    spec.it_interval.tv_nsec = spec.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(spec.it_value.tv_sec)) * 1e9);
    timer_settime(watchdog_timer, 0, &spec, nullptr);
}

// How long the watchdog waits past the limit, by where it finds the thread. An allocation must not be left in its middle:
// its lock would stay taken.
inline double patience(u64 pc) { return in_module(pc) ? 0 : in_runtime(pc) ? 5 : 60; }

// How many seconds a thread, a block or the launch is over its limit; negative: none is.
inline double overdue() {
    const LaunchSpec& spec = *launch.spec;
    return std::max({stuck_seconds - spec.time_limit, block_seconds - spec.time_limit * kBlockPatience,
                     worked() - launch_started - spec.launch_limit});
}

// While the thread cannot be stopped where it is, it looks more often.
inline void on_tick(int signal, siginfo_t*, void* context) {
    static bool impatient = false;
    const double tick = impatient ? kImpatientTick : kTick;
    stuck_seconds = progress == watched_progress ? stuck_seconds + tick : 0;
    block_seconds = launch.block == watched_block ? block_seconds + tick : 0;
    watched_progress = progress;
    watched_block = launch.block;
    const double over = overdue();
    const u64 pc = interrupted_pc(context);
    const bool stops = over >= 0 && over >= patience(pc);
    if (impatient != (over >= 0 && !stops)) {
        impatient = !impatient;
        arm(impatient ? kImpatientTick : kTick);
    }
    if (!stops) return;
    crash = {signal, 0, pc};
    siglongjmp(escape, 1);
}

// Installs the handlers for the time of a launch and restores those before it.
class Containment {
  public:
    Containment() {
        static char* const alternate = static_cast<char*>(std::malloc(kAlternate));
        stack_t stack{};
        stack.ss_sp = alternate;
        stack.ss_size = kAlternate;
        sigaltstack(&stack, &old_stack_);
        struct sigaction action{};
        action.sa_sigaction = on_crash;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (int i = 0; i < kSignalCount; ++i) sigaction(kSignals[i], &action, &old_actions_[i]);
        action.sa_sigaction = on_tick;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        sigaction(watchdog_signal(), &action, &old_actions_[kSignalCount]);
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = watchdog_signal();
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
        event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
        stuck_seconds = block_seconds = 0;
        launch_started = worked();
        armed_ = timer_create(CLOCK_MONOTONIC, &event, &watchdog_timer) == 0;
        if (armed_) arm(kTick);
    }
    ~Containment() {
        if (armed_) timer_delete(watchdog_timer);
        sigaction(watchdog_signal(), &old_actions_[kSignalCount], nullptr);
        for (int i = 0; i < kSignalCount; ++i) sigaction(kSignals[i], &old_actions_[i], nullptr);
        sigaltstack(&old_stack_, nullptr);
    }

  private:
    static constexpr size_t kAlternate = 256 * 1024;
    stack_t old_stack_{};
    struct sigaction old_actions_[kSignalCount + 1];
    bool armed_ = false;
};

// A thread of the block that has not returned: what is stopped between two threads is told about it.
inline Thread* unfinished() {
    for (u32 i = 0; i < launch.threads; ++i)
        if (threads[i].status != Status::done && threads[i].status != Status::fresh && threads[i].site.line) return &threads[i];
    return nullptr;
}

RL_COLD inline void report_crash() {
    Place place;
    if (in_module(crash.pc)) place.pc = relative(crash.pc) + 1;
    // For code without a line of its own: the barrier or collective that the thread came through last, or its last access.
    if (current || (current = unfinished())) {
        place.site = current->site;
        if (const size_t n = current->log.size()) place.other_pc = pc_of(current->log.events()[n - 1]);
    }
    Kind kind = Kind::crash;
    char text[200];
    const LaunchSpec& spec = *launch.spec;
    if (crash.signal == watchdog_signal() && worked() - launch_started >= spec.launch_limit) {
        kind = Kind::time_limit;
        std::snprintf(text, sizeof text,
                      "the launch has taken %.1f s of the processor, and %llu of its %llu blocks have ended; "
                      "checking(launch_limit=...) gives it more",
                      worked() - launch_started, static_cast<unsigned long long>(launch.totals.blocks),
                      static_cast<unsigned long long>(launch.blocks));
    } else if (crash.signal == watchdog_signal()) {
        kind = Kind::endless_loop;
        std::snprintf(text, sizeof text, "no end in sight after %.1f s", std::max(stuck_seconds, block_seconds));
    } else if (current && crash.address - (current->stack_low - kGuardBytes) < kGuardBytes) {
        kind = Kind::stack_overflow;
        std::snprintf(text, sizeof text, "a thread needs more than %llu KiB of stack", kUsableStack / 1024);
    } else if (crash.signal == SIGFPE || crash.signal == SIGILL) {
        kind = Kind::undefined_behaviour;
        std::snprintf(text, sizeof text, "%s", crash.signal == SIGFPE ? "integer division by zero" : "the compiler sees no defined result here");
    } else {
        const Region* region = arena.find(crash.address);
        if (region && region->data.bytes) {
            kind = Kind::out_of_bounds;
            place.region = static_cast<int>(region - arena.regions);
            place.offset = static_cast<i64>(crash.address - region->base);
        }
        std::snprintf(text, sizeof text, "memory fault (signal %d) at 0x%llx", crash.signal,
                      static_cast<unsigned long long>(crash.address));
    }
    report(kind, place, false, "%s", text);
    launch.abort = true;
}

}  // namespace roofline
