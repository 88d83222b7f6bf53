// HIP's own names for what the prelude has under CUDA's.
#pragma once

// As HIP's own header does; sources rely on std::max and its kin.
#if __has_include(<algorithm>)
#include <algorithm>
#endif

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define HIP_SYMBOL(x) x
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) (kernel)<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

typedef int hipError_t;
typedef cudaStream_t hipStream_t;
typedef cudaEvent_t hipEvent_t;
typedef cudaDeviceProp hipDeviceProp_t;
typedef int hipMemcpyKind, hipDevice_t;
enum __kc_hip_error : int { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorNotReady = 600, hipErrorUnknown = 999 };
enum __kc_hip_copy_kind : int { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };
enum __kc_hip_flags : unsigned {
  hipHostMallocDefault = 0, hipHostMallocPortable = 1, hipHostMallocMapped = 2, hipHostMallocNumaUser = 0x20000000, hipEventDefault = 0,
  hipStreamDefault = 0, hipStreamNonBlocking = 1, hipEventDisableTiming = 2
};
typedef cudaTextureObject_t hipTextureObject_t;
typedef cudaSurfaceObject_t hipSurfaceObject_t;
typedef struct hipModule_impl* hipModule_t;
typedef struct hipFunction_impl* hipFunction_t;
typedef void* hipDeviceptr_t;
#define KC_HIP_CALL(name) template <class... A> hipError_t name(const A&...);
KC_HIP_CALL(hipMalloc) KC_HIP_CALL(hipFree) KC_HIP_CALL(hipMemcpy) KC_HIP_CALL(hipMemcpyAsync) KC_HIP_CALL(hipMemset) KC_HIP_CALL(hipMemsetAsync)
KC_HIP_CALL(hipHostMalloc) KC_HIP_CALL(hipHostFree) KC_HIP_CALL(hipMallocManaged) KC_HIP_CALL(hipMemcpyToSymbol) KC_HIP_CALL(hipMemcpyFromSymbol)
KC_HIP_CALL(hipDeviceSynchronize) KC_HIP_CALL(hipDeviceReset) KC_HIP_CALL(hipSetDevice) KC_HIP_CALL(hipGetDevice) KC_HIP_CALL(hipGetDeviceCount)
KC_HIP_CALL(hipGetDeviceProperties) KC_HIP_CALL(hipDeviceGetAttribute) KC_HIP_CALL(hipGetLastError) KC_HIP_CALL(hipPeekAtLastError)
KC_HIP_CALL(hipStreamCreate) KC_HIP_CALL(hipStreamDestroy) KC_HIP_CALL(hipStreamSynchronize) KC_HIP_CALL(hipEventCreate)
KC_HIP_CALL(hipEventDestroy) KC_HIP_CALL(hipEventRecord) KC_HIP_CALL(hipEventSynchronize) KC_HIP_CALL(hipEventElapsedTime)
KC_HIP_CALL(hipHostGetDevicePointer) KC_HIP_CALL(hipEventCreateWithFlags) KC_HIP_CALL(hipStreamCreateWithFlags) KC_HIP_CALL(hipStreamWaitEvent)
KC_HIP_CALL(hipLaunchCooperativeKernel) KC_HIP_CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor) KC_HIP_CALL(hipOccupancyMaxPotentialBlockSize)
KC_HIP_CALL(hipDeviceCanAccessPeer) KC_HIP_CALL(hipDeviceEnablePeerAccess) KC_HIP_CALL(hipMallocAsync) KC_HIP_CALL(hipFreeAsync)
KC_HIP_CALL(hipModuleLoad) KC_HIP_CALL(hipModuleUnload) KC_HIP_CALL(hipModuleGetFunction) KC_HIP_CALL(hipModuleLaunchKernel)
KC_HIP_CALL(hipRuntimeGetVersion) KC_HIP_CALL(hipDeviceGetName) KC_HIP_CALL(hipDeviceGet) KC_HIP_CALL(hipMallocPitch) KC_HIP_CALL(hipMemcpy2D) KC_HIP_CALL(hipFuncSetCacheConfig) KC_HIP_CALL(hipFuncSetAttribute) KC_HIP_CALL(hipMemGetInfo)
const char* hipGetErrorString(hipError_t);
const char* hipGetErrorName(hipError_t);
