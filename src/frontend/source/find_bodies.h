// Files near a source that have the bodies which it lacks: device code is linked from several files (nvcc -rdc), and a
// forecast of the call alone would be wrong by orders of magnitude.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernelcast/frontend.h"

namespace kernelcast::frontend {

/// Files in the source's folder and in those of -I, not below them, in which functions of these plain names have a body
/// that looks like device code of the language. Absolute, in order of name; one for each name that is found.
std::vector<std::string> files_with_bodies(const Source& source, Language language, const std::set<std::string>& names);

/// The source with the text of these files behind its own.
Source with_bodies(Source source, const std::vector<std::string>& files);

}  // namespace kernelcast::frontend
