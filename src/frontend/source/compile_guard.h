// Runs a task of Clang or LLVM where its worst habits cannot hurt the caller: on a thread with a large stack, under a
// crash guard, watched by a clock and a limit of memory.
#pragma once

#include <functional>
#include <string>

namespace kernelcast::frontend {

struct GuardLimits {
  double time_s = 30;                               // of processor time; ten times that on the clock
  std::size_t memory_bytes = std::size_t{6} << 30;  // growth of the process's resident set
};

/// From here on a fatal error of LLVM ends the CrashRecoveryContext of its thread; take_fatal_message() on that thread
/// has the message. Any thread may call both, several may generate code at a time.
void catch_fatal_errors();
/// The message of this thread's last fatal error, which is forgotten; empty: there was none.
std::string take_fatal_message();

/// Names what this thread does from here on, for the message about a crash ("Clang"). `what` must outlive the task.
void name_stage(const char* what);

/// Runs `task` on another thread and waits. Exceptions of the task are passed on; a crash or a fatal error of LLVM
/// becomes InternalError or LimitError with LLVM's message; LimitError when a limit strikes. The thread cannot be
/// stopped: what it uses must be owned by `task` (captured by value or shared_ptr), and the caller should end the
/// process without running static destructors (quick_exit or _exit) after a LimitError. Called from within a guarded
/// task, runs the new task directly.
void run_guarded(std::function<void()> task, const GuardLimits& limits);

}  // namespace kernelcast::frontend
