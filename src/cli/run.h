// The program: arguments in, exit status out.
#pragma once

#include <string>

namespace kernelcast::cli {

/// Exit statuses of the contract.
enum Status : int {
  done = 0,
  could_not_analyse = 1,
  usage = 2,
  gate_broken = 3,      // `check`: slower than allowed
  internal_error = 70,  // sysexits.h: EX_SOFTWARE
  interrupted = 130,
};

/// Runs one command. Leaves through std::_Exit: after a time limit a front-end thread may still be running.
[[noreturn]] int run(int argc, char** argv);

/// The command that the arguments choose; empty for help and the like. Nothing runs. Throws UsageError.
std::string chosen_command(int argc, char** argv);

}  // namespace kernelcast::cli
