#include "cli/common_flags.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "kernelcast/error.h"

namespace kernelcast::cli {

void declare_result(Flags c, std::string& format, std::string& output) {
  c.option("--format", "text|json", format, "Output format (default: text)");
  c.option("-o", "FILE", output, "Output file, written in one step (default: standard output)");
}

void declare_devices_dir(Flags c, std::string& folder) {
  c.option("--devices-dir", "DIR", folder, "Folder of device files (default: KERNELCAST_DEVICES, else the catalog)");
}

void keep_inputs(const std::string& flag, const std::string& written, const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (written.empty() || !fs::is_regular_file(written, error)) return;
  for (const std::string& input : inputs)
    if (!input.empty() && fs::equivalent(written, input, error))
      throw UsageError(flag + " " + written + ": is read in this run, and would be written over; name another file");
}

bool is_json(const std::string& format) {
  if (format != "text" && format != "json") throw UsageError("--format " + format + ": expected text or json");
  return format == "json";
}

bool is_json_of_page(const std::string& format) {
  if (format != "text" && format != "json" && format != "html")
    throw UsageError("--format " + format + ": expected text, json or html");
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
