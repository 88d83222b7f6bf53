// Kernels of test/engines/execute at sizes that take a while, for scripts/compare_oclgrind.py.
#pragma once

#include <optional>
#include <string>

#include "engines/execute/cases/cases.h"

namespace kernelcast::speed {

struct Subject {
  std::string kernel, file;                    // its name, and where it stands
  std::int64_t small, large;                   // sizes whose difference is measured
  agreement::Case (*make)(std::int64_t size);  // size: work-groups, or rows of them
};

const std::vector<Subject>& subjects();
std::string contents_of(const std::string& file);
/// The subject and its case for the arguments KERNEL SIZE; throws std::runtime_error for an unknown kernel.
std::pair<Subject, agreement::Case> subject_of(const std::string& kernel, const std::string& size);

}  // namespace kernelcast::speed
