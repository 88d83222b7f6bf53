// HIP's eight-bit floating point: OCP's formats under HIP's names, and AMD's own of CDNA 3, which differ in bias only.
#pragma once
#include "cuda_fp8.h"
#include "hip_bf16.h"
typedef __nv_fp8_e4m3 __hip_fp8_e4m3, __hip_fp8_e4m3_fnuz;
typedef __nv_fp8_e5m2 __hip_fp8_e5m2, __hip_fp8_e5m2_fnuz;
typedef __nv_fp8_storage_t __hip_fp8_storage_t;
