// The tables of cases, one a file of kernels.
#pragma once

#include "engines/execute/cases/cases.h"

namespace kernelcast::agreement {

std::vector<Case> reductions();
std::vector<Case> scans();
std::vector<Case> atomics();
std::vector<Case> graphs();
std::vector<Case> sorting();
std::vector<Case> tables();
std::vector<Case> matrices();
std::vector<Case> loops();
std::vector<Case> bits();
std::vector<Case> vectors();
std::vector<Case> memory();
std::vector<Case> math();
std::vector<Case> warps();
std::vector<Case> converge();
std::vector<Case> divergent();

}  // namespace kernelcast::agreement
