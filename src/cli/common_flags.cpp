#include "cli/common_flags.h"

#include <unistd.h>

#include <filesystem>

#include "kernelcast/error.h"

namespace kernelcast::cli {

void declare_result(Flags c, std::string& format, std::string& output) {
  c.option("--format", "text|json", format, "For people (text, without it) or for programs (json)");
  c.option("-o", "FILE", output, "Write to FILE, in one step, instead of standard output");
}

void declare_devices_dir(Flags c, std::string& folder) {
  c.option("--devices-dir", "DIR", folder, "Folder of device files (also: KERNELCAST_DEVICES)");
}

bool is_json(const std::string& format) {
  if (format != "text" && format != "json") throw UsageError("--format " + format + ": expected text or json");
  return format == "json";
}

std::string program_file(const char* flag, const std::string& path) {
  std::error_code error;
  if (!path.empty() && !(std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0))
    throw UsageError(std::string(flag) + " " + path + ": there is no program of this name that can be run");
  return path;
}

std::string existing_folder(const char* flag, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    throw UsageError(std::string(flag) + " " + path + ": there is no folder of this name");
  return path;
}

}  // namespace kernelcast::cli
