// What must not outlive the program when it is interrupted: temporary files and child processes. And the note that it
// was, for work that can be left early.
#pragma once

#include <sys/types.h>

#include <string>

namespace kernelcast {

/// True from the first interrupt on (note_interrupt), except on a thread with a Finishing. Work of more than a tenth of
/// a second asks now and then.
bool interrupted();
/// May be called in a signal handler.
void note_interrupt();
/// Removes every file that is registered and kills every child. May be called in a signal handler.
void drop_temporaries();

/// While it lives, its thread does what is needed to show results so far: interrupts do not end that.
class Finishing {
 public:
  Finishing();
  ~Finishing();
  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;
};

/// Registers a file, or an empty folder, for drop_temporaries() while it lives. Beyond a few hundred at a time none is.
class TemporaryName {
 public:
  explicit TemporaryName(std::string path);
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int slot_;
};

/// The same for a child process, which leads a process group of its own.
class TemporaryChild {
 public:
  explicit TemporaryChild(pid_t child);
  ~TemporaryChild();
  TemporaryChild(const TemporaryChild&) = delete;
  TemporaryChild& operator=(const TemporaryChild&) = delete;

 private:
  int slot_;
};

}  // namespace kernelcast
