// Names of what loops.h lists; here and not in the front end so that reports need no LLVM.
#include "kernelcast/loops.h"

namespace kernelcast {

std::string_view name_of(Legality l) {
  switch (l) {
    case Legality::yes:
      return "yes";
    case Legality::no:
      return "no";
    case Legality::unknown:
      return "unknown";
  }
  return "?";
}

std::string_view name_of(Condition c) {
  switch (c) {
    case Condition::none:
      return "none";
    case Condition::collective:
      return "barrier or vote";
    case Condition::early_exit:
      return "early exit";
    case Condition::carried_dependence:
      return "carried dependence";
    case Condition::dependent_paths:
      return "dependent paths";
    case Condition::code_after_branch:
      return "code after the branch";
    case Condition::same_address:
      return "same address";
    case Condition::aliasing:
      return "aliasing";
    case Condition::atomic:
      return "atomic";
    case Condition::float_reduction:
      return "float reduction";
    case Condition::volatile_access:
      return "volatile access";
    case Condition::opaque:
      return "opaque code";
  }
  return "?";
}

}  // namespace kernelcast
