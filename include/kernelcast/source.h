// A translation unit: text, language and how to read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelcast {

enum class Language : std::uint8_t { automatic, opencl, cuda, hip, c, cxx, llvm_ir, ptx };

struct FileText {
  std::string path, text;
};

/// The box of a tensor map, which the host makes.
struct TensorBox {
  std::string parameter;  // that holds the map
  int bytes = 0;          // of the box
  int row_bytes = 0;      // that lie side by side: of its innermost size
  friend bool operator==(const TensorBox&, const TensorBox&) = default;
};

/// A translation unit and how to read it.
struct Source {
  std::string path;                 // for messages, relative includes and the language by its ending; "<stdin>" for standard input
  std::string text;                 // contents (for .bc: the bytes)
  Language language = Language::automatic;
  std::vector<std::string> defines;      // NAME or NAME=VALUE
  std::vector<std::string> undefines;
  std::vector<std::string> include_dirs;
  /// Folders from which files that the text names may be read, besides the compiler's own headers; empty: all.
  std::vector<std::string> readable_dirs;
  std::vector<FileText> headers;    // texts that are read in place of those that these files have on disk
  std::string standard;             // "CL2.0", "c++17"; empty: the default of the language
  bool fast_math = false;
  std::vector<TensorBox> tensor_maps;
  std::string capability;  // sm_NN that CUDA code is compiled for (__CUDA_ARCH__); empty: the target of code generation
};

/// An entry of Source::tensor_maps from "NAME=DIM[xDIM...]:BYTES": a box of 1 to 5 sizes
/// from 1 to 256 elements of BYTES (1 to 16) each (limits: cuTensorMapEncodeTiled, CUDA driver API). Throws UsageError.
TensorBox tensor_box(std::string_view text);

}  // namespace kernelcast
