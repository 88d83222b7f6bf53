// Where the device files are: the source tree that the program was built from, or beside an installed program.
#include <filesystem>

#include "kernelcast/device.h"

namespace kernelcast {

std::string default_device_folder() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(KERNELCAST_DEVICE_FOLDER, ignored)) return KERNELCAST_DEVICE_FOLDER;
  fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (program.empty()) return "";
  fs::path installed = (program.parent_path() / ".." / "share" / "kernelcast" / "devices").lexically_normal();
  return fs::is_directory(installed, ignored) ? installed.string() : "";
}

}  // namespace kernelcast
