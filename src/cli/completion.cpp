// Commands, flags and the values that a flag's help lists ("text|json"). Everything else completes as a file. The
// parser (parser.cpp) and this file are the only ones that see CLI11.
#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

struct FlagWords {
  std::vector<std::string> names;   // "--device", "-o"
  std::vector<std::string> values;  // those that the help lists; none: any
  bool takes_value = false;
  std::string help;
};

struct CommandWords {
  std::string name, help;
  std::vector<FlagWords> flags;
};

/// "auto|symbolic|executed" has three; "NAME[,NAME...|all]" has none that would complete anything.
std::vector<std::string> listed_values(const std::string& type) {
  std::vector<std::string> values;
  if (type.find('|') == std::string::npos) return values;
  for (std::size_t at = 0; at <= type.size();) {
    const std::size_t end = std::min(type.find('|', at), type.size());
    const std::string word = type.substr(at, end - at);
    if (word.empty() || word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-+.") != std::string::npos)
      return {};
    values.push_back(word);
    at = end + 1;
  }
  return values;
}

std::vector<CommandWords> words_of(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    CommandWords c{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      FlagWords f;
      for (const std::string& n : option->get_lnames()) f.names.push_back("--" + n);
      for (const std::string& n : option->get_snames()) f.names.push_back("-" + n);
      if (f.names.empty()) continue;
      f.takes_value = option->get_items_expected_max() > 0;
      f.values = listed_values(option->get_type_name());
      f.help = option->get_description();
      c.flags.push_back(std::move(f));
    }
    commands.push_back(std::move(c));
  }
  return commands;
}

/// Inside single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string bash(const std::vector<CommandWords>& commands) {
  std::string names, flags, values;
  for (const CommandWords& c : commands) {
    names += (names.empty() ? "" : " ") + c.name;
    std::string all;
    for (const FlagWords& f : c.flags) {
      all += fmt::format(" {}", fmt::join(f.names, " "));
      if (!f.values.empty())
        values += fmt::format("    '{} {}') words='{}' ;;\n", c.name, fmt::join(f.names, fmt::format("'|'{} ", c.name)),
                              fmt::join(f.values, " "));
    }
    flags += fmt::format("    {}) words='{}' ;;\n", c.name, all.substr(1));
  }
  return fmt::format(
      R"(# bash completion of kernelcast: kernelcast --completion bash > ~/.local/share/bash-completion/completions/kernelcast
_kernelcast() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version --completion' -- "$cur"))
    return
  fi
  case "$command $prev" in
{}  esac
  if [ -z "$words" ] && [[ $cur == -* ]]; then
    case "$command" in
{}    esac
  fi
  [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _kernelcast kernelcast
)",
      names, values, flags);
}

/// Brackets and colons end the parts of what _arguments reads.
std::string zsh_help(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return quoted(std::as_const(out));  // not the one of <iomanip>
}

std::string zsh(const std::vector<CommandWords>& commands) {
  std::string names, cases;
  for (const CommandWords& c : commands) {
    names += fmt::format("    '{}:{}'\n", c.name, zsh_help(c.help));
    cases += fmt::format("    {})\n      _arguments", c.name);
    for (const FlagWords& f : c.flags)
      for (const std::string& n : f.names) {
        cases += fmt::format(" \\\n        '*{}[{}]", n, zsh_help(f.help));
        if (f.takes_value)
          cases += f.values.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(f.values, " "));
        cases += "'";
      }
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef kernelcast
# zsh completion of kernelcast: kernelcast --completion zsh > DIR/_kernelcast, with DIR in fpath
_kernelcast() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_kernelcast "$@"
)",
                     names, cases);
}

std::string fish(const std::vector<CommandWords>& commands) {
  std::string text =
      "# fish completion of kernelcast: kernelcast --completion fish > ~/.config/fish/completions/kernelcast.fish\n";
  for (const CommandWords& c : commands) {
    text += fmt::format("complete -c kernelcast -n __fish_use_subcommand -a {} -d '{}'\n", c.name, quoted(c.help));
    for (const FlagWords& f : c.flags) {
      text += fmt::format("complete -c kernelcast -n '__fish_seen_subcommand_from {}'", c.name);
      for (const std::string& n : f.names) text += n.starts_with("--") ? " -l " + n.substr(2) : " -s " + n.substr(1);
      if (f.takes_value) text += f.values.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(f.values, " "));
      text += fmt::format(" -d '{}'\n", quoted(f.help));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const std::vector<CommandWords> commands = words_of(app);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  throw UsageError("--completion " + shell + ": expected bash, zsh or fish");
}

}  // namespace kernelcast::cli
