// A stable sort for a handful of values.
#pragma once

#include <algorithm>
#include <vector>

namespace kernelcast {

/// Insertion sort: equal values keep their order, no memory is taken.
template <class T, class Less>
void sort_stably(std::vector<T>& values, Less less) {
  for (auto i = values.begin(); i != values.end(); ++i) {
    std::rotate(std::upper_bound(values.begin(), i, *i, less), i, i + 1);
  }
}

}  // namespace kernelcast
