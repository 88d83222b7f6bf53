// NVIDIA's assembler, where it is installed: what it makes of PTX. Never needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kernelcast::frontend {

struct PtxasReport {
  int registers = 0;
  int spill_store_bytes = 0, spill_load_bytes = 0, stack_bytes = 0;
};

/// What `ptxas -v` says of the only kernel in `ptx` for `arch` ("sm_80"); nothing when it refuses the text.
std::optional<PtxasReport> run_ptxas(const std::string& path, const std::string& ptx, const std::string& arch);

/// How NVIDIA's assembler is asked.
struct Assembler {
  std::string path = {};     // empty: not at all
  bool relocatable = false;  // the code is linked afterwards (`ptxas -c`)
};

struct PtxasCode {
  std::string cubin;  // empty: ptxas refused, `message` says why
  std::string message;
  PtxasReport report;
};

/// The only kernel of `ptx`, assembled with a line table.
PtxasCode assemble_ptx(const Assembler& assembler, const std::string& ptx, const std::string& arch);

/// `lines[i]`: line of the i-th instruction (of 16 bytes) of the only kernel, where its line table names the file of
/// that number; 0: it does not say. Empty: there is no line table that can be read.
std::vector<int> lines_of_cubin(const std::string& cubin, std::size_t instructions, int file);

}  // namespace kernelcast::frontend
