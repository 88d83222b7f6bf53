#include "probe/host/bench.h"

#include <algorithm>

namespace kernelcast::probe::host {

std::function<double()> repeated(std::function<void(std::int64_t)> work, double items, double target_s) {
  return [work = std::move(work), items, target_s, n = std::int64_t{0}]() mutable {
    const auto run = [&] {
      const double from = steady_seconds();
      work(n);
      return steady_seconds() - from;
    };
    if (n == 0) {
      n = 1;
      work(n);
      while (run() < target_s && n < (std::int64_t{1} << 40)) n *= 2;
    }
    return run() / (static_cast<double>(n) * items);
  };
}

std::vector<Field> fields(std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
  std::vector<Field> out;
  for (const auto& [section, key] : names)
    if (const std::optional<Field> f = field_named(section, key)) out.push_back(*f);
  return out;
}

}  // namespace kernelcast::probe::host
