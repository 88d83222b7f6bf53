// The library's functions run on the host only; its header reads those of the number types that kernels use. Enough of its names for host
// functions that launch kernels to be read; nothing here is ever called.
#pragma once
#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef struct cublasContext* cublasHandle_t;
#ifndef KC_DATA_TYPES
#define KC_DATA_TYPES
enum cudaDataType_t : int {
  CUDA_R_32F = 0, CUDA_R_64F, CUDA_R_16F, CUDA_R_8I, CUDA_C_32F, CUDA_C_64F, CUDA_C_16F, CUDA_C_8I, CUDA_R_8U, CUDA_C_8U, CUDA_R_32I,
  CUDA_C_32I, CUDA_R_32U, CUDA_C_32U, CUDA_R_16BF, CUDA_C_16BF, CUDA_R_4I, CUDA_R_8F_E4M3 = 28, CUDA_R_8F_E5M2
};
typedef cudaDataType_t cudaDataType, cublasDataType_t;
#endif
enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16
};
typedef cublasStatus_t cublasStatus;
enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasSideMode_t : int { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT };
enum cublasFillMode_t : int { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t : int { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT };
enum cublasPointerMode_t : int { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE };
enum cublasMath_t : int {
  CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_64F,
  CUBLAS_COMPUTE_64F_PEDANTIC, CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasGemmAlgo_t : int { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99 };
#define KC_CUBLAS(name) template <class... A> cublasStatus_t cublas##name(const A&...);
#define KC_CUBLAS_TYPES(name) KC_CUBLAS(S##name) KC_CUBLAS(D##name) KC_CUBLAS(C##name) KC_CUBLAS(Z##name)
KC_CUBLAS(Create) KC_CUBLAS(Destroy) KC_CUBLAS(SetStream) KC_CUBLAS(GetStream) KC_CUBLAS(SetMathMode) KC_CUBLAS(GetMathMode)
KC_CUBLAS(SetPointerMode) KC_CUBLAS(GetPointerMode) KC_CUBLAS(SetWorkspace) KC_CUBLAS(SetMatrix) KC_CUBLAS(GetMatrix) KC_CUBLAS(SetVector)
KC_CUBLAS(GetVector) KC_CUBLAS(GetVersion) KC_CUBLAS(GemmEx) KC_CUBLAS(GemmBatchedEx) KC_CUBLAS(GemmStridedBatchedEx) KC_CUBLAS(Hgemm)
KC_CUBLAS(HgemmBatched) KC_CUBLAS(HgemmStridedBatched) KC_CUBLAS(SgemmEx) KC_CUBLAS(DotEx) KC_CUBLAS(AxpyEx) KC_CUBLAS(ScalEx)
KC_CUBLAS_TYPES(gemm) KC_CUBLAS_TYPES(gemmBatched) KC_CUBLAS_TYPES(gemmStridedBatched) KC_CUBLAS_TYPES(gemv) KC_CUBLAS_TYPES(axpy)
KC_CUBLAS_TYPES(scal) KC_CUBLAS_TYPES(dot) KC_CUBLAS_TYPES(nrm2) KC_CUBLAS_TYPES(asum) KC_CUBLAS_TYPES(copy) KC_CUBLAS_TYPES(swap)
KC_CUBLAS_TYPES(trsm) KC_CUBLAS_TYPES(trsmBatched) KC_CUBLAS_TYPES(trmm) KC_CUBLAS_TYPES(trsv) KC_CUBLAS_TYPES(syrk) KC_CUBLAS_TYPES(syr)
KC_CUBLAS_TYPES(symm) KC_CUBLAS_TYPES(ger) KC_CUBLAS_TYPES(geam) KC_CUBLAS_TYPES(dgmm) KC_CUBLAS_TYPES(getrfBatched)
KC_CUBLAS_TYPES(getriBatched) KC_CUBLAS_TYPES(getrsBatched) KC_CUBLAS(Isamax) KC_CUBLAS(Idamax) KC_CUBLAS(Isamin) KC_CUBLAS(Idamin)
#undef KC_CUBLAS
#undef KC_CUBLAS_TYPES
const char* cublasGetStatusString(cublasStatus_t);
const char* cublasGetStatusName(cublasStatus_t);
