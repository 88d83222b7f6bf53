// Passes of the L1 against cycles that were measured: gpu-benches (D. Ernst), gpu-strides/*.txt at commit 1c36d50.
// There, 64 neighbouring lanes read words `stride` apart, or rows of `width` words in an array of 4,098 a row, at
// offsets of 0, 4, 8, 12, 16, 20, 24 and 28 words; cycles are for 32 lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernelcast/bind.h"

namespace kernelcast {
namespace {

struct Measured {
  int bytes;
  bool rows;
  int n;  // stride, or width of the rows
  double cycles;
};

double passes(const Measured& at, const MemoryGeometry& g, int offset) {
  const Expr lid = local_id(0), row = floor_div(lid, Expr(at.n > 0 ? at.n : 1));
  const Expr word = at.rows ? mod(lid, Expr(at.n)) + Expr(4098) * (row + Expr(1)) : Expr(at.n) * lid;
  KernelProfile p;
  p.kernel = "k";
  p.parameters = {{.name = "a", .type = "float*", .pointer = true, .bytes = 4}};
  p.buffers = {{.name = "a", .space = MemorySpace::global, .parameter = 0}};
  Access a;
  a.space = MemorySpace::global;
  a.bytes = at.bytes;
  a.buffer = 0;
  a.offset = Expr(at.bytes) * (word + Expr(offset));
  Block b;
  b.accesses.push_back(a);
  p.blocks.push_back(b);
  Launch l;
  l.grid = {1};
  l.block = {64};
  return Binder(p, g).bind(l).access_counts.at(0).bank_passes / 2;  // of 32 lanes
}

/// Mean and worst of |ln(counted / measured)|.
std::pair<double, double> errors(const MemoryGeometry& g, const std::vector<Measured>& all) {
  double sum = 0, worst = 0;
  for (const Measured& m : all) {
    double mean = 0;
    for (int offset = 0; offset < 32; offset += 4) mean += passes(m, g, offset) / 8;
    const double e = std::abs(std::log(mean / m.cycles));
    sum += e;
    worst = std::max(worst, e);
    EXPECT_LT(e, 0.45) << (m.rows ? "rows of " : "stride ") << m.n << " of " << m.bytes << " bytes: " << mean << " for "
                       << m.cycles;
  }
  return {sum / static_cast<double>(all.size()), worst};
}

TEST(L1Passes, OnA100AreItsCyclesWithin25Percent) {
  const MemoryGeometry g{32, 32, 128, 32, 4, 32, 4};
  const auto [mean, worst] = errors(
      g, {{4, true, 1, 9.2},   {4, true, 2, 5.1},    {4, true, 4, 3.13},   {4, true, 8, 4.0},   {4, true, 16, 2.0},
          {4, true, 32, 1.02}, {4, false, 0, 1.02},  {4, false, 1, 1.02},  {4, false, 2, 2.0},  {4, false, 3, 1.63},
          {4, false, 4, 4.0},  {4, false, 5, 2.2},   {4, false, 6, 2.36},  {4, false, 7, 2.67}, {4, false, 8, 8.0},
          {4, false, 9, 3.03}, {4, false, 10, 3.31}, {4, false, 11, 3.64}, {4, false, 12, 4.0}, {4, false, 16, 16.0},
          {4, false, 17, 5.1}, {4, false, 21, 6.0},  {8, true, 1, 9.3},    {8, true, 2, 5.4},   {8, true, 4, 4.0},
          {8, true, 8, 4.0},   {8, true, 16, 2.01},  {8, false, 0, 2.01},  {8, false, 1, 2.01}, {8, false, 2, 4.0},
          {8, false, 3, 2.42}, {8, false, 4, 8.0},   {8, false, 5, 3.34},  {8, false, 7, 4.04}, {8, false, 8, 16.0},
          {8, false, 9, 5.1},  {8, false, 16, 32.0}});
  EXPECT_LT(mean, std::log(1.08));
  EXPECT_LT(worst, std::log(1.25));
}

TEST(L1Passes, OnARadeonRx6900XtAreItsCycles) {
  const MemoryGeometry g{32, 128, 128, 32, 4, 32, 0, 4};
  const auto [mean, worst] = errors(g, {{4, true, 1, 15.9},
                                        {4, true, 2, 11.9},
                                        {4, true, 4, 7.2},
                                        {4, true, 8, 4.03},
                                        {4, true, 16, 1.99},
                                        {4, true, 32, 1.04},
                                        {4, false, 0, 1.0},
                                        {4, false, 1, 1.0},
                                        {4, false, 2, 1.99},
                                        {4, false, 4, 3.98},
                                        {4, false, 5, 1.99},
                                        {4, false, 6, 1.99},
                                        {4, false, 7, 1.99},
                                        {4, false, 8, 8.0},
                                        {4, false, 9, 2.99},
                                        {4, false, 10, 2.99},
                                        {4, false, 13, 4.0},
                                        {4, false, 16, 15.9},
                                        {4, false, 17, 4.98}});
  EXPECT_LT(mean, std::log(1.03));
  EXPECT_LT(worst, std::log(1.1));
}

TEST(L1Passes, OnAnInstinctMi210AreItsCyclesWithinAHalf) {
  const MemoryGeometry g{64, 64, 64, 32, 4, 4, 0, 0, 4};
  const auto [mean, worst] = errors(
      g, {{4, true, 1, 20.1},  {4, true, 4, 7.5},   {4, true, 8, 4.03},  {4, true, 16, 2.18}, {4, true, 64, 2.18},
          {4, false, 0, 2.18}, {4, false, 1, 2.18}, {4, false, 2, 16.1}, {4, false, 3, 8.1},  {4, false, 4, 32.2},
          {4, false, 5, 14.1}, {4, false, 6, 16.1}, {4, false, 7, 14.1}, {4, false, 8, 32.2}, {4, false, 9, 14.1},
          {8, true, 4, 8.1},   {8, true, 16, 8.1},  {8, false, 0, 8.1},  {8, false, 1, 8.1},  {8, false, 2, 8.1},
          {8, false, 3, 8.1},  {8, false, 4, 16.1}, {8, false, 5, 8.1},  {8, false, 8, 32.2}, {8, false, 16, 32.2}});
  EXPECT_LT(mean, std::log(1.12));
  EXPECT_LT(worst, std::log(1.55));
}

}  // namespace
}  // namespace kernelcast
