// HIP's name for bfloat16.
#pragma once
#include "cuda_bf16.h"
