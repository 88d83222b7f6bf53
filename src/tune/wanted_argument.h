// A mistake in the arguments that every variant meets: noticed early, so that nobody waits for a search without
// answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "tune/trial_time.h"

namespace kernelcast::tune {

/// Thread-safe.
class WantedArgument {
 public:
  /// What the configurations of one variant say together; one thread's.
  class Variant {
   public:
    void note(const TrialTime& answer);

   private:
    friend class WantedArgument;
    bool other_ = false;  // something got past the arguments
    std::string argument_, reason_;
  };

  /// Adds a variant; with `enough` that want the same argument, and none that got past its arguments, all will want it.
  void note(const Variant& variant, std::size_t enough);
  [[nodiscard]] bool by_all() const { return all_; }
  /// The message of the first of them.
  [[nodiscard]] std::string reason() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> other_ = false, all_ = false;
  std::size_t wanting_ = 0;
  std::string argument_, reason_;
};

}  // namespace kernelcast::tune
