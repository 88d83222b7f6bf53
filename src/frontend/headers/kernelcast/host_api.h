// What host code of CUDA programs names: enough for whole files to parse. Nothing here is ever called. Enumerations have names because they
// become arguments of templates: functions over types without a name need a body.
#pragma once

// Names that the toolkit's headers leave behind, which headers of samples ask for.
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__

// What the toolkit's own headers include: <string.h>, <stdlib.h>, <math.h> and <time.h> may be missing in a source.
// Exceptions as the C library of Linux says it, which may declare them again.
extern "C" {
void* memcpy(void*, const void*, size_t) noexcept;
void* memmove(void*, const void*, size_t) noexcept;
void* memset(void*, int, size_t) noexcept;
int memcmp(const void*, const void*, size_t) noexcept;
int strcmp(const char*, const char*) noexcept;
int strncmp(const char*, const char*, size_t) noexcept;
size_t strlen(const char*) noexcept;
char* strcpy(char*, const char*) noexcept;
char* strcat(char*, const char*) noexcept;
void* malloc(size_t) noexcept;
void* calloc(size_t, size_t) noexcept;
void* realloc(void*, size_t) noexcept;
void free(void*) noexcept;
void exit(int) noexcept;
int atoi(const char*) noexcept;
double atof(const char*) noexcept;
long atol(const char*) noexcept;
int rand() noexcept;
void srand(unsigned) noexcept;
int printf(const char*, ...);
}

#define KC_HANDLES(name) typedef struct name##_impl* name;
KC_HANDLES(cudaStream_t) KC_HANDLES(cudaEvent_t) KC_HANDLES(cudaGraph_t) KC_HANDLES(cudaGraphExec_t) KC_HANDLES(cudaGraphNode_t)
KC_HANDLES(cudaArray_t) KC_HANDLES(cudaMipmappedArray_t) KC_HANDLES(cudaMemPool_t) KC_HANDLES(cudaFunction_t)
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t, CUtexObject, CUsurfObject, cudaGraphConditionalHandle;
typedef struct cudaArray cudaArray;
struct cudaGraphicsResource;
typedef struct cudaGraphicsResource* cudaGraphicsResource_t;
KC_HANDLES(cudaExternalMemory_t) KC_HANDLES(cudaExternalSemaphore_t) KC_HANDLES(cudaUserObject_t)
struct cudaUUID_t { char bytes[16]; };
struct cudaIpcMemHandle_t { char reserved[64]; };
struct cudaIpcEventHandle_t { char reserved[64]; };
typedef void (*cudaHostFn_t)(void*);
typedef int cudaMemcpyKind, cudaFuncAttribute, cudaDeviceAttr, cudaFuncCache, cudaSharedMemConfig, cudaLimit, cudaMemoryAdvise;
enum cudaError : int {
  cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600, cudaErrorUnknown = 999,
  cudaErrorInvalidDevice = 101, cudaErrorNoDevice = 100, cudaErrorInvalidConfiguration = 9, cudaErrorLaunchFailure = 719,
  cudaErrorInitializationError = 3, cudaErrorCudartUnloading, cudaErrorProfilerDisabled,
  cudaErrorProfilerNotInitialized, cudaErrorProfilerAlreadyStarted, cudaErrorProfilerAlreadyStopped,
  cudaErrorInvalidPitchValue = 12, cudaErrorInvalidSymbol, cudaErrorInvalidHostPointer = 16,
  cudaErrorInvalidDevicePointer, cudaErrorInvalidTexture, cudaErrorInvalidTextureBinding,
  cudaErrorInvalidChannelDescriptor, cudaErrorInvalidMemcpyDirection, cudaErrorAddressOfConstant,
  cudaErrorTextureFetchFailed, cudaErrorTextureNotBound, cudaErrorSynchronizationError, cudaErrorInvalidFilterSetting,
  cudaErrorInvalidNormSetting, cudaErrorMixedDeviceExecution, cudaErrorNotYetImplemented = 31,
  cudaErrorMemoryValueTooLarge, cudaErrorStubLibrary = 34, cudaErrorInsufficientDriver,
  cudaErrorCallRequiresNewerDriver, cudaErrorInvalidSurface, cudaErrorDuplicateVariableName = 43,
  cudaErrorDuplicateTextureName, cudaErrorDuplicateSurfaceName, cudaErrorDevicesUnavailable,
  cudaErrorIncompatibleDriverContext = 49, cudaErrorMissingConfiguration = 52, cudaErrorPriorLaunchFailure,
  cudaErrorLaunchMaxDepthExceeded = 65, cudaErrorLaunchFileScopedTex, cudaErrorLaunchFileScopedSurf,
  cudaErrorSyncDepthExceeded, cudaErrorLaunchPendingCountExceeded, cudaErrorInvalidDeviceFunction = 98,
  cudaErrorDeviceNotLicensed = 102, cudaErrorSoftwareValidityNotEstablished, cudaErrorStartupFailure = 127,
  cudaErrorInvalidKernelImage = 200, cudaErrorDeviceUninitialized, cudaErrorMapBufferObjectFailed = 205,
  cudaErrorUnmapBufferObjectFailed, cudaErrorArrayIsMapped, cudaErrorAlreadyMapped, cudaErrorNoKernelImageForDevice,
  cudaErrorAlreadyAcquired, cudaErrorNotMapped, cudaErrorNotMappedAsArray, cudaErrorNotMappedAsPointer,
  cudaErrorECCUncorrectable, cudaErrorUnsupportedLimit, cudaErrorDeviceAlreadyInUse, cudaErrorPeerAccessUnsupported,
  cudaErrorInvalidPtx, cudaErrorInvalidGraphicsContext, cudaErrorNvlinkUncorrectable, cudaErrorJitCompilerNotFound,
  cudaErrorUnsupportedPtxVersion, cudaErrorJitCompilationDisabled, cudaErrorUnsupportedExecAffinity,
  cudaErrorUnsupportedDevSideSync, cudaErrorContained, cudaErrorInvalidSource = 300, cudaErrorFileNotFound,
  cudaErrorSharedObjectSymbolNotFound, cudaErrorSharedObjectInitFailed, cudaErrorOperatingSystem,
  cudaErrorInvalidResourceHandle = 400, cudaErrorIllegalState, cudaErrorLossyQuery, cudaErrorSymbolNotFound = 500,
  cudaErrorIllegalAddress = 700, cudaErrorLaunchOutOfResources, cudaErrorLaunchTimeout,
  cudaErrorLaunchIncompatibleTexturing, cudaErrorPeerAccessAlreadyEnabled, cudaErrorPeerAccessNotEnabled,
  cudaErrorSetOnActiveProcess = 708, cudaErrorContextIsDestroyed, cudaErrorAssert, cudaErrorTooManyPeers,
  cudaErrorHostMemoryAlreadyRegistered, cudaErrorHostMemoryNotRegistered, cudaErrorHardwareStackError,
  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,
  cudaErrorCooperativeLaunchTooLarge = 720, cudaErrorTensorMemoryLeak, cudaErrorNotPermitted = 800,
  cudaErrorNotSupported, cudaErrorSystemNotReady, cudaErrorSystemDriverMismatch, cudaErrorCompatNotSupportedOnDevice,
  cudaErrorMpsConnectionFailed, cudaErrorMpsRpcFailure, cudaErrorMpsServerNotReady, cudaErrorMpsMaxClientsReached,
  cudaErrorMpsMaxConnectionsReached, cudaErrorMpsClientTerminated, cudaErrorCdpNotSupported,
  cudaErrorCdpVersionMismatch, cudaErrorStreamCaptureUnsupported = 900, cudaErrorStreamCaptureInvalidated,
  cudaErrorStreamCaptureMerge, cudaErrorStreamCaptureUnmatched, cudaErrorStreamCaptureUnjoined,
  cudaErrorStreamCaptureIsolation, cudaErrorStreamCaptureImplicit, cudaErrorCapturedEvent,
  cudaErrorStreamCaptureWrongThread, cudaErrorTimeout, cudaErrorGraphExecUpdateFailure, cudaErrorExternalDevice,
  cudaErrorInvalidClusterSize, cudaErrorFunctionNotLoaded, cudaErrorInvalidResourceType,
  cudaErrorInvalidResourceConfiguration, cudaErrorApiFailureBase = 10000
};
typedef enum cudaError cudaError_t;
enum __kc_host_copy_kind : int {
  cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4
};
enum __kc_host_flags : unsigned {
  cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4, cudaEventDefault = 0,
  cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaMemAttachGlobal = 1,
  cudaMemAttachHost = 2, cudaDeviceScheduleAuto = 0, cudaDeviceMapHost = 8, cudaDeviceBlockingSync = 4, cudaDeviceScheduleBlockingSync = 4,
  cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaStreamCaptureModeGlobal = 0
};
enum __kc_host_attributes : int {
  cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual, cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte, cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9, cudaFuncAttributeClusterDimMustBeSet, cudaFuncAttributeRequiredClusterWidth,
  cudaFuncAttributeRequiredClusterHeight, cudaFuncAttributeRequiredClusterDepth, cudaFuncAttributeNonPortableClusterSizeAllowed,
  cudaFuncAttributeClusterSchedulingPolicyPreference, cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2,
  cudaCpuDeviceId = -1, cudaComputeModeDefault = 0, cudaComputeModeExclusive = 1, cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3,
  cudaMemAdviseSetReadMostly = 1, cudaMemAdviseSetPreferredLocation = 3, cudaMemAdviseSetAccessedBy = 5
};
enum __kc_host_device_attributes : int {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ, cudaDevAttrMaxGridDimX,
  cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ, cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrTotalConstantMemory, cudaDevAttrWarpSize,
  cudaDevAttrMaxPitch, cudaDevAttrMaxRegistersPerBlock, cudaDevAttrClockRate, cudaDevAttrTextureAlignment, cudaDevAttrGpuOverlap,
  cudaDevAttrMultiProcessorCount, cudaDevAttrKernelExecTimeout, cudaDevAttrIntegrated, cudaDevAttrCanMapHostMemory, cudaDevAttrComputeMode,
  cudaDevAttrSurfaceAlignment = 30, cudaDevAttrConcurrentKernels, cudaDevAttrEccEnabled, cudaDevAttrPciBusId, cudaDevAttrPciDeviceId,
  cudaDevAttrTccDriver, cudaDevAttrMemoryClockRate, cudaDevAttrGlobalMemoryBusWidth, cudaDevAttrL2CacheSize, cudaDevAttrMaxThreadsPerMultiProcessor,
  cudaDevAttrAsyncEngineCount, cudaDevAttrUnifiedAddressing, cudaDevAttrPciDomainId = 50, cudaDevAttrTexturePitchAlignment,
  cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor, cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported, cudaDevAttrLocalL1CacheSupported, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrMaxRegistersPerMultiprocessor, cudaDevAttrManagedMemory, cudaDevAttrIsMultiGpuBoard, cudaDevAttrMultiGpuBoardGroupID,
  cudaDevAttrHostNativeAtomicSupported, cudaDevAttrSingleToDoublePrecisionPerfRatio, cudaDevAttrPageableMemoryAccess,
  cudaDevAttrConcurrentManagedAccess, cudaDevAttrComputePreemptionSupported, cudaDevAttrCanUseHostPointerForRegisteredMem,
  cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrCanFlushRemoteWrites, cudaDevAttrHostRegisterSupported,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables, cudaDevAttrDirectManagedMemAccessFromHost, cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108, cudaDevAttrMaxAccessPolicyWindowSize, cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrMemoryPoolsSupported = 115, cudaDevAttrMemoryPoolSupportedHandleTypes = 119, cudaDevAttrClusterLaunch, cudaDevAttrIpcEventSupport = 125,
  cudaDevAttrMemSyncDomainCount,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8, CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102, CU_COMPUTEMODE_DEFAULT = 0, CU_COMPUTEMODE_PROHIBITED = 2
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment, sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, deviceOverlap, multiProcessorCount,
      kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, memoryClockRate,
      memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor, regsPerMultiprocessor, managedMemory, unifiedAddressing, asyncEngineCount,
      cooperativeLaunch, maxTexture1DLinear, cooperativeMultiDeviceLaunch, persistingL2CacheMaxSize,
      streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
      singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
      pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize,
      tccDriver, pciDomainID, maxTexture1D, maxTexture2D[2], maxTexture3D[3], memoryPoolsSupported;
  size_t surfaceAlignment, texturePitchAlignment, reservedSharedMemPerBlock;
};
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms { cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr; cudaExtent extent; cudaMemcpyKind kind; };
struct cudaPointerAttributes { int type, device; void *devicePointer, *hostPointer; };
enum cudaLaunchAttributeID : int {
  cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6, cudaLaunchAttributePriority = 8, cudaLaunchAttributePreferredClusterDimension = 11
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative, priority, programmaticStreamSerializationAllowed;
  struct { unsigned int x, y, z; } clusterDim, preferredClusterDim;
};
struct cudaLaunchAttribute { cudaLaunchAttributeID id; cudaLaunchAttributeValue val; };
typedef cudaLaunchAttribute CUlaunchAttribute;
struct cudaKernelNodeParams { void* func; dim3 gridDim, blockDim; unsigned int sharedMemBytes; void **kernelParams, **extra; };
struct cudaLaunchConfig_t { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute* attrs; unsigned int numAttrs; };

extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" int hipConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = 0);
extern "C" unsigned __hipPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
extern "C" cudaError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);

#define KC_HOST_CALL(name) template <class... A> cudaError_t name(const A&...);
KC_HOST_CALL(cudaMalloc) KC_HOST_CALL(cudaFree) KC_HOST_CALL(cudaMemcpy) KC_HOST_CALL(cudaMemcpyAsync) KC_HOST_CALL(cudaMemset)
KC_HOST_CALL(cudaMemsetAsync) KC_HOST_CALL(cudaMallocHost) KC_HOST_CALL(cudaFreeHost) KC_HOST_CALL(cudaHostAlloc) KC_HOST_CALL(cudaMallocManaged)
KC_HOST_CALL(cudaMallocPitch) KC_HOST_CALL(cudaMalloc3D) KC_HOST_CALL(cudaMallocArray) KC_HOST_CALL(cudaMalloc3DArray) KC_HOST_CALL(cudaFreeArray)
KC_HOST_CALL(cudaMemcpy2D) KC_HOST_CALL(cudaMemcpy2DAsync) KC_HOST_CALL(cudaMemcpy3D) KC_HOST_CALL(cudaMemcpyToArray) KC_HOST_CALL(cudaMemcpy2DToArray)
KC_HOST_CALL(cudaMemcpyToSymbol) KC_HOST_CALL(cudaMemcpyFromSymbol) KC_HOST_CALL(cudaMemcpyToSymbolAsync) KC_HOST_CALL(cudaGetSymbolAddress)
KC_HOST_CALL(cudaDeviceSynchronize) KC_HOST_CALL(cudaThreadSynchronize) KC_HOST_CALL(cudaThreadExit) KC_HOST_CALL(cudaDeviceReset)
KC_HOST_CALL(cudaSetDevice) KC_HOST_CALL(cudaGetDevice) KC_HOST_CALL(cudaGetDeviceCount) KC_HOST_CALL(cudaGetDeviceProperties)
KC_HOST_CALL(cudaDeviceGetAttribute) KC_HOST_CALL(cudaDeviceSetLimit) KC_HOST_CALL(cudaDeviceSetCacheConfig) KC_HOST_CALL(cudaDeviceSetSharedMemConfig)
KC_HOST_CALL(cudaSetDeviceFlags) KC_HOST_CALL(cudaGetLastError) KC_HOST_CALL(cudaPeekAtLastError) KC_HOST_CALL(cudaMemGetInfo)
KC_HOST_CALL(cudaStreamCreate) KC_HOST_CALL(cudaStreamCreateWithFlags) KC_HOST_CALL(cudaStreamDestroy) KC_HOST_CALL(cudaStreamSynchronize)
KC_HOST_CALL(cudaStreamWaitEvent) KC_HOST_CALL(cudaStreamQuery) KC_HOST_CALL(cudaEventCreate) KC_HOST_CALL(cudaEventCreateWithFlags)
KC_HOST_CALL(cudaEventDestroy) KC_HOST_CALL(cudaEventRecord) KC_HOST_CALL(cudaEventSynchronize) KC_HOST_CALL(cudaEventElapsedTime)
KC_HOST_CALL(cudaEventQuery) KC_HOST_CALL(cudaFuncSetCacheConfig) KC_HOST_CALL(cudaFuncSetAttribute) KC_HOST_CALL(cudaFuncGetAttributes)
KC_HOST_CALL(cudaFuncSetSharedMemConfig) KC_HOST_CALL(cudaLaunchCooperativeKernel) KC_HOST_CALL(cudaLaunchKernelEx) KC_HOST_CALL(cudaLaunchKernelExC) KC_HOST_CALL(cudaBindTexture)
KC_HOST_CALL(cudaBindTexture2D) KC_HOST_CALL(cudaBindTextureToArray) KC_HOST_CALL(cudaUnbindTexture) KC_HOST_CALL(cudaCreateTextureObject)
KC_HOST_CALL(cudaDestroyTextureObject) KC_HOST_CALL(cudaCreateSurfaceObject) KC_HOST_CALL(cudaDestroySurfaceObject) KC_HOST_CALL(cudaHostGetDevicePointer)
KC_HOST_CALL(cudaHostRegister) KC_HOST_CALL(cudaHostUnregister) KC_HOST_CALL(cudaMemPrefetchAsync) KC_HOST_CALL(cudaMemAdvise)
KC_HOST_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor) KC_HOST_CALL(cudaOccupancyMaxPotentialBlockSize) KC_HOST_CALL(cudaMallocAsync)
KC_HOST_CALL(cudaFreeAsync) KC_HOST_CALL(cudaProfilerStart) KC_HOST_CALL(cudaProfilerStop) KC_HOST_CALL(cudaPointerGetAttributes)
KC_HOST_CALL(cudaDeviceEnablePeerAccess) KC_HOST_CALL(cudaDeviceCanAccessPeer) KC_HOST_CALL(cudaDeviceDisablePeerAccess) KC_HOST_CALL(cudaMemcpyPeer)
KC_HOST_CALL(cudaMemcpyPeerAsync) KC_HOST_CALL(cudaDriverGetVersion) KC_HOST_CALL(cudaRuntimeGetVersion) KC_HOST_CALL(cudaLaunchHostFunc)
KC_HOST_CALL(cudaChooseDevice) KC_HOST_CALL(cudaStreamAddCallback) KC_HOST_CALL(cudaDeviceGetStreamPriorityRange) KC_HOST_CALL(cudaStreamCreateWithPriority)
KC_HOST_CALL(cudaStreamBeginCapture) KC_HOST_CALL(cudaStreamEndCapture) KC_HOST_CALL(cudaGraphInstantiate) KC_HOST_CALL(cudaGraphLaunch)
KC_HOST_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) KC_HOST_CALL(cudaOccupancyMaxPotentialBlockSizeWithFlags)
KC_HOST_CALL(cudaGraphCreate) KC_HOST_CALL(cudaGraphDestroy) KC_HOST_CALL(cudaGraphExecDestroy)
// Sets what a node of a graph does next: for kernels a store, which is not counted.
__attribute__((device)) inline void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned int) {}
KC_HD const char* cudaGetErrorString(cudaError_t) { return ""; }
KC_HD const char* cudaGetErrorName(cudaError_t) { return ""; }
cudaExtent make_cudaExtent(size_t, size_t, size_t);
cudaPos make_cudaPos(size_t, size_t, size_t);
cudaPitchedPtr make_cudaPitchedPtr(void*, size_t, size_t, size_t);

// The driver API's handles.
typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
enum __kc_host_result : int { CUDA_SUCCESS = 0 };
struct CUlaunchConfig {
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned int numAttrs;
};

// Tensor maps: what a kernel takes as a parameter, and what host code encodes it with.
typedef __UINT32_TYPE__ cuuint32_t;
typedef __UINT64_TYPE__ cuuint64_t;
typedef struct __attribute__((aligned(64))) CUtensorMap_st { cuuint64_t opaque[16]; } CUtensorMap;
typedef int CUtensorMapDataType, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill;
enum __kc_tensor_map : int {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_INT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64, CU_TENSOR_MAP_DATA_TYPE_INT64, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B,
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0, CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_INTERLEAVE_32B,
  CU_TENSOR_MAP_SWIZZLE_NONE = 0, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B,
  CU_TENSOR_MAP_L2_PROMOTION_NONE = 0, CU_TENSOR_MAP_L2_PROMOTION_L2_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
};
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult (*PFN_cuTensorMapEncodeTiled)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                                               const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef PFN_cuTensorMapEncodeTiled PFN_cuTensorMapEncodeTiled_v12000;

// The toolkit's headers declare the math functions of C for hosts, too; as <math.h> has them.
#define KC_HOST_MATH(name) double name(double) noexcept; float name##f(float) noexcept;
extern "C" {
KC_HOST_MATH(ceil) KC_HOST_MATH(floor) KC_HOST_MATH(sqrt) KC_HOST_MATH(log) KC_HOST_MATH(log2) KC_HOST_MATH(log10) KC_HOST_MATH(exp)
KC_HOST_MATH(exp2) KC_HOST_MATH(fabs) KC_HOST_MATH(round) KC_HOST_MATH(rint) KC_HOST_MATH(trunc) KC_HOST_MATH(sin) KC_HOST_MATH(cos)
double pow(double, double) noexcept;
float powf(float, float) noexcept;
long lrint(double) noexcept;
long lround(double) noexcept;
}
// The toolkit's host forms of reals; those of whole numbers are in math.h.
float max(float, float);
double max(double, double);
double max(float, double);
double max(double, float);
float min(float, float);
double min(double, double);
double min(float, double);
double min(double, float);
