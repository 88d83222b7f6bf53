// Names of models. A new model: one more family in `families`.
#include <algorithm>
#include <string>
#include <vector>

#include "io/nearest.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "model/models.h"

namespace kernelcast {
namespace {

struct Registry {
  std::vector<std::unique_ptr<Model>> floored;  // none answers below the floor
  std::vector<const Model*> models, variants;
};

const Registry& registry() {
  static const Registry all = [] {
    Registry r;
    for (const auto family :
         {kernelcast_models(), opencl_quantitative_models(), ske_models(), roofline_models(), mwp_cwp_models()}) {
      for (const Model* m : family) {
        r.floored.push_back(floored(*m));
        (m == family.front() ? r.models : r.variants).push_back(r.floored.back().get());
      }
    }
    return r;
  }();
  return all;
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
    return edit_distance(a->name(), name) < edit_distance(b->name(), name);
  });
  std::string message = KC_SETTING(model) ": there is no model \"" + std::string(name) + "\"; the nearest is \"" +
                        std::string(nearest->name()) + "\". Models:";
  for (const Model* m : known) message += " " + std::string(m->name());
  throw UsageError(message);
}

bool any_reads_reuse(std::span<const Model* const> models) {
  return std::any_of(models.begin(), models.end(), [](const Model* m) { return m->reads_reuse(); });
}

namespace {

/// A model that works nothing out beforehand.
class EachTime final : public DeviceTimes {
 public:
  EachTime(const Model& model, const Device& device) : model_(model), device_(device) {}
  [[nodiscard]] double seconds(const Workload& w) const override { return model_.seconds(w, device_); }

 private:
  const Model& model_;
  const Device& device_;
};

}  // namespace

std::unique_ptr<DeviceTimes> Model::on(const Device& device) const { return std::make_unique<EachTime>(*this, device); }

Estimate empty_estimate(std::string_view model) {
  Estimate e;
  e.model = std::string(model);
  e.interval_reason = "the paper behind " + e.model + " gives no error distribution";
  e.energy_j.reason = e.model + " forecasts time only";
  return e;
}

}  // namespace kernelcast
