// trace_kernels.so: what every kernel of a CUDA program took, without a change to the program.
//   CUDA_INJECTION64_PATH=.../trace_kernels.so KERNELCAST_TRACE=FILE.csv PROGRAM ...
// writes a line for each kernel as it ends. The driver loads the library and calls InitializeInjection. A program that
// is ended by SIGTERM leaves what it has run.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "probe/cuda/kernel_times.h"

namespace {

kernelcast::probe::cuda::KernelTimes* times = nullptr;  // never ended: CUPTI is gone before the program's last line
std::FILE* out = nullptr;

void finish() {
  if (times != nullptr) times->flush();
  if (out != nullptr) std::fflush(out);
}
void on_signal(int /*number*/) {
  finish();
  _exit(124);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* path = std::getenv("KERNELCAST_TRACE");
  out = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (out == nullptr) return 0;
  std::fprintf(out, "start_s\tseconds\tgrid\tblock\tregisters\tstatic_shared\tdynamic_shared\tname\n");
  auto opened = kernelcast::probe::cuda::KernelTimes::open("", [](const kernelcast::probe::cuda::KernelRecord& k) {
    std::fprintf(out, "%.9f\t%.9f\t%d,%d,%d\t%d,%d,%d\t%d\t%d\t%d\t%s\n", k.start_s, k.seconds, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2],
                 k.registers, k.static_shared_bytes, k.dynamic_shared_bytes, k.name.c_str());
  });
  times = opened.release();
  if (times == nullptr) return 0;
  std::atexit(finish);
  std::signal(SIGTERM, on_signal);
  return 1;
}
