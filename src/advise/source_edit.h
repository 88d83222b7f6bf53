// Changes of a kernel's declaration in the text of its source.
#pragma once

#include <string>

#include "kernelcast/advise.h"

namespace kernelcast::advice {

/// The text with __restrict__ on every pointer parameter of the kernel that has none; empty: no such parameter, or the
/// declaration is not in this text.
std::string with_restrict(const std::string& text, const std::string& kernel);

/// The line of the kernel's name with __launch_bounds__ before it; no line where the text has bounds already.
LineEdit with_launch_bounds(const std::string& text, const std::string& kernel, int threads, int blocks);

}  // namespace kernelcast::advice
