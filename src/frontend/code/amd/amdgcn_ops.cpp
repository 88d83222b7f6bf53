// The table of AMDGCN instructions, by the beginning of their names; the first row that fits decides. The classes name
// the hardware resource: comparisons and minima of FP64 count as fp64_compare, its roundings as fp64_add, 24-bit
// multiplications, which run at full rate in the FP32 multiplier, as int_add; v_pk_fma_f32 has two results and is two
// fp32_fma, so that floating-point operations add up (the packed issue rate is a matter of the device). Sources: AMD's
// instruction set manuals (GCN3, Vega, CDNA2, RDNA2, RDNA3), tables of VALU, SALU, LDS and memory opcodes.
#include "frontend/code/amd/amdgcn.h"

#include <string>
#include <unordered_map>

#include "frontend/ir/assembly.h"
#include "frontend/ir/math_costs.h"

namespace kernelcast::frontend {
namespace {

struct AmdgcnRow {
  std::string_view begin, cost;
};

// Rows whose name has a type behind: see typed_cost().
constexpr AmdgcnRow vector_rows[] = {
    {"v_dual_", "?"},  // handled before
    {"v_add_co", "int64_add"},
    {"v_addc", "int64_add"},
    {"v_add_nc", "int_add"},
    {"v_sub_co", "int64_add"},
    {"v_subb", "int64_add"},
    {"v_subrev_co", "int64_add"},
    {"v_subbrev", "int64_add"},
    {"v_sub_nc", "int_add"},
    {"v_subrev_nc", "int_add"},
    {"v_lshl_add_u64", "int64_add"},
    {"v_add3", "int_add"},
    {"v_lshl_add", "int_add"},
    {"v_add_lshl", "int_add"},
    {"v_xad", "int_add"},
    {"v_sad", "int_add"},
    {"v_msad", "int_add"},
    {"v_qsad", "int_add"},
    {"v_mul_u32_u24", "int_add"},
    {"v_mul_i32_i24", "int_add"},
    {"v_mad_u32_u24", "int_add"},
    {"v_mad_i32_i24", "int_add"},
    {"v_mul_hi_u32_u24", "int_add"},
    {"v_mul_hi_i32_i24", "int_add"},
    {"v_mul_lo", "int_mul"},
    {"v_mul_hi", "int_mul"},
    {"v_mad_u64", "int_mad"},
    {"v_mad_i64", "int_mad"},
    {"v_mad_u32_u16", "int_mad"},
    {"v_mad_i32_i16", "int_mad"},
    {"v_mad_u16", "int_mad"},
    {"v_mad_i16", "int_mad"},
    {"v_mad_legacy_u16", "int_mad"},
    {"v_mad_legacy_i16", "int_mad"},
    {"v_mfma", "tensor"},
    {"v_smfmac", "tensor"},
    {"v_wmma", "tensor"},
    {"v_swmmac", "tensor"},
    {"v_dot2", "fp32_fma"},
    {"v_dot4", "int_mad"},
    {"v_dot8", "int_mad"},
    {"v_div_fixup_f64", "fp64_fma"},
    {"v_div_fixup", "fp32_fma"},
    {"v_div_fmas_f64", "fp64_fma"},
    {"v_div_fmas", "fp32_fma"},
    {"v_div_scale_f64", "fp64_fma"},
    {"v_div_scale", "fp32_fma"},
    {"v_mad_mix", "fp32_fma"},
    {"v_fma_mix", "fp32_fma"},
    {"v_rcp_iflag", "fp32_special"},
    {"v_trig_preop", "fp64_mul"},
    {"v_cvt", "convert"},
    {"v_cndmask", "select"},
    {"v_readfirstlane", "move"},
    {"v_readlane", "move"},
    {"v_writelane", "move"},
    {"v_mov_b32_dpp", "shuffle"},
    {"v_permlane", "shuffle"},
    {"v_mov", "move"},
    {"v_accvgpr", "move"},
    {"v_swap", "move"},
    {"v_nop", ""},
    {"v_lshl_or", "logic"},
    {"v_and_or", "logic"},
    {"v_or3", "logic"},
    {"v_and", "logic"},
    {"v_or", "logic"},
    {"v_xor", "logic"},
    {"v_xnor", "logic"},
    {"v_not", "logic"},
    {"v_lshl", "shift"},
    {"v_lshr", "shift"},
    {"v_ashr", "shift"},
    {"v_alignbit", "shift"},
    {"v_alignbyte", "shift"},
    {"v_pk_lshl", "shift"},
    {"v_pk_lshr", "shift"},
    {"v_pk_ashr", "shift"},
    {"v_bfe", "bit_special"},
    {"v_bfi", "bit_special"},
    {"v_bfm", "bit_special"},
    {"v_perm", "bit_special"},
    {"v_bcnt", "bit_special"},
    {"v_ffb", "bit_special"},
    {"v_clz", "bit_special"},
    {"v_ctz", "bit_special"},
    {"v_cls", "bit_special"},
    {"v_bfrev", "bit_special"},
    {"v_mbcnt", "bit_special"},
    {"v_pack", "bit_special"},
    {"v_lerp", "bit_special"},
    {"v_interp", "other"},
};

constexpr AmdgcnRow other_rows[] = {
    {"s_waitcnt", ""},
    {"s_wait_", ""},
    {"s_nop", ""},
    {"s_inst_prefetch", ""},
    {"s_set_inst_prefetch", ""},
    {"s_clause", ""},
    {"s_delay_alu", ""},
    {"s_code_end", ""},
    {"s_setprio", ""},
    {"s_sleep", ""},
    {"s_sendmsg", ""},
    {"s_ttracedata", ""},
    {"s_icache_inv", ""},
    {"s_barrier", "barrier"},
    {"s_branch", "control"},
    {"s_cbranch", "control"},
    {"s_endpgm", "control"},
    {"s_swappc", "control"},
    {"s_setpc", "control"},
    {"s_call", "control"},
    {"s_trap", "control"},
    {"s_load", "scalar_load"},
    {"s_buffer_load", "scalar_load"},
    {"s_scratch_load", "scalar_load"},
    {"s_buffer_store", "scalar_load"},
    {"s_store", "scalar_load"},
    {"s_memtime", "scalar_load"},
    {"s_memrealtime", "scalar_load"},
    {"s_dcache", "fence"},
    {"s_gl1_inv", "fence"},
    {"s_", "scalar_alu"},
    {"ds_bpermute", "shuffle"},
    {"ds_permute", "shuffle"},
    {"ds_swizzle", "shuffle"},
    {"ds_nop", ""},
    {"ds_read", "shared_load"},
    {"ds_load", "shared_load"},
    {"ds_write", "shared_store"},
    {"ds_store", "shared_store"},
    {"ds_gws", "barrier"},
    {"ds_", "shared_atomic"},
    {"global_load_lds", "async_copy"},
    {"global_load", "global_load"},
    {"global_store", "global_store"},
    {"global_atomic", "global_atomic"},
    {"global_wb", "fence"},
    {"global_inv", "fence"},
    {"flat_load", "global_load"},
    {"flat_store", "global_store"},
    {"flat_atomic", "global_atomic"},
    {"scratch_load", "local_load"},
    {"scratch_store", "local_store"},
    {"buffer_wb", "fence"},
    {"buffer_inv", "fence"},
    {"buffer_gl", "fence"},
    {"buffer_atomic", "global_atomic"},
    {"tbuffer_load", "global_load"},
    {"tbuffer_store", "global_store"},
    {"image_store", "global_store"},
    {"image_atomic", "global_atomic"},
    {"image_", "texture_load"},
    {"exp", "other"},
};

// The type of a name: "v_fma_f32_e64" -> "f32".
std::string_view type_of(std::string_view name) {
  for (std::string_view t :
       {"f64", "f32", "f16", "bf16", "i32", "u32", "i16", "u16", "b32", "b64", "u64", "i64", "b16", "u8"})
    if (const auto at = name.rfind(t); at != std::string_view::npos && at > 0 && name[at - 1] == '_') return t;
  return {};
}

// Arithmetic that exists in every type: v_add_f32, v_pk_mul_f16, v_max_i32, v_cmp_lt_f64 ...
std::string typed_cost(std::string_view name) {
  std::string_view op = name.substr(2);
  if (op.starts_with("pk_")) op.remove_prefix(3);
  const std::string_view type = type_of(name);
  const bool floating = type.ends_with("f64") || type.ends_with("f32") || type.ends_with("f16");
  const std::string fp = type == "f64" ? "fp64" : type == "f32" ? "fp32" : "fp16";
  auto is = [&](std::initializer_list<std::string_view> names) {
    for (std::string_view n : names)
      if (op.starts_with(n)) return true;
    return false;
  };
  if (is({"cmp", "cmpx"})) return type == "f64" ? "fp64_compare" : "compare";
  if (is({"min", "max", "med3"})) return type == "f64" ? "fp64_compare" : "min_max";
  if (floating) {
    if (is({"fma", "fmac", "fmamk", "fmaak", "mac", "mad"})) return fp + "_fma";
    if (is({"add", "sub", "floor", "ceil", "trunc", "rndne", "fract"})) return fp + "_add";
    if (is({"mul", "ldexp", "frexp", "cube"})) return fp + "_mul";
    if (is({"rcp", "rsq", "sqrt", "exp", "log", "sin", "cos"})) return type == "f64" ? "fp64_special" : "fp32_special";
    return {};
  }
  if (is({"add", "sub"})) return "int_add";
  if (is({"mul"})) return "int_mul";
  if (is({"mad"})) return "int_mad";
  return {};
}

std::string_view find(const auto& rows, std::string_view name) {
  for (const AmdgcnRow& row : rows)
    if (name.starts_with(row.begin)) return row.cost;
  return "?";
}

// Scratch memory is a buffer too: it is known by its descriptor, and it has no 64-bit address.
bool is_scratch(const AsmInstruction& i, std::string_view scratch) {
  bool found = false;
  for (std::string_view operand : i.operands) {
    if (operand.find("addr64") != std::string_view::npos) return false;
    found |= !scratch.empty() && operand.starts_with(scratch);
  }
  return found;
}

Cost vector_cost(std::string_view name) {
  std::string_view cost = find(vector_rows, name);
  if (name.starts_with("v_cvt") && (name.find("f64") != std::string_view::npos)) cost = "convert64";
  if (cost == "tensor") {
    Cost product{parse_cost(cost), true};
    product.known = count_products(name, product.ops);
    return product;
  }
  if (cost != "?") return {parse_cost(cost), true};
  const std::string typed = typed_cost(name);
  const double results = name.starts_with("v_pk_") && type_of(name) == "f32" ? 2 : 1;
  if (!typed.empty()) return {parse_cost(typed).scaled(results), true};
  return {parse_cost("other"), false};
}

}  // namespace

namespace {

Cost cost_alone(const AsmInstruction& i, std::string_view scratch) {
  if (i.opcode == "kc_math") return math_pseudo_cost(i.operands, false, 0);
  if (i.opcode.starts_with("buffer_load"))
    return {parse_cost(i.opcode.ends_with("_lds") ? "async_copy"
                       : is_scratch(i, scratch)   ? "local_load"
                                                  : "global_load"),
            true};
  if (i.opcode.starts_with("buffer_store"))
    return {parse_cost(is_scratch(i, scratch) ? "local_store" : "global_store"), true};
  thread_local std::unordered_map<std::string, Cost> cache;
  const auto [at, fresh] = cache.try_emplace(std::string(i.opcode));
  if (!fresh) return at->second;
  std::string name(i.opcode);
  if (matrix_instruction(name) && !name.starts_with("v_")) {  // of a declaration "kc.tensor.OPCODE"
    Cost product{parse_cost("tensor"), true};
    product.known = count_products(name, product.ops);
    return at->second = product;
  }
  if (name.starts_with("v_dual_")) name.erase(2, 5);
  if (name.starts_with("v_")) return at->second = vector_cost(name);
  const std::string_view cost = find(other_rows, name);
  return at->second = cost == "?" ? Cost{parse_cost("other"), false} : Cost{parse_cost(cost), true};
}

}  // namespace

Cost amdgcn_cost(const AsmInstruction& i, std::string_view scratch) {
  Cost cost = cost_alone(i, scratch);
  if (i.second) cost.ops[OpClass::dual_issued] += cost.ops.total();
  return cost;
}

}  // namespace kernelcast::frontend
