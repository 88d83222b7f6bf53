// Analyses of variants of one source, found again by the macros that the preprocessor asked for.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernelcast/frontend.h"

namespace kernelcast::tune {

/// What a variant's analysis gave, and the text of its entry in the cache.
struct AlikeAnalysis {
  std::shared_ptr<const KernelProfile> profile;
  std::string entry;
};

/// Variants that define the same names in the same order and agree in everything else but values of defines. Not
/// thread-safe.
class AlikeVariants {
 public:
  /// The analysis of a variant with the same values of all macros that it consulted; null: there is none.
  [[nodiscard]] const AlikeAnalysis* find(const std::vector<std::string>& defines) const;
  /// `consulted`: as Analysis::consulted.
  void add(const std::vector<std::string>& defines, const std::vector<std::string>& consulted, AlikeAnalysis analysis);
  [[nodiscard]] std::size_t size() const { return analyses_.size(); }

 private:
  using Places = std::vector<std::size_t>;                            // in the list of defines
  std::set<Places> consulted_;                                        // each by some analysis
  std::map<std::pair<Places, std::string>, AlikeAnalysis> analyses_;  // by places and the defines there
};

/// The names of the defines: what follows the first '=' is left out.
std::vector<std::string> names_of(const std::vector<std::string>& defines);

}  // namespace kernelcast::tune
