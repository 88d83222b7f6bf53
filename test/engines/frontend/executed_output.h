// What a kernel with the parameters in, out and n leaves in `out`, by the executor.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"
#include "kernelcast/loops.h"

namespace kernelcast {

/// Two blocks of 64 threads, n = 19, 1,024 values in `in` that are the same each time.
inline std::vector<unsigned char> executed_output(const Source& source, const std::string& kernel,
                                                  const std::string& target = FrontendOptions{}.target,
                                                  const std::string& capability = "") {
  FrontendOptions options;
  options.capability = capability;
  options.kernel = kernel;
  options.target = target;
  options.program = true;
  const Analysis a = analyze(source, options);
  EXPECT_TRUE(a.program) << a.no_program;
  Launch launch;
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  launch.args["n"] = std::int64_t{19};
  launch.buffers["in"] = {1024, "uniform(-50,50)"};
  launch.buffers["out"] = {128, "zero"};
  ExecuteOptions o;
  o.sample = -1;
  o.jobs = 1;
  o.keep_buffers = true;
  return execute(a.profile, *a.program, launch, MemoryGeometry{}, o).buffers.at("out");
}

}  // namespace kernelcast
