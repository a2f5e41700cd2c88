// What one thread did since its warp was last counted: basic blocks entered and memory accesses, in order.
#pragma once

#include <vector>

#include "abi.hpp"

namespace roofline {

enum class Space : u32 {
    block,
    global_load,
    global_store,
    shared_load,
    shared_store,
    global_atomic,
    shared_atomic,
    copy_load,    // the two sides of a cp.async, one after the other
    copy_store,
    matrix_load,  // ldmatrix
};

// An event is one number, so that the traces of lanes compare as bytes: pc 32 | piece 16 | space 8 | log2(size) or size 8.
using Event = u64;

inline Event make_event(u64 pc, u32 piece, Space space, u32 size) {
    return pc << 32 | static_cast<u64>(piece & 0xFFFF) << 16 | static_cast<u64>(space) << 8 | (size & 0xFF);
}
inline u64 pc_of(Event e) { return e >> 32; }
inline u32 piece_of(Event e) { return static_cast<u32>(e >> 16 & 0xFFFF); }
inline Space space_of(Event e) { return static_cast<Space>(e >> 8 & 0xFF); }
inline u32 size_of(Event e) { return static_cast<u32>(e & 0xFF); }

// A longer trace (this one takes 256 MiB, and its addresses up to as much) is taken for that of a loop without end, which
// would fill the memory before the watchdog loses patience.
constexpr size_t kLongestTrace = 1u << 25;

[[noreturn]] void abandon_endless_trace();  // callbacks.hpp

// An array that grows and is emptied but never shrinks; std::vector's push is not inlined where it matters here.
template <class T>
class Appended {
  public:
    void push(T value) {
        if (__builtin_expect(end_ == limit_, 0)) grow();
        *end_++ = value;
    }
    void clear() { end_ = begin_; }
    size_t size() const { return static_cast<size_t>(end_ - begin_); }
    const T* data() const { return begin_; }

  private:
    __attribute__((noinline, cold)) void grow() {
        const size_t used = size(), capacity = used ? 2 * used : 64;
        if (capacity > kLongestTrace) abandon_endless_trace();
        storage_.resize(capacity);
        begin_ = storage_.data();
        end_ = begin_ + used;
        limit_ = begin_ + capacity;
    }
    T *begin_ = nullptr, *end_ = nullptr, *limit_ = nullptr;
    std::vector<T> storage_;
};

class Log {
  public:
    void block(u64 pc) { events_.push(make_event(pc, 0, Space::block, 0)); }
    void access(u64 pc, u32 size, Space space, u32 piece, u64 address) {
        events_.push(make_event(pc, piece, space, size));
        addresses_.push(address);
    }
    void clear() {
        events_.clear();
        addresses_.clear();
    }
    size_t size() const { return events_.size(); }
    size_t addressed() const { return addresses_.size(); }
    const Event* events() const { return events_.data(); }
    const u64* addresses() const { return addresses_.data(); }

  private:
    Appended<Event> events_;
    Appended<u64> addresses_;
};

}  // namespace roofline
