// Profiles as bytes, so that an analysis can be kept.
#pragma once

#include <string>
#include <string_view>

#include "kernelcast/profile.h"

namespace kernelcast {

/// The whole profile. Equal profiles give equal bytes, in every process; the format is private to one version of the
/// program and is no means of exchange.
std::string bytes_of(const KernelProfile& profile);

/// The profile that bytes_of() was given. Throws UserError when the bytes are damaged, cut off, or of another version.
KernelProfile profile_of(std::string_view bytes);

}  // namespace kernelcast
