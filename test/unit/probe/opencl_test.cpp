// Messages to the OpenCL process, and the program of the micro-benchmarks as text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <regex>
#include <set>

#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "probe/opencl_kernels.h"
#include "probe/opencl_wire.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;

OpenclLaunch some_launch(const std::string& source, std::size_t bytes) {
  OpenclLaunch l;
  l.source = source;
  l.options = "-D x";
  l.kernel = "k";
  l.grid = {3, 2, 1};
  l.block = {64, 1, 1};
  l.arguments = {{OpenclArgument::Kind::buffer, bytes, {}, false, true},
                 {OpenclArgument::Kind::scalar, 0, {1, 0, 255}, true, false}};
  return l;
}

RC_GTEST_PROP(OpenclWire, ABatchComesBack, (const std::string& source, unsigned short bytes, bool to)) {
  OpenclBatch batch;
  batch.launches = {some_launch(source, bytes), some_launch("", 1)};
  batch.transfers = {{bytes, to, 3}};
  batch.clock = to ? -1 : 1;
  batch.min_rounds = 2;
  batch.max_rounds = 9;
  batch.seconds = 0.25;
  const std::string wire = bytes_of(batch);
  const OpenclBatch back = batch_of(wire);
  RC_ASSERT(bytes_of(back) == wire);
  RC_ASSERT(back.launches.at(0).source == source);
  RC_ASSERT(back.launches[0].arguments.at(0).walk);
  RC_ASSERT(back.launches[0].arguments[1].value == (std::vector<unsigned char>{1, 0, 255}));
  RC_ASSERT(back.transfers.at(0).bytes == bytes);
  RC_ASSERT(back.transfers[0].to_device == to);
  RC_ASSERT(back.clock == batch.clock);
  RC_ASSERT(back.max_rounds == 9);
  RC_ASSERT(back.seconds == 0.25);
}

TEST(OpenclWire, AReplyComesBack) {
  OpenclBatchReply reply;
  reply.info = {"a device", true, false, 4, 2.5e9, 1e9, 5e8};
  reply.launches = {{{1e-3, 2e-3, 0}, {3e-3, 4e-3, 5e-3}}, {}};
  reply.failures = {"", "out of registers"};
  reply.transfers = {{{5e-6, 1e-6}}};
  const OpenclBatchReply back = batch_reply_of(bytes_of(reply));
  EXPECT_EQ(bytes_of(back), bytes_of(reply));
  EXPECT_EQ(back.info.name, "a device");
  EXPECT_TRUE(back.info.cpu);
  EXPECT_FALSE(back.info.doubles);
  EXPECT_EQ(back.info.largest_buffer_bytes, 5e8);
  EXPECT_EQ(back.launches.at(0).at(1).wall_s, 4e-3);
  EXPECT_EQ(back.launches[0][1].beside_s, 5e-3);
  EXPECT_EQ(back.failures.at(1), "out of registers");
  EXPECT_EQ(back.transfers.at(0).at(0).started_s, 1e-6);
}

RC_GTEST_PROP(OpenclWire, ACutMessageIsRefused, ()) {
  OpenclBatch batch;
  batch.launches = {some_launch("source", 8)};
  const std::string wire = bytes_of(batch);
  const auto length = *rc::gen::inRange<std::size_t>(0, wire.size() - 1);
  RC_ASSERT_THROWS_AS(batch_of(wire.substr(0, length)), LimitError);
}

TEST(OpenclKernels, EachChainOfAWideKernelHasItsOwnVariable) {
  for (const opencl::Operation& o : opencl::operations(true)) {
    const std::string text = opencl::wide_kernel(o, 4);
    EXPECT_FALSE(std::regex_search(text, std::regex("\\bx\\b"))) << text;
    for (int k = 0; k < opencl::chains; ++k) {
      const std::regex use("    x" + std::to_string(k) + " = [^;]*\\bx" + std::to_string(k) + "\\b");
      const auto count = std::distance(std::sregex_iterator(text.begin(), text.end(), use), std::sregex_iterator());
      EXPECT_EQ(count, opencl::repeats) << text;
    }
  }
}

TEST(OpenclKernels, AChainHasItsOperations) {
  for (const opencl::Operation& o : opencl::operations(true))
    for (int width : {1, 4, 16}) {
      const std::string text = opencl::chain_kernel(o, width), step = std::string("    x = ") + o.text + ";\n";
      int count = 0;
      for (std::size_t at = text.find(step); at != std::string::npos; at = text.find(step, at + 1)) ++count;
      EXPECT_EQ(count, opencl::chain_ops);
      const std::string type = o.type + (width == 1 ? std::string() : std::to_string(width));
      EXPECT_NE(text.find("\n  " + type + " a = (" + type + ")(a0)"), std::string::npos) << text;
      EXPECT_NE(text.find(std::string(" ") + o.type + " a0"), std::string::npos) << text;
    }
}

TEST(OpenclKernels, EveryTypeIsMeasuredOnVectors) {
  std::set<std::string> types, on_vectors;
  for (const opencl::Operation& o : opencl::operations(true)) {
    types.insert(o.type);
    if (o.vectors) on_vectors.insert(o.type);
  }
  EXPECT_EQ(types, on_vectors);
}

TEST(Opencl, ARunnerThatIsMissingIsSaid) {
  Device host;
  host.id = "host";
  host.kind = "cpu";
  Options options;
  options.opencl_runner = "/nowhere/kernelcast-opencl";
  try {
    probe_opencl(host, options);
    FAIL();
  } catch (const LimitError& e) {
    EXPECT_NE(std::string(e.what()).find("/nowhere/kernelcast-opencl"), std::string::npos) << e.what();
  }
}

}  // namespace
