#include "speed_cases.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace kernelcast::speed {

using namespace agreement;

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      {"mandelbrot", "loops.cl", 2, 22,
       [](std::int64_t n) {
         const int width = 256, height = static_cast<int>(16 * n);
         return Case{"mandelbrot",
                     {16, 2 * n, 1},
                     {16, 8, 1},
                     {filled<int>(width * height), scalar(width), scalar(height), scalar(400)}};
       }},
      {"collatz", "loops.cl", 8, 88,
       [](std::int64_t n) {
         return Case{"collatz", {8 * n, 1, 1}, {128, 1, 1}, {filled<int>(1024 * n), filled<std::int64_t>(1024 * n)}};
       }},
      {"multiply_tiled", "matrices.cl", 1, 11,
       [](std::int64_t n) {
         const std::int64_t rows = 16 * n;
         return Case{"multiply_tiled",
                     {12, n, 1},
                     {16, 16, 1},
                     {uniform(rows * 192, -9, 9), uniform(192 * 192, -9, 9), filled<int>(rows * 192), scalar(192)}};
       }},
      {"nbody", "matrices.cl", 1, 8,
       [](std::int64_t n) {
         return Case{"nbody",
                     {2 * n, 1, 1},
                     {128, 1, 1},
                     {uniform(8192, -1.0F, 1.0F), filled<float>(1024 * n), scalar(1024), scalar(0.05F)}};
       }},
      {"chacha", "bits.cl", 8, 88,
       [](std::int64_t n) {
         return Case{
             "chacha", {4 * n, 1, 1}, {128, 1, 1}, {all_sizes<std::uint32_t>(16), filled<std::uint32_t>(512 * 16 * n)}};
       }},
      {"crc_bitwise", "bits.cl", 8, 88,
       [](std::int64_t n) {
         return Case{
             "crc_bitwise",
             {2 * n, 1, 1},
             {128, 1, 1},
             {made<std::uint8_t>(256 * 64 * n, [](std::int64_t) { return static_cast<std::uint8_t>(random_bits()); }),
              filled<std::uint32_t>(256 * n), scalar(64)}};
       }},
      {"stencil_plane", "tables.cl", 8, 108,
       [](std::int64_t n) {
         const int width = 256, height = static_cast<int>(32 * n);
         return Case{
             "stencil_plane",
             {16, 4 * n, 1},
             {16, 8, 1},
             {uniform(width * height, -1.0F, 1.0F), filled<float>(width * height), scalar(width), scalar(height)}};
       }},
      {"bitonic_local", "sorting.cl", 16, 1016,
       [](std::int64_t n) {
         return Case{"bitonic_local", {n, 1, 1}, {128, 1, 1}, {all_sizes<int>(256 * n), filled<int>(256 * n)}};
       }},
  };
  return all;
}

std::string contents_of(const std::string& file) {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/test/engines/execute/kernels/" + file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::pair<Subject, Case> subject_of(const std::string& kernel, const std::string& size) {
  for (const Subject& s : subjects())
    if (s.kernel == kernel) return {s, s.make(std::stoll(size))};
  throw std::runtime_error("no kernel " + kernel);
}

}  // namespace kernelcast::speed
