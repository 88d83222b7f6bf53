#include "frontend/ir/math_costs.h"

#include <gtest/gtest.h>

namespace kernelcast::frontend {
namespace {

TEST(MathCosts, KnowsTheNamesOfAllDialects) {
  EXPECT_EQ(math_function("_Z3expf"), "exp");
  EXPECT_EQ(math_function("_Z3expDv4_f"), "exp");
  EXPECT_EQ(math_function("_Z3powdd"), "pow");
  EXPECT_EQ(math_function("_Z10native_sinf"), "native_sin");
  EXPECT_EQ(math_function("_Z6__expff"), "native_exp");
  EXPECT_EQ(math_function("expf"), "exp");
  EXPECT_EQ(math_function("erf"), "erf");
  EXPECT_EQ(math_function("erff"), "erf");
  EXPECT_EQ(math_function("modf"), "modf");
  EXPECT_EQ(math_function("__nv_expf"), "exp");
  EXPECT_EQ(math_function("__nv_fast_expf"), "native_exp");
  EXPECT_EQ(math_function("__ocml_exp_f32"), "exp");
  EXPECT_EQ(math_function("_Z8half_sinf"), "native_sin");
  EXPECT_EQ(math_function("_Z4sqrtf"), "sqrt");
}

TEST(MathCosts, LeavesOtherFunctionsAlone) {
  for (const char* name : {"_Z5clampfff", "_Z13get_global_idj", "_Z6vload4mPKf", "helper", "_Z", "_Z3", "_Z99expf", ""})
    EXPECT_EQ(math_function(name), std::nullopt) << name;
  EXPECT_FALSE(is_costed_function("_Z7barrierj"));
}

TEST(MathCosts, EveryFamilyAndPrecisionIsMeasured) {
  for (const char* f : {"exp",  "exp2",  "exp10", "expm1", "log",       "log2",   "log10", "log1p",     "sin",
                        "cos",  "tan",   "sinpi", "cospi", "asin",      "acos",   "atan",  "atan2",     "sinh",
                        "cosh", "tanh",  "asinh", "acosh", "atanh",     "pow",    "powr",  "pown",      "rootn",
                        "cbrt", "hypot", "erf",   "erfc",  "tgamma",    "lgamma", "fmod",  "remainder", "round",
                        "logb", "ilogb", "ldexp", "fdim",  "nextafter", "sincos", "modf",  "frexp",     "fract"})
    for (const char* type : {".f32", ".f64"}) {
      const auto nvidia = nvidia_cost(std::string(f) + type, 80), amd = amd_cost(std::string(f) + type);
      ASSERT_TRUE(nvidia) << f << type;
      ASSERT_TRUE(amd) << f << type;
      EXPECT_GE(nvidia->total(), 1) << f << type;
      EXPECT_GE(amd->total(), 1) << f << type;
    }
}

TEST(MathCosts, DoubleNeedsTheDoubleUnit) {
  const auto f = nvidia_cost("exp.f32", 80), d = nvidia_cost("exp.f64", 80);
  EXPECT_EQ((*f)[OpClass::fp64_fma], 0);
  EXPECT_GT((*d)[OpClass::fp64_fma], 5);
}

}  // namespace
}  // namespace kernelcast::frontend
