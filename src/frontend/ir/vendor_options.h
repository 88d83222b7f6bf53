// Options of LLVM that no interface has and that differ by vendor.
#pragma once

namespace kernelcast::frontend {

/// While one lives, LLVM's process-wide options are those of its vendor. Any number of one vendor live at a time; one
/// of the other vendor waits for them. Options never change under a pass that runs, so results do not depend on what
/// else is being analysed.
class VendorOptions {
 public:
  explicit VendorOptions(bool nvidia);
  ~VendorOptions();
  VendorOptions(const VendorOptions&) = delete;
  VendorOptions& operator=(const VendorOptions&) = delete;
};

}  // namespace kernelcast::frontend
