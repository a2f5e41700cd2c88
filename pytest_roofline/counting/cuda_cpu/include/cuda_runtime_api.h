#pragma once
#include "rl/cuda.hpp"
