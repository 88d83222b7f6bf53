#include "io/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "kernelcast/error.h"

extern char** environ;

namespace kernelcast {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  const char* wanted = std::getenv("TMPDIR");
  if (error)
    throw LimitError(std::string(wanted == nullptr ? "/tmp" : wanted) +
                     ": there is no such folder for temporary files; set TMPDIR to one that is there");
  std::string pattern = (folder / (name + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw LimitError(folder.string() + ": no temporary folder can be made there: " + std::strerror(errno) +
                     "; set TMPDIR to another");
  path_ = pattern;
  folder_.emplace_back(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name) {
  const std::string path = (fs::path(path_) / name).string();
  for (const TemporaryName& known : files_)
    if (known.path() == path) return path;
  return files_.emplace_back(path).path();
}

Ended run_process(const std::vector<std::string>& command, double seconds, const std::string& driver,
                  const std::string& output) {
  const std::string to = output.empty() ? "/dev/null" : output;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, to.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<std::string> copies = command;
  std::vector<char*> arguments;
  for (std::string& s : copies) arguments.push_back(s.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t ordinary;
  sigemptyset(&ordinary);
  sigaddset(&ordinary, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &ordinary);
  const int error = posix_spawn(&child, command.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return {command.front() + " cannot be started: " + std::strerror(error), 0};
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const TemporaryChild registered(child);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const bool left = interrupted();
    if (left || std::chrono::steady_clock::now() > end) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      if (left) return {"it was interrupted", 0};
      return {"it took longer than " + std::to_string(static_cast<int>(seconds)) + " s", 0};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (WIFSIGNALED(status)) return {driver + " crashed (signal " + std::to_string(WTERMSIG(status)) + ")", 0};
  return {"", WEXITSTATUS(status)};
}

}  // namespace kernelcast
