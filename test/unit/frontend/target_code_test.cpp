// The whole way from source to counts per block, on every test kernel and several targets.
#include "frontend/pipeline/pipeline.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "frontend/code/amd/amdgcn.h"
#include "frontend/code/nvidia/ptx_fusion.h"
#include "frontend/code/nvidia/ptx_predication.h"
#include "frontend/code/nvidia/ptx_registers.h"
#include "frontend/code/nvidia/ptx_text.h"
#include "frontend/code/nvidia/ptxas.h"
#include "frontend/ir/assembly.h"
#include "frontend/pipeline/code_of_source.h"
#include "kernelcast/error.h"
#include "machine/sass/cubin.h"

namespace kernelcast::frontend {
namespace {

Source source_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  Source s;
  s.path = path;
  s.text = text.str();
  return s;
}

std::vector<std::string> test_files(const std::string& ending) {
  std::vector<std::string> files;
  for (const auto& f : std::filesystem::directory_iterator(KERNELCAST_SOURCE_DIR "/test/data/kernels"))
    if (f.path().extension() == ending) files.push_back(f.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Source opencl(const std::string& text) {
  Source s;
  s.path = "test.cl";
  s.text = text;
  return s;
}

const CodeBlock& block(const TargetCode& code, const std::string& name) {
  for (const CodeBlock& b : code.blocks)
    if (b.name == name) return b;
  throw std::out_of_range(name);
}

OpCounts total(const TargetCode& code) {
  OpCounts sum;
  for (const CodeBlock& b : code.blocks) sum += b.ops;
  return sum;
}

// Of ".maxntid 16, 16, 1" or ".reqntid ..." of the kernel: threads of a block; 0: it declares none.
std::int64_t declared_threads(const std::string& assembly, const std::string& kernel) {
  const std::size_t entry = assembly.find(".entry " + kernel + "(");
  const std::string head = assembly.substr(entry, assembly.find('{', entry) - entry);
  std::size_t at = head.find(".maxntid ");
  if (at == std::string::npos) at = head.find(".reqntid ");
  if (at == std::string::npos) return 0;
  std::istringstream numbers(head.substr(at + 9));
  std::int64_t threads = 1, n = 0;
  for (char comma = ','; comma == ',' && numbers >> n;) {
    threads *= n;
    if (!(numbers >> comma)) comma = 0;
  }
  return threads;
}

// Counts of the text without any join: all instructions of the kernel but branches that are predicated, reconvergence,
// and the spills at them.
OpCounts counted_flat(const TargetCode& code, const std::string& kernel, std::size_t& instructions) {
  OpCounts sum;
  if (code.target.starts_with("sm_")) {
    const PtxKernel k = parse_ptx(code.assembly, kernel);
    const std::vector<OpCounts> costs = ptx_costs(k.code, std::stoi(code.target.substr(3)));
    const int sm = std::stoi(code.target.substr(3));
    const PtxPredication predicated = predicate_short_paths(k.code, costs, sm);
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (!predicated.removed[i]) sum += costs[i];
    for (std::size_t i = costs.size(); i < predicated.counted.costs.size(); ++i) sum += predicated.counted.costs[i];
    for (const SpillAccess& a : estimate_ptx_registers(k.code, sm, declared_threads(code.assembly, kernel)).spills) {
      sum[OpClass::local_load] += a.loads;
      sum[OpClass::local_store] += a.stores;
    }
    instructions = predicated.counted.costs.size();
  } else {
    const AmdgcnKernel k = parse_amdgcn(code.assembly, kernel);
    for (const auto& i : k.code.instructions) sum += amdgcn_cost(i, k.scratch_descriptor).ops;
    instructions = k.code.instructions.size();
  }
  return sum;
}

void expect_equal(const OpCounts& a, const OpCounts& b, const std::string& what) {
  for (std::size_t c = 0; c < op_class_count; ++c)
    EXPECT_NEAR(a.n[c], b.n[c], 1e-9) << what << " " << name_of(static_cast<OpClass>(c));
}

class JoinTest : public testing::TestWithParam<const char*> {};

TEST_P(JoinTest, LosesNothing) {
  const std::string target = GetParam();
  auto files = test_files(".cl");
  if (target.starts_with("sm_") && target != "sm_20") files.push_back(test_files(".cu").at(0));
  int kernels = 0;
  for (const std::string& file : files)
    for (const std::string& symbol : kernel_symbols(source_of(file), target)) {
      const std::string what = symbol + " on " + target;
      const TargetCode code = code_of_source(source_of(file), symbol, target);
      std::size_t instructions = 0, joined = 0;
      expect_equal(total(code), counted_flat(code, symbol, instructions), what);
      for (const CodeBlock& b : code.blocks) {
        joined += static_cast<std::size_t>(b.instructions);
        OpCounts lines;
        for (const LineCount& l : b.lines) {
          lines += l.ops;
          EXPECT_GT(l.line, 0) << what;
        }
        expect_equal(lines, b.ops, what + " lines of " + b.name);
      }
      EXPECT_EQ(joined, instructions) << what;
      EXPECT_GT(code.registers.per_thread, 0) << what;
      ++kernels;
    }
  EXPECT_GE(kernels, 41);
}

INSTANTIATE_TEST_SUITE_P(Targets, JoinTest,
                         testing::Values("sm_20", "sm_35", "sm_70", "sm_90", "gfx600", "gfx906", "gfx90a", "gfx1030",
                                         "gfx1100"),
                         [](const auto& one) { return std::string(one.param); });

constexpr const char* axpy = R"(kernel void axpy(global float* y, global const float* x, float a, int n) {
  int i = get_global_id(0);
  if (i < n)
    y[i] = a * x[i] + y[i];
}
)";

TEST(TargetCode, AxpyOnNvidia) {
  const TargetCode code = code_of_source(opencl(axpy), "axpy", "sm_70");
  EXPECT_EQ(block(code, "kc0").ops, parse_cost("special_register:2 int_mad compare control move:2"));
  EXPECT_EQ(block(code, "kc1").ops, parse_cost("int_mad:2 global_load:2 fp32_fma global_store"));
  EXPECT_EQ(block(code, "kc2").ops, parse_cost("control"));
  for (const LineCount& l : block(code, "kc1").lines) EXPECT_EQ(l.line, 4);
  EXPECT_EQ(code.static_shared_bytes, 0);
  EXPECT_TRUE(code.assumptions.empty());
}

TEST(TargetCode, AxpyOnAmd) {
  const TargetCode code = code_of_source(opencl(axpy), "axpy", "gfx90a");
  const OpCounts ops = total(code);
  EXPECT_EQ(ops[OpClass::global_load], 2);
  EXPECT_EQ(ops[OpClass::global_store], 1);
  EXPECT_EQ(ops[OpClass::fp32_fma], 1);
  EXPECT_GE(ops[OpClass::scalar_load], 2);
  EXPECT_EQ(code.registers.method, "code generator");
}

// v_dual_fmac_f32 ... :: v_dual_fmac_f32 ... is one instruction of two operations.
TEST(TargetCode, PairsOfRdna3AreIssuedAsOne) {
  const Source s = opencl(
      "kernel void k(global float* p, float a, float b) {\n float x[8]; int i = get_global_id(0);\n"
      " for (int j = 0; j < 8; ++j) x[j] = p[i * 8 + j];\n"
      " for (int j = 0; j < 8; ++j) x[j] = x[j] * a + b;\n for (int j = 0; j < 8; ++j) x[j] = x[j] * b + a;\n"
      " for (int j = 0; j < 8; ++j) p[i * 8 + j] = x[j]; }");
  const TargetCode code = code_of_source(s, "k", "gfx1100");
  std::size_t pairs = 0;
  for (std::size_t at = code.assembly.find("::"); at != std::string::npos; at = code.assembly.find("::", at + 2))
    ++pairs;
  ASSERT_GE(pairs, 1U) << code.assembly;
  const OpCounts ops = total(code);
  EXPECT_EQ(ops[OpClass::dual_issued], static_cast<double>(pairs));
  EXPECT_EQ(ops[OpClass::fp32_fma], 16);
  double operations = 0;
  for (std::size_t c = 0; c < op_class_count; ++c) operations += ops.n[c];
  EXPECT_EQ(ops.total(), operations - 2 * static_cast<double>(pairs));
  EXPECT_EQ(total(code_of_source(s, "k", "gfx1030"))[OpClass::dual_issued], 0);
}

TEST(TargetCode, FunctionsBecomeInstructionsOrTableEntries) {
  const TargetCode code = code_of_source(
      opencl("kernel void f(global float* p) { int i = get_global_id(0); float x = p[i];\n"
             " p[i] = native_rsqrt(x) + fma(x, x, 1.0f) + fabs(x) + fmax(x, 2.0f);\n p[i + 1] = exp(x);\n"
             " float c; p[i + 2] = sincos(x, &c); p[i + 3] = c; }"),
      "f", "sm_80");
  EXPECT_THAT(code.assembly, testing::HasSubstr("rsqrt.approx"));
  EXPECT_THAT(code.assembly, testing::HasSubstr("fma.rn.f32"));
  EXPECT_THAT(code.assembly, testing::HasSubstr("abs.f32"));
  EXPECT_THAT(code.assembly, testing::HasSubstr("max.f32"));
  EXPECT_THAT(code.assembly, testing::HasSubstr("kc.math exp.f32"));
  EXPECT_THAT(code.assembly, testing::HasSubstr("kc.math sincos.f32"));
  EXPECT_TRUE(code.assumptions.empty());
}

/// Measured on an RTX 2080 Ti (KTT's direct Coulomb sum, -use_fast_math): 8 FP32 operations for each atom, the
/// reciprocal square root among them, and none that scales it.
TEST(TargetCode, FastMathematicsFlushesDenormals) {
  Source source = opencl("kernel void f(global float* p) { int i = get_global_id(0); p[i] = native_rsqrt(p[i]); }");
  const TargetCode careful = code_of_source(source, "f", "sm_75");
  EXPECT_THAT(careful.assembly, testing::HasSubstr("rsqrt.approx.f32"));
  EXPECT_GT(total(careful)[OpClass::fp32_mul], 0);
  source.fast_math = true;
  const TargetCode fast = code_of_source(source, "f", "sm_75");
  EXPECT_THAT(fast.assembly, testing::HasSubstr("rsqrt.approx.ftz.f32"));
  EXPECT_EQ(total(fast)[OpClass::fp32_mul], 0);
  EXPECT_EQ(total(fast)[OpClass::fp32_special], 1);
}

TEST(TargetCode, SharedMemoryAndStackAreCounted) {
  const char* text = R"(kernel void f(global int* p, int n) {
    local int tile[100]; int t = get_local_id(0); int mine[64];
    for (int i = 0; i < n; ++i) mine[(i * 7) & 63] = p[i];
    tile[t] = mine[n & 63]; barrier(CLK_LOCAL_MEM_FENCE); p[t] = tile[t ^ 1]; })";
  for (const char* target : {"sm_70", "gfx906"}) {
    const TargetCode code = code_of_source(opencl(text), "f", target);
    EXPECT_EQ(code.static_shared_bytes, 400) << target;
    EXPECT_GE(code.stack_bytes, 256) << target;
    EXPECT_GE(total(code)[OpClass::barrier], 1) << target;
    EXPECT_GE(total(code)[OpClass::local_store], 1) << target;
  }
}

TEST(TargetCode, UnknownInlinePtxIsAnAssumption) {
  Source s = opencl("");
  s.path = "test.cu";
  s.text = "extern \"C\" __global__ void f(int* p) { int v; asm volatile(\"frob.b32 %0, 3;\" : \"=r\"(v)); p[0] = v; }";
  const TargetCode code = code_of_source(s, "f", "sm_70");
  ASSERT_EQ(code.assumptions.size(), 1U);
  EXPECT_EQ(code.assumptions[0].what, "inline PTX instruction frob.b32");
  EXPECT_EQ(total(code)[OpClass::other], 1);
}

TEST(TargetCode, ShufflesOnFermiAreMadeForTheNextTarget) {
  Source s = opencl("");
  s.path = "test.cu";
  s.text =
      "extern \"C\" __global__ void f(int* p) { p[threadIdx.x] = __shfl_down_sync(0xffffffffu, p[threadIdx.x], 1); }";
  const TargetCode code = code_of_source(s, "f", "sm_20");
  EXPECT_NE(code.target, "sm_20");
  ASSERT_FALSE(code.assumptions.empty());
  EXPECT_THAT(code.assumptions.back().what, testing::HasSubstr("sm_20"));
}

TEST(TargetCode, WhatTheCodeGeneratorRefusesIsALimit) {
  const Source s = opencl("kernel void f(global int* p) { int v; __asm(\"v_frob %0\" : \"={v999}\"(v)); p[0] = v; }");
  EXPECT_THROW(code_of_source(s, "f", "gfx906"), LimitError);
}

// Four neighbours of an array of floats in shared memory, whose place the assembler knows in CUDA only.
TEST(TargetCode, SharedAccessesWidenOnlyWhereArraysHaveAPlace) {
  const std::string body =
      " {\n  SHARED float part[1024];\n  float sum = 0;\n  part[T] = p[T];\n  BARRIER;\n"
      "  for (int i = 0; i < 4; ++i) sum += part[T * 4 + i] * (i + 1);\n  p[T] = sum;\n}\n";
  const Source cl = opencl(
      "#define SHARED local\n#define T get_local_id(0)\n#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"
      "kernel void f(global float* p)" +
      body);
  Source cu = opencl(
      "#define SHARED __shared__\n#define T threadIdx.x\n#define BARRIER __syncthreads()\n"
      "extern \"C\" __global__ void f(float* p)" +
      body);
  cu.path = "test.cu";
  const auto ptxas = sass::find_ptxas();
  for (const char* arch : {"sm_70", "sm_80"}) {
    const PreparedKernel apart(cl, "f", arch), placed(cu, "f", arch);
    EXPECT_EQ(total(apart.generate())[OpClass::shared_load], 4);
    EXPECT_EQ(total(placed.generate())[OpClass::shared_load], 1);
    if (!ptxas) continue;
    EXPECT_EQ(total(apart.generate(*ptxas))[OpClass::shared_load], 4);
    EXPECT_EQ(total(placed.generate(*ptxas))[OpClass::shared_load], 1);
  }
}

// Without an assembler that takes the text the counts are those of PTX, and an assumption says why.
TEST(TargetCode, WhatTheAssemblerCannotDoIsSaid) {
  const Source s = opencl("kernel void f(global float* p) { p[get_global_id(0)] *= 2.0f; }");
  const PreparedKernel kernel(s, "f", "sm_80");
  const TargetCode without = kernel.generate(), refused = kernel.generate("/bin/false");
  EXPECT_EQ(total(refused), total(without));
  ASSERT_EQ(refused.assumptions.size(), without.assumptions.size() + 1);
  EXPECT_THAT(refused.assumptions.front().what, testing::HasSubstr("ptxas says: it ended without a message"));
  const TargetCode older = PreparedKernel(s, "f", "sm_52").generate("/bin/false");
  EXPECT_THAT(older.assumptions.front().what, testing::HasSubstr("sm_52 cannot be read"));
  const Source with_function =
      opencl("kernel void f(global float* p) { p[get_global_id(0)] = exp(p[get_global_id(0)]); }");
  const TargetCode library = PreparedKernel(with_function, "f", "sm_80").generate("/bin/false");
  EXPECT_THAT(library.assumptions.front().what, testing::HasSubstr("comes with NVIDIA's toolkit"));
}

// Two roads to the same numbers: our reading of PTX and the code that ptxas makes of it.
TEST(TargetCode, MachineCodeAgreesWithTheCountOfPtx) {
  const char* named = std::getenv("KERNELCAST_PTXAS");
  const auto ptxas = named != nullptr ? std::optional<std::string>(named) : sass::find_ptxas();
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  std::vector<double> errors;
  std::vector<std::string> unread;  // with operations that the table lacks, as a later assembler may emit them
  std::vector<std::string> files = test_files(".cl");
  for (const std::string& f : test_files(".cu")) files.push_back(f);
  for (const std::string& file : files)
    for (const std::string& symbol : kernel_symbols(source_of(file), "sm_80")) {
      const PreparedKernel kernel(source_of(file), symbol, "sm_80");
      const TargetCode ours = kernel.generate();
      if (ours.assembly.find("kc.math") != std::string::npos) continue;
      const TargetCode machine = kernel.generate(*ptxas);
      if (!machine.assumptions.empty()) {
        unread.push_back(symbol + ": " + machine.assumptions.front().what);
        continue;
      }
      EXPECT_EQ(machine.registers.method, "ptxas") << symbol;
      const double error = std::abs(total(machine).total() / total(ours).total() - 1);
      EXPECT_LT(error, 0.75) << symbol << ": " << total(machine).total() << " by ptxas, " << total(ours).total();
      errors.push_back(error);
    }
  EXPECT_LE(unread.size(), 2U) << testing::PrintToString(unread);
  ASSERT_GE(errors.size(), 40U);
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.1);
}

// Machine code does not say what a matrix instruction multiplies: counted from it, the product would cost nothing.
TEST(TargetCode, MatrixInstructionsKeepTheirCountsWithAnAssembler) {
  const auto ptxas = sass::find_ptxas();
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  Source s;
  s.path = "product.cu";
  s.text =
      "#include <mma.h>\nusing namespace nvcuda::wmma;\n"
      "extern \"C\" __global__ void product(const half* a, const half* b, float* c) {\n"
      "  fragment<matrix_a, 16, 16, 16, half, row_major> x;\n  fragment<matrix_b, 16, 16, 16, half, row_major> y;\n"
      "  fragment<accumulator, 16, 16, 16, float> z;\n  fill_fragment(z, 0.0f);\n"
      "  load_matrix_sync(x, a, 16);\n  load_matrix_sync(y, b, 16);\n  mma_sync(z, x, y, z);\n"
      "  store_matrix_sync(c, z, 16, mem_row_major);\n}\n";
  const PreparedKernel kernel(s, "product", "sm_80");
  const TargetCode without = kernel.generate(), with = kernel.generate(*ptxas);
  EXPECT_EQ(total(with), total(without));
  EXPECT_GT(total(with)[OpClass::tensor], 0);
  EXPECT_EQ(with.registers.method, "ptxas");
  EXPECT_EQ(with.assumptions.size(), without.assumptions.size());
  EXPECT_THAT(kernel.generate("/bin/false").assumptions.front().what, testing::HasSubstr("ptxas says"));
}

// What tools/measure/register_table.py makes docs/lab/registers.md of: estimate and ptxas, code and counts, for every
// kernel.
void record(const std::string& key, const std::string& value) { testing::Test::RecordProperty(key, value); }

// |estimate - ptxas| of every kernel in `files`, where ptxas is there and takes the text.
std::vector<double> register_errors(const std::vector<std::string>& files, const std::string& arch,
                                    const std::string& set) {
  const auto ptxas = sass::find_ptxas();
  std::vector<double> errors;
  for (const std::string& file : files)
    for (const std::string& symbol : kernel_symbols(source_of(file), arch)) {
      const TargetCode code = code_of_source(source_of(file), symbol, arch);
      const std::string name = arch + " " + set + " " + symbol;
      record("ptx " + name, code.assembly);
      std::stringstream counts, row;
      const OpCounts ops = total(code);
      for (std::size_t c = 0; c < op_class_count; ++c)
        if (ops.n[c] > 0) counts << name_of(static_cast<OpClass>(c)) << ":" << ops.n[c] << " ";
      record("ops " + name, counts.str());
      if (!ptxas || code.assembly.find("kc.math") != std::string::npos) continue;
      const auto real = run_ptxas(*ptxas, code.assembly, arch);
      if (!real) ADD_FAILURE() << "ptxas refuses " << name;
      if (!real) continue;
      const Registers& r = code.registers;
      row << r.per_thread << " " << r.low << " " << r.high << " " << real->registers << " " << r.spill_bytes << " "
          << real->spill_store_bytes;
      record("registers " + name, row.str());
      errors.push_back(std::abs(r.per_thread - real->registers));
    }
  return errors;
}

class RegisterTest : public testing::TestWithParam<const char*> {};

// The kernels of test/data/kernels had a part in choosing the estimator's two constants, those of examples/ had none.
TEST_P(RegisterTest, EstimateIsNearPtxas) {
  const std::string arch = GetParam();
  auto kernels = test_files(".cl");
  for (const std::string& f : test_files(".cu")) kernels.push_back(f);
  std::vector<std::string> others;
  for (const auto& f : std::filesystem::directory_iterator(KERNELCAST_SOURCE_DIR "/examples"))
    if (f.path().extension() == ".cl" || f.path().extension() == ".cu") others.push_back(f.path().string());
  std::sort(others.begin(), others.end());
  const auto chosen = register_errors(kernels, arch, "kernels"), held_out = register_errors(others, arch, "examples");
  if (!sass::find_ptxas()) GTEST_SKIP() << "ptxas is not installed";
  auto mean = [](const std::vector<double>& e) {
    return std::accumulate(e.begin(), e.end(), 0.0) / static_cast<double>(e.size());
  };
  ASSERT_GE(chosen.size(), 30U);
  ASSERT_GE(held_out.size(), 5U);
  EXPECT_LT(mean(chosen), arch == "sm_75" ? 6.5 : 4.5);
  EXPECT_LT(mean(held_out), arch == "sm_75" ? 6.5 : 4.5);
}

INSTANTIATE_TEST_SUITE_P(Targets, RegisterTest, testing::Values("sm_75", "sm_80", "sm_86", "sm_90"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace kernelcast::frontend
