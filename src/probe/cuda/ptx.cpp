// The clock is read in basic blocks of its own, around a loop whose number of turns the assembler does not know and
// must not unroll, so nothing moves across a reading. Operands are loaded, and from an address that differs by thread
// as far as the assembler can tell: constants would become immediates, uniform values uniform registers.
#include "probe/cuda/ptx.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "kernelcast/error.h"
#include "probe/cuda/ptx_kernel.h"

namespace kernelcast::probe::cuda {
namespace {

constexpr int slots = 16, shared_bytes = 32768;

struct Type {
  std::string_view name, ptx, bits;  // of values, and of the same as plain bits
  bool wide;                         // 64 bits
};
constexpr Type types[] = {{"f32", "f32", "b32", false},
                          {"u32", "u32", "b32", false},
                          {"f64", "f64", "b64", true},
                          {"u64", "u64", "b64", true},
                          {"h2", "b32", "b32", false}};

std::size_t index_of(std::string_view type) {
  for (std::size_t i = 0; i < std::size(types); ++i)
    if (types[i].name == type) return i;
  throw InternalError("no type " + std::string(type));
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string with_registers(const char* text, const std::string& x) {
  std::string out = replaced(text, "$x", x);
  for (const char* name : {"a", "b", "t", "u"}) out = replaced(out, std::string("$") + name, std::string("%") + name);
  return "  " + replaced(out, "\n", "\n  ") + "\n";
}

std::string head(const std::string& target, const std::string& version = "6.0") {
  return fmt::format(".version {}\n.target sm_{}\n.address_size 64\n", version, target);
}

std::string entry(const std::string& name, const std::string& directives = "") {
  return fmt::format(
      ".visible .entry {}(.param .u64 p_out, .param .u64 p_data, .param .u64 p_more, .param .u32 p_turns, .param .u32 "
      "p_extra)\n{}.pragma \"nounroll\";\n",
      name, directives);
}

constexpr const char* common = R"(  .reg .u64 %out, %data, %more, %start, %stop, %result, %d<8>;
  .reg .u32 %turns, %extra, %turn, %pass, %thread, %cta, %lane, %warp, %i<8>;
  .reg .pred %more_turns, %more_passes, %one, %other;
  ld.param.u64 %out, [p_out];
  ld.param.u64 %data, [p_data];
  ld.param.u64 %more, [p_more];
  ld.param.u32 %turns, [p_turns];
  ld.param.u32 %extra, [p_extra];
  cvta.to.global.u64 %out, %out;
  cvta.to.global.u64 %data, %data;
  cvta.to.global.u64 %more, %more;
  mov.u32 %thread, %tid.x;
  mov.u32 %cta, %ctaid.x;
  mov.u64 %result, 0;
)";

constexpr const char* write_clocks = R"(  setp.ne.u32 %one, %cta, 0;
  @%one bra DONE;
  and.b32 %lane, %thread, 31;
  setp.ne.u32 %one, %lane, 0;
  @%one bra RESULT;
  shr.u32 %warp, %thread, 5;
  mul.wide.u32 %d0, %warp, 16;
  add.u64 %d0, %out, %d0;
  st.global.u64 [%d0+8], %start;
  st.global.u64 [%d0+16], %stop;
RESULT:
  setp.ne.u32 %one, %thread, 0;
  @%one bra DONE;
  st.global.u64 [%out], %result;
DONE:
  ret;
}
)";

/// Loads a, b and `count` start values; the xor of all x at the end.
Kernel arithmetic(const Operation& o, int count) {
  const std::size_t index = index_of(o.type);
  const Type& t = types[index];
  Kernel k;
  k.target = std::to_string(std::max(50, o.architecture));
  k.declarations = fmt::format(
      "  .reg .{} %a, %b, %t, %u, %x<{}>;\n  .reg .s32 %s;\n  .reg .b64 %w;\n  .reg .b32 %v;\n", t.ptx, count);
  k.setup = "  mul.wide.u32 %d0, %thread, %extra;\n  add.u64 %data, %data, %d0;\n";
  const auto load = [&](const std::string& name, int slot) {
    k.setup +=
        fmt::format("  ld.global.{} {}, [%data+{}];\n", t.ptx, name, 8 * (static_cast<int>(index) * slots + slot));
  };
  load("%a", 0);
  load("%b", 1);
  for (int i = 0; i < count; ++i) load(fmt::format("%x{}", i), 2 + i);
  for (int i = 0; i < count; ++i) {
    if (t.wide) {
      k.finish += fmt::format("  mov.b64 %w, %x{};\n", i);
    } else {
      k.finish += fmt::format("  mov.b32 %v, %x{};\n  cvt.u64.u32 %w, %v;\n", i);
    }
    k.finish += "  xor.b64 %result, %result, %w;\n";
  }
  return k;
}

template <class T>
void put(std::string& bytes, std::size_t slot, T value) {
  std::memcpy(bytes.data() + 8 * slot, &value, sizeof value);
}

}  // namespace

std::string module_of(const Kernel& k) {
  std::string out =
      head(k.target, k.version) + entry(k.name, k.directives) + "{\n" + k.shared + k.declarations + common + k.setup;
  out += fmt::format("  mov.u32 %pass, {};\nPASS:\n", k.passes);
  if (k.barrier) out += "  bar.sync 0;\n";
  out += "  mov.u64 %start, %clock64;\n  mov.u32 %turn, %turns;\nTURN:\n" + k.body;
  out += "  sub.u32 %turn, %turn, 1;\n  setp.ne.u32 %more_turns, %turn, 0;\n  @%more_turns bra TURN;\n";
  out += "  mov.u64 %stop, %clock64;\n  sub.u32 %pass, %pass, 1;\n  setp.ne.u32 %more_passes, %pass, 0;\n";
  out += "  @%more_passes bra PASS;\n";
  return out + k.finish + write_clocks;
}

std::vector<Operation> operations(int architecture) {
  // Sums and products of integers fold over several turns; with an exclusive or between them they do not.
  const std::vector<Operation> all = {
      {"fadd", "f32", "add.rn.f32 $x, $x, $a;", 1, false, 0, "FP32 additions"},
      {"fmul", "f32", "mul.rn.f32 $x, $x, $a;", 1, false, 0, "FP32 multiplications"},
      {"ffma", "f32", "fma.rn.f32 $x, $x, $a, $b;", 1, false, 0, "FP32 multiply-adds"},
      {"fdiv", "f32", "div.rn.f32 $x, $a, $x;", 1, true, 0, "FP32 divisions, rounded to nearest"},
      {"fsqrt", "f32", "add.rn.f32 $x, $x, $a;\nsqrt.rn.f32 $x, $x;", 1, true, 0, "FP32 square roots, each of a sum"},
      {"fsin", "f32", "sin.approx.ftz.f32 $x, $x;", 1, false, 0, "FP32 sines by the special-function unit"},
      {"fcos", "f32", "cos.approx.ftz.f32 $x, $x;", 1, false, 0, "FP32 cosines by the special-function unit"},
      {"flog", "f32", "lg2.approx.ftz.f32 $x, $x;\nadd.rn.f32 $x, $x, $a;", 1, false, 0,
       "FP32 logarithms by the special-function unit, each with an addition"},
      {"mufu", "f32", "ex2.approx.ftz.f32 $x, $x;", 1, false, 0, "exponentials to base 2 of the special-function unit"},
      {"dadd", "f64", "add.rn.f64 $x, $x, $a;", 1, false, 0, "FP64 additions"},
      {"dmul", "f64", "mul.rn.f64 $x, $x, $a;", 1, false, 0, "FP64 multiplications"},
      {"dfma", "f64", "fma.rn.f64 $x, $x, $a, $b;", 1, false, 0, "FP64 multiply-adds"},
      {"ddiv", "f64", "div.rn.f64 $x, $a, $x;", 1, true, 0, "FP64 divisions"},
      {"iadd", "u32", "add.u32 $x, $x, $a;\nadd.u32 $x, $x, $b;\nxor.b32 $x, $x, $b;", 2, false, 0,
       "32-bit integer additions of three numbers and exclusive ors in turn"},
      {"imad", "u32", "mad.lo.u32 $x, $x, $a, $b;", 1, false, 0, "32-bit integer multiply-adds"},
      {"imul", "u32", "mul.lo.u32 $x, $x, $x;", 1, false, 0, "32-bit integer multiplications"},
      {"ishift", "u32", "shf.l.wrap.b32 $x, $x, $a, $b;", 1, false, 0, "32-bit funnel shifts"},
      {"idiv", "u32", "div.u32 $x, $a, $x;", 1, true, 0, "32-bit integer divisions"},
      {"ladd", "u64", "add.u64 $x, $x, $a;\nxor.b64 $x, $x, $b;", 2, false, 0,
       "64-bit integer additions and exclusive ors in turn"},
      {"lmul", "u64", "mul.lo.u64 $x, $x, $x;", 1, false, 0, "64-bit integer multiplications"},
      {"hfma2", "h2", "fma.rn.f16x2 $x, $x, $a, $b;", 2, false, 53, "FP16 multiply-adds, packed in pairs"},
      {"hadd2", "h2", "add.f16x2 $x, $x, $a;", 2, false, 53, "FP16 additions, packed in pairs"},
      {"cvt", "f32", "cvt.rzi.s32.f32 %s, $x;\ncvt.rn.f32.s32 $x, %s;", 2, false, 0,
       "conversions from FP32 to 32-bit integers and back"},
      {"shfl", "u32", "shfl.sync.bfly.b32 $x, $x, 1, 31, 0xffffffff;", 1, false, 0, "shuffles within a warp"}};
  std::vector<Operation> out;
  for (const Operation& o : all)
    if (o.architecture <= architecture) out.push_back(o);
  return out;
}

int slot_of(std::string_view type) { return static_cast<int>(index_of(type)) * slots; }

std::string operand_bytes() {
  std::string out(8 * slots * std::size(types), '\0');
  for (std::size_t i = 0; i < slots; ++i) {
    // The product of a and x + b / a falls, so that no chain overflows to infinity.
    const double value = i == 0 ? 0.7654321 : i == 1 ? 0.2345678 : 1.2345678 + 0.0625 * static_cast<double>(i);
    put(out, i, static_cast<float>(value));
    put(out, slots + i, static_cast<std::uint32_t>(1022117 + 1009 * i));
    put(out, 2 * slots + i, value);
    put(out, 3 * slots + i, static_cast<std::uint64_t>(1000036000099 + 1000003 * i));
    put(out, 4 * slots + i, std::uint32_t{0x3a003800} + static_cast<std::uint32_t>(i));  // 0.75 and 0.5 in FP16
  }
  return out;
}

int body_texts(const Operation& o, bool wide, bool longer) {
  if (o.expanded) return (longer ? 3 : 1) * (wide ? 1 * chains : 8);
  return longer ? 192 : 64;
}

std::string chain_module(const Operation& o, int texts) {
  Kernel k = arithmetic(o, 1);
  k.name = "chain";
  for (int i = 0; i < texts; ++i) k.body += with_registers(o.text, "%x0");
  return module_of(k);
}

std::string wide_module(const Operation& o, int texts) {
  Kernel k = arithmetic(o, chains);
  k.name = "wide";
  for (int i = 0; i < texts; ++i) k.body += with_registers(o.text, fmt::format("%x{}", i % chains));
  return module_of(k);
}

std::string fma_body(int accumulators, int texts) {
  constexpr int factors = 16;
  Kernel k;
  k.name = "fma_body";
  k.declarations =
      fmt::format("  .reg .f32 %x<{}>, %y<{}>;\n  .reg .b64 %w;\n  .reg .b32 %v;\n", accumulators, factors);
  k.setup = "  mul.wide.u32 %d0, %thread, %extra;\n  add.u64 %data, %data, %d0;\n";
  for (int i = 0; i < factors; ++i) k.setup += fmt::format("  ld.global.f32 %y{}, [%data+{}];\n", i, 8 * i);
  // Beside each other: the assembler must not find two accumulators alike.
  for (int i = 0; i < accumulators; ++i)
    k.setup += fmt::format("  add.rn.f32 %x{}, %y{}, {}.0;\n", i, i % factors, i + 1);
  for (int i = 0; i < texts; ++i)
    k.body += fmt::format("  fma.rn.f32 %x{0}, %x{0}, %y{1}, %y{2};\n", i % accumulators, i % factors,
                          (i / factors * 5 + i + 1) % factors);
  for (int i = 0; i < accumulators; ++i)
    k.finish += fmt::format("  mov.b32 %v, %x{};\n  cvt.u64.u32 %w, %v;\n  xor.b64 %result, %result, %w;\n", i);
  return module_of(k);
}

std::string chase_module(bool cached) {
  // The passes of a clocked kernel would walk twice; here a few turns before the clock take their place.
  std::string loads;
  for (int i = 0; i < 8; ++i) loads += fmt::format("  ld.global.{}.u64 %d1, [%d1];\n", cached ? "ca" : "cg");
  std::string out = head("50") + entry("chase") + "{\n" + common;
  out += "  ld.global.cg.u64 %d1, [%data];\n  setp.eq.u32 %one, %extra, 0;\n  @%one bra WARM;\n";
  out += "FIRST:\n" + loads;
  out += "  sub.u32 %extra, %extra, 1;\n  setp.ne.u32 %more_passes, %extra, 0;\n  @%more_passes bra FIRST;\nWARM:\n";
  // The clock must not be read before the last of the first loads has come: its address feeds a branch.
  out += "  setp.eq.u64 %other, %d1, 0;\n  @%other bra DONE;\n  mov.u64 %start, %clock64;\n  mov.u32 %turn, %turns;\n";
  out += "TURN:\n" + loads;
  out += "  sub.u32 %turn, %turn, 1;\n  setp.ne.u32 %more_turns, %turn, 0;\n  @%more_turns bra TURN;\n";
  out += "  setp.eq.u64 %other, %d1, 0;\n  @%other bra DONE;\n  mov.u64 %stop, %clock64;\n";
  out += "  st.global.u64 [%data], %d1;\n  mov.u64 %result, %d1;\n";
  return out + write_clocks;
}

std::string shared_chase_module(int texts) {
  Kernel k;
  k.name = "shared_chase";
  k.shared = fmt::format("  .shared .align 16 .b8 room[{}];\n", shared_bytes);
  // A ring of 64 words, each of which holds the address of the next.
  k.setup = R"(  mov.u32 %i0, room;
  mov.u32 %i1, 0;
RING:
  add.u32 %i2, %i1, 1;
  and.b32 %i2, %i2, 63;
  mad.lo.u32 %i3, %i1, 4, %i0;
  mad.lo.u32 %i4, %i2, 4, %i0;
  st.shared.u32 [%i3], %i4;
  mov.u32 %i1, %i2;
  setp.ne.u32 %one, %i1, 0;
  @%one bra RING;
  bar.sync 0;
)";
  for (int i = 0; i < texts; ++i) k.body += "  ld.shared.u32 %i0, [%i0];\n";
  k.finish = "  cvt.u64.u32 %result, %i0;\n";
  return module_of(k);
}

std::string shared_read_module(int texts, int bytes) {
  Kernel k;
  k.name = "shared_read";
  k.shared = fmt::format("  .shared .align 16 .b8 room[{}];\n", shared_bytes);
  k.declarations = "  .reg .u32 %w<4>, %s<4>;\n";
  k.setup = fmt::format(R"(  mov.u32 %i0, room;
  and.b32 %lane, %thread, 31;
  mul.lo.u32 %i1, %lane, %extra;
  and.b32 %i1, %i1, {};
  add.u32 %i0, %i0, %i1;
  mov.u32 %s0, 0;
)",
                        shared_bytes - 1);
  // Volatile: every load is made, though all are alike.
  for (int i = 0; i < texts; ++i) {
    k.body += bytes == 4 ? "  ld.volatile.shared.u32 %w0, [%i0];\n"
                         : "  ld.volatile.shared.v4.u32 {%w0, %w1, %w2, %w3}, [%i0];\n";
    k.body += "  xor.b32 %s0, %s0, %w0;\n";
  }
  k.finish = "  cvt.u64.u32 %result, %s0;\n";
  return module_of(k);
}

std::string stream_module(bool cached, bool copy) {
  const std::string from = cached ? "ca" : "cg";
  std::string out = head("50") + entry("stream") + "{\n  .reg .u32 %n, %b, %w<16>, %s;\n" + common;
  out += R"(  mov.u32 %n, %nctaid.x;
  mov.u32 %b, %ntid.x;
  mul.lo.u32 %n, %n, %b;
  mad.lo.u32 %i0, %cta, %b, %thread;
  mul.wide.u32 %d0, %i0, 16;
  mul.wide.u32 %d1, %n, 16;
  mov.u32 %s, 0;
  bar.sync 0;
  mov.u64 %start, %clock64;
PASS:
  add.u64 %d2, %data, %d0;
  add.u64 %d3, %more, %d0;
  mov.u32 %turn, %turns;
TURN:
)";
  for (int i = 0; i < 4; ++i)
    out += fmt::format("  ld.global.{}.v4.u32 {{%w{}, %w{}, %w{}, %w{}}}, [%d2];\n  add.u64 %d2, %d2, %d1;\n", from,
                       4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
  for (int i = 0; i < 4; ++i)
    out += copy ? fmt::format("  st.global.v4.u32 [%d3], {{%w{}, %w{}, %w{}, %w{}}};\n  add.u64 %d3, %d3, %d1;\n",
                              4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3)
                : fmt::format(
                      "  xor.b32 %w{0}, %w{0}, %w{1};\n  xor.b32 %w{2}, %w{2}, %w{3};\n  xor.b32 %w{0}, %w{0}, "
                      "%w{2};\n  xor.b32 %s, %s, %w{0};\n",
                      4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
  out += R"(  sub.u32 %turn, %turn, 1;
  setp.ne.u32 %more_turns, %turn, 0;
  @%more_turns bra TURN;
  sub.u32 %extra, %extra, 1;
  setp.ne.u32 %more_passes, %extra, 0;
  @%more_passes bra PASS;
  mov.u64 %stop, %clock64;
  cvt.u64.u32 %result, %s;
)";
  // No word is all ones in every thread, so this store never happens, but the sums are needed for it.
  out += "  setp.eq.u32 %other, %s, 0xffffffff;\n  @%other st.global.u32 [%out], %s;\n";
  return out + write_clocks;
}

std::string atomic_chain_module(const std::string& space, int texts) {
  Kernel k;
  k.name = "atomic_chain";
  if (space == "shared") k.shared = "  .shared .align 16 .b8 room[16];\n";
  // Addresses that differ by thread as far as the assembler can tell: it would add up what goes to one address.
  k.setup = space == "shared" ? "  mov.u32 %i0, room;\n  cvt.u64.u32 %d1, %i0;\n" : "  mov.u64 %d1, %more;\n";
  k.setup += "  mov.u32 %i1, 1;\n  mul.wide.u32 %d0, %thread, %extra;\n  add.u64 %d1, %d1, %d0;\n";
  for (int i = 0; i < texts; ++i) k.body += fmt::format("  atom.{}.add.u32 %i1, [%d1], %i1;\n", space);
  k.finish = "  cvt.u64.u32 %result, %i1;\n";
  return module_of(k);
}

std::string atomic_wide_module() {
  Kernel k;
  k.name = "atomic_wide";
  k.setup =
      "  mov.u32 %i0, %ntid.x;\n  mad.lo.u32 %i0, %cta, %i0, %thread;\n  mul.wide.u32 %d1, %i0, %extra;\n"
      "  add.u64 %d1, %more, %d1;\n";
  k.passes = 1;
  for (int i = 0; i < 8; ++i) k.body += "  red.global.add.u32 [%d1], 1;\n";
  return module_of(k);
}

std::string barrier_module(int texts) {
  Kernel k;
  k.name = "barriers";
  for (int i = 0; i < texts; ++i) k.body += "  bar.sync 0;\n";
  return module_of(k);
}

std::string empty_module() { return head("50") + entry("empty") + "{\n  ret;\n}\n"; }

}  // namespace kernelcast::probe::cuda
