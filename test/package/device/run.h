// Runs a program and keeps what it prints.
#pragma once

#include <sys/wait.h>
#include <array>
#include <cstdio>
#include <string>

struct ProgramResult {
  int status = -1;  ///< exit status; -1: it did not run, or a signal ended it
  std::string output;
};

inline ProgramResult run_program(const std::string& command) {
  ProgramResult result;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer{};
  while (std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) result.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}
