// A developer's view of one file as the front end sees it: kernelcast_frontend_probe FILE [-target T] [-kernel K] [-I
// DIR] [-D X] [-emit] [-time]. Prints the kernels, a line each, and notes; exit status 1 with the message when the file
// does not compile.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "frontend/source/compile.h"
#include "frontend/source/kernels.h"
#include "kernelcast/error.h"

namespace kf = kernelcast::frontend;

int main(int argc, char** argv) {
  kernelcast::Source source;
  std::string target = "sm_70";
  std::string kernel;
  bool emit = false;
  bool timed = false;
  double limit = 30;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string(++i < argc ? argv[i] : ""); };
    if (word == "-target")
      target = value();
    else if (word == "-kernel")
      kernel = value();
    else if (word == "-std")
      source.standard = value();
    else if (word == "-limit")
      limit = std::atof(value().c_str());
    else if (word == "-I")
      source.include_dirs.push_back(value());
    else if (word == "-D")
      source.defines.push_back(value());
    else if (word == "-fast")
      source.fast_math = true;
    else if (word == "-emit")
      emit = true;
    else if (word == "-time")
      timed = true;
    else
      source.path = word;
  }
  std::ifstream file(source.path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  source.text = text.str();
  int status = 0;
  try {
    const auto start = std::chrono::steady_clock::now();
    const kf::CompiledUnit unit = kf::compile_unit(source, target, limit, kernel);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const auto& entry : kf::list_kernels(*unit.module, unit.language)) {
      std::cout << entry.line << '\t' << entry.plain << '\t' << entry.demangled << '\t' << entry.symbol << '\n';
    }
    for (const auto& pragma : unit.pragmas) std::cout << "pragma " << pragma.line << ": " << pragma.text << '\n';
    for (const auto& note : unit.notes) std::cerr << "note: " << note << '\n';
    for (const auto& diagnostic : unit.diagnostics) std::cerr << diagnostic.text;
    if (timed) std::cout << "compile " << seconds * 1e3 << " ms\n";
    if (emit) std::cout << kf::module_text(unit);
  } catch (const kernelcast::Error& error) {
    std::cerr << error.what() << '\n';
    status = 1;
  }
  std::cout.flush();
  std::quick_exit(status);
}
