// The library's functions run on the host only; its header reads those of the number types that kernels use.
#pragma once
#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef struct cublasContext* cublasHandle_t;
