// Which line of a text each instruction of a cubin came from.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::frontend {

/// `lines[i]`: line of the i-th instruction (of 16 bytes) of the only kernel, where its line table names the file of
/// that number; 0: it does not say. Empty: there is no line table that can be read.
std::vector<int> lines_of_cubin(const std::string& cubin, std::size_t instructions, int file);

}  // namespace kernelcast::frontend
