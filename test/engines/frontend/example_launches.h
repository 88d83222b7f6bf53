// The example kernels with launches of whole blocks, tails and partly filled warps.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "kernelcast/frontend.h"

namespace kernelcast::examples {

struct ExampleLaunch {
  const char* file;
  const char* target;
  Launch launch;
};

inline Launch launch_of(Dim3 grid, Dim3 block, std::map<std::string, ArgValue> args) {
  Launch l;
  l.grid = grid;
  l.block = block;
  l.args = std::move(args);
  return l;
}

inline Source source_of(const ExampleLaunch& example) {
  Source source;
  source.path = std::string(KERNELCAST_SOURCE_DIR "/examples/") + example.file;
  std::ifstream file(source.path);
  std::stringstream text;
  text << file.rdbuf();
  source.text = text.str();
  return source;
}

inline const ExampleLaunch launches[] = {
    {"matmul_naive.cl", "sm_70", launch_of({2, 2, 1}, {16, 16, 1}, {{"n", 32}})},
    {"matmul_naive.cl", "gfx90a", launch_of({2, 3, 1}, {16, 8, 1}, {{"n", 32}})},
    {"matmul_naive.cu", "sm_35", launch_of({3, 4, 1}, {13, 7, 1}, {{"n", 37}})},
    {"matmul_tiled.cl", "sm_70", launch_of({3, 3, 1}, {16, 16, 1}, {{"n", 48}})},
    {"matmul_tiled.cu", "sm_80", launch_of({2, 2, 1}, {16, 16, 1}, {{"n", 32}})},
    {"matmul.c", "sm_70", launch_of({3, 3, 1}, {16, 16, 1}, {{"n", 41}})},
    {"scan_hillis_steele.cl", "sm_70", launch_of({3, 1, 1}, {256, 1, 1}, {})},
    {"scan_blelloch.cl", "sm_70", launch_of({2, 1, 1}, {256, 1, 1}, {})},
    {"scan_blelloch.cl", "gfx906", launch_of({2, 1, 1}, {256, 1, 1}, {})},
    {"stencil5.cu", "sm_60", launch_of({2, 5, 1}, {32, 8, 1}, {{"width", 50}, {"height", 37}, {"weight", 0.2}})},
    {"saxpy.cu", "sm_52", launch_of({4, 1, 1}, {96, 1, 1}, {{"n", 377}, {"a", 2.0}})},
    {"saxpy.cu", "gfx1030", launch_of({5, 1, 1}, {70, 1, 1}, {{"n", 333}, {"a", 2.0}})},
    {"reduce.cu", "sm_70", launch_of({3, 1, 1}, {128, 1, 1}, {{"n", 1000}})},
    {"histogram.cu", "sm_70", launch_of({2, 1, 1}, {256, 1, 1}, {{"n", 3000}})},
    {"transpose.cl", "sm_70", launch_of({3, 3, 1}, {16, 16, 1}, {{"n", 48}})},
    {"nbody.cl", "sm_86", launch_of({2, 1, 1}, {256, 1, 1}, {{"n", 512}, {"softening", 0.1}})},
};

inline std::string name_of(const ExampleLaunch& example, std::size_t index) {
  std::string name = std::string(example.file) + "_" + example.target + "_" + std::to_string(index);
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
}

}  // namespace kernelcast::examples
