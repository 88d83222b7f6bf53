// Refusals that are decided before the arguments are read (limits of the device, a source that does not compile,
// registers) say nothing about them. Everything else, a time above all, says that the arguments are good for that
// variant, and then the search goes to its end: what only some variants want is a reason of theirs.
#include "tune/wanted_argument.h"

namespace kernelcast::tune {

void WantedArgument::Variant::note(const TrialTime& answer) {
  if (answer.refusal != Refusal::none && answer.refusal != Refusal::forecast) return;
  if (answer.argument.empty() || (!argument_.empty() && argument_ != answer.argument)) {
    other_ = true;
    return;
  }
  argument_ = answer.argument;
  if (reason_.empty()) reason_ = answer.reason;
}

void WantedArgument::note(const Variant& variant, std::size_t enough) {
  if (other_ || (!variant.other_ && variant.argument_.empty())) return;
  const std::lock_guard lock(mutex_);
  if (argument_.empty()) {
    argument_ = variant.argument_;
    reason_ = variant.reason_;
  }
  other_ = other_ || variant.other_ || variant.argument_ != argument_;
  all_ = all_ || (!other_ && ++wanting_ >= enough);
}

std::string WantedArgument::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

}  // namespace kernelcast::tune
