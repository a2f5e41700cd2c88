// Fibers: every CUDA thread that has to wait keeps its own stack. A thread that never waits costs no switch, because the
// next thread of the block starts on the stack that it leaves.
#pragma once

#include <sys/mman.h>

#include <cstdlib>

#include "state.hpp"

#if !defined(RL_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define RL_UCONTEXT
#endif
#ifdef RL_UCONTEXT
#include <ucontext.h>
#endif

namespace roofline {

constexpr unsigned long long kUsableStack = 544 * 1024;  // a GPU's thread has at most 512 KiB of local memory
constexpr u64 kStackReserve = 32 * 1024;                 // for the runtime, which works on the thread's stack
constexpr u64 kStackBytes = kUsableStack + kStackReserve;
constexpr u64 kGuardBytes = 64 * 1024;   // below every stack: an overflow faults instead of corrupting a neighbour
constexpr u64 kColours = 48;  // stacks start at different cache lines: at equal ones they evict each other from L1

struct Stack {
    u64 low = 0, used = kStackBytes;  // `used` bytes from `low` on
    void* context = nullptr;
#ifdef RL_UCONTEXT
    ucontext_t saved;
#endif
};

inline std::vector<Stack*> free_stacks;
inline std::vector<Stack*> all_stacks;
inline Stack scheduler_context;

#if defined(RL_UCONTEXT)

inline void switch_context(Stack& from, Stack& to) { swapcontext(&from.saved, &to.saved); }

inline void prepare(Stack& stack, void (*body)()) {
    getcontext(&stack.saved);
    stack.saved.uc_stack.ss_sp = reinterpret_cast<void*>(stack.low);
    stack.saved.uc_stack.ss_size = stack.used;
    stack.saved.uc_link = nullptr;
    makecontext(&stack.saved, body, 0);
}

#else

extern "C" void rl_switch(void** save, void* load);

#if defined(__x86_64__)
asm(R"(
    .text
    .globl rl_switch
    .hidden rl_switch
    .type rl_switch, @function
rl_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size rl_switch, .-rl_switch
)");
constexpr int kSavedWords = 7, kReturnWord = 6;
#else
asm(R"(
    .text
    .globl rl_switch
    .hidden rl_switch
    .type rl_switch, %function
rl_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size rl_switch, .-rl_switch
)");
constexpr int kSavedWords = 20, kReturnWord = 11;
#endif

inline void switch_context(Stack& from, Stack& to) { rl_switch(&from.context, to.context); }

inline void prepare(Stack& stack, void (*body)()) {
    // The frame that rl_switch pops; above it a zero return address, and the alignment that a call would leave.
    u64* top = reinterpret_cast<u64*>(stack.low + stack.used - 64);
    u64* frame = top - kSavedWords + (kReturnWord == kSavedWords - 1 ? 1 : 0);
    for (u64* word = frame; word <= top + 1; ++word) *word = 0;
    frame[kReturnWord] = reinterpret_cast<u64>(body);
    stack.context = frame;
}

#endif

inline Stack* take_stack() {
    if (free_stacks.empty()) {
        const u64 bytes = kGuardBytes + kStackBytes;
        void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) std::abort();
        mprotect(base, kGuardBytes, PROT_NONE);
        auto* stack = new Stack;
        stack->low = reinterpret_cast<u64>(base) + kGuardBytes;
        stack->used -= all_stacks.size() % kColours * 64;
        all_stacks.push_back(stack);
        return stack;
    }
    Stack* stack = free_stacks.back();
    free_stacks.pop_back();
    return stack;
}

inline void reset_stacks() { free_stacks = all_stacks; }

Stack* next_turn();  // scheduler.hpp

// Leaves the running thread until its next turn.
inline void wait() {
    Stack* const mine = current->stack;
    current->waits_since = ++launch.totals.switches;
    Stack* const next = next_turn();
    if (next != mine) switch_context(*mine, next ? *next : scheduler_context);
}

}  // namespace roofline
