// Commands and their flags. The one door to CLI11, whose headers are slow to compile: only parser.cpp and
// completion.cpp include them.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace kernelcast::cli {

/// The flags of one command. The variables must outlive the parsing; what is not given leaves them as they are.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}
  enum class Need { optional, required };
  void positional(const std::string& name, std::string& into, const std::string& help, Need need = Need::optional);
  /// `names` as in "--grid" or "-o"; `value` is how the help calls what follows.
  void option(const std::string& names, const std::string& value, std::string& into, const std::string& help,
              Need need = Need::optional);
  /// May be given any number of times, with one value each.
  void list(const std::string& names, const std::string& value, std::vector<std::string>& into,
            const std::string& help);
  void flag(const std::string& names, bool& into, const std::string& help);
  /// Another wording for a flag that is declared already.
  void say_instead(const std::string& name, const std::string& value, const std::string& help);

 private:
  CLI::App& app_;
};

class Parser {
 public:
  /// `version` is the text of --version behind the program's name.
  Parser(const std::string& program, const std::string& summary, const std::string& version, const std::string& footer);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  Flags command(const std::string& name, const std::string& summary, const std::string& footer);
  /// A command that another program answers: it is in the help and in completions, and takes any words.
  void listed(const std::string& name, const std::string& summary, const std::string& footer);

  struct Outcome {
    std::string text;     // help, version or completion script to print, if that was asked for
    std::string command;  // otherwise the command that was chosen
  };
  /// Throws UsageError, with the nearest name for an unknown command.
  Outcome parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::string completion_;
};

/// The script of "bash", "zsh" or "fish" for a program with this parser. UsageError for another shell.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace kernelcast::cli
