// Text of numbers. Kept apart so that the models hold formulas only.
#include "device/describe.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace kernelcast::describe {

std::string number(double value) {
  std::array<char, 40> text{};
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.4g", value);
  return text.data();
}

std::string si(double value, const char* unit) {
  struct Prefix {
    double scale;
    const char* letter;
  };
  static constexpr std::array<Prefix, 9> prefixes{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};
  const double size = std::abs(value);
  const Prefix* chosen = &prefixes.back();
  for (const Prefix& p : prefixes) {
    if (size >= p.scale) {
      chosen = &p;
      break;
    }
  }
  if (size == 0) chosen = &prefixes[5];
  std::array<char, 60> text{};
  std::snprintf(text.data(), text.size(), "%.4g %s%s", value / chosen->scale, chosen->letter, unit);
  return text.data();
}

std::string key_of(Field field) { return std::string(info(field).section) + "." + std::string(info(field).key); }

std::string where_to_set(const Device& device, const char* key) {
  return std::string(key) + " in " + (device.file.empty() ? "the file of " + device.name : device.file);
}

std::string products(const TensorOps& ops, const std::function<double(TensorType)>& peak) {
  std::string text;
  for (std::size_t i = 0; i < tensor_type_count; ++i) {
    const auto t = static_cast<TensorType>(i);
    if (ops.of(t) <= 0) continue;
    const bool floating = is_floating_point(t);
    text += (text.empty() ? "" : "; ") + si(2 * ops.of(t), floating ? "FLOP" : "OP") + " of " +
            std::string(words_of(t)) + " products at " + si(peak(t), floating ? "FLOP/s" : "OP/s");
  }
  return text;
}

std::string missing_tensor_rate(const TensorOps& ops, const Device& d) {
  for (std::size_t i = 0; i < tensor_type_count; ++i) {
    const auto t = static_cast<TensorType>(i);
    if (ops.of(t) <= 0) continue;
    const std::string products = "matrix products of " + std::string(words_of(t));
    const auto rate = d.get(tensor_rate_field(t));
    const std::string key = key_of(tensor_rate_field(t));
    if (!rate) return "no rate for " + products + " of " + d.name + " is known; set " + where_to_set(d, key.c_str());
    if (*rate <= 0) return "the kernel uses " + products + ", which " + d.name + " does not have (" + key + ")";
  }
  return {};
}

}  // namespace kernelcast::describe
