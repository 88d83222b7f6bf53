// How the command line spells what messages and assumptions name (kernelcast/setting.h).
#pragma once

#include <string>
#include <string_view>

namespace kernelcast::report {

/// "give a smaller --block": max_seconds becomes --max-seconds, D becomes -D. Applied once, where text leaves the
/// program.
std::string with_flags(std::string_view text);

}  // namespace kernelcast::report
