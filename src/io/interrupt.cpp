// A signal handler may use little more than lock-free atomics, unlink, rmdir and kill: the registers are arrays of
// those.
#include "io/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

namespace kernelcast {
namespace {

constexpr std::size_t most_names = 512, most_children = 64;
std::array<std::atomic<const char*>, most_names> names{};
std::array<std::atomic<pid_t>, most_children> children{};
std::atomic<bool> was_interrupted = false;
thread_local int finishing = 0;
static_assert(std::atomic<const char*>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

template <class T, std::size_t n>
int taken_slot(std::array<std::atomic<T>, n>& slots, T value) {
  for (std::size_t i = 0; i < n; ++i) {
    T empty{};
    if (slots[i].compare_exchange_strong(empty, value)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

bool interrupted() { return was_interrupted.load(std::memory_order_relaxed) && finishing == 0; }

Finishing::Finishing() { ++finishing; }

Finishing::~Finishing() { --finishing; }

void note_interrupt() { was_interrupted = true; }

void drop_temporaries() {
  for (const auto& child : children)
    if (const pid_t p = child.load(); p > 0) ::kill(-p, SIGKILL);
  for (const auto& name : names)  // the files of a folder first
    if (const char* n = name.load(); n != nullptr) ::unlink(n);
  for (const auto& name : names)
    if (const char* n = name.load(); n != nullptr) ::rmdir(n);
}

TemporaryName::TemporaryName(std::string path) : path_(std::move(path)), slot_(taken_slot(names, path_.c_str())) {}

TemporaryName::~TemporaryName() {
  if (slot_ >= 0) names[static_cast<std::size_t>(slot_)] = nullptr;
}

TemporaryChild::TemporaryChild(pid_t child) : slot_(taken_slot(children, child)) {}

TemporaryChild::~TemporaryChild() {
  if (slot_ >= 0) children[static_cast<std::size_t>(slot_)] = 0;
}

}  // namespace kernelcast
