// Replaces the host's header: a failed assertion is a finding, not the end of the process. No include guard, as in C.
#include "rl/cuda.hpp"
#undef assert
#define assert(condition) ((condition) ? (void)0 : rl_fail(RL_TRAP, "assertion failed: " #condition, __LINE__, __FILE__))
