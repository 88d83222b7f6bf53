// How often a sum of independent arithmetic progressions falls into each residue class.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelcast {

/// Distribution of base + sum of step_i * n_i (0 <= n_i < count_i) modulo `modulus`, without enumerating.
class ResidueCounts {
 public:
  void start(std::int64_t base, std::int64_t modulus);
  void add_progression(std::int64_t step, std::int64_t count);
  struct Entry {
    int residue;
    double count;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::int64_t modulus_ = 1;
  std::vector<Entry> entries_;
  std::vector<double> sums_;
};

}  // namespace kernelcast
