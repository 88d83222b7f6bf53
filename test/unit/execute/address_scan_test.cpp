// What one look at a request's addresses says, against a look at each lane; both versions of the function.
#include "execute/address_scan.h"

#include "execute/for_lanes.h"

namespace kernelcast::interpreter {

namespace base {
AddressScan scan(const std::uint64_t*, std::uint64_t, int, std::uint64_t, std::uint64_t, std::uint64_t*);
}

namespace {

struct Scanned {
  std::uint64_t a[64], lanes, displacement, step;
  int rows;
};

Scanned random_scan() {
  Scanned c{};
  c.rows = *rc::gen::inRange(1, 3);
  c.lanes = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::inRange(0, 3) == 0) c.lanes = ~std::uint64_t{0} << *rc::gen::inRange(0, 20);
  if (c.rows == 1) c.lanes &= 0xffffffffU;
  if (c.lanes == 0) c.lanes = 8;
  c.step = *rc::gen::element<std::uint64_t>(1, 4, 16);
  c.displacement = *rc::gen::element<std::uint64_t>(0, 64, ~std::uint64_t{0} - 15);
  const auto start = *rc::gen::element<std::uint64_t>(0, 1000, std::uint64_t{5} << 40);
  const auto spread = *rc::gen::element<std::uint64_t>(0, 3, 1000, std::uint64_t{1} << 31, std::uint64_t{1} << 45);
  for (std::uint64_t l = 0; l < 64; ++l)
    c.a[l] = start + (spread == 0 ? l * c.step : *rc::gen::inRange<std::uint64_t>(0, spread));
  return c;
}

void check_scan(ScanAddresses scan, const Scanned& c) {
  std::uint64_t address[64];
  const AddressScan s = scan(c.a, c.lanes, c.rows, c.displacement, c.step, address);
  const int first = std::countr_zero(c.lanes);
  std::uint64_t least = ~std::uint64_t{0}, most = 0, bits = 0;
  bool in_row = true, near = true;
  for_lanes(c.lanes, [&](int l) {
    const std::uint64_t at = c.a[l] + c.displacement, from = c.a[first] + c.displacement;
    RC_ASSERT(address[l] == at);
    least = std::min(least, at);
    most = std::max(most, at);
    bits |= at;
    in_row = in_row && at == from + static_cast<std::uint64_t>(l - first) * c.step;
    const auto distance = static_cast<std::int64_t>(at - from);
    near = near && distance >= -(std::int64_t{1} << 31) && distance < std::int64_t{1} << 31;
  });
  RC_ASSERT(s.bits == bits);
  RC_ASSERT(s.near == near);
  if (!near || most - least > std::uint64_t{1} << 60) return;  // the end of the address space in between: no order
  RC_ASSERT(s.least == least);
  RC_ASSERT(s.most == most);
  RC_ASSERT(s.in_row == in_row);
}

RC_GTEST_PROP(AddressScan, EqualsALookAtEachLane, ()) {
  const Scanned c = random_scan();
  check_scan(base::scan, c);
  check_scan(address_scan(), c);
}

TEST(ForLanes, CountsThem) {
  for (const std::uint64_t lanes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xffffffff}, ~std::uint64_t{0},
                                    std::uint64_t{0x8000000000000001}, std::uint64_t{0x123456789abcdef0}})
    EXPECT_EQ(lane_count(lanes), std::popcount(lanes)) << lanes;
}

TEST(ForLanes, VisitsThoseThatAreSetInOrder) {
  for (const std::uint64_t lanes : {std::uint64_t{0}, std::uint64_t{0xf}, ~std::uint64_t{0}, std::uint64_t{0xa5a5}}) {
    std::uint64_t seen = 0;
    int last = -1;
    for_lanes(lanes, [&](int l) {
      EXPECT_GT(l, last);
      last = l;
      seen |= std::uint64_t{1} << l;
    });
    EXPECT_EQ(seen, lanes);
  }
}

}  // namespace
}  // namespace kernelcast::interpreter
