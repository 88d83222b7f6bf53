// Completion scripts for shells, made from the parser's own table of commands and flags.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace kernelcast::cli {

/// The script of "bash", "zsh" or "fish" for a program with this parser. UsageError for another shell.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace kernelcast::cli
