// Loops of the library for divergent loops: every policy, rare and even paths. The kernels compare with the plain loop
// themselves; here both engines' buffers must be the same, and the second buffer is compared with zeros by the device.
#include "engines/execute/cases/case_files.h"

namespace kernelcast::agreement {

std::vector<Case> converge() {
  std::vector<Case> cases;
  constexpr int plain = 0, advance = 3, advance_in_order = 4, automatic = 5;  // converge/policy.h
  for (int policy = plain; policy <= automatic; ++policy) {
    const std::uint32_t mask = policy % 2 == 0 ? 1U : 7U;  // T in every second, in every eighth iteration
    const auto add = [&](const char* kernel, int blocks, int threads, int count) {
      cases.push_back(
          {kernel,
           {blocks},
           {threads},
           {all_sizes<std::uint32_t>(1009), filled<std::uint32_t>(blocks * threads),
            filled<std::uint32_t>(blocks * threads), scalar(1009), scalar(count), scalar(mask), scalar(policy)}});
    };
    if (policy != advance) add("converge_ordered", 2, 64, 50);
    add("converge_commuting", 1, 96, 45);
    if (policy != advance && policy != advance_in_order) add("converge_escaping", 2, 40, 50);
  }
  return cases;
}

}  // namespace kernelcast::agreement
