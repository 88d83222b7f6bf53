// HIP's name for half precision.
#pragma once
#include "cuda_fp16.h"
