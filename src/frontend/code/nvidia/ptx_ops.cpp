// The table of PTX instructions.
//
// A row applies when its first word is the instruction's and its other words all occur among the instruction's
// modifiers, in any order; the first such row decides. "add f64" so covers add.rn.f64 and add.f64.
//
// A cost "=" is measured: the row's words name an entry of measured_costs*.inc, which tools/measure/measure_costs.py
// makes by assembling the instruction alone and counting SASS on the main path. One PTX instruction that is one SASS
// instruction stands here with its class. What costs nothing in SASS:
//   - ld.param, ld.const at a fixed address: the operand c[bank][offset] of whatever uses the value;
//   - mov between registers, cvta, cvt that only truncates or renames: ptxas coalesces;
//   - neg and abs of floating-point numbers: operand modifiers;
//   - setp combined by and/or/not on predicates: ISETP, FSETP take a third predicate operand.
// Constants in registers (mov of an immediate) are one move; ptxas folds most of them into their users, which
// ptx_fusion.h accounts for.
#include "frontend/code/nvidia/ptx_text.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "frontend/ir/assembly.h"
#include "frontend/ir/math_costs.h"
#include "ptx/accesses.h"
#include "ptx/parse.h"

namespace kernelcast::frontend {
namespace {

struct PtxRow {
  std::string_view words, cost;
};

constexpr PtxRow rows[] = {
    // floating point
    {"add f64", "fp64_add"},
    {"sub f64", "fp64_add"},
    {"mul f64", "fp64_mul"},
    {"fma f64", "fp64_fma"},
    {"mad f64", "fp64_fma"},
    {"add f16x2", "fp16_add"},
    {"sub f16x2", "fp16_add"},
    {"mul f16x2", "fp16_mul"},
    {"fma f16x2", "fp16_fma"},
    {"add f16", "fp16_add"},
    {"sub f16", "fp16_add"},
    {"mul f16", "fp16_mul"},
    {"fma f16", "fp16_fma"},
    {"add bf16x2", "fp16_add"},
    {"sub bf16x2", "fp16_add"},
    {"mul bf16x2", "fp16_mul"},
    {"fma bf16x2", "fp16_fma"},
    {"add bf16", "fp16_add"},
    {"sub bf16", "fp16_add"},
    {"mul bf16", "fp16_mul"},
    {"fma bf16", "fp16_fma"},
    {"add f32", "fp32_add"},
    {"sub f32", "fp32_add"},
    {"mul f32", "fp32_mul"},
    {"fma f32", "fp32_fma"},
    {"mad f32", "fp32_fma"},
    {"div rn f64", "="},
    {"div rz f64", "=div rn f64"},
    {"div rn ftz f32", "=div rn f32"},
    {"div rn f32", "="},
    {"div full ftz f32", "="},
    {"div full f32", "="},
    {"div approx ftz f32", "="},
    {"div approx f32", "="},
    {"rcp approx ftz f64", "="},
    {"rcp rn f64", "="},
    {"rcp rn f32", "="},
    {"rcp approx ftz f32", "="},
    {"rcp approx f32", "="},
    {"sqrt rn f64", "="},
    {"sqrt rn f32", "="},
    {"sqrt approx ftz f32", "="},
    {"sqrt approx f32", "="},
    {"rsqrt approx f64", "="},
    {"rsqrt approx ftz f64", "=rsqrt approx f64"},
    {"rsqrt approx ftz f32", "="},
    {"rsqrt approx f32", "="},
    {"ex2 approx ftz f32", "="},
    {"ex2 approx f32", "="},
    {"ex2 f16", "fp32_special"},
    {"ex2 f16x2", "fp32_special:2"},
    {"lg2 approx ftz f32", "="},
    {"lg2 approx f32", "="},
    {"sin approx f32", "="},
    {"cos approx f32", "="},
    {"tanh f32", "fp32_special"},
    {"tanh f16", "fp32_special"},
    {"tanh f16x2", "fp32_special:2"},
    {"tanh bf16x2", "fp32_special:2"},
    {"tanh bf16", "fp32_special"},
    {"min f64", "="},
    {"max f64", "="},
    {"neg f64", ""},
    {"abs f64", ""},
    {"neg f32", ""},
    {"abs f32", ""},
    {"neg f16", ""},
    {"abs f16", ""},
    {"neg f16x2", ""},
    {"abs f16x2", ""},
    {"neg bf16", ""},
    {"neg bf16x2", ""},
    {"abs bf16", ""},
    {"abs bf16x2", ""},
    {"copysign f32", "logic"},
    {"copysign f64", "logic move"},
    {"testp f32", "compare"},
    {"testp f64", "compare:2"},
    // integers
    {"add s64", "int64_add:2"},
    {"add u64", "int64_add:2"},
    {"sub s64", "int64_add:2"},
    {"sub u64", "int64_add:2"},
    {"add cc u64", "int64_add:2"},
    {"add cc", "int_add"},
    {"addc u64", "int64_add:2"},
    {"addc s64", "int64_add:2"},
    {"addc", "int_add"},
    {"sub cc", "int_add"},
    {"subc", "int_add"},
    {"add", "int_add"},
    {"sub", "int_add"},
    {"mul wide u16", "int_mul"},
    {"mul wide s16", "int_mul"},
    {"mul wide", "="},
    {"mad wide", "=mul wide"},
    {"mul lo s64", "="},
    {"mul lo u64", "=mul lo s64"},
    {"mul hi s64", "="},
    {"mul hi u64", "="},
    {"mul hi", "="},
    {"mul lo s16", "int_mul"},
    {"mul lo u16", "int_mul"},
    {"mul lo", "="},
    {"mul24", "="},
    {"mad lo s64", "="},
    {"mad lo u64", "=mad lo s64"},
    {"mad hi s64", "=mul hi s64"},
    {"mad hi u64", "=mul hi u64"},
    {"mad24", "=mul24"},
    {"mad", "="},
    {"madc", "int_mad"},
    {"div s64", "="},
    {"div u64", "="},
    {"rem s64", "="},
    {"rem u64", "="},
    {"div s32", "="},
    {"div u32", "="},
    {"rem s32", "="},
    {"rem u32", "="},
    {"div s16", "=div s32"},
    {"div u16", "=div u32"},
    {"rem s16", "=rem s32"},
    {"rem u16", "=rem u32"},
    {"min s64", "="},
    {"min u64", "=min s64"},
    {"max s64", "=min s64"},
    {"max u64", "=min s64"},
    {"min", "min_max"},
    {"max", "min_max"},
    {"abs s64", "="},
    {"abs", "int_add"},
    {"neg s64", "int64_add:2"},
    {"neg", "int_add"},
    {"sad", "int_add:2"},
    {"dp4a", "int_mad"},
    {"dp2a", "int_mad"},
    {"vabsdiff4", "min_max"},
    {"and pred", ""},
    {"or pred", ""},
    {"xor pred", ""},
    {"not pred", ""},
    {"and b64", "logic:2"},
    {"or b64", "logic:2"},
    {"xor b64", "logic:2"},
    {"not b64", "logic:2"},
    {"and", "logic"},
    {"or", "logic"},
    {"xor", "logic"},
    {"not", "logic"},
    {"cnot", "compare select"},
    {"lop3", "logic"},
    {"shl b64", "shift:2"},
    {"shr s64", "shift:2"},
    {"shr u64", "shift:2"},
    {"shr b64", "shift:2"},
    {"shl", "shift"},
    {"shr", "shift"},
    {"shf", "shift"},
    {"bfe s64", "="},
    {"bfe u64", "="},
    {"bfe s32", "="},
    {"bfe u32", "="},
    {"bfi b64", "="},
    {"bfi b32", "="},
    {"bmsk", "bit_special"},
    {"szext", "bit_special"},
    {"prmt", "bit_special"},
    {"popc b64", "="},
    {"popc", "="},
    {"clz b64", "="},
    {"clz", "="},
    {"bfind u64", "="},
    {"bfind s64", "=bfind u64"},
    {"bfind", "="},
    {"brev b64", "bit_special:2"},
    {"brev", "bit_special"},
    {"fns", "="},
    // comparison and selection
    {"setp f64", "fp64_compare"},
    {"setp s64", "compare:2"},
    {"setp u64", "compare:2"},
    {"setp b64", "compare:2"},
    {"setp", "compare"},
    {"set f64", "fp64_compare"},
    {"set", "compare"},
    {"selp b64", "select:2"},
    {"selp u64", "select:2"},
    {"selp s64", "select:2"},
    {"selp f64", "select:2"},
    {"selp", "select"},
    {"slct", "compare select"},
    // data movement
    {"ld param", ""},
    {"st param", ""},
    {"ld const", "constant_load"},
    {"ld shared", "shared_load"},
    {"ld local", "local_load"},
    {"ld", "global_load"},
    {"ldu", "global_load"},
    {"st shared", "shared_store"},
    {"st local", "local_store"},
    {"st async", "async_copy"},
    {"st", "global_store"},
    {"ldmatrix", "shared_load"},
    {"stmatrix", "shared_store"},
    {"movmatrix", "move"},
    {"cvta", ""},
    {"isspacep", "compare"},
    {"mapa", "int_add"},
    {"getctarank", "int_add"},
    {"prefetch", "global_load"},
    {"prefetchu", "global_load"},
    {"applypriority", ""},
    {"discard", ""},
    {"createpolicy", "move"},
    {"alloca", "int_add"},
    {"stacksave", ""},
    {"stackrestore", ""},
    // conversion; integer widths are done in code
    {"cvt pack", "convert"},
    {"cvt tf32", "logic"},
    // synchronisation, warp operations
    {"bar warp", "control"},
    {"bar", "barrier"},
    {"barrier", "barrier"},
    {"membar", "fence"},
    {"fence", "fence"},
    {"vote", "vote"},
    {"activemask", "vote"},
    {"match", "vote"},
    {"redux", "vote"},
    {"elect", "vote"},
    {"shfl", "shuffle"},
    {"griddepcontrol", "other"},
    {"nanosleep", "other"},
    {"pmevent", "other"},
    {"setmaxnreg", "other"},
    // atomics
    // a loop that adds and compares and swaps, once here
    {"atom shared add f64", "fp64_add shared_atomic"},
    {"red shared add f64", "fp64_add shared_atomic"},
    {"atom shared add f32", "fp32_add shared_atomic"},
    {"red shared add f32", "fp32_add shared_atomic"},
    {"atom shared", "shared_atomic"},
    {"red shared", "shared_atomic"},
    {"atom", "global_atomic"},
    {"red", "global_atomic"},
    // matrix units and asynchronous copies
    {"mma", "tensor"},
    {"wmma load shared", "shared_load"},
    {"wmma load", "global_load"},
    {"wmma store shared", "shared_store"},
    {"wmma store", "global_store"},
    {"wmma mma", "tensor"},
    {"wgmma mma_async", "tensor"},
    {"tcgen05 mma", "tensor"},
    {"tcgen05 cp", "tensor"},
    {"tcgen05", "other"},
    {"wgmma", "other"},
    {"cp commit_group", "other"},
    {"cp wait_group", "other"},
    {"cp wait_all", "other"},
    {"cp bulk commit_group", "other"},
    {"cp bulk wait_group", "other"},
    {"cp mbarrier", "shared_atomic"},
    {"cp", "async_copy"},
    {"mbarrier", "shared_atomic"},
    // textures and surfaces
    {"tex", "texture_load"},
    {"tld4", "texture_load"},
    {"txq", "constant_load"},
    {"suld", "texture_load"},
    {"sust", "global_store"},
    {"sured", "global_atomic"},
    {"suq", "constant_load"},
    // control; an unconditional branch is mostly a fall-through in ptxas's layout (see bra)
    {"bra uni", ""},
    {"bra", "control"},
    {"brx", "control:2"},
    {"call", "control"},
    {"ret", "control"},
    {"exit", "control"},
    {"trap", "control"},
    {"brkpt", "control"},
};

std::array<std::string_view, 12> split(std::string_view s, char separator, std::size_t& n) {
  std::array<std::string_view, 12> parts;
  n = 0;
  while (!s.empty() && n < parts.size()) {
    const auto end = std::min(s.find(separator), s.size());
    parts[n++] = s.substr(0, end);
    s.remove_prefix(std::min(end + 1, s.size()));
  }
  return parts;
}

bool applies(const PtxRow& row, const std::array<std::string_view, 12>& opcode, std::size_t n) {
  std::size_t words = 0;
  const auto wanted = split(row.words, ' ', words);
  if (wanted[0] != opcode[0]) return false;
  return std::all_of(wanted.begin() + 1, wanted.begin() + static_cast<std::ptrdiff_t>(words), [&](std::string_view w) {
    return std::any_of(opcode.begin() + 1, opcode.begin() + static_cast<std::ptrdiff_t>(n), [&](std::string_view have) {
      return have == w || (have.starts_with(w) && have.substr(w.size(), 2) == "::");
    });
  });
}

int bits(std::string_view type) {  // "u64" -> 64
  const auto digits = type.find_first_of("0123456789");
  return digits == std::string_view::npos ? 0 : std::atoi(std::string(type.substr(digits)).c_str());
}

/// Which instruction ptxas 13.0 makes of a conversion to or from floating point of at most 32 bits (nvdisasm, sm_75 to
/// sm_120): HADD2.F32 widens FP16 everywhere, F2FP packs FP32 into FP16 and BF16 from sm_80 on, I2FP makes FP32 of
/// integers from sm_86 on. The others are I2F, F2I, F2F and FRND of the special-function unit.
std::string_view narrow_conversion(std::string_view to, std::string_view from, int sm) {
  constexpr int volta = 70, ampere = 80, ampere_of_cards = 86;
  const bool half_result =
      to.starts_with("f16") || to.starts_with("bf16") || to.starts_with("e4m3") || to.starts_with("e5m2");
  if (to == "f32" && from == "f16" && sm >= volta) return "fp16_add";
  if (to == "f32" && from == "bf16" && sm >= ampere) return "shift";
  if (half_result && from == "f32" && sm >= ampere) return "convert_alu";
  if (half_result && (from.starts_with("e4m3") || from.starts_with("e5m2")) && sm >= ampere) return "convert_alu";
  if (to == "f32" && (from.starts_with('s') || from.starts_with('u')) && sm >= ampere_of_cards) return "convert_alu";
  return "convert";
}

// cvt.TO.FROM: between floating point and integers a conversion instruction; between integers only what changes bits.
OpCounts conversion(const std::array<std::string_view, 12>& opcode, std::size_t n, int sm) {
  const std::string_view to = opcode[n - 2], from = opcode[n - 1];
  const bool to_float = to.starts_with('f') || to.starts_with("bf"),
             from_float = from.starts_with('f') || from.starts_with("bf");
  if (to_float || from_float) {
    if (bits(to) == 64 || bits(from) == 64) return parse_cost("convert64");
    return parse_cost(narrow_conversion(to, from, sm));
  }
  if (bits(from) == 64 && bits(to) <= 32) return {};  // the low register
  if (bits(to) < bits(from)) return parse_cost(to.starts_with('s') && bits(to) < 32 ? "bit_special" : "");
  if (bits(to) == 64) return parse_cost(from.starts_with('s') ? "shift" : "");  // sign; the zero is a register
  if (bits(from) == bits(to)) return {};
  if (from == "u16" || from == "b16") return parse_cost("logic");
  return parse_cost("bit_special");  // PRMT, SGXT
}

bool is_any_register(std::string_view s) { return !s.empty() && s[0] == '%'; }

bool is_special_register(std::string_view s) {
  for (const char* name : {"%tid",
                           "%ntid",
                           "%ctaid",
                           "%nctaid",
                           "%laneid",
                           "%warpid",
                           "%nwarpid",
                           "%smid",
                           "%nsmid",
                           "%gridid",
                           "%lanemask",
                           "%clock",
                           "%globaltimer",
                           "%pm",
                           "%envreg",
                           "%dynamic_smem",
                           "%total_smem",
                           "%cluster",
                           "%is_explicit_cluster",
                           "%reserved_smem",
                           "%current_graph_exec"})
    if (s.starts_with(name)) return true;
  return false;
}

// mov: special registers take an instruction (S2R) except the sizes, which are constants of the launch.
OpCounts move(const AsmInstruction& i) {
  if (i.operands.size() < 2) return {};
  const std::string_view source = i.operands[1];
  if (is_special_register(source))
    return parse_cost(source.starts_with("%ntid") || source.starts_with("%nctaid") ? "" : "special_register");
  if (is_any_register(source) || source.starts_with('{') || i.operands[0].starts_with('{')) return {};
  return parse_cost(i.opcode.ends_with("64") ? "move:2" : "move");
}

bool is_copy_to_tensor_memory(std::string_view opcode) { return opcode.starts_with("tcgen05.cp."); }

/// What wgmma, tcgen05.mma and tcgen05.cp read in shared memory, for one of the warps that issue it. A may lie in
/// registers or in tensor memory instead: {...}, [...].
double operand_bytes(const AsmInstruction& i) {
  if (is_copy_to_tensor_memory(i.opcode)) return static_cast<double>(ptx::tensor_memory_bytes(ptx::decode(i.opcode)));
  const auto product = matrix_instruction(i.opcode);
  if (!product || !product->asynchronous || product->m == 0) return 0;
  const bool a_elsewhere = i.operands.size() > 1 && (i.operands[1].starts_with('{') || i.operands[1].starts_with('['));
  const double a = a_elsewhere ? 0 : static_cast<double>(product->m) / (product->sparse ? 2 : 1);
  return (a + product->n) * product->k * bits_of_input(product->type) / 8 / product->warps;
}

Cost look_up(const AsmInstruction& i, int sm) {
  std::size_t n = 0;
  const auto opcode = split(i.opcode, '.', n);
  if (opcode[0] == "mov") return {move(i), true};
  if (opcode[0] == "cvt" && n >= 3 && i.opcode.find(".pack") == std::string_view::npos &&
      i.opcode.find(".tf32") == std::string_view::npos)
    return {conversion(opcode, n, sm), true};
  for (const PtxRow& row : rows) {
    if (!applies(row, opcode, n)) continue;
    if (row.cost.empty() || row.cost[0] != '=') {
      Cost cost{parse_cost(row.cost), true};
      if (cost.ops[OpClass::tensor] > 0 && !is_copy_to_tensor_memory(i.opcode))
        cost.known = count_products(i.opcode, cost.ops);
      return cost;
    }
    std::string key(row.cost.size() > 1 ? row.cost.substr(1) : row.words);
    std::replace(key.begin(), key.end(), ' ', '.');
    if (const auto from_table = nvidia_cost(key, sm)) return {*from_table, true};
    break;
  }
  return {parse_cost("other"), false};
}

}  // namespace

Cost ptx_cost(const AsmInstruction& i, int sm) {
  if (i.opcode.starts_with("ld.const")) {
    const bool fixed = i.operands.size() > 1 && i.operands[1].find('%') == std::string_view::npos;
    if (fixed) return {};
  }
  if (i.opcode == "kc.math") return math_pseudo_cost(i.operands, true, sm);
  if (i.opcode == "bra" && i.guard.empty()) return {};
  if (i.opcode.starts_with("mov")) return look_up(i, sm);  // depends on its operands
  thread_local std::unordered_map<std::string, Cost> cache;
  thread_local int cached_sm = -1;
  if (cached_sm != sm) cache.clear();
  cached_sm = sm;
  const auto [at, fresh] = cache.try_emplace(std::string(i.opcode));
  if (fresh) at->second = look_up(i, sm);
  if (at->second.ops[OpClass::tensor] == 0) return at->second;
  Cost cost = at->second;
  cost.ops.tensor.shared_bytes = operand_bytes(i);
  return cost;
}

}  // namespace kernelcast::frontend
