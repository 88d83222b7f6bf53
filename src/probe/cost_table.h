// The instruction classes of Zhu et al. 2013 ("a quantitative GPGPU model for OpenCL"): their cost is measured with one
// work-item as the mean of ten repeats. Every back end gives them in the form that the model takes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "probe/series.h"

namespace kernelcast::probe {

struct CostClass {
  const char* id;
  const char* words;
  std::vector<const char*> chains;  // names of dependent operations whose mean it is
  std::vector<Field> fields;
};
std::span<const CostClass> cost_classes();
/// "Cost of WORDS as the opencl-quantitative model counts it."
std::string cost_sentence(const CostClass& k);

/// A figure for each class, cycles of the clock of `m`. `chains`: series of dependent operations by name; a class of
/// which one is missing is unknown for `missing`.
void add_cost_table(Measurement& m, const std::map<std::string, Measurement::Handle>& chains, const std::string& method,
                    const std::string& missing);

}  // namespace kernelcast::probe
