// Preprocessing is deterministic: where it goes next depends on the text read so far and on the macros that it has
// asked for. Two runs over the same files with the same names defined therefore give the same text as long as they get
// the same answers, so a variant that would answer everything that an earlier run asked as that run's variant did is
// the same source to the compiler. Which macros are asked for depends on the answers (`#if A`, then B), so each set
// that came up is tried; in practice they are few.
#include "tune/alike_variants.h"

#include <algorithm>

namespace kernelcast::tune {
namespace {

/// "F" of F(x)=x; the compiler reads "A 1" as A with the text 1.
std::string macro_name(const std::string& define) { return define.substr(0, define.find_first_of("=( \t")); }

std::string values_at(const std::vector<std::size_t>& places, const std::vector<std::string>& defines) {
  std::string text;
  for (const std::size_t place : places) text += std::to_string(defines[place].size()) + ':' + defines[place];
  return text;
}

}  // namespace

std::vector<std::string> names_of(const std::vector<std::string>& defines) {
  std::vector<std::string> names;
  names.reserve(defines.size());
  for (const std::string& define : defines) names.push_back(define.substr(0, define.find('=')));
  return names;
}

const AlikeAnalysis* AlikeVariants::find(const std::vector<std::string>& defines) const {
  for (const Places& places : consulted_) {
    const auto found = analyses_.find({places, values_at(places, defines)});
    if (found != analyses_.end()) return &found->second;
  }
  return nullptr;
}

void AlikeVariants::add(const std::vector<std::string>& defines, const std::vector<std::string>& consulted,
                        AlikeAnalysis analysis) {
  Places places;
  for (std::size_t i = 0; i < defines.size(); ++i) {
    if (std::find(consulted.begin(), consulted.end(), macro_name(defines[i])) != consulted.end()) places.push_back(i);
  }
  std::string values = values_at(places, defines);
  consulted_.insert(places);
  analyses_.emplace(std::pair{std::move(places), std::move(values)}, std::move(analysis));
}

}  // namespace kernelcast::tune
