// A profile comes back from its bytes as it was.
#include "profile/profile_bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

KernelProfile full_profile() {
  KernelProfile p;
  p.kernel = "k";
  p.symbol = "_Z1k";
  p.target = "sm_80";
  p.files = {"a.cu", ""};
  p.parameters = {{"n", "int", false, true, true, 4}, {"x", "float*", true, false, false, 4}};
  p.buffers = {{"x", MemorySpace::global, -1, 256, 1}, {"tile", MemorySpace::shared, 1024, 16, -1}};
  const Expr n = Expr(argument("n")), i = Expr::symbol("i");
  const Expr clamped = min(n, mod(i * 7 + Expr(local_id(0)), Expr(33)) + floor_div(n * n, Expr(5)));
  Guard guard{{Path{less(i, n), {{0, true}, {1, false}}}, Path{equal(i, n), {}}}};
  p.loops = {{-1, Symbol("i"), max(clamped, Expr(0)), 1, guard, {0, 7}, Loop::Wait::flag}};
  Block b;
  b.name = "entry";
  b.loop = 0;
  b.guard = guard;
  b.ops[OpClass::fp32_fma] = 2.5;
  b.lines = {{{0, 3}, b.ops}};
  b.accesses = {{MemorySpace::global,
                 AccessKind::atomic,
                 8,
                 0,
                 clamped * clamped + i * -4,
                 {4, -8, 1 << 20},
                 -1,
                 true,
                 true,
                 true,
                 false,
                 false,
                 0,
                 false,
                 AtomicKind::compare,
                 true,
                 true,
                 {0, 9}},
                {MemorySpace::global,
                 AccessKind::load,
                 8192,
                 0,
                 i * 8192,
                 {},
                 -1,
                 false,
                 false,
                 false,
                 false,
                 true,
                 64,
                 true,
                 AtomicKind::integer,
                 false,
                 false,
                 {0, 10}}};
  b.stalls.fills = 2;
  b.stalls.products = 4096;
  b.stalls.cluster_barriers = 3;
  b.accesses.at(1).in_cluster = true;
  b.phases = {{.id = 3, .instructions = 12, .arithmetic = 5, .waits = {1, 2}}, {.id = 4, .barriers = 1}};
  b.events = {{AsyncEvent::Kind::copy, 0, 4, 1.5, 7}, {AsyncEvent::Kind::copy_wait, -1, 1, 8, 8}};
  b.ops[OpClass::tensor] = 1;
  b.ops.tensor.shared_bytes = 512;
  b.barriers = 2;
  b.flat_barriers = 1;
  p.blocks = {b, Block{}};
  p.branches = {{Branch::Verdict::divergent, "depends on lid.x", 0, less(clamped, i), -1, true, true, {1, 2}}};
  p.unknowns = {{Unknown::Kind::probability, "branch:3", {0, 3}, 0.25, true, "data"},
                {Unknown::Kind::trip_count, "trips:7", {0, 7}, 1e9, false, ""}};
  p.registers = {33.5, 30, 40, "ptxas", 12};
  p.static_shared_bytes = 1024;
  p.uses_dynamic_shared = true;
  p.stack_bytes = 64;
  p.max_threads_per_block = 256;
  p.cluster = {2, 1, 1};
  p.set_registers = {{0, 240, {0, 11}}};
  p.required_block = {16, 8, 2};
  p.mapped_axes = 1;
  p.mapped_extent = {n + 1};
  p.assumptions = {{"what", "value", "flag"}};
  p.notes = {"note"};
  return p;
}

TEST(ProfileBytes, EverythingComesBack) {
  const KernelProfile p = full_profile();
  const std::string bytes = bytes_of(p);
  const KernelProfile q = profile_of(bytes);
  EXPECT_EQ(bytes_of(q), bytes);
  EXPECT_EQ(q.kernel, "k");
  EXPECT_EQ(q.loops.at(0).trips, p.loops.at(0).trips);
  EXPECT_EQ(q.loops.at(0).guard.paths.at(0).factors, p.loops.at(0).guard.paths.at(0).factors);
  EXPECT_EQ(q.blocks.at(0).accesses.at(0).offset, p.blocks.at(0).accesses.at(0).offset);
  EXPECT_EQ(q.blocks.at(0).accesses.at(0).also, p.blocks.at(0).accesses.at(0).also);
  EXPECT_EQ(q.blocks.at(0).accesses.at(0).atomic, AtomicKind::compare);
  EXPECT_TRUE(q.blocks.at(0).accesses.at(0).joined && q.blocks.at(0).accesses.at(0).retried);
  EXPECT_EQ(q.loops.at(0).wait, Loop::Wait::flag);
  EXPECT_EQ(q.blocks.at(0).ops, p.blocks.at(0).ops);
  EXPECT_TRUE(q.blocks.at(0).accesses.at(1).bulk && q.blocks.at(0).accesses.at(1).by_coordinates);
  EXPECT_EQ(q.blocks.at(0).stalls.fills, 2);
  EXPECT_EQ(q.blocks.at(0).stalls.products, 4096);
  EXPECT_EQ(q.blocks.at(0).stalls.cluster_barriers, 3);
  EXPECT_TRUE(q.blocks.at(0).accesses.at(1).in_cluster && !q.blocks.at(0).accesses.at(0).in_cluster);
  EXPECT_EQ(q.cluster, p.cluster);
  EXPECT_EQ(q.set_registers, p.set_registers);
  EXPECT_EQ(q.branches.at(0).condition, p.branches.at(0).condition);
  EXPECT_EQ(q.unknowns.at(1).default_value, 1e9);
  EXPECT_EQ(q.registers.method, "ptxas");
  EXPECT_EQ(q.required_block, p.required_block);
  EXPECT_EQ(q.mapped_extent, p.mapped_extent);
  EXPECT_EQ(q.assumptions, p.assumptions);
}

TEST(ProfileBytes, AnEmptyProfile) { EXPECT_EQ(bytes_of(profile_of(bytes_of({}))), bytes_of({})); }

TEST(ProfileBytes, DamageIsNoticed) {
  const std::string good = bytes_of(full_profile());
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_THROW(profile_of(bad), UserError) << i;
  }
  for (std::size_t n : {std::size_t{0}, std::size_t{5}, std::size_t{16}, good.size() - 1}) {
    EXPECT_THROW(profile_of(good.substr(0, n)), UserError) << n;
  }
  EXPECT_THROW(profile_of(good + "x"), UserError);
}

std::string with_checksum(const std::string& bytes) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (std::size_t i = 16; i < bytes.size(); ++i) sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3ULL;
  std::string out = bytes;
  for (std::size_t i = 0; i < 8; ++i) out[8 + i] = static_cast<char>(sum >> (8 * i));
  return out;
}

// What has a right checksum was not written by us in every case: an operation with one operand, a power without end.
TEST(ProfileBytes, DamageBehindARightChecksumIsAnErrorOrAnotherProfile) {
  const std::string good = bytes_of(full_profile());
  ASSERT_EQ(with_checksum(good), good);
  int refused = 0;
  for (std::size_t i = 16; i < good.size(); ++i)
    for (const int flip : {0x01, 0x02, 0x06, 0x40, 0x80}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      try {
        (void)profile_of(with_checksum(bad));
      } catch (const Error&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, 0);
  KernelProfile p;
  p.mapped_extent = {min(Expr(argument("n")), Expr(argument("m"))), Expr(argument("n")) * Expr(argument("n")), Expr(1)};
  const std::string small = bytes_of(p);
  // In turn: the kind of the operation, its number of operands, the power of n.
  int damaged = 0;
  for (std::size_t i = 16; i < small.size(); ++i)
    for (int value = 0; value < 256; ++value) {
      std::string bad = small;
      bad[i] = static_cast<char>(value);
      try {
        (void)profile_of(with_checksum(bad));
      } catch (const Error&) {
        ++damaged;
      }
    }
  EXPECT_GT(damaged, 1000);
}

Expr random_expr(int depth) {
  const int kind = *rc::gen::inRange(0, depth == 0 ? 2 : 9);
  if (kind == 0) return Expr(*rc::gen::inRange<std::int64_t>(-9, 10));
  if (kind == 1) return Expr(*rc::gen::element(local_id(0), group_id(1), argument("n"), Symbol("i")));
  const Expr a = random_expr(depth - 1), b = random_expr(depth - 1);
  switch (kind) {
    case 2:
      return a + b;
    case 3:
      return a * b;
    case 4:
      return floor_div(a, b);
    case 5:
      return mod(a, b);
    case 6:
      return min(a, b);
    case 7:
      return less(a, b);
    default:
      return select(less(a, b), a, b * 3);
  }
}

RC_GTEST_PROP(ProfileBytes, ExpressionsComeBackEqual, ()) {
  KernelProfile p;
  p.mapped_extent = {random_expr(4), random_expr(4), random_expr(3)};
  RC_ASSERT(profile_of(bytes_of(p)).mapped_extent == p.mapped_extent);
}

}  // namespace
}  // namespace kernelcast
