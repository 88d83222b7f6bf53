// Counters from which all blocks of a launch take work. A block that is executed alone would take what all of them
// share: its n-th turn gets what it would if the blocks took turns, from the first block to the last.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/program.h"

namespace kernelcast::interpreter {

/// By instruction: whether it is an atomic addition whose old value is used, to one place that is the same for all
/// blocks.
std::vector<bool> work_counters(const KernelProfile& profile, const Program& program,
                                const std::set<std::uint32_t>& registers_read);

/// What the block at hand took of each counter.
class WorkShares {
 public:
  WorkShares() = default;
  WorkShares(const WorkShares&) = delete;
  WorkShares& operator=(const WorkShares&) = delete;
  ~WorkShares() { give_back(); }
  /// The first of the values that the block gets with a turn of `amount` in all.
  std::uint64_t take(unsigned char* counter, int bytes, std::uint64_t amount, std::int64_t block, std::int64_t blocks);
  /// Counters get back what they had before the block: the next one begins with them, too.
  void give_back();

 private:
  struct Counter {
    int bytes = 0;
    std::uint64_t start = 0, taken = 0;
  };
  std::map<unsigned char*, Counter> counters_;
};

}  // namespace kernelcast::interpreter
