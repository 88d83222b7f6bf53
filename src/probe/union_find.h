// Classes of an equivalence relation that is found pair by pair.
#pragma once

#include <numeric>
#include <vector>

namespace kernelcast::probe {

class UnionFind {
 public:
  explicit UnionFind(int count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int root(int i) {
    while (parent_[static_cast<std::size_t>(i)] != i) {
      parent_[static_cast<std::size_t>(i)] = parent_[static_cast<std::size_t>(parent_[static_cast<std::size_t>(i)])];
      i = parent_[static_cast<std::size_t>(i)];
    }
    return i;
  }
  void join(int a, int b) { parent_[static_cast<std::size_t>(root(b))] = root(a); }
  /// Members of each class in order, classes by their smallest member.
  std::vector<std::vector<int>> classes() {
    std::vector<std::vector<int>> by_root(parent_.size()), out;
    for (std::size_t i = 0; i < parent_.size(); ++i)
      by_root[static_cast<std::size_t>(root(static_cast<int>(i)))].push_back(static_cast<int>(i));
    std::vector<bool> seen(parent_.size());
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const auto r = static_cast<std::size_t>(root(static_cast<int>(i)));
      if (!seen[r]) out.push_back(by_root[r]);
      seen[r] = true;
    }
    return out;
  }

 private:
  std::vector<int> parent_;
};

}  // namespace kernelcast::probe
