#include "probe/cuda/tensor_ptx.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

#include "kernelcast/error.h"
#include "probe/cuda/ptx_kernel.h"

namespace kernelcast::probe::cuda {
namespace {

constexpr int room_bytes = 32768;  // a power of two

std::string room_of(int bytes, int align) { return fmt::format("  .shared .align {} .b8 room[{}];\n", align, bytes); }

/// "{%c0, %c1}"
std::string registers_of(const std::string& stem, int first, int count) {
  std::string out = "{";
  for (int i = 0; i < count; ++i) out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", stem, first + i);
  return out + "}";
}

bool is_wide(const char* type) { return std::string(type) == "f64"; }

/// Xor of registers into %result; needs %v (b32) and %w (b64).
std::string folded(const std::string& stem, int count, const char* type) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += is_wide(type) ? fmt::format("  mov.b64 %w, %{}{};\n", stem, i)
                         : fmt::format("  mov.b32 %v, %{}{};\n  cvt.u64.u32 %w, %v;\n", stem, i);
    out += "  xor.b64 %result, %result, %w;\n";
  }
  return out;
}

Kernel matrix_kernel(const Mma& m, const std::string& name, int factors, int sums) {
  Kernel k;
  k.name = name;
  k.target = std::to_string(m.architecture);
  k.version = m.version;
  k.declarations = fmt::format("  .reg .{} %a<{}>, %b<{}>;\n  .reg .{} %c<{}>;\n  .reg .b32 %v;\n  .reg .b64 %w;\n",
                               m.input, m.a * factors, m.b * factors, m.sum, m.c * sums);
  k.setup = fmt::format("  mul.wide.u32 %d0, %thread, {};\n  add.u64 %data, %data, %d0;\n", matrix_thread_bytes);
  int offset = 0;
  const auto load = [&](const char* stem, int count, const char* type) {
    for (int i = 0; i < count; ++i) {
      k.setup += fmt::format("  ld.global.{} %{}{}, [%data+{}];\n", type, stem, i, offset);
      offset += is_wide(type) ? 8 : 4;
    }
  };
  load("a", m.a * factors, m.input);
  load("b", m.b * factors, m.input);
  load("c", m.c * sums, m.sum);
  if (offset > matrix_thread_bytes) throw InternalError("operands of " + m.name);
  if (m.data == "e4m3") {
    k.declarations += "  .reg .b32 %zero;\n";
    k.setup += "  and.b32 %zero, %turns, 65536;\n";
  }
  k.finish = folded("c", m.c * sums, m.sum);
  return k;
}

/// Hopper converts FP8 and multiplies FP16. Of operands that stay the same the assembler does both once for all; the
/// exclusive or with a zero that it does not know makes them new.
std::string new_operands(const Mma& m, int a, int b) {
  std::string out;
  if (m.data != "e4m3") return out;
  for (int i = 0; i < m.a; ++i) out += fmt::format("  xor.b32 %a{0}, %a{0}, %zero;\n", a * m.a + i);
  for (int i = 0; i < m.b; ++i) out += fmt::format("  xor.b32 %b{0}, %b{0}, %zero;\n", b * m.b + i);
  return out;
}

std::string mma_text(const Mma& m, int a, int b, int c) {
  return fmt::format("  mma.sync.aligned.{}.row.col{} {}, {}, {}, {};\n", m.shape, m.types,
                     registers_of("c", c * m.c, m.c), registers_of("a", a * m.a, m.a), registers_of("b", b * m.b, m.b),
                     registers_of("c", c * m.c, m.c));
}

/// Threads copy `bytes` from data to room.
std::string fill_room(int bytes) {
  return fmt::format(R"(  mov.u32 %i0, room;
  mov.u32 %i1, %ntid.x;
  mul.lo.u32 %i1, %i1, 16;
  mul.lo.u32 %i2, %thread, 16;
FILL:
  cvt.u64.u32 %d0, %i2;
  add.u64 %d0, %data, %d0;
  ld.global.v4.u32 {{%f0, %f1, %f2, %f3}}, [%d0];
  add.u32 %i3, %i0, %i2;
  st.shared.v4.u32 [%i3], {{%f0, %f1, %f2, %f3}};
  add.u32 %i2, %i2, %i1;
  setp.lt.u32 %one, %i2, {};
  @%one bra FILL;
)",
                     bytes);
}

/// Address of the thread in room: lanes `extra` bytes apart, within the room; %i5 is zero, which the assembler does not
/// know: an address that changes with it by turn keeps every access in its place.
std::string address_in_room(bool by_lane) {
  return fmt::format(R"(  mov.u32 %i0, room;
  {}
  mul.lo.u32 %i1, %lane, %extra;
  and.b32 %i1, %i1, {};
  add.u32 %i0, %i0, %i1;
  and.b32 %i5, %turns, 65536;
)",
                     by_lane ? "and.b32 %lane, %thread, 31;" : "mov.u32 %lane, %thread;", room_bytes / 4 - 1);
}

std::string with_address(const std::string& text, const std::string& p) {
  std::string out = text;
  for (std::size_t at = 0; (at = out.find("$p", at)) != std::string::npos; at += p.size()) out.replace(at, 2, p);
  return out;
}

constexpr const char* atomic_registers =
    "  .reg .u32 %v<2>, %o, %s;\n  .reg .s32 %m;\n  .reg .f32 %f;\n  .reg .f64 %g;\n  .reg .u64 %l;\n"
    "  .reg .b32 %h;\n";
constexpr const char* atomic_values = R"(  add.u32 %v0, %thread, 1;
  mov.u32 %v1, 0;
  mov.u32 %s, 0;
  mov.b32 %m, %v0;
  cvt.rn.f32.u32 %f, %v0;
  cvt.rn.f64.u32 %g, %v0;
  cvt.u64.u32 %l, %v0;
  or.b32 %h, %v0, 0x3c003c00;
)";

}  // namespace

std::string Wgmma::id() const { return fmt::format("{}.n{}.{}", name, n, from_registers ? "rs" : "ss"); }

std::vector<Mma> mmas(int architecture) {
  const std::vector<Mma> all = {
      {"f16_f16", "m16n8k16", ".f16.f16.f16.f16", 4, 2, 2, "b32", "b32", 2048, 80, "7.0", "f16"},
      {"f16_f32", "m16n8k16", ".f32.f16.f16.f32", 4, 2, 4, "b32", "f32", 2048, 80, "7.0", "f16"},
      {"bf16_f32", "m16n8k16", ".f32.bf16.bf16.f32", 4, 2, 4, "b32", "f32", 2048, 80, "7.0", "bf16"},
      {"tf32_f32", "m16n8k8", ".f32.tf32.tf32.f32", 4, 2, 4, "b32", "f32", 1024, 80, "7.0", "tf32"},
      {"f64_f64", "m8n8k4", ".f64.f64.f64.f64", 1, 1, 2, "f64", "f64", 256, 80, "7.0", "f64"},
      {"f64_f64_k16", "m16n8k16", ".f64.f64.f64.f64", 8, 4, 4, "f64", "f64", 2048, 90, "7.8", "f64"},
      {"s8_s32", "m16n8k32", ".s32.s8.s8.s32", 4, 2, 4, "b32", "b32", 4096, 80, "7.0", "s8"},
      {"e4m3_f32", "m16n8k32", ".f32.e4m3.e4m3.f32", 4, 2, 4, "b32", "f32", 4096, 89, "8.4", "e4m3"}};
  std::vector<Mma> out;
  for (const Mma& m : all)
    if (m.architecture <= architecture) out.push_back(m);
  return out;
}

std::vector<Wgmma> wgmmas(int architecture) {
  std::vector<Wgmma> out;
  if (architecture != 90) return out;  // sm_90a is not a base of later architectures
  for (int n : {64, 128, 256})
    for (bool registers : {false, true})
      out.push_back({"bf16_f32", ".f32.bf16.bf16", n, 16, registers, "f32", n / 2,
                     registers ? ", 1, 1, 0" : ", 1, 1, 0, 0", "bf16"});
  out.push_back({"f16_f16", ".f16.f16.f16", 256, 16, false, "b32", 64, ", 1, 1, 0, 0", "f16"});
  out.push_back({"f16_f32", ".f32.f16.f16", 256, 16, false, "f32", 128, ", 1, 1, 0, 0", "f16"});
  out.push_back({"tf32_f32", ".f32.tf32.tf32", 256, 8, false, "f32", 128, ", 1, 1", "tf32"});
  out.push_back({"s8_s32", ".s32.s8.s8", 256, 32, false, "b32", 128, "", "s8"});
  out.push_back({"e4m3_f32", ".f32.e4m3.e4m3", 256, 32, false, "f32", 128, ", 1, 1", "e4m3"});
  return out;
}

std::vector<std::string> matrix_kinds() { return {"f16", "bf16", "tf32", "f64", "s8", "e4m3"}; }

std::string matrix_data(const std::string& kind) {
  std::string out(16384, '\0');
  std::mt19937 random(7);
  const auto fill = [&](auto next) {
    for (std::size_t at = 0; at < out.size();) {
      const auto value = next();
      std::memcpy(out.data() + at, &value, sizeof value);
      at += sizeof value;
    }
  };
  const auto number = [&] { return static_cast<double>(random()) / 2147483648.0 - 1; };  // -1 to 1
  if (kind == "f64") {
    fill([&] { return number(); });
  } else if (kind == "tf32") {
    fill([&] { return static_cast<float>(number()); });
  } else if (kind == "bf16") {
    fill([&] {
      const auto value = static_cast<float>(number());
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      return static_cast<std::uint16_t>(bits >> 16U);
    });
  } else if (kind == "f16") {
    fill([&] {
      // Exponents of -4 to -1, so that numbers lie between 1/16 and 1.
      const auto r = static_cast<std::uint32_t>(random());
      return static_cast<std::uint16_t>((r & 0x83ffU) | ((11U + ((r >> 16U) & 3U)) << 10U));
    });
  } else if (kind == "e4m3") {
    fill([&] {
      // The same of a bias of 7.
      const auto r = static_cast<std::uint32_t>(random());
      return static_cast<std::uint8_t>((r & 0x87U) | ((3U + ((r >> 16U) & 3U)) << 3U));
    });
  } else if (kind == "s8") {
    fill([&] { return static_cast<std::uint8_t>(random() >> 8U); });
  } else {
    throw InternalError("no operands of " + kind);
  }
  return out;
}

std::string mma_chain_module(const Mma& m, int texts) {
  Kernel k = matrix_kernel(m, "mma_chain", 1, 1);
  for (int i = 0; i < texts; ++i) k.body += new_operands(m, 0, 0) + mma_text(m, 0, 0, 0);
  return module_of(k);
}

std::string mma_wide_module(const Mma& m, int texts) {
  Kernel k = matrix_kernel(m, "mma_wide", 2, 4);
  for (int i = 0; i < texts; ++i) k.body += new_operands(m, i % 4 / 2, i % 2) + mma_text(m, i % 4 / 2, i % 2, i % 4);
  return module_of(k);
}

std::string wgmma_module(const Wgmma& w, int groups, int texts) {
  // Rows of 128 bytes in atoms of 8 rows, their 16-byte columns exchanged by row (128-byte swizzle): what real kernels
  // use. A: 64 rows, B: n rows. A step of k is 32 bytes of a row.
  constexpr int a_bytes = 64 * 128, b_bytes = 256 * 128;
  Kernel k;
  k.name = "wgmma";
  k.target = "90a";
  k.version = "8.0";
  k.shared = room_of(a_bytes + b_bytes, 1024);
  k.declarations = fmt::format(
      "  .reg .{} %c<{}>;\n  .reg .b32 %a<4>, %v;\n  .reg .b64 %w, %p<4>, %q<4>;\n  .reg .u32 %f<4>;\n"
      "  .reg .pred %add;\n",
      w.sum, w.sums);
  k.setup = fill_room(a_bytes + b_bytes);
  k.setup += "  fence.proxy.async;\n  bar.sync 0;\n  setp.eq.u32 %add, %i0, %i0;\n";
  // Stride of 1024 bytes between atoms, layout 1.
  k.setup += "  cvt.u64.u32 %d0, %i0;\n  shr.u64 %d0, %d0, 4;\n  and.b64 %d0, %d0, 0x3fff;\n";
  k.setup += "  or.b64 %d0, %d0, 0x4000004000010000;\n";
  for (int i = 0; i < 4; ++i)
    k.setup += fmt::format("  add.u64 %p{0}, %d0, {1};\n  add.u64 %q{0}, %d0, {2};\n", i, 2 * i, a_bytes / 16 + 2 * i);
  k.setup += fmt::format("  mul.wide.u32 %d1, %thread, 16;\n  add.u64 %d1, %data, %d1;\n");
  if (w.from_registers) k.setup += "  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%d1];\n";
  for (int i = 0; i < w.sums; ++i) k.setup += fmt::format("  ld.global.{} %c{}, [%d1+{}];\n", w.sum, i, 16 + 4 * i);
  const std::string sums = registers_of("c", 0, w.sums);
  for (int g = 0; g < groups; ++g) {
    k.body += "  wgmma.fence.sync.aligned;\n";
    for (int i = 0; i < texts; ++i)
      k.body +=
          fmt::format("  wgmma.mma_async.sync.aligned.m64n{}k{}{} {}, {}, %q{}, %add{};\n", w.n, w.k, w.types, sums,
                      w.from_registers ? "{%a0, %a1, %a2, %a3}" : fmt::format("%p{}", i % 4), i % 4, w.tail);
    k.body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  }
  k.finish = folded("c", w.sums, w.sum);
  return module_of(k);
}

std::vector<Atomic> global_atomics() {
  return {{"red_add_u32", "red.global.add.u32 [$p], %v0;", 4, "additions of 32-bit integers, no result"},
          {"atom_add_u32", "atom.global.add.u32 %o, [$p], %v0;\n  xor.b32 %s, %s, %o;", 4,
           "additions of 32-bit integers, result used"},
          {"atom_max_s32", "atom.global.max.s32 %o, [$p], %m;\n  xor.b32 %s, %s, %o;", 4,
           "maxima of 32-bit integers, result used"},
          {"red_add_f32", "red.global.add.f32 [$p], %f;", 4, "FP32 additions, no result"},
          {"red_add_f64", "red.global.add.f64 [$p], %g;", 8, "FP64 additions, no result"},
          {"red_add_u64", "red.global.add.u64 [$p], %l;", 8, "additions of 64-bit integers, no result"},
          {"red_add_f16x2", "red.global.add.noftz.f16x2 [$p], %h;", 4, "additions of FP16 pairs, no result"},
          {"atom_cas_b32", "atom.global.cas.b32 %o, [$p], %v1, %v0;\n  xor.b32 %s, %s, %o;", 4,
           "compare-and-swaps of 32 bits, one each, result used"}};
}

std::vector<Atomic> shared_atomics() {
  return {{"add_u32", "atom.shared.add.u32 %o, [$p], %v0;\n  xor.b32 %s, %s, %o;", 4,
           "additions of 32-bit integers, result used"},
          {"red_add_f32", "red.shared.add.f32 [$p], %f;", 4, "FP32 additions, no result"},
          {"cas_b32", "atom.shared.cas.b32 %o, [$p], %v1, %v0;\n  xor.b32 %s, %s, %o;", 4,
           "compare-and-swaps of 32 bits, one each, result used"}};
}

std::string atomics_module(const Atomic& a) {
  Kernel k;
  k.name = "atomics";
  k.target = "70";
  k.version = "6.2";
  k.declarations = atomic_registers;
  k.setup = atomic_values;
  k.setup +=
      "  mov.u32 %i0, %ntid.x;\n  mad.lo.u32 %i0, %cta, %i0, %thread;\n  mul.wide.u32 %d1, %i0, %extra;\n"
      "  add.u64 %d1, %more, %d1;\n";
  k.passes = 1;
  for (int i = 0; i < 8; ++i) k.body += "  " + with_address(a.text, "%d1") + "\n";
  k.finish = "  cvt.u64.u32 %result, %s;\n  setp.eq.u32 %other, %s, 0xffffffff;\n  @%other st.global.u32 [%out], %s;\n";
  return module_of(k);
}

std::string shared_atomics_module(const Atomic& a, int texts) {
  Kernel k;
  k.name = "shared_atomics";
  k.target = "70";
  k.version = "6.2";
  k.shared = room_of(room_bytes, 16);
  k.declarations = atomic_registers;
  k.setup = std::string(atomic_values) + address_in_room(false) + "  st.shared.u32 [%i0], %v1;\n";
  for (int i = 0; i < texts; ++i) k.body += "  " + with_address(a.text, "%i0") + "\n";
  k.finish = "  ld.shared.u32 %i1, [%i0];\n  xor.b32 %s, %s, %i1;\n  cvt.u64.u32 %result, %s;\n";
  return module_of(k);
}

std::string matrix_move_module(bool store, int texts) {
  Kernel k;
  k.name = "matrix_move";
  k.target = store ? "90" : "75";
  k.version = store ? "7.8" : "6.5";
  k.shared = room_of(room_bytes, 128);
  k.declarations = "  .reg .b32 %w<4>, %s;\n";
  k.setup = address_in_room(true) + "  mov.u32 %s, 0;\n";
  for (int i = 0; i < 4; ++i) k.setup += fmt::format("  add.u32 %w{}, %thread, {};\n", i, 7 * i);
  for (int i = 0; i < texts; ++i) {
    const int offset = 512 * (i % 48);  // all differ: the assembler loads once what does not
    k.body +=
        store ? fmt::format("  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%i0+{}], {{%w0, %w1, %w2, %w3}};\n", offset)
              : fmt::format(
                    "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%w0, %w1, %w2, %w3}}, [%i0+{}];\n"
                    "  xor.b32 %s, %s, %w0;\n  xor.b32 %s, %s, %w3;\n",
                    offset);
  }
  k.body += "  xor.b32 %i0, %i0, %i5;\n";
  k.finish = store ? "  ld.shared.u32 %s, [%i0];\n  cvt.u64.u32 %result, %s;\n" : "  cvt.u64.u32 %result, %s;\n";
  return module_of(k);
}

std::string shared_write_module(int texts, int bytes) {
  Kernel k;
  k.name = "shared_write";
  k.shared = room_of(room_bytes, 16);
  k.declarations = "  .reg .b32 %w<4>, %s;\n";
  k.setup = address_in_room(false);
  for (int i = 0; i < 4; ++i) k.setup += fmt::format("  add.u32 %w{}, %thread, {};\n", i, 7 * i);
  for (int i = 0; i < texts; ++i)
    k.body += bytes == 4 ? "  st.volatile.shared.u32 [%i0], %w0;\n"
                         : "  st.volatile.shared.v4.u32 [%i0], {%w0, %w1, %w2, %w3};\n";
  k.finish = "  ld.shared.u32 %s, [%i0];\n  cvt.u64.u32 %result, %s;\n";
  return module_of(k);
}

std::string async_copy_module(int texts, bool wait) {
  Kernel k;
  k.name = "async_copy";
  k.target = "80";
  k.version = "7.0";
  k.shared = room_of(room_bytes, 16);
  k.setup =
      "  mov.u32 %i0, room;\n  mad.lo.u32 %i0, %thread, 16, %i0;\n  mov.u32 %i1, %ntid.x;\n"
      "  mad.lo.u32 %i1, %cta, %i1, %thread;\n  mul.wide.u32 %d0, %i1, 16;\n  add.u64 %d0, %data, %d0;\n"
      "  mul.wide.u32 %d2, %extra, 1;\n  mov.u64 %d1, %d0;\n";
  for (int i = 0; i < texts; ++i) {
    k.body +=
        fmt::format("  cp.async.cg.shared.global [%i0+{}], [%d1], 16;\n  add.u64 %d1, %d1, %d2;\n", 8192 * (i % 4));
    if (wait) {
      k.body += "  cp.async.commit_group;\n  cp.async.wait_group 0;\n";
    } else if (i % 4 == 3) {
      k.body += "  cp.async.commit_group;\n  cp.async.wait_group 3;\n";
    }
  }
  // From the beginning again: these lines stay in L2.
  k.body += "  mov.u64 %d1, %d0;\n";
  k.finish = "  cp.async.wait_all;\n  ld.shared.u32 %i2, [%i0];\n  cvt.u64.u32 %result, %i2;\n";
  return module_of(k);
}

std::string bulk_wait_module(int texts, int bytes) {
  Kernel k;
  k.name = "bulk_wait";
  k.target = "90";
  k.version = "8.0";
  k.shared = room_of(bytes, 128) + "  .shared .align 8 .b64 bell;\n";
  k.declarations = "  .reg .b64 %state;\n";
  k.setup =
      "  mov.u32 %i0, room;\n  mov.u32 %i1, bell;\n  mov.u32 %i2, 0;\n  mbarrier.init.shared::cta.b64 [%i1], 1;\n"
      "  fence.mbarrier_init.release.cluster;\n  fence.proxy.async;\n";
  for (int i = 0; i < texts; ++i)
    k.body += fmt::format(
        "  mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%i1], {0};\n"
        "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%i0], [%data], {0}, [%i1];\n"
        "WAIT{1}:\n  mbarrier.try_wait.parity.shared::cta.b64 %one, [%i1], %i2;\n  @!%one bra WAIT{1};\n"
        "  xor.b32 %i2, %i2, 1;\n",
        bytes, i);
  k.finish = "  ld.shared.u32 %i3, [%i0];\n  cvt.u64.u32 %result, %i3;\n";
  return module_of(k);
}

std::string bulk_ring_module() {
  Kernel k;
  k.name = "bulk_ring";
  k.target = "90";
  k.version = "8.0";
  k.shared =
      room_of(bulk_stages * bulk_bytes, 128) + fmt::format("  .shared .align 8 .b8 bells[{}];\n", 8 * bulk_stages);
  k.declarations = "  .reg .b64 %state;\n";
  // %i2: parity; %i3: number of the next piece.
  k.setup =
      "  mov.u32 %i0, room;\n  mov.u32 %i1, bells;\n  mov.u32 %i2, 0;\n  mov.u32 %i3, 0;\n  mov.u32 %i4, %nctaid.x;\n";
  for (int s = 0; s < bulk_stages; ++s) k.setup += fmt::format("  mbarrier.init.shared::cta.b64 [%i1+{}], 1;\n", 8 * s);
  k.setup += "  fence.mbarrier_init.release.cluster;\n  fence.proxy.async;\n";
  const auto issue = [](int s) {
    return fmt::format(
        "  and.b32 %i5, %i3, %extra;\n  mad.lo.u32 %i5, %i5, %i4, %cta;\n  mul.wide.u32 %d0, %i5, {0};\n"
        "  add.u64 %d0, %data, %d0;\n  add.u32 %i3, %i3, 1;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%i1+{1}], {0};\n"
        "  add.u32 %i6, %i0, {2};\n  add.u32 %i7, %i1, {1};\n"
        "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%i6], [%d0], {0}, [%i7];\n",
        bulk_bytes, 8 * s, bulk_bytes * s);
  };
  const auto wait = [](const char* label, int s) {
    return fmt::format(
        "{0}{1}:\n  mbarrier.try_wait.parity.shared::cta.b64 %one, [%i1+{2}], %i2;\n  @!%one bra {0}{1};\n", label, s,
        8 * s);
  };
  for (int s = 0; s < bulk_stages; ++s) k.setup += issue(s);
  for (int s = 0; s < bulk_stages; ++s) k.body += wait("WAIT", s) + issue(s);
  k.body += "  xor.b32 %i2, %i2, 1;\n";
  for (int s = 0; s < bulk_stages; ++s) k.finish += wait("LAST", s);
  k.finish += "  ld.shared.u32 %i3, [%i0];\n  cvt.u64.u32 %result, %i3;\n";
  return module_of(k);
}

namespace {

Kernel cluster_kernel(const std::string& name) {
  Kernel k;
  k.name = name;
  k.target = "90";
  k.version = "8.0";
  k.directives = ".explicitcluster\n.reqnctapercluster 2, 1, 1\n";
  k.shared = room_of(room_bytes, 128);
  k.declarations = "  .reg .b32 %w<4>, %s;\n";
  return k;
}

constexpr const char* cluster_barrier =
    "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n";

}  // namespace

std::string cluster_chase_module(int texts) {
  Kernel k = cluster_kernel("cluster_chase");
  // A ring of 64 words in each block, of addresses as the cluster sees them.
  k.setup = R"(  mov.u32 %i0, room;
  mov.u32 %i4, %cluster_ctarank;
  mapa.shared::cluster.u32 %i5, %i0, %i4;
  mov.u32 %i1, 0;
RING:
  add.u32 %i2, %i1, 1;
  and.b32 %i2, %i2, 63;
  mad.lo.u32 %i3, %i1, 4, %i0;
  mad.lo.u32 %i6, %i2, 4, %i5;
  st.shared.u32 [%i3], %i6;
  mov.u32 %i1, %i2;
  setp.ne.u32 %one, %i1, 0;
  @%one bra RING;
  xor.b32 %i4, %i4, 1;
  mapa.shared::cluster.u32 %i0, %i0, %i4;
)";
  k.setup += cluster_barrier;
  for (int i = 0; i < texts; ++i) k.body += "  ld.shared::cluster.u32 %i0, [%i0];\n";
  k.finish = std::string("  cvt.u64.u32 %result, %i0;\n") + cluster_barrier;
  return module_of(k);
}

std::string cluster_read_module(int texts, bool neighbour) {
  Kernel k = cluster_kernel("cluster_read");
  k.setup = fmt::format(R"(  mov.u32 %i0, room;
  mad.lo.u32 %i0, %thread, 16, %i0;
  st.shared.u32 [%i0], %thread;
  mov.u32 %i4, %cluster_ctarank;
  xor.b32 %i4, %i4, {};
  mapa.shared::cluster.u32 %i0, %i0, %i4;
  mov.u32 %s, 0;
)",
                        neighbour ? 1 : 0);
  k.setup += cluster_barrier;
  for (int i = 0; i < texts; ++i)
    k.body += "  ld.volatile.shared::cluster.v4.u32 {%w0, %w1, %w2, %w3}, [%i0];\n  xor.b32 %s, %s, %w0;\n";
  k.finish = std::string("  cvt.u64.u32 %result, %s;\n") + cluster_barrier;
  return module_of(k);
}

namespace {

/// Passes over data by all threads; `body` uses %d2, the address of the thread, and %d1, the step of all.
Kernel streaming(const std::string& name, int bytes, const std::string& body) {
  Kernel k;
  k.name = name;
  k.passes = 1;
  k.declarations = "  .reg .u32 %n, %b, %w<32>, %s;\n";
  k.setup = fmt::format(R"(  mov.u32 %n, %nctaid.x;
  mov.u32 %b, %ntid.x;
  mul.lo.u32 %n, %n, %b;
  mad.lo.u32 %i0, %cta, %b, %thread;
  mul.wide.u32 %d0, %i0, {0};
  mul.wide.u32 %d1, %n, {0};
  mov.u32 %s, 0;
  add.u64 %d0, %data, %d0;
  mov.u64 %d2, %d0;
  mov.u32 %i1, 0;
)",
                        bytes);
  k.body = body;
  // %extra turns are a pass over the data; then from its beginning again.
  k.body +=
      "  add.u32 %i1, %i1, 1;\n  setp.eq.u32 %one, %i1, %extra;\n  selp.u32 %i1, 0, %i1, %one;\n"
      "  selp.b64 %d2, %d0, %d2, %one;\n";
  k.finish = "  cvt.u64.u32 %result, %s;\n  setp.eq.u32 %other, %s, 0xffffffff;\n  @%other st.global.u32 [%out], %s;\n";
  return k;
}

}  // namespace

std::string reads_module(int loads, int bytes) {
  std::string body;
  const int words = bytes / 4;
  for (int i = 0; i < loads; ++i) {
    body += words == 4 ? fmt::format("  ld.global.cg.v4.u32 {{%w{}, %w{}, %w{}, %w{}}}, [%d2];\n", 4 * i, 4 * i + 1,
                                     4 * i + 2, 4 * i + 3)
                       : fmt::format("  ld.global.cg.u32 %w{}, [%d2];\n", i);
    body += "  add.u64 %d2, %d2, %d1;\n";
  }
  // From the last on, so that all are in flight.
  for (int i = loads * words; i-- > 0;) body += fmt::format("  xor.b32 %s, %s, %w{};\n", i);
  return module_of(streaming("reads", bytes, body));
}

std::string writes_module() {
  std::string body;
  for (int i = 0; i < 4; ++i)
    body += "  st.global.v4.u32 [%d2], {%thread, %cta, %turn, %s};\n  add.u64 %d2, %d2, %d1;\n";
  return module_of(streaming("writes", 16, body));
}

}  // namespace kernelcast::probe::cuda
