// hipCUB: the names of CUB.
#pragma once
#include "cub/cub.cuh"

namespace hipcub = cub;
