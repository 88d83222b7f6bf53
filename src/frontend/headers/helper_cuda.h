// The samples' helpers for host code, which kernels never call: enough for the host functions that launch templates to be read.
#pragma once

#define checkCudaErrors(call) ((void)(call))
#define checkCudaErrorsDrv(call) ((void)(call))
#define getLastCudaError(text) ((void)(text))
#define printLastCudaError(text) ((void)(text))
template <class T> void check(T result, const char* call, const char* file, int line);
int findCudaDevice(int argc, const char** argv);
int findCudaDeviceDRV(int argc, const char** argv);
int findIntegratedGPU();
int gpuDeviceInit(int device);
int gpuGetMaxGflopsDeviceId();
int _ConvertSMVer2Cores(int major, int minor);
bool checkCudaCapabilities(int major, int minor);
bool checkCmdLineFlag(int argc, const char** argv, const char* name);
int getCmdLineArgumentInt(int argc, const char** argv, const char* name);
float getCmdLineArgumentFloat(int argc, const char** argv, const char* name);
bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** value);
char* sdkFindFilePath(const char* name, const char* program);
class StopWatchInterface;
bool sdkCreateTimer(StopWatchInterface**);
bool sdkDeleteTimer(StopWatchInterface**);
bool sdkStartTimer(StopWatchInterface**);
bool sdkStopTimer(StopWatchInterface**);
bool sdkResetTimer(StopWatchInterface**);
float sdkGetTimerValue(StopWatchInterface**);
float sdkGetAverageTimerValue(StopWatchInterface**);
