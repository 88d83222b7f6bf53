// NVIDIA's run-time compiler as a library that is opened at run time. Its headers are not needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kernelcast::frontend {

/// What the library is given.
struct NvrtcJob {
  std::string path, text;            // the source
  std::string expression;            // of a kernel that is to be instantiated, "reduce<256>"; empty: none
  std::vector<std::string> options;  // as NVRTC's manual spells them
};

struct NvrtcResult {
  std::string cubin;         // empty: refused, `log` says why
  std::string lowered_name;  // of the expression; empty: there was none
  std::string log;
};

/// Thread-safe, as the library is.
class NvrtcLibrary {
 public:
  /// The library of this path, or of this name where the system looks for libraries; opened once and never closed.
  /// Throws UserError where it cannot be opened or lacks a function.
  static const NvrtcLibrary& at(const std::string& path);

  [[nodiscard]] const std::string& version() const { return version_; }  // "12.4"
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether it makes code for "sm_80".
  [[nodiscard]] bool knows(const std::string& arch) const;
  [[nodiscard]] NvrtcResult compile(const NvrtcJob& job) const;

  explicit NvrtcLibrary(const std::string& path);
  NvrtcLibrary(const NvrtcLibrary&) = delete;
  NvrtcLibrary& operator=(const NvrtcLibrary&) = delete;
  ~NvrtcLibrary() = default;

 private:
  using Program = void*;
  template <class F>
  void find(F& function, const char* name);
  [[nodiscard]] std::string error_text(int status) const;
  [[nodiscard]] std::string read(Program program, int (*size)(Program, std::size_t*),
                                 int (*bytes)(Program, char*)) const;

  void* library_;
  std::string path_, version_;
  std::vector<int> architectures_;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*add_name_)(Program, const char*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*lowered_name_)(Program, const char*, const char**) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, std::size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  const char* (*error_string_)(int) = nullptr;
};

}  // namespace kernelcast::frontend
