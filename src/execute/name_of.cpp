#include "kernelcast/execute.h"

namespace kernelcast {

std::string_view name_of(Finding::Kind k) {
  switch (k) {
    case Finding::Kind::out_of_bounds:
      return "out of bounds";
    case Finding::Kind::misaligned:
      return "misaligned";
    case Finding::Kind::uninitialised:
      return "uninitialised read";
    case Finding::Kind::race:
      return "race";
    case Finding::Kind::divergent_barrier:
      return "barrier in divergent code";
    case Finding::Kind::endless_wait:
      return "endless wait";
    case Finding::Kind::assertion:
      return "assertion";
    case Finding::Kind::division_by_zero:
      return "division by zero";
    case Finding::Kind::wide_shift:
      return "shift beyond the width";
    case Finding::Kind::limit:
      return "limit";
  }
  return "";
}

std::string_view tool_of(Finding::Kind k) {
  switch (k) {
    case Finding::Kind::out_of_bounds:
    case Finding::Kind::misaligned:
      return "memcheck";
    case Finding::Kind::uninitialised:
      return "initcheck";
    case Finding::Kind::race:
      return "racecheck";
    case Finding::Kind::divergent_barrier:
      return "synccheck";
    default:
      return "";
  }
}

}  // namespace kernelcast
