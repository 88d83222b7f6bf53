// Stands in for NVIDIA's management library: a GTX 1080 that takes 42 W by its readings, and a V100 whose energy counter
// grows by 55 W. MISSING leaves out a function, FAIL_INIT lets it fail.
#include <time.h>

static long long milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int first, second;

#ifdef FAIL_INIT
int nvmlInit_v2(void) { return 9; }
#else
int nvmlInit_v2(void) { return 0; }
#endif
int nvmlShutdown(void) { return 0; }
const char* nvmlErrorString(int status) { return status == 9 ? "Driver Not Loaded" : "unknown"; }
int nvmlDeviceGetCount_v2(unsigned* n) {
  *n = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) {
  *device = i == 0 ? &first : &second;
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  const char* text = device == &first ? "NVIDIA GeForce GTX 1080" : "Tesla V100-PCIE-16GB";
  unsigned i = 0;
  for (; text[i] != 0 && i + 1 < length; ++i) name[i] = text[i];
  name[i] = 0;
  return 0;
}
#ifndef MISSING
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 42000;
  return device == &first ? 0 : 3;
}
#endif
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  if (device == &first) return 3;  // before Volta: not supported
  *millijoules = (unsigned long long)milliseconds() * 55;
  return 0;
}
