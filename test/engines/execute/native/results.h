// What a native run leaves for the test: the buffers of each case, in a file.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace kernelcast::agreement {

using Buffers = std::vector<std::vector<unsigned char>>;

inline void write_results(const std::string& path, const std::vector<Buffers>& cases) {
  std::ofstream out(path, std::ios::binary);
  const auto number = [&](std::uint64_t n) { out.write(reinterpret_cast<const char*>(&n), sizeof n); };
  number(cases.size());
  for (const Buffers& buffers : cases) {
    number(buffers.size());
    for (const auto& b : buffers) {
      number(b.size());
      out.write(reinterpret_cast<const char*>(b.data()), static_cast<std::streamsize>(b.size()));
    }
  }
}

inline std::vector<Buffers> read_results(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const auto number = [&] {
    std::uint64_t n = 0;
    in.read(reinterpret_cast<char*>(&n), sizeof n);
    return n;
  };
  std::vector<Buffers> cases(number());
  for (Buffers& buffers : cases) {
    buffers.resize(number());
    for (auto& b : buffers) {
      b.resize(number());
      in.read(reinterpret_cast<char*>(b.data()), static_cast<std::streamsize>(b.size()));
    }
  }
  return cases;
}

}  // namespace kernelcast::agreement
