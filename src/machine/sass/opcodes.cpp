// Numbers and names are those that NVIDIA's disassembler (nvdisasm of CUDA 12.4 and 13.0) prints for code of sm_75,
// sm_80 or sm_90; what was not seen there is not in the table. test/unit/sass holds 54 kernels against it. The
// modifiers that change the class of an operation are read from the bits after the layout in Jia et al. 2018
// ("Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", chapter 2), checked the same way.
#include "machine/sass/code.h"

#include <array>

namespace kernelcast::sass {
namespace {

using C = OpClass;

constexpr C no_slot = C::count_;

struct Entry {
  std::string_view name;
  C op = C::other;
};

struct Numbered {
  std::uint16_t bits;
  Entry entry;
};

constexpr Numbered table[] = {
    {0x002, {"MOV", C::move}},
    {0x003, {"P2R", C::move}},
    {0x004, {"R2P", C::move}},
    {0x005, {"CS2R", C::move}},
    {0x006, {"VOTE", C::vote}},
    {0x007, {"SEL", C::select}},
    {0x008, {"FSEL", C::select}},
    {0x009, {"FMNMX", C::min_max}},
    {0x00a, {"FSET", C::compare}},
    {0x00b, {"FSETP", C::compare}},
    {0x00c, {"ISETP", C::compare}},
    {0x010, {"IADD3", C::int_add}},
    {0x011, {"LEA", C::int_add}},
    {0x012, {"LOP3", C::logic}},
    {0x013, {"IABS", C::int_add}},
    {0x014, {"VABSDIFF", C::int_add}},
    {0x015, {"VABSDIFF4", C::int_add}},
    {0x016, {"PRMT", C::bit_special}},
    {0x017, {"IMNMX", C::min_max}},
    {0x019, {"SHF", C::shift}},
    {0x01a, {"SGXT", C::bit_special}},
    {0x01b, {"BMSK", C::bit_special}},
    {0x01c, {"PLOP3", C::logic}},
    {0x020, {"FMUL", C::fp32_mul}},
    {0x021, {"FADD", C::fp32_add}},
    {0x022, {"FSWZADD", C::fp32_add}},
    {0x023, {"FFMA", C::fp32_fma}},
    {0x024, {"IMAD", C::int_mad}},
    {0x025, {"IMAD", C::int_mad}},
    {0x026, {"IDP", C::int_mad}},
    {0x027, {"IMAD", C::int_mad}},
    {0x028, {"DMUL", C::fp64_mul}},
    {0x029, {"DADD", C::fp64_add}},
    {0x02a, {"DSETP", C::fp64_compare}},
    {0x02b, {"DFMA", C::fp64_fma}},
    {0x030, {"HADD2", C::fp16_add}},
    {0x031, {"HFMA2", C::fp16_fma}},
    {0x032, {"HMUL2", C::fp16_mul}},
    {0x033, {"HSET2", C::compare}},
    {0x034, {"HSETP2", C::compare}},
    {0x035, {"HFMA2", C::fp16_fma}},
    {0x036, {"VIADD", C::int_add}},
    {0x037, {"IMMA", C::tensor}},
    {0x03b, {"LDSM", C::shared_load}},
    {0x03c, {"HMMA", C::tensor}},
    {0x03e, {"F2FP", C::convert_alu}},
    {0x03f, {"DMMA", C::tensor}},
    {0x040, {"HMNMX2", C::min_max}},
    {0x045, {"I2FP", C::convert_alu}},
    {0x046, {"VIADDMNMX", C::min_max}},
    {0x048, {"VIMNMX", C::min_max}},
    {0x082, {"UMOV", C::move}},
    {0x086, {"VOTEU", C::vote}},
    {0x08c, {"UISETP", C::compare}},
    {0x090, {"UIADD3", C::int_add}},
    {0x091, {"ULEA", C::int_add}},
    {0x096, {"UPRMT", C::bit_special}},
    {0x09c, {"UPLOP3", C::logic}},
    {0x0a4, {"UIMAD", C::int_mad}},
    {0x0a5, {"UIMAD", C::int_mad}},
    {0x0b9, {"ULDC", no_slot}},
    {0x0bb, {"ULDC", no_slot}},
    {0x0bf, {"UPOPC", C::bit_special}},
    {0x100, {"FLO", C::bit_special}},
    {0x101, {"BREV", C::bit_special}},
    {0x102, {"FCHK", C::compare}},
    {0x105, {"F2I", C::convert}},
    {0x106, {"I2F", C::convert}},
    {0x107, {"FRND", C::convert}},
    {0x108, {"MUFU", C::fp32_special}},
    {0x109, {"POPC", C::bit_special}},
    {0x110, {"F2F", C::convert64}},
    {0x111, {"F2I", C::convert64}},
    {0x112, {"I2F", C::convert64}},
    {0x113, {"FRND", C::convert64}},
    {0x118, {"NOP", no_slot}},
    {0x119, {"S2R", C::special_register}},
    {0x11a, {"DEPBAR", C::other}},
    {0x11d, {"BAR", C::barrier}},
    {0x141, {"BSYNC", C::control}},
    {0x142, {"BREAK", C::control}},
    {0x143, {"CALL", C::control}},
    {0x144, {"CALL", C::control}},
    {0x145, {"BSSY", C::control}},
    {0x146, {"YIELD", C::control}},
    {0x147, {"BRA", C::control}},
    {0x148, {"WARPSYNC", C::control}},
    {0x149, {"BRX", C::control}},
    {0x14d, {"EXIT", C::control}},
    {0x150, {"RET", C::control}},
    {0x155, {"BMOV", C::control}},
    {0x15c, {"BPT", C::other}},
    {0x15d, {"NANOSLEEP", C::other}},
    {0x180, {"LD", C::global_load}},
    {0x181, {"LDG", C::global_load}},
    {0x182, {"LDC", C::constant_load}},
    {0x183, {"LDL", C::local_load}},
    {0x184, {"LDS", C::shared_load}},
    {0x185, {"ST", C::global_store}},
    {0x186, {"STG", C::global_store}},
    {0x187, {"STL", C::local_store}},
    {0x188, {"STS", C::shared_store}},
    {0x189, {"SHFL", C::shuffle}},
    {0x18a, {"ATOM", C::global_atomic}},
    {0x18b, {"ATOM", C::global_atomic}},
    {0x18c, {"ATOMS", C::shared_atomic}},
    {0x18d, {"ATOMS", C::shared_atomic}},
    {0x18e, {"RED", C::global_atomic}},
    {0x18f, {"CCTL", C::fence}},
    {0x192, {"MEMBAR", C::fence}},
    {0x1a1, {"MATCH", C::vote}},
    {0x1a6, {"REDG", C::global_atomic}},
    {0x1a8, {"ATOMG", C::global_atomic}},
    {0x1a9, {"ATOMG", C::global_atomic}},
    {0x1ab, {"ERRBAR", C::fence}},
    {0x1ae, {"LDGSTS", C::async_copy}},
    {0x1af, {"LDGDEPBAR", C::other}},
    {0x1c3, {"S2UR", C::special_register}},
    {0x1c4, {"REDUX", C::vote}},
};

/// By number; a name that is empty: none.
constexpr std::array<Entry, 512> by_number() {
  std::array<Entry, 512> out{};
  for (const Numbered& n : table) out[n.bits] = n.entry;
  return out;
}
constexpr std::array<Entry, 512> entries = by_number();

const Entry& entry_of(const Instruction& i) { return entries[get(i, operation)]; }

constexpr BitField form{"form", 9, 3}, carry{"carry", 74, 1}, function_of_mufu{"function", 74, 4};
constexpr std::uint32_t third_constant_form = 3, immediate_form = 4;

bool is_zero(const Instruction& i, BitField source) { return get(i, source) == zero_register; }

bool power_of_two(std::uint32_t v) { return v != 0 && (v & (v - 1)) == 0; }

/// Multiplications by nothing, by one and by powers of two stand for moves, additions and shifts.
C class_of_imad(const Instruction& i) {
  if (is_zero(i, source_a)) return get(i, carry) != 0 ? C::int64_add : C::move;
  const bool adds = get(i, form) == third_constant_form || !is_zero(i, source_c);
  if (get(i, form) == immediate_form) {
    const auto factor = static_cast<std::uint32_t>(i.low >> 32U);
    if (factor == 1 && adds) return C::int_add;
    if (power_of_two(factor) && !adds) return C::shift;
  }
  return adds ? C::int_mad : C::int_mul;
}

}  // namespace

std::string_view name_of(const Instruction& instruction) { return entry_of(instruction).name; }

OpClass class_of(const Instruction& instruction) {
  const Entry& e = entry_of(instruction);
  switch (get(instruction, operation)) {
    case 0x010:
      return get(instruction, carry) != 0 ? C::int64_add : C::int_add;
    case 0x024:
      return class_of_imad(instruction);
    case 0x031:
    case 0x035:
      return is_zero(instruction, source_a) ? C::move : C::fp16_fma;
    case 0x108: {
      constexpr std::uint32_t reciprocal_64 = 6, reciprocal_root_64 = 7;
      const std::uint32_t f = get(instruction, function_of_mufu);
      return f == reciprocal_64 || f == reciprocal_root_64 ? C::fp64_special : C::fp32_special;
    }
    default:
      return e.op;
  }
}

}  // namespace kernelcast::sass
