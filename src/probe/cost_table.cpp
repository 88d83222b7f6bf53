#include "probe/cost_table.h"

#include <algorithm>

namespace kernelcast::probe {

std::span<const CostClass> cost_classes() {
  static const CostClass classes[] = {
      {"cost.add_cycles", "an FP32 addition or subtraction", {"fadd"}, {Field::opencl_quantitative_add_cycles}},
      {"cost.mul_cycles", "an FP32 multiplication", {"fmul"}, {Field::opencl_quantitative_mul_cycles}},
      {"cost.div_cycles", "an FP32 division", {"fdiv"}, {Field::opencl_quantitative_div_cycles}},
      {"cost.special_cycles",
       "a sine, cosine or logarithm in FP32",
       {"fsin", "fcos", "flog"},
       {Field::opencl_quantitative_special_cycles}},
      {"cost.double_add_cycles", "an FP64 addition", {"dadd"}, {}},
      {"cost.double_div_cycles", "an FP64 division", {"ddiv"}, {}}};
  return classes;
}

std::string cost_sentence(const CostClass& k) {
  return std::string("Cost of ") + k.words + " as the opencl-quantitative model counts it.";
}

void add_cost_table(Measurement& m, const std::map<std::string, Measurement::Handle>& chains, const std::string& method,
                    const std::string& missing) {
  for (const CostClass& k : cost_classes()) {
    Result r;
    r.id = k.id;
    r.unit = "cycles";
    r.method = method;
    r.what = cost_sentence(k);
    r.fields = k.fields;
    std::vector<Measurement::Handle> of;
    for (const char* name : k.chains)
      if (const auto found = chains.find(name); found != chains.end()) of.push_back(found->second);
    m.figure(
        std::move(r),
        [of, all = of.size() == k.chains.size()](const Measurement::View& v) -> std::optional<double> {
          if (!all) return std::nullopt;
          double sum = 0;
          for (Measurement::Handle h : of) sum += v.mean_cycles_of_ten(h);
          return sum / static_cast<double>(of.size());
        },
        missing);
  }
}

}  // namespace kernelcast::probe
