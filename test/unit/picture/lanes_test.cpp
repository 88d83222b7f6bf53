// Lanes drawn one by one against the binder's closed forms: the same sectors, the same wavefronts.
#include "picture/lane_accesses.h"

#include <gtest/gtest.h>

#include <set>

#include "kernelcast/bind.h"
#include "support/copy_profile.h"

namespace kernelcast::picture {
namespace {

Launch launch_of(std::int64_t block, std::int64_t n) {
  Launch launch;
  launch.grid = {4, 1, 1};
  launch.block = {block, 1, 1};
  launch.args["n"] = n;
  launch.args["rounds"] = std::int64_t{3};
  return launch;
}

/// The same for kernels without arguments.
Launch one_warp() {
  Launch launch = launch_of(32, 0);
  launch.args.clear();
  return launch;
}

/// A kernel of one access whose lanes are all active.
KernelProfile one_access(MemorySpace space, int bytes, const Expr& offset) {
  KernelProfile p;
  p.kernel = "k";
  p.buffers.push_back({"a", space});
  Block b;
  Access a;
  a.space = space;
  a.bytes = bytes;
  a.buffer = 0;
  a.offset = offset;
  b.accesses.push_back(a);
  p.blocks.push_back(b);
  return p;
}

std::set<std::int64_t> sectors_of(const LanePicture& p, int bytes, int sector) {
  std::set<std::int64_t> touched;
  for (const auto& o : p.offset)
    for (std::int64_t byte = 0; o && byte < bytes; ++byte) touched.insert((*o + byte) / sector);
  return touched;
}

TEST(Lanes, SectorsAreThoseThatAreCounted) {
  const MemoryGeometry g;
  for (const int stride : {0, 1, 4, 8, 12, 33, 128, 256})
    for (const int bytes : {1, 4, 8, 16}) {
      const KernelProfile p = one_access(MemorySpace::global, bytes, Expr(stride) * Expr(local_id(0)));
      const Launch launch = one_warp();
      const Workload w = Binder(p, g).bind(launch);
      const auto pictures = lane_pictures(p, w, launch);
      ASSERT_EQ(pictures.size(), 1U);
      ASSERT_EQ(pictures[0].reason, "");
      EXPECT_EQ(static_cast<double>(sectors_of(pictures[0], bytes, g.sector_bytes).size()),
                w.access_counts[0].sectors / w.access_counts[0].requests)
          << "stride " << stride << ", " << bytes << " bytes";
    }
}

TEST(Lanes, InactiveLanesHaveNoAddress) {
  const KernelProfile p = test::copy_profile();
  const Launch launch = launch_of(64, 2 * 64 + 20);  // of the block in the middle, 20 threads are below n
  const Workload w = Binder(p, MemoryGeometry{}).bind(launch);
  const auto pictures = lane_pictures(p, w, launch);
  for (const LanePicture& picture : pictures) {
    ASSERT_EQ(picture.offset.size(), 32U);
    EXPECT_EQ(picture.block[0], 2);
    EXPECT_EQ(picture.warp, 0);
  }
  EXPECT_TRUE(pictures[0].offset[19].has_value());
  EXPECT_FALSE(pictures[0].offset[20].has_value());
  // Nobody is below n in the block in the middle: the first is drawn.
  const Launch few = launch_of(64, 40);
  const auto first = lane_pictures(p, Binder(p, MemoryGeometry{}).bind(few), few);
  EXPECT_EQ(first[0].block[0], 0);
  // Nobody at all.
  const Launch none = launch_of(64, 0);
  EXPECT_NE(lane_pictures(p, Binder(p, MemoryGeometry{}).bind(none), none)[0].reason, "");
}

TEST(Lanes, DataDecidedAddressesSayWhy) {
  KernelProfile p = one_access(MemorySpace::global, 4, Expr(0));
  p.unknowns.push_back({Unknown::Kind::address, "access:9", {}, 4, false, "loaded from memory"});
  p.blocks[0].accesses[0].unknown = 0;
  const Launch launch = one_warp();
  EXPECT_EQ(lane_pictures(p, Binder(p, MemoryGeometry{}).bind(launch), launch)[0].reason, "loaded from memory");
}

TEST(Lanes, OtherSpacesHaveNoPicture) {
  const KernelProfile p = one_access(MemorySpace::constant, 4, Expr(0));
  const Launch launch = one_warp();
  EXPECT_NE(lane_pictures(p, Binder(p, MemoryGeometry{}).bind(launch), launch)[0].reason, "");
}

}  // namespace
}  // namespace kernelcast::picture
