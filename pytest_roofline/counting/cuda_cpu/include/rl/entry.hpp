// How the front end reaches a kernel: an entry that takes untyped arguments, and the types of the parameters.
#pragma once

#include "core.hpp"

struct rl_parameter {
    uint32_t size, element_size;
    char kind, pointer, constant, unused;  // kind of the value or, for a pointer, of the element
};

struct __half;
struct __nv_bfloat16;

template <class T>
constexpr char rl_kind_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_void_v<U>) return 'v';
    else if constexpr (std::is_same_v<U, bool>) return 'b';
    else if constexpr (std::is_same_v<U, __half>) return 'h';
    else if constexpr (std::is_same_v<U, __nv_bfloat16>) return 'w';
    else if constexpr (std::is_floating_point_v<U>) return 'f';
    else if constexpr (std::is_integral_v<U>) return std::is_signed_v<U> ? 'i' : 'u';
    else if constexpr (std::is_enum_v<U>) return 'i';
    else return 's';
}

template <class T>
constexpr rl_parameter rl_describe() {
    if constexpr (std::is_pointer_v<T>) {
        using E = std::remove_pointer_t<T>;
        uint32_t size = 1;
        if constexpr (!std::is_void_v<E>) size = sizeof(E);
        return {sizeof(T), size, rl_kind_of<E>(), 1, std::is_const_v<E>, 0};
    } else {
        return {sizeof(T), sizeof(T), rl_kind_of<T>(), 0, 0, 0};
    }
}

template <class F>
struct rl_signature;
template <class... A>
struct rl_signature<void (*)(A...)> {
    static constexpr uint32_t count = sizeof...(A);
    static constexpr rl_parameter parameters[sizeof...(A) + 1] = {rl_describe<std::remove_cv_t<A>>()..., {}};
    template <size_t... I>
    RL_INLINE RL_UNSEEN void call(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
        (void)arguments;
        kernel(*static_cast<std::remove_cv_t<A>*>(arguments[I])...);
    }
};

// The anchor lies in the module's thread-local segment, where the shared variables are.
#define RL_EXPORT(BOUND, ...)                                                                                         \
    using rl_kernel_type = decltype(&__VA_ARGS__);                                                                    \
    extern "C" __attribute__((visibility("default"))) RL_UNSEEN void rl_entry(void** arguments) {                     \
        using S = rl_signature<rl_kernel_type>;                                                                       \
        S::call(&__VA_ARGS__, arguments, std::make_index_sequence<S::count>());                                       \
    }                                                                                                                 \
    extern "C" __attribute__((visibility("default"))) const uint32_t rl_parameter_count =                             \
        rl_signature<rl_kernel_type>::count;                                                                          \
    extern "C" __attribute__((visibility("default"))) const rl_parameter* const rl_parameters =                       \
        rl_signature<rl_kernel_type>::parameters;                                                                     \
    extern "C" __attribute__((visibility("default"))) const uint32_t rl_launch_bound = BOUND;                         \
    static thread_local char rl_anchor_byte[64];                                                                      \
    extern "C" __attribute__((visibility("default"))) RL_UNSEEN void* rl_anchor() { return rl_anchor_byte; }
