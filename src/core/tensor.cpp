// Types and shapes of matrix instructions from their opcodes.
//
// PTX (ISA 9.0, "Warp Level Matrix Multiply-Accumulate", "Asynchronous Warpgroup Level", "TensorCore 5th Generation"):
// parts between points, in any order but that types follow the shape: d, a, b, c for mma and wmma (d, c alone where the
// inputs are f16), d, a, b for wgmma. AMDGCN (CDNA3, MI300 and RDNA3 instruction set manuals): v_mfma_D_MxNxK[_Bb]_A,
// v_wmma_D_MxNxK_A. Without "_Bb_" the number of blocks is what fills 64 lanes: a lane holds `elements` inputs, so
// blocks = 64 * elements / (M * K), at least 1.
#include "kernelcast/tensor.h"

#include <algorithm>
#include <charconv>

namespace kernelcast {
namespace {

using T = TensorType;

constexpr std::array<std::string_view, tensor_type_count> type_names = {
    "f16_f16", "f16_f32", "bf16_f32", "tf32_f32", "f32_f32", "f64_f64", "s8_s32",
    "s4_s32",  "b1_s32",  "f8_f16",   "f8_f32",   "f6_f32",  "f4_f32"};
constexpr std::array<std::string_view, tensor_type_count> type_words = {"FP16, accumulated in FP16",
                                                                        "FP16, accumulated in FP32",
                                                                        "BF16, accumulated in FP32",
                                                                        "TF32, accumulated in FP32",
                                                                        "FP32",
                                                                        "FP64",
                                                                        "INT8, accumulated in INT32",
                                                                        "INT4, accumulated in INT32",
                                                                        "1 bit, accumulated in INT32",
                                                                        "FP8, accumulated in FP16",
                                                                        "FP8, accumulated in FP32",
                                                                        "FP6, accumulated in FP32",
                                                                        "FP4, accumulated in FP32"};

std::optional<int> number_of(std::string_view s) {
  int n = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (error != std::errc{} || end != s.data() + s.size() || n <= 0 || n > 1 << 20) return std::nullopt;
  return n;
}

/// "m16n8k16", "32x32x8" with the three marks before each number.
bool read_shape(std::string_view part, std::string_view marks, MatrixInstruction& out) {
  std::array<int*, 3> at{&out.m, &out.n, &out.k};
  std::array<int, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (marks[i] != ' ') {
      if (part.empty() || part[0] != marks[i]) return false;
      part.remove_prefix(1);
    }
    const auto end = i < 2 ? part.find(marks[i + 1]) : part.size();
    if (end == std::string_view::npos) return false;
    const auto n = number_of(part.substr(0, end));
    if (!n) return false;
    values[i] = *n;
    part.remove_prefix(end);
  }
  for (std::size_t i = 0; i < 3; ++i) *at[i] = values[i];
  return true;
}

enum class Input : std::uint8_t { none, b1, int4, int8, f4, f6, f8, f16, bf16, tf32, f32, f64 };

Input input_of(std::string_view s) {
  struct Row {
    std::string_view name;
    Input input;
  };
  static constexpr Row rows[] = {
      {"f16", Input::f16}, {"bf16", Input::bf16}, {"tf32", Input::tf32}, {"xf32", Input::tf32}, {"f32", Input::f32},
      {"f64", Input::f64}, {"s8", Input::int8},   {"u8", Input::int8},   {"i8", Input::int8},   {"iu8", Input::int8},
      {"s4", Input::int4}, {"u4", Input::int4},   {"iu4", Input::int4},  {"b1", Input::b1},     {"e4m3", Input::f8},
      {"e5m2", Input::f8}, {"fp8", Input::f8},    {"bf8", Input::f8},    {"e3m2", Input::f6},   {"e2m3", Input::f6},
      {"e2m1", Input::f4}, {"s32", Input::none},  {"i32", Input::none}};
  for (const Row& r : rows)
    if (r.name == s) return r.input;
  return Input::none;
}
bool is_type(std::string_view s) { return input_of(s) != Input::none || s == "s32" || s == "i32"; }

std::optional<T> type_of(Input input, bool half_result) {
  switch (input) {
    case Input::f16:
      return half_result ? T::f16_f16 : T::f16_f32;
    case Input::bf16:
      return T::bf16_f32;
    case Input::tf32:
      return T::tf32_f32;
    case Input::f32:
      return T::f32_f32;
    case Input::f64:
      return T::f64_f64;
    case Input::int8:
      return T::s8_s32;
    case Input::int4:
      return T::s4_s32;
    case Input::b1:
      return T::b1_s32;
    case Input::f8:
      return half_result ? T::f8_f16 : T::f8_f32;
    case Input::f6:
      return T::f6_f32;
    case Input::f4:
      return T::f4_f32;
    case Input::none:
      break;
  }
  return std::nullopt;
}

struct Parts {
  std::array<std::string_view, 24> part;
  std::size_t n = 0;
  Parts(std::string_view s, char separator) {
    while (!s.empty() && n < part.size()) {
      const auto end = std::min(s.find(separator), s.size());
      part[n++] = s.substr(0, end);
      s.remove_prefix(std::min(end + 1, s.size()));
    }
  }
  [[nodiscard]] bool has(std::string_view word) const {
    return std::any_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n), [&](std::string_view p) {
      return p == word || (p.starts_with(word) && p.substr(word.size(), 2) == "::");
    });
  }
  [[nodiscard]] std::string_view after(std::string_view prefix) const {
    for (std::size_t i = 0; i < n; ++i)
      if (part[i].starts_with(prefix)) return part[i].substr(prefix.size());
    return {};
  }
};

std::optional<MatrixInstruction> tcgen05(const Parts& p, MatrixInstruction out) {
  struct Kind {
    std::string_view name;
    T type;
    int k;  // 32 bytes of each row
  };
  static constexpr Kind kinds[] = {{"f16", T::f16_f32, 16},    {"tf32", T::tf32_f32, 8},    {"f8f6f4", T::f8_f32, 32},
                                   {"i8", T::s8_s32, 32},      {"mxf8f6f4", T::f8_f32, 32}, {"mxf4", T::f4_f32, 64},
                                   {"mxf4nvf4", T::f4_f32, 64}};
  out.asynchronous = true;
  // A product of 64 rows takes as long as one of 128; two blocks have 64 each at the whole rate (microbench-blackwell,
  // umma_throughput/tput_results_max.csv: B200, BF16, FP8, INT8, FP4).
  if (p.after("cta_group::") == "1") out.rows = 128;
  const std::string_view name = p.after("kind::");
  for (const Kind& kind : kinds) {
    if (kind.name != name) continue;
    out.type = kind.type;
    if (out.k == 0) out.k = kind.k * (out.sparse ? 2 : 1);
    return out;
  }
  return std::nullopt;
}

std::optional<MatrixInstruction> ptx_instruction(std::string_view opcode) {
  const Parts p(opcode, '.');
  MatrixInstruction out;
  const bool wmma = p.part[0] == "wmma", wgmma = p.part[0] == "wgmma";
  if (p.n < 2) return std::nullopt;
  if (wmma && p.part[1] != "mma") return std::nullopt;
  if (wgmma && p.part[1] != "mma_async") return std::nullopt;
  if (p.part[0] == "tcgen05" && p.part[1] != "mma") return std::nullopt;
  out.sparse = p.has("sp");
  std::size_t at = 0;
  for (std::size_t i = 1; i < p.n && at == 0; ++i)
    if (p.part[i].starts_with('m') && read_shape(p.part[i], "mnk", out)) at = i;
  if (p.part[0] == "tcgen05") return tcgen05(p, out);
  if (at == 0) return std::nullopt;
  std::array<std::string_view, 4> types;
  std::size_t n = 0;
  for (std::size_t i = at + 1; i < p.n && n < types.size(); ++i)
    if (is_type(p.part[i])) types[n++] = p.part[i];
  if (n < (wmma ? 2U : 3U)) return std::nullopt;
  // Mixed inputs run as the wider.
  Input input = n == 2 ? Input::f16 : std::max(input_of(types[1]), input_of(types[2]));
  if (p.after("kind::").ends_with("f8f6f4") && input == Input::f4) input = Input::f6;
  const auto type = type_of(input, types[0] == "f16");
  if (!type) return std::nullopt;
  out.type = *type;
  if (wgmma) {
    out.warps = 4;
    out.asynchronous = true;
  }
  if (input == Input::f16 && out.m == 8 && out.n == 8 && out.k == 4) out.products = 4;  // one for each quad pair
  return out;
}

/// Inputs that a lane of the first matrix instructions of each type holds.
int elements_of(Input input, bool four_bf16) {
  switch (input) {
    case Input::f16:
    case Input::int8:
      return 4;
    case Input::bf16:
      return four_bf16 ? 4 : 2;
    default:
      return 1;
  }
}

/// LLVM's schedules of gfx908, gfx90a and gfx940 (SISchedule.td; llvm-mca prints them), by the rows of the result.
/// Those of gfx940, which have the type behind an underscore, take half as long unless they are made of several
/// products or of FP32; what came with gfx950 follows by its peak rates.
int passes_of(const MatrixInstruction& i, Input input, bool of_gfx940, bool several) {
  if (i.m == 4) return input == Input::f64 ? 4 : 2;
  const bool half = of_gfx940 && !several && input != Input::f32 && input != Input::f64;
  return i.m == 16 ? (half ? 4 : 8) : i.m == 32 ? (half ? 8 : 16) : 0;
}

std::optional<MatrixInstruction> amd_instruction(std::string_view opcode) {
  struct Family {
    std::string_view begin;
    bool blocks, sparse;
  };
  static constexpr Family families[] = {{"v_mfma_scale_", false, false}, {"v_mfma_ld_scale_", false, false},
                                        {"v_mfma_", true, false},        {"v_smfmac_", false, true},
                                        {"v_wmma_", false, false},       {"v_swmmac_", false, true}};
  const Family* family = nullptr;
  for (const Family& f : families)
    if (family == nullptr && opcode.starts_with(f.begin)) family = &f;
  if (family == nullptr) return std::nullopt;
  const Parts p(opcode.substr(family->begin.size()), '_');
  MatrixInstruction out;
  out.sparse = family->sparse;
  // "32x32x8f16" of CDNA 1 and 2, "32x32x8" and "f16" after it.
  std::string_view shape = p.n > 1 ? p.part[1] : std::string_view{};
  const auto end = std::min(shape.find_first_not_of("0123456789x"), shape.size());
  if (!read_shape(shape.substr(0, end), " xx", out)) return std::nullopt;
  Input input = input_of(shape.substr(end));
  int named = 0;
  for (std::size_t i = 2; i < p.n; ++i) {
    if (p.part[i].ends_with('b') && number_of(p.part[i].substr(0, p.part[i].size() - 1)))
      named = *number_of(p.part[i].substr(0, p.part[i].size() - 1));
    else if (p.part[i] == "f8f6f4")
      input = Input::f8;
    else
      input = std::max(input, input_of(p.part[i]));
  }
  const auto type = type_of(input, p.part[0] == "f16");
  if (!type) return std::nullopt;
  out.type = *type;
  if (named > 0)
    out.products = named;
  else if (family->blocks)
    out.products = std::max(1, 64 * elements_of(input, p.has("1k")) / (out.m * out.k));
  if (family->begin == "v_mfma_" || family->begin == "v_smfmac_")
    out.passes = passes_of(out, input, end == shape.size(), named > 0);
  return out;
}

}  // namespace

std::string_view name_of(TensorType t) {
  const auto i = static_cast<std::size_t>(t);
  return i < type_names.size() ? type_names[i] : std::string_view("?");
}

std::string_view words_of(TensorType t) {
  const auto i = static_cast<std::size_t>(t);
  return i < type_words.size() ? type_words[i] : std::string_view("?");
}

bool is_floating_point(TensorType t) { return t != T::s8_s32 && t != T::s4_s32 && t != T::b1_s32; }

int bits_of_input(TensorType t) {
  switch (t) {
    case T::f16_f16:
    case T::f16_f32:
    case T::bf16_f32:
      return 16;
    case T::tf32_f32:
    case T::f32_f32:
      return 32;
    case T::f64_f64:
      return 64;
    case T::s8_s32:
    case T::f8_f16:
    case T::f8_f32:
    case T::f6_f32:
      return 8;
    case T::s4_s32:
    case T::f4_f32:
      return 4;
    case T::b1_s32:
      return 1;
    case T::count_:
      break;
  }
  return 0;
}

bool has_async_form(TensorType t) { return t != T::f32_f32 && t != T::f64_f64 && t != T::s4_s32; }

double tensor_flops(const TensorOps& ops) {
  double sum = 0;
  for (std::size_t i = 0; i < tensor_type_count; ++i)
    if (is_floating_point(static_cast<T>(i))) sum += 2 * ops.of(static_cast<T>(i));
  return sum;
}

std::optional<MatrixInstruction> matrix_instruction(std::string_view opcode) {
  if (opcode.starts_with(tensor_call_prefix)) opcode.remove_prefix(tensor_call_prefix.size());
  if (opcode.starts_with("v_")) return amd_instruction(opcode);
  for (std::string_view family : {"mma.", "wmma.", "wgmma.", "tcgen05."})
    if (opcode.starts_with(family)) return ptx_instruction(opcode);
  return std::nullopt;
}

}  // namespace kernelcast
