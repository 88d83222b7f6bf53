// Flags that most commands have, with one wording, and what is checked of them.
#pragma once

#include <string>
#include <vector>

#include "cli/parser.h"

namespace kernelcast::cli {

/// --format and -o.
void declare_result(Flags command, std::string& format, std::string& output);
/// --devices-dir.
void declare_devices_dir(Flags command, std::string& folder);

/// Throws UsageError where the file that `flag` names for output is one of those that the run reads.
void keep_inputs(const std::string& flag, const std::string& written, const std::vector<std::string>& inputs);

/// Whether --format asks for JSON. Throws UsageError for anything but text and json.
bool is_json(const std::string& format);
/// The same where --format also takes html.
bool is_json_of_page(const std::string& format);
/// The path of a program that can be run; empty stays empty. Throws UsageError naming the flag.
std::string program_file(const char* flag, const std::string& path);
/// The path of a folder that is there. Throws UsageError naming the flag.
std::string existing_folder(const char* flag, const std::string& path);

}  // namespace kernelcast::cli
