// Labelled loops: what may be done to each, and what stands against it.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/loops.h"

namespace kernelcast::labelled {

struct Case {
  const char* name;
  std::string text;
  Legality postpone;
  Condition postpone_condition;
  Legality advance;
  Condition advance_condition;
  const char* path = "loop.cl";
};
std::vector<Case> opencl_cases();
std::vector<Case> cuda_cases();
std::vector<Case> cases();  // all

}  // namespace kernelcast::labelled
