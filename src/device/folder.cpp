// Where the device files are: the source tree that the program was built from, or beside an installed program.
#include "device/folder.h"

#include "kernelcast/device.h"

namespace kernelcast {

namespace fs = std::filesystem;

fs::path choose_device_folder(const fs::path& source_tree, const fs::path& program) {
  std::error_code ignored;
  if (fs::is_directory(source_tree, ignored)) return source_tree;
  if (program.empty()) return {};
  fs::path installed = (program.parent_path() / ".." / "share" / "kernelcast" / "devices").lexically_normal();
  return fs::is_directory(installed, ignored) ? installed : fs::path();
}

std::string default_device_folder() {
  std::error_code ignored;
  return choose_device_folder(KERNELCAST_DEVICE_FOLDER, fs::read_symlink("/proc/self/exe", ignored)).string();
}

}  // namespace kernelcast
