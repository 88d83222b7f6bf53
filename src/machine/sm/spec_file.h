// Reading devices/sm/ID.toml key by key.
#pragma once

#include <string>

#include "device/data_file.h"
#include "kernelcast/sm.h"

namespace kernelcast::sm {

/// Sets what the file gives, over what `spec` has.
void apply_spec_file(Spec& spec, const std::string& file, const DataNode& root);
/// Throws UserError naming `file` when the numbers contradict each other.
void check_spec(const Spec& spec, const std::string& file);

}  // namespace kernelcast::sm
