// One kernel at one size by the interpreter on one thread: prints the seconds of the execution and its lane
// instructions.
//
//   interpreter_speed list | KERNEL SIZE
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "engines/execute/interpreter.h"
#include "speed_cases.h"

namespace {

using namespace kernelcast;

void run(const speed::Subject& s, const agreement::Case& c) {
  Source source;
  source.path = s.file;
  source.text = speed::contents_of(s.file);
  FrontendOptions front;
  front.kernel = c.kernel;
  front.program = true;
  const Analysis analysis = analyze(source, front);
  if (!analysis.program) throw std::runtime_error(analysis.no_program);
  ExecuteOptions options;
  options.sample = -1;
  options.jobs = 1;
  const Launch launch = agreement::launch_of(c, analysis, options);
  const Execution e = execute(analysis.profile, *analysis.program, launch, {}, options);
  if (!e.complete) throw std::runtime_error("not complete");
  std::printf("%.6f %.0f\n", e.seconds, e.lane_instructions_run);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string(argv[1]) == "list") {
      for (const speed::Subject& s : speed::subjects())
        std::cout << s.kernel << " " << s.small << " " << s.large << "\n";
      return 0;
    }
    if (argc == 3) {
      const auto [subject, c] = speed::subject_of(argv[1], argv[2]);
      run(subject, c);
      return 0;
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  std::cerr << "usage: interpreter_speed list | KERNEL SIZE\n";
  return 2;
}
