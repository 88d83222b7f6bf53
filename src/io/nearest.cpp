// Damerau's distance in its "optimal string alignment" form (no piece is edited twice), two rows behind the current
// one. A candidate is near when the distance is at most a third of the longer key, or when one key contains the other.
#include "io/nearest.h"

#include <algorithm>
#include <cctype>

namespace kernelcast {

std::string name_key(std::string_view name) {
  std::string key;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0) key += static_cast<char>(std::tolower(u));
  }
  return key;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t limit) {
  struct Ranked {
    std::size_t distance;
    const std::string* name;
  };
  const std::string key = name_key(name.substr(0, 256));  // longer ones are not names
  std::vector<Ranked> ranked;
  for (const std::string& candidate : candidates) {
    const std::string other = name_key(candidate);
    if (key.empty() || other.empty()) continue;
    const std::size_t distance = edit_distance(key, other);
    const bool contained =
        key.size() >= 2 && (other.find(key) != std::string::npos || key.find(other) != std::string::npos);
    if (distance * 3 <= std::max(key.size(), other.size())) {
      ranked.push_back({distance, &candidate});
    } else if (contained) {
      ranked.push_back({distance + 256, &candidate});  // after every close spelling
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return a.distance != b.distance ? a.distance < b.distance : *a.name < *b.name;
  });
  std::vector<std::string> names;
  for (const Ranked& r : ranked) {
    if (names.size() == limit) break;
    if (std::find(names.begin(), names.end(), *r.name) == names.end()) names.push_back(*r.name);
  }
  return names;
}

}  // namespace kernelcast
