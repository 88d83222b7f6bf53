// CLI11 finds flags and writes the help; values are read by our own functions (values.h), whose messages name the flag.
#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "io/nearest.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

/// CLI11 would only say that a command is missing.
void check_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return;
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  if (word.empty()) throw UsageError(fmt::format("name a command: {}", fmt::join(known, ", ")));
  const std::vector<std::string> near = nearest_names(word, known, 1);
  throw UsageError(fmt::format("there is no command {}; {}", word,
                               near.empty() ? fmt::format("commands are {}", fmt::join(known, ", "))
                                            : fmt::format("did you mean {}?", near.front())));
}

/// "--device: At Most 1 required but received 2" is what CLI11 says of a flag that stands twice, "--device: 1 required
/// DEV missing" of one with nothing behind it.
std::string in_plain_words(const std::string& text) {
  const std::size_t one = text.find(": 1 required "), missing = text.rfind(" missing");
  if (one != std::string::npos && missing > one + 13)
    return fmt::format("{} needs {} behind it", text.substr(0, one), text.substr(one + 13, missing - one - 13));
  const std::size_t most = text.find(": At Most 1 required but received ");
  if (most == std::string::npos) return text;
  return fmt::format("{} is given {} times, and can be given once", text.substr(0, most),
                     text.substr(text.rfind(' ') + 1));
}

/// CLI11 would name what it does not know, last one first.
std::string about_unknown(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const auto flag = std::find_if(words.begin(), words.end(), [](const std::string& w) { return w.starts_with('-'); });
  const CLI::App* used = app.get_subcommands().empty() ? nullptr : app.get_subcommands().front();
  if (flag == words.end() || used == nullptr) {
    const bool more = used != nullptr && used->get_option_no_throw("--with") != nullptr;
    return fmt::format("there is no use for {}{}", fmt::join(words, " "),
                       more ? "; a further source file of the program goes behind --with" : "");
  }
  const CLI::App& command = *used;
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::string name = flag->substr(0, flag->find('='));
  const std::vector<std::string> near = nearest_names(name, known, 1);
  return fmt::format("{} has no flag {}{}", command.get_name(), name,
                     near.empty() ? "" : fmt::format("; did you mean {}?", near.front()));
}

}  // namespace

void Flags::positional(const std::string& name, std::string& into, const std::string& help, Need need) {
  app_.add_option(name, into, help)->type_name("")->required(need == Need::required);
}

void Flags::option(const std::string& names, const std::string& value, std::string& into, const std::string& help,
                   Need need) {
  app_.add_option(names, into, help)->type_name(value)->required(need == Need::required);
}

void Flags::list(const std::string& names, const std::string& value, std::vector<std::string>& into,
                 const std::string& help) {
  app_.add_option(names, into, help)->type_name(value)->expected(1)->take_all()->allow_extra_args(false);
}

void Flags::say_instead(const std::string& name, const std::string& value, const std::string& help) {
  app_.get_option(name)->type_name(value)->description(help);
}

void Flags::flag(const std::string& names, bool& into, const std::string& help) { app_.add_flag(names, into, help); }

Parser::Parser(const std::string& program, const std::string& summary, const std::string& version,
               const std::string& footer)
    : app_(std::make_unique<CLI::App>(summary, program)) {
  app_->set_help_flag("-h,--help", "Show this text");
  app_->set_version_flag("--version", program + " " + version, "Show the version");
  app_->get_formatter()->label("OPTIONS", "FLAGS");
  app_->get_formatter()->label("SUBCOMMAND", "COMMAND");
  app_->get_formatter()->label("Positionals", "Files and names");
  app_->get_formatter()->label("REQUIRED", "(required)");
  app_->add_option("--completion", completion_, "Completion script of a shell")->type_name("bash|zsh|fish");
  app_->require_subcommand(0, 1);
  app_->footer(footer);
}

Parser::~Parser() = default;

Flags Parser::command(const std::string& name, const std::string& summary, const std::string& footer) {
  CLI::App* command = app_->add_subcommand(name, summary);
  command->group("Commands");
  command->footer(footer);
  return Flags(*command);
}

void Parser::listed(const std::string& name, const std::string& summary, const std::string& footer) {
  app_->add_subcommand(name, summary)->group("Commands")->prefix_command()->footer(footer);
}

Parser::Outcome Parser::parse(int argc, char** argv) {
  check_command(*app_, argc > 1 ? argv[1] : "");
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {app_->help(), ""};
  } catch (const CLI::CallForVersion& e) {
    return {message_of(e) + "\n", ""};
  } catch (const CLI::ExtrasError&) {
    throw UsageError(about_unknown(*app_));
  } catch (const CLI::RequiredError& e) {
    // A flag that does not exist is more likely the cause than one that is missing.
    const std::vector<std::string> words = app_->remaining(true);
    if (std::any_of(words.begin(), words.end(), [](const std::string& w) { return w.starts_with('-'); }))
      throw UsageError(about_unknown(*app_));
    throw UsageError(in_plain_words(message_of(e)));
  } catch (const CLI::ParseError& e) {
    throw UsageError(in_plain_words(message_of(e)));
  }
  if (!completion_.empty()) return {completion_script(*app_, completion_), ""};
  if (app_->get_subcommands().empty()) check_command(*app_, "");
  return {"", app_->get_subcommands().at(0)->get_name()};
}

}  // namespace kernelcast::cli
