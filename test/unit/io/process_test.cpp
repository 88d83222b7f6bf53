#include "io/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "io/text_file.h"

namespace kernelcast {
namespace {

const std::string shell = "/bin/sh";

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Dead, or a zombie that its new parent has not asked for yet.
bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  return !std::getline(file, text) || text.find(") Z") != std::string::npos;
}

TEST(Process, StatusAndOutput) {
  TemporaryFolder folder("process-test");
  const std::string output = folder.file("output");
  const Ended ended = run_process({shell, "-c", "echo out; echo err >&2; exit 3"}, 10, "the shell", output);
  EXPECT_EQ(ended.failure, "");
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(read_text_file(output), "out\nerr\n");
}

TEST(Process, WhatHangsIsKilledWithItsChildren) {
  TemporaryFolder folder("process-test");
  const std::string output = folder.file("output");
  Ended ended;
  // The child ignores what can be ignored, and its own child would live on.
  const double took = seconds_of([&] {
    ended =
        run_process({shell, "-c", "trap '' INT TERM; sleep 600 & echo $!; wait; sleep 600"}, 0.5, "the shell", output);
  });
  EXPECT_EQ(ended.failure, "it took longer than 0 s");
  EXPECT_GE(took, 0.5);
  EXPECT_LT(took, 10);
  const pid_t grandchild = std::stoi(read_text_file(output));
  for (int k = 0; k < 100 && !has_ended(grandchild); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(has_ended(grandchild));
}

TEST(Process, WhatCannotBeStartedOrCrashesIsSaid) {
  EXPECT_EQ(run_process({"/nonexistent/program"}, 10, "it").failure,
            "/nonexistent/program cannot be started: No such file or directory");
  EXPECT_EQ(run_process({shell, "-c", "kill -SEGV $$"}, 10, "the driver").failure,
            "the driver crashed (signal " + std::to_string(SIGSEGV) + ")");
}

}  // namespace
}  // namespace kernelcast
