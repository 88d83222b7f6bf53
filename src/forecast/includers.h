#pragma once

#include <string>

namespace kernelcast {

/// Where names are missing in a file that another file near it includes, behind what declares them: a note that names
/// that file. Else empty.
std::string includers_note(const std::string& path, const std::string& errors);

}  // namespace kernelcast
