// Where the device files are: beside an installed program, or in the source tree that the program was built from.
#include "device/folder.h"

#include "kernelcast/device.h"

namespace kernelcast {

namespace fs = std::filesystem;

fs::path choose_device_folder(const fs::path& source_tree, const fs::path& program) {
  std::error_code ignored;
  if (!program.empty()) {
    fs::path installed = (program.parent_path() / ".." / "share" / "kernelcast" / "devices").lexically_normal();
    if (fs::is_directory(installed, ignored)) return installed;
  }
  return fs::is_directory(source_tree, ignored) ? source_tree : fs::path();
}

std::string default_device_folder() {
  std::error_code ignored;
  return choose_device_folder(KERNELCAST_DEVICE_FOLDER, fs::read_symlink("/proc/self/exe", ignored)).string();
}

}  // namespace kernelcast
