#include "tune/enumerate.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::tune {
namespace {

class Enumerator {
 public:
  Enumerator(const Space& space, std::uint64_t most, std::size_t examples, const std::atomic<bool>& stop)
      : space_(space),
        reader_(space),
        most_(most),
        examples_(examples),
        stop_(stop),
        due_(space.parameters.size() + 1) {
    for (std::size_t c = 0; c < space.constraints.size(); ++c) due_[depth_of(space.constraints[c])].push_back(c);
    out_.combinations = combinations(space);
    out_.excluded.resize(space.constraints.size());
    below_.assign(space.parameters.size() + 1, 1);
    for (std::size_t p = space.parameters.size(); p-- > 0;)
      below_[p] = below_[p + 1] * space.parameters[p].values.size();
  }

  Enumeration run() {
    for (const std::size_t c : due_[0]) {
      if (!leaf_only(c) && !reader_.holds(c)) {
        exclude(0, 0, c);
        return std::move(out_);
      }
    }
    walk(0, 0);
    return std::move(out_);
  }

 private:
  /// The number of parameters that must have values before the constraint can be checked. Names of the launch need all.
  [[nodiscard]] std::size_t depth_of(const Expression& e) const {
    std::size_t depth = 0;
    for (const int name : e.names()) {
      const auto found = std::find(space_.parameter_names.begin(), space_.parameter_names.end(), name);
      if (found != space_.parameter_names.end()) {
        depth = std::max(depth, static_cast<std::size_t>(found - space_.parameter_names.begin()) + 1);
      } else if (!is_constant(name)) {
        return space_.parameters.size();
      }
    }
    return depth;
  }

  [[nodiscard]] bool is_constant(int name) const {
    return std::any_of(space_.constants.begin(), space_.constants.end(),
                       [&](const auto& c) { return c.first == name; });
  }

  [[nodiscard]] bool needs_launch(const Expression& e) const {
    return std::any_of(e.names().begin(), e.names().end(), [&](int name) {
      return !is_constant(name) && std::find(space_.parameter_names.begin(), space_.parameter_names.end(), name) ==
                                       space_.parameter_names.end();
    });
  }

  /// Constraints of no parameter that still need the launch are checked at the leaves.
  [[nodiscard]] bool leaf_only(std::size_t c) const { return needs_launch(space_.constraints[c]); }

  void walk(std::size_t parameter, Configuration prefix) {
    if (stop_) return;
    if (parameter == space_.parameters.size()) {
      keep(prefix);
      return;
    }
    const std::size_t values = space_.parameters[parameter].values.size();
    for (std::size_t v = 0; v < values && !stop_; ++v) {
      reader_.set(parameter, v);
      const Configuration here = prefix + v * below_[parameter + 1];
      const auto fails = [&](std::size_t c) { return !leaf_only(c) && !reader_.holds(c); };
      const std::vector<std::size_t>& due = due_[parameter + 1];
      const auto failed = std::find_if(due.begin(), due.end(), fails);
      if (failed == due.end()) {
        walk(parameter + 1, here);
      } else {
        exclude(here, parameter + 1, *failed);
      }
    }
    reader_.unset(parameter);
  }

  void keep(Configuration c) {
    bool shaped = false;
    for (const std::size_t constraint : due_[space_.parameters.size()]) {
      if (!leaf_only(constraint)) continue;
      if (!shaped) (void)reader_.shape();
      shaped = true;
      if (!reader_.holds(constraint)) {
        exclude(c, space_.parameters.size(), constraint);
        return;
      }
    }
    if (out_.kept.size() == most_) {
      throw LimitError(
          fmt::format("{}: more than {} configurations satisfy the constraints, too many to try each: give fewer "
                      "values or " KC_SETTING(search) " optimise",
                      space_.place, most_));
    }
    out_.kept.push_back(c);
  }

  void exclude(Configuration first, std::size_t depth, std::size_t constraint) {
    out_.excluded[constraint] += below_[depth];
    for (std::uint64_t i = 0; i < below_[depth] && out_.examples.size() < examples_; ++i) {
      out_.examples.emplace_back(first + i, constraint);
    }
  }

  const Space& space_;
  SpaceReader reader_;
  std::uint64_t most_;
  std::size_t examples_;
  const std::atomic<bool>& stop_;
  std::vector<std::vector<std::size_t>> due_;  // constraints by the number of parameters that they need
  std::vector<std::uint64_t> below_;           // configurations of a subtree, by depth
  Enumeration out_;
};

}  // namespace

Enumeration enumerate(const Space& space, std::uint64_t most, std::size_t examples, const std::atomic<bool>& stop) {
  return Enumerator(space, most, examples, stop).run();
}

}  // namespace kernelcast::tune
