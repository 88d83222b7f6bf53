// Names of models. A new model: one more family in `families`.
#include <algorithm>
#include <string>
#include <vector>

#include "kernelcast/error.h"
#include "model/models.h"

namespace kernelcast {
namespace {

struct Registry {
  std::vector<const Model*> models, variants;
};

const Registry& registry() {
  static const Registry all = [] {
    Registry r;
    for (const auto family : {opencl_quantitative_models(), ske_models(), roofline_models()}) {
      r.models.push_back(family.front());
      r.variants.insert(r.variants.end(), family.begin() + 1, family.end());
    }
    return r;
  }();
  return all;
}

/// Levenshtein's distance: insertions, deletions and replacements of one letter.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::span<const Model* const> all_models() { return registry().models; }
std::span<const Model* const> model_variants() { return registry().variants; }

const Model& model_named(std::string_view name) {
  std::vector<const Model*> known = registry().models;
  known.insert(known.end(), registry().variants.begin(), registry().variants.end());
  for (const Model* m : known) {
    if (m->name() == name) return *m;
  }
  const Model* nearest = *std::min_element(known.begin(), known.end(), [name](const Model* a, const Model* b) {
    return edits(a->name(), name) < edits(b->name(), name);
  });
  std::string message = "--model: there is no model \"" + std::string(name) + "\"; the nearest is \"" +
                        std::string(nearest->name()) + "\". Models:";
  for (const Model* m : known) message += " " + std::string(m->name());
  throw UsageError(message);
}

Estimate empty_estimate(std::string_view model) {
  Estimate e;
  e.model = std::string(model);
  e.interval_reason = "the paper behind " + e.model + " gives no error distribution";
  e.energy_j.reason = e.model + " forecasts time only";
  return e;
}

}  // namespace kernelcast
