// The claim of the OpenCL paper: no GPU program is needed. MM_Global as a plain loop nest gives the same estimate as
// its OpenCL form, with the same bounds check in both, in every work-group size of the paper's table and on every
// model.
#include <gtest/gtest.h>

#include "kernelcast/bind.h"
#include "kernelcast/frontend.h"
#include "kernelcast/model.h"

namespace kernelcast {
namespace {

KernelProfile profile_of(const char* path, const char* text, const Device& device) {
  Source source;
  source.path = path;
  source.text = text;
  FrontendOptions options;
  options.target = device.codegen_target;
  return analyze(source, options).profile;
}

const char* const nest =
    "void mm_global(const float* a, const float* b, float* c, int n) {\n"
    "#pragma omp parallel for collapse(2)\n"
    "  for (int i = 0; i < n; ++i)\n"
    "    for (int j = 0; j < n; ++j) {\n"
    "      float s = 0;\n"
    "      for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j];\n"
    "      c[i * n + j] = s;\n    }\n}\n";

const char* const kernel =
    "__kernel void mm_global(__global const float* a, __global const float* b, __global float* c, int n) {\n"
    "  int i = get_global_id(1);\n"
    "  if (i < n) { int j = get_global_id(0);\n"
    "    if (j < n) {\n"
    "      float s = 0;\n"
    "      for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j];\n"
    "      c[i * n + j] = s;\n    } } }\n";

TEST(LoopNest, MmGlobalIsForecastAsItsOpenClForm) {
  const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  for (const char* name : {"gtx280", "gtx680", "v100", "mi100"}) {
    const Device device = catalog.find(name);
    const KernelProfile from_c = profile_of("mm.c", nest, device), from_cl = profile_of("mm.cl", kernel, device);
    Binder bind_c(from_c, device.geometry()), bind_cl(from_cl, device.geometry());
    for (std::int64_t group : {64, 128, 256}) {
      Launch launch;
      launch.block = {group, 1, 1};
      launch.grid = {1024 / group, 1024, 1};
      launch.args["n"] = std::int64_t{1024};
      const Workload c = bind_c.bind(launch), cl = bind_cl.bind(launch);
      EXPECT_EQ(c.thread_ops[OpClass::fp32_fma], 1024.0 * 1024 * 1024) << name;
      EXPECT_EQ(cl.thread_ops[OpClass::fp32_fma], 1024.0 * 1024 * 1024) << name;
      for (const Model* model : all_models()) {
        const double t_c = model->seconds(c, device), t_cl = model->seconds(cl, device);
        EXPECT_GT(t_cl, 0) << name << " " << model->name();
        EXPECT_NEAR(t_c / t_cl, 1, 1e-12) << name << " " << model->name() << " " << group;
      }
    }
  }
}

}  // namespace
}  // namespace kernelcast
