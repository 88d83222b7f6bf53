// The steps on machines other than GK110: what they find must follow the spec, not a memory of one GPU.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "probe/steps.h"
#include "probe/union_find.h"
#include "unit/probe/machines.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;

sm::Spec gk110() { return sm::load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-gk110.toml"); }

TestedSm on(const sm::Spec& spec) {
  TestedSm m = machine_on(spec);
  m.encoding = {spec.group_instructions, spec.default_code};
  m.codes = 256;
  return m;
}

TEST(UnionFind, ClassesComeInOrder) {
  UnionFind sets(6);
  sets.join(4, 2);
  sets.join(5, 4);
  EXPECT_EQ(sets.classes(), (std::vector<std::vector<int>>{{0}, {1}, {2, 4, 5}, {3}}));
}

TEST(Steps, FindTheBanksOfAnySpec) {
  for (const std::vector<int>& bits : {std::vector{0}, {1}, {2}, {0, 1}, {2, 1}, {0, 2}}) {
    sm::Spec spec = gk110();
    spec.bank_bits = bits;
    const Banks banks = register_banks(on(spec), 8, 128);
    EXPECT_TRUE(banks.transitive);
    for (const std::vector<int>& members : banks.classes)
      for (int a : members) EXPECT_EQ(spec.bank_of(a), spec.bank_of(members.front())) << a;
    EXPECT_EQ(static_cast<int>(banks.classes.size()), spec.banks());
  }
}

RC_GTEST_PROP(Steps, FindAnyLatency, ()) {
  sm::Spec spec = gk110();
  const int latency = *rc::gen::inRange(2, 60);
  spec.latency[static_cast<std::size_t>(sm::Op::ffma)] = latency;
  RC_ASSERT(latency_cycles(on(spec), sm::Op::ffma, spec.default_code) == latency);
}

TEST(Steps, FindAnotherCodeForDualIssue) {
  sm::Spec spec = gk110();
  spec.dual_code = 0x13;
  const std::vector<CodeMeaning> codes = control_codes(on(spec));
  for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(codes[i].dual, i == 0x13) << i;
}

TEST(Steps, LinearFieldIsTheLongestRun) {
  std::vector<CodeMeaning> codes;
  for (double interval : {1., 1., 3., 5., 7., 9., 32., 32., 1., 2., 3.}) codes.push_back({interval, false});
  const LinearField field = linear_field(codes);
  EXPECT_EQ(field.first, 1);
  EXPECT_EQ(field.last, 5);
  EXPECT_EQ(field.slope, 2);
  EXPECT_EQ(field.intercept, 1);
}

}  // namespace
