// PTX around what a test is about.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ptx/parse.h"
#include "ptx/print.h"

namespace kernelcast::ptx {

inline std::string module_text(const std::string& rest, const std::string& target = "sm_90a") {
  return ".version 9.0\n.target " + target + "\n.address_size 64\n" + rest;
}

inline Module parse_module_text(const std::string& rest) { return parse(module_text(rest), "k.ptx"); }

/// A kernel with registers %r, %rd, %f, %fd, %rs, %p and the parameters a and n.
inline std::string kernel_text(const std::string& body) {
  return module_text(
      ".shared .align 16 .b8 smem[1024];\n"
      ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<99>; "
      ".reg .b64 %rd<9>; .reg .f32 %f<99>; .reg .f64 %fd<9>;\n" +
      body + "\n}\n");
}

inline Module parse_kernel(const std::string& body) { return parse(kernel_text(body), "k.ptx"); }

/// The only instruction of such a kernel.
inline Instruction one(const std::string& text) {
  static std::vector<Module> kept;  // what the instruction views
  kept.push_back(parse_kernel(text));
  return kept.back().functions.front().body.at(0);
}

/// The message of what parsing throws; empty: nothing.
inline std::string message_of(const std::string& text) {
  try {
    parse(text, "k.ptx");
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

inline std::string file_text(const std::string& name) {
  std::ifstream file(std::filesystem::path(KERNELCAST_SOURCE_DIR) / "test/data/ptx" / name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const std::vector<std::string>& sample_files() {
  static const std::vector<std::string> all{"ampere.ptx", "hopper.ptx", "blackwell.ptx"};
  return all;
}

}  // namespace kernelcast::ptx
