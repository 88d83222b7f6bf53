// Registers of the kernels of PTX files by kernelcast's estimate, one line each:
//   FILE KERNEL THREADS ESTIMATE LOW HIGH SPILLED_BYTES LIVE_IN_TEXT LIVE_IN_ORDER LIVE_LOADS_FIRST INSTRUCTIONS
// usage: register_estimates SM FILE.ptx...   (compare_registers.py has ptxas's own numbers beside them)
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "frontend/code/nvidia/ptx_registers.h"
#include "frontend/code/nvidia/ptx_text.h"

namespace {

/// The product of the numbers of .maxntid in the directives of `header`; 0: none.
std::int64_t most_threads(const std::string& header) {
  std::size_t at = header.find(".maxntid");
  if (at == std::string::npos) return 0;
  std::int64_t product = 1;
  const char* place = header.c_str() + at + std::strlen(".maxntid");
  for (int n = 0; n < 3; ++n) {
    while (*place == ' ' || *place == ',') ++place;
    int value = 0;
    const auto [end, error] = std::from_chars(place, header.c_str() + header.size(), value);
    if (error != std::errc{}) break;
    product *= value;
    place = end;
  }
  return product;
}

void print_estimates(const std::string& path, int sm) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    at += std::strlen(".entry ");
    const std::string name = text.substr(at, text.find_first_of("( \n", at) - at);
    const std::string header = text.substr(at, text.find('{', at) - at);
    const auto kernel = kernelcast::frontend::parse_ptx(text, name);
    const std::int64_t threads = most_threads(header);
    const auto found = kernelcast::frontend::estimate_ptx_registers(kernel.code, sm, threads);
    const auto& r = found.registers;
    const auto p = kernelcast::frontend::ptx_pressure(kernel.code, sm, 249);
    std::printf("%s %s %lld %.0f %.0f %.0f %.0f %d %d %d %zu\n", path.c_str(), name.c_str(),
                static_cast<long long>(threads), r.per_thread, r.low, r.high, r.spill_bytes, p.text, p.in_order,
                p.loads_first, kernel.code.instructions.size());
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: register_estimates SM FILE.ptx...\n");
    return 2;
  }
  for (int n = 2; n < count; ++n) try {
      print_estimates(words[n], std::atoi(words[1]));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", words[n], e.what());
    }
  return 0;
}
