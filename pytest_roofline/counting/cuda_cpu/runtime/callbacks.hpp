// What the compiler's instrumentation calls: ThreadSanitizer's hooks at every load and store, UBSan's where a check
// fails, the coverage hook at every basic block. The sanitizers' own libraries are not used.
#pragma once

#include <unistd.h>

#include "async.hpp"

#define RL_PLAIN(SIZE)                                                                                              \
    RL_API void __tsan_read##SIZE(void* p) { roofline::access((uint64_t)p, SIZE, roofline::kRdOnly, RL_CALLER); }    \
    RL_API void __tsan_write##SIZE(void* p) { roofline::access((uint64_t)p, SIZE, roofline::kWrite, RL_CALLER); }    \
    RL_API void __tsan_unaligned_read##SIZE(void* p) {                                                              \
        roofline::access_pieces((uint64_t)p, SIZE, roofline::kRdOnly, RL_CALLER);                                    \
    }                                                                                                               \
    RL_API void __tsan_unaligned_write##SIZE(void* p) {                                                             \
        roofline::access_pieces((uint64_t)p, SIZE, roofline::kWrite, RL_CALLER);                                     \
    }
RL_PLAIN(1)
RL_PLAIN(2)
RL_PLAIN(4)
RL_PLAIN(8)
RL_PLAIN(16)

namespace roofline {

RL_HOT void volatile_read(u64 address, u32 size, u64 return_address) {
    if (current && address - current->stack_low < kStackBytes) return;
    // Polled before it is read: the value that a loop waits for is then the one just written.
    if (current) poll(relative(return_address), address);
    strong_access(address, size, kVolatile, return_address);
}

}  // namespace roofline

#define RL_VOLATILE(SIZE)                                                                                              \
    RL_API void __tsan_volatile_read##SIZE(void* p) { roofline::volatile_read((uint64_t)p, SIZE, RL_CALLER); }          \
    RL_API void __tsan_volatile_write##SIZE(void* p) {                                                                 \
        roofline::strong_access((uint64_t)p, SIZE, roofline::kWrite | roofline::kVolatile, RL_CALLER);                  \
    }                                                                                                                  \
    RL_API void __tsan_unaligned_volatile_read##SIZE(void* p) { roofline::volatile_read((uint64_t)p, SIZE, RL_CALLER); } \
    RL_API void __tsan_unaligned_volatile_write##SIZE(void* p) {                                                       \
        roofline::strong_access((uint64_t)p, SIZE, roofline::kWrite | roofline::kVolatile, RL_CALLER);                  \
    }
RL_VOLATILE(1)
RL_VOLATILE(2)
RL_VOLATILE(4)
RL_VOLATILE(8)
RL_VOLATILE(16)

RL_API void __tsan_read_range(void* p, uint64_t size) { roofline::access_pieces((uint64_t)p, size, roofline::kRdOnly, RL_CALLER); }
RL_API void __tsan_write_range(void* p, uint64_t size) { roofline::access_pieces((uint64_t)p, size, roofline::kWrite, RL_CALLER); }
RL_API void* __tsan_memcpy(void* to, const void* from, uint64_t size) {
    roofline::access_pieces((uint64_t)from, size, roofline::kRdOnly, RL_CALLER);
    roofline::access_pieces((uint64_t)to, size, roofline::kWrite, RL_CALLER);
    return std::memcpy(to, from, size);
}
RL_API void* __tsan_memmove(void* to, const void* from, uint64_t size) {
    roofline::access_pieces((uint64_t)from, size, roofline::kRdOnly, RL_CALLER);
    roofline::access_pieces((uint64_t)to, size, roofline::kWrite, RL_CALLER);
    return std::memmove(to, from, size);
}
RL_API void* __tsan_memset(void* to, int value, uint64_t size) {
    roofline::access_pieces((uint64_t)to, size, roofline::kWrite, RL_CALLER);
    return std::memset(to, value, size);
}
RL_API void __tsan_init() {}
RL_API void __tsan_func_entry(void*) {}
RL_API void __tsan_func_exit() {}
RL_API void __tsan_vptr_update(void*, void*) {}
RL_API void __tsan_vptr_read(void*) {}

// The model of an instruction that is not compiled code (wmma, ldmatrix): counted at the place `pc`, piece by piece.
// `kind`: 0 reads, 1 writes, 2 reads a row of a matrix.
RL_API void rl_access(const void* p, uint32_t size, int kind, uint64_t pc, uint32_t piece) {
    const uint32_t flags = kind == 1 ? roofline::kWrite : kind == 2 ? roofline::kMatrix : roofline::kRdOnly;
    roofline::access((uint64_t)p, size, flags, pc, piece, true);
}

namespace roofline {

// Seen in time: the runtime works on the thread's stack, and an overflow in the middle of an allocation would leave its
// lock taken.
RL_COLD void abandon_full_stack(u64 pc) {
    Place place;
    place.pc = pc;
    report(Kind::stack_overflow, place, true, "a thread needs more than %llu KiB of stack", kUsableStack / 1024);
    abandon();
}

}  // namespace roofline

RL_API void __sanitizer_cov_trace_pc() {
    using namespace roofline;
    if (!current) return;
    const u64 left = reinterpret_cast<u64>(__builtin_frame_address(0)) - current->stack_low;
    if (__builtin_expect(left < kStackReserve, 0)) abandon_full_stack(relative(RL_CALLER));
    if (launch.flags & kCount) current->log.block(relative(RL_CALLER));
}

namespace roofline {

RL_COLD void abandon_endless_trace() {
    Place place;
    place.pc = pc_of(current->log.events()[current->log.size() - 1]);
    report(Kind::endless_loop, place, true, "a thread has come through %zu blocks and accesses without waiting for another",
           kLongestTrace);
    abandon();
}

struct SourceLocation {
    const char* file;
    u32 line, column;
};

RL_COLD inline void undefined(const void* data, const char* what) {
    const auto* location = static_cast<const SourceLocation*>(data);
    Place place;
    place.site = {location->file ? location->file : "", static_cast<int>(location->line)};
    report(Kind::undefined_behaviour, place, true, "%s", what);
}

}  // namespace roofline

#define RL_UNDEFINED(NAME, TEXT)                                                                   \
    RL_API void __ubsan_handle_##NAME(void* data, ...) { roofline::undefined(data, TEXT); }        \
    RL_API void __ubsan_handle_##NAME##_abort(void* data, ...) { roofline::undefined(data, TEXT); }
RL_UNDEFINED(out_of_bounds, "array index outside the array's declared bounds")
RL_UNDEFINED(shift_out_of_bounds, "shift by a negative count or by at least the width of the type")
RL_UNDEFINED(divrem_overflow, "integer division by zero, or of the smallest integer by -1")
RL_UNDEFINED(pointer_overflow, "pointer arithmetic overflows")
RL_UNDEFINED(type_mismatch_v1, "null or misaligned pointer")

// What would end the process ends the launch: kernels are linked with these in place of the C library's functions.
#define RL_ENDING(NAME, PARAMETERS)                                                                \
    RL_API void __wrap_##NAME PARAMETERS {                                                         \
        roofline::Place place;                                                                     \
        place.pc = roofline::relative(RL_CALLER);                                                  \
        roofline::report(roofline::Kind::trap, place, true, #NAME "() called in the kernel");       \
        for (;;) ::pause();                                                                        \
    }
RL_ENDING(abort, ())
RL_ENDING(exit, (int))
RL_ENDING(_exit, (int))
RL_ENDING(_Exit, (int))
RL_ENDING(quick_exit, (int))
