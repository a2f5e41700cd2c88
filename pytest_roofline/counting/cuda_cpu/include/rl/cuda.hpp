#pragma once
#include "core.hpp"
#include "vectors.hpp"
#include "warp.hpp"
#include "atomics.hpp"
#include "intrinsics.hpp"
#include "math.hpp"
#include "entry.hpp"
