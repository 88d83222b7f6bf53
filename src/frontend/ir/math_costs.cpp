// Names and measured costs of mathematical functions.
//
// measured_costs.inc is made by tools/measure/measure_costs.py: each function alone in a kernel, compiled by the
// vendor's compiler (NVIDIA: nvcc and ptxas) or by LLVM from libclc (AMD), instructions counted on the main path: slow
// paths for huge arguments, denormals and infinities are left out. A function that is not measured counts as the
// measured one that computes it (the aliases below).
#include "frontend/ir/math_costs.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {
namespace {

struct Measured {
  std::string_view family;  // "nvidia", "amd"
  int since;                // smallest sm that this row is for; AMD: 0
  std::string_view key, cost;
};

constexpr Measured measured[] = {
#include "frontend/ir/measured_costs_old.inc"
// Later generations stand behind earlier ones.
#include "frontend/ir/measured_costs.inc"
};

struct LibraryBody {
  std::string_view name;
  unsigned instructions;
  bool loops;
};

constexpr LibraryBody library_bodies[] = {
#include "frontend/ir/libdevice_sizes.inc"
};

// Functions with an instruction or an LLVM intrinsic on every target.
constexpr std::string_view called_directly[] = {
    "sqrt",  "rsqrt", "fabs",      "fma",      "mad",         "fmin",         "fmax",         "floor",        "ceil",
    "trunc", "rint",  "nearbyint", "copysign", "native_sqrt", "native_rsqrt", "native_recip", "native_divide"};
constexpr std::string_view costed[] = {"exp",
                                       "exp2",
                                       "exp10",
                                       "expm1",
                                       "log",
                                       "log2",
                                       "log10",
                                       "log1p",
                                       "sin",
                                       "cos",
                                       "tan",
                                       "sinpi",
                                       "cospi",
                                       "tanpi",
                                       "asin",
                                       "acos",
                                       "atan",
                                       "atan2",
                                       "asinpi",
                                       "acospi",
                                       "atanpi",
                                       "atan2pi",
                                       "sinh",
                                       "cosh",
                                       "tanh",
                                       "asinh",
                                       "acosh",
                                       "atanh",
                                       "pow",
                                       "powr",
                                       "pown",
                                       "rootn",
                                       "cbrt",
                                       "rcbrt",
                                       "hypot",
                                       "rhypot",
                                       "erf",
                                       "erfc",
                                       "erfcx",
                                       "erfinv",
                                       "erfcinv",
                                       "normcdf",
                                       "normcdfinv",
                                       "tgamma",
                                       "lgamma",
                                       "fmod",
                                       "remainder",
                                       "round",
                                       "logb",
                                       "ilogb",
                                       "ldexp",
                                       "fdim",
                                       "nextafter",
                                       "native_exp",
                                       "native_exp2",
                                       "native_exp10",
                                       "native_log",
                                       "native_log2",
                                       "native_log10",
                                       "native_sin",
                                       "native_cos",
                                       "native_tan",
                                       "native_powr",
                                       "jn",
                                       "yn",
                                       "cyl_bessel_i0",
                                       "cyl_bessel_i1",
                                       "norm3d",
                                       "rnorm3d",
                                       "norm4d",
                                       "rnorm4d",
                                       "lrint",
                                       "llrint",
                                       "lround",
                                       "llround",
                                       "native_tanh",
                                       "j0",
                                       "j1",
                                       "y0",
                                       "y1",
                                       "sincos",
                                       "sincospi",
                                       "modf",
                                       "frexp",
                                       "fract",
                                       "remquo",
                                       "lgamma_r",
                                       "native_sincos"};

// Other names of the same computation.
const std::map<std::string, std::string, std::less<>> aliases = {{"__exp", "native_exp"},
                                                                 {"__exp10", "native_exp10"},
                                                                 {"__log", "native_log"},
                                                                 {"__log2", "native_log2"},
                                                                 {"__log10", "native_log10"},
                                                                 {"__sin", "native_sin"},
                                                                 {"__cos", "native_cos"},
                                                                 {"__tan", "native_tan"},
                                                                 {"__pow", "native_powr"},
                                                                 {"__sincos", "native_sincos"},
                                                                 {"__fdivide", "native_divide"},
                                                                 {"scalbn", "ldexp"},
                                                                 {"scalbln", "ldexp"},
                                                                 {"half_exp", "native_exp"},
                                                                 {"half_exp2", "native_exp2"},
                                                                 {"half_exp10", "native_exp10"},
                                                                 {"half_log", "native_log"},
                                                                 {"half_log2", "native_log2"},
                                                                 {"half_log10", "native_log10"},
                                                                 {"half_sin", "native_sin"},
                                                                 {"half_cos", "native_cos"},
                                                                 {"half_tan", "native_tan"},
                                                                 {"half_powr", "native_powr"},
                                                                 {"half_sqrt", "native_sqrt"},
                                                                 {"half_rsqrt", "native_rsqrt"},
                                                                 {"half_recip", "native_recip"},
                                                                 {"half_divide", "native_divide"},
                                                                 {"gamma", "tgamma"}};

bool contains(const auto& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::optional<std::string> known(std::string_view name) {
  if (const auto alias = aliases.find(name); alias != aliases.end()) return alias->second;
  if (contains(called_directly, name) || contains(costed, name)) return std::string(name);
  return std::nullopt;
}

// "expf" is C's exp for float: without the suffix it must be a known name, and "modf" is not "mod" for float.
std::optional<std::string> c_name(std::string_view name) {
  if (auto found = known(name)) return found;
  if (name.size() > 1 && name.back() == 'f') return known(name.substr(0, name.size() - 1));
  return std::nullopt;
}

using Table = std::unordered_map<std::string_view, std::vector<const Measured*>>;

const Table& table(std::string_view family) {
  auto make = [](std::string_view f) {
    Table t;
    for (const Measured& row : measured)
      if (row.family == f) t[row.key].push_back(&row);
    return t;
  };
  static const Table nvidia = make("nvidia"), amd = make("amd");
  return family == "nvidia" ? nvidia : amd;
}

std::optional<OpCounts> cost_of(std::string_view family, const std::string& key, int generation) {
  const Table& t = table(family);
  const auto at = t.find(key);
  if (at == t.end()) return std::nullopt;
  const Measured* best = at->second.front();  // rows stand in rising order
  for (const Measured* row : at->second)
    if (row->since <= generation) best = row;
  return parse_cost(best->cost);
}

}  // namespace

std::optional<std::string> math_function(std::string_view symbol) {
  if (symbol.starts_with("_Z")) {
    std::size_t length = 0;
    const char* digits = symbol.data() + 2;
    const auto [end, error] = std::from_chars(digits, symbol.data() + symbol.size(), length);
    const auto begin = static_cast<std::size_t>(end - symbol.data());
    if (error != std::errc{} || begin + length >= symbol.size()) return std::nullopt;
    return c_name(symbol.substr(begin, length));
  }
  if (symbol.starts_with("__nv_fast_")) return c_name("__" + std::string(symbol.substr(10)));
  if (symbol.starts_with("__nv_")) return c_name(symbol.substr(5));
  if (symbol.starts_with("__ocml_")) {
    symbol.remove_prefix(7);
    const auto suffix = symbol.rfind("_f");
    return suffix == std::string_view::npos ? std::nullopt : known(symbol.substr(0, suffix));
  }
  return c_name(symbol);
}

bool is_costed_function(const std::string& symbol) { return math_function(symbol).has_value(); }

MathBody math_body(const std::string& name, bool is_double, bool fast) {
  static const std::unordered_map<std::string_view, const LibraryBody*> bodies = [] {
    std::unordered_map<std::string_view, const LibraryBody*> by_name;
    for (const LibraryBody& body : library_bodies) by_name[body.name] = &body;
    return by_name;
  }();
  const auto of = [](std::string_view family_name) {
    return family_name == "powr" || family_name == "pown" || family_name == "rootn" ? std::string("pow")
                                                                                    : std::string(family_name);
  };
  constexpr std::string_view native = "native_";
  const bool is_native = name.starts_with(native);
  const std::string plain = of(is_native ? std::string_view(name).substr(native.size()) : std::string_view(name));
  auto found = bodies.end();
  if (!is_double && (is_native || fast)) found = bodies.find("fast_" + plain + "f");
  if (found == bodies.end() && !is_native) found = bodies.find(is_double ? plain : plain + "f");
  return found == bodies.end() ? MathBody{} : MathBody{found->second->instructions, found->second->loops};
}

std::optional<OpCounts> nvidia_cost(const std::string& key, int sm) { return cost_of("nvidia", key, sm); }
std::optional<OpCounts> amd_cost(const std::string& key) { return cost_of("amd", key, 0); }

Cost math_pseudo_cost(const std::vector<std::string_view>& operands, bool nvidia, int sm) {
  std::string key(operands.empty() ? std::string_view{} : operands[0]);
  if (key.starts_with("second_result")) return {};
  double lanes = 1;
  if (const auto x = key.rfind('x');
      x != std::string::npos && key.find_first_not_of("0123456789", x + 1) == std::string::npos) {
    lanes = std::atof(key.c_str() + x + 1);
    key.resize(x);
  }
  auto find = [&](const std::string& k) { return nvidia ? nvidia_cost(k, sm) : amd_cost(k); };
  auto cost = find(key);
  if (!cost && key.ends_with(".fast")) {
    key.resize(key.size() - 5);
    if (!nvidia) cost = find("native_" + key);
    if (!cost) cost = find(key);
  }
  if (cost) return {cost->scaled(lanes), true};
  OpCounts one;
  one[OpClass::other] = lanes;
  return {one, false};
}

}  // namespace kernelcast::frontend
