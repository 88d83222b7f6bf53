// Kernels with the parameters in, out and n, executed with all checks.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// n = 9, 4,096 values in `in` that are the same each time, 512 in `out`.
inline Execution executed(const std::string& text, int block, bool independent = false, int grid = 2,
                          const std::string& fill = "uniform(-50,50)") {
  Source source;
  source.path = "test.cu";
  source.text = text;
  FrontendOptions options;
  options.target = "sm_90";
  options.program = true;
  const Analysis a = analyze(source, options);
  EXPECT_TRUE(a.program) << a.no_program;
  if (!a.program) return {};
  Launch launch;
  launch.grid = {grid, 1, 1};
  launch.block = {block, 1, 1};
  launch.args["n"] = std::int64_t{9};
  launch.buffers["in"] = {4096, fill};
  launch.buffers["out"] = {512, "zero"};
  ExecuteOptions o;
  o.sample = -1;
  o.jobs = 1;
  o.keep_buffers = true;
  o.independent_threads = independent;
  return execute(a.profile, *a.program, launch, MemoryGeometry{}, o);
}

/// "race at 17: reads ...", a line each.
inline std::string text_of(const std::vector<Finding>& all) {
  std::string text;
  for (const Finding& f : all)
    text += std::string(name_of(f.kind)) + " at " + std::to_string(f.line.line) + ": " + f.text + "\n";
  return text;
}

inline float float_at(const std::vector<unsigned char>& bytes, std::int64_t n) {
  float f = 0;
  std::memcpy(&f, bytes.data() + 4 * n, 4);
  return f;
}

}  // namespace kernelcast
