// Labelled loops: what may be done to each, and what stands against it.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/loops.h"

namespace kernelcast::labelled {

struct Case {
  const char* name;
  std::string text;  // OpenCL C
  Legality postpone;
  Condition postpone_condition;
  Legality advance;
  Condition advance_condition;
};
std::vector<Case> cases();

}  // namespace kernelcast::labelled
