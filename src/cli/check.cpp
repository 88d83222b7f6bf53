// kernelcast check: is the new source, or the new configuration, slower than the old one? A gate for continuous
// integration on machines that have no GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/accepted.h"
#include "cli/catalog.h"
#include "cli/changes.h"
#include "cli/commands.h"
#include "cli/flag_values.h"
#include "cli/forecast.h"
#include "cli/launches.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "kernelcast/error.h"
#include "model/ratio_error.h"
#include "report/check_views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* check_examples = R"(Examples:
  kernelcast check old.cu new.cu --device v100,a100 --grid 4096 --block 256 --arg n=1048576
  kernelcast check kernel.cu --base-ref origin/main --device a100 --grid 4096 --block 256 --arg n=1048576
  kernelcast check . --base-ref origin/main --device a100 --format markdown
  kernelcast check examples/matmul_naive.cl examples/matmul_naive.cl --device v100 --global 1024,1024 --block 16,16 \
    --arg n=1024 --new-block 32,8

Flags that begin with --new- apply to NEW only and replace those of the same name (--new-define replaces -D). All others
apply to both: -D TILE=16 --new-define TILE=32 compares tiles of 16 and 32.
Exit status: 0 the gate holds, 1 analysis failed, 2 usage, 3 the gate is broken, 130 interrupted.)";

struct CheckFlags {
  ForecastFlags base;
  std::string changed, base_ref, accepted, max_slowdown = "5%", kernel, grid, block, global, shared;
  std::vector<std::string> args, buffers, defines;
  bool accept = false;
};

/// "5%" or "0.05".
double slowdown_of(const std::string& text) {
  const bool percent = text.ends_with('%');
  const double value = real_number("--max-slowdown", percent ? text.substr(0, text.size() - 1) : text);
  if (!(value >= 0)) throw UsageError("--max-slowdown " + text + ": expected 0 or more, such as 5%");
  if (!percent && value >= 1) {
    throw UsageError(fmt::format("--max-slowdown {0}: give {0}%, or a fraction below 1 such as 0.05", text));
  }
  return percent ? value / 100 : value;
}

std::string name_in(const std::string& text) { return text.substr(0, text.find('=')); }

/// Values of the same name are replaced, others added.
void replace_named(std::vector<std::string>& values, const std::vector<std::string>& replacing) {
  for (const std::string& text : replacing) {
    std::erase_if(values, [&](const std::string& v) { return name_in(v) == name_in(text); });
    values.push_back(text);
  }
}

ForecastFlags changed_flags(const CheckFlags& f) {
  ForecastFlags c = f.base;
  c.file = f.changed;
  if (!f.kernel.empty()) c.kernel = f.kernel;
  if (!f.block.empty()) c.block = f.block;
  if (!f.shared.empty()) c.shared = f.shared;
  if (!f.grid.empty() || !f.global.empty()) {
    c.grid = f.grid;
    c.global = f.global;
  }
  replace_named(c.args, f.args);
  replace_named(c.buffers, f.buffers);
  replace_named(c.defines, f.defines);
  return c;
}

std::optional<double> time_of(const report::DeviceResult& d, std::string& failure) {
  const report::ModelResult& m = d.models.front();
  if (!d.failure.empty())
    failure = d.failure;
  else if (!m.estimate)
    failure = m.failure;
  else if (!m.estimate->time_s.value)
    failure = m.estimate->time_s.reason;
  return failure.empty() ? m.estimate->time_s.value : std::nullopt;
}

/// The first line of the kernel's own file that does anything; 1: not known.
int first_line_of(const report::DeviceResult& d, const std::string& path) {
  int first = 0;
  if (!d.profile) return 1;
  for (const Block& block : d.profile->blocks)
    for (const LineOps& l : block.lines)
      if (l.line.file >= 0 && d.profile->files[static_cast<std::size_t>(l.line.file)] == path && l.line.line > 0)
        first = first == 0 ? l.line.line : std::min(first, l.line.line);
  return std::max(first, 1);
}

std::string launch_text(const Launch& launch) {
  return fmt::format("{},{},{}/{},{},{}", launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                     launch.block.z);
}

report::CheckRow compared(const report::DeviceResult& base, const report::DeviceResult& changed, double max_slowdown) {
  report::CheckRow row;
  row.device = base.device.id;
  row.kernel = base.profile ? base.profile->kernel : "";
  row.launch = launch_text(changed.launch);
  std::string trouble;
  row.base_s = time_of(base, trouble);
  if (!row.base_s) {
    row.failure = "base: " + trouble;
    return row;
  }
  row.new_s = time_of(changed, trouble);
  if (!row.new_s) {
    row.failure = "new: " + trouble;
    return row;
  }
  row.base_limiter = base.models.front().estimate->limiter;
  row.new_limiter = changed.models.front().estimate->limiter;
  row.ratio = *row.new_s / *row.base_s;
  // The same forecast to the last bit is the same work: nothing is left to be wrong about.
  row.local_memory = base.workload->local_bytes() > 0 || changed.workload->local_bytes() > 0;
  const RatioError error = row.ratio == 1
                               ? RatioError{}
                               : kernelcast_ratio_error_of(*base.models.front().estimate,
                                                           *changed.models.front().estimate, row.local_memory);
  const double factor = std::exp(error.half_width());
  row.ratio_lo = row.ratio / factor;
  row.ratio_hi = row.ratio * factor;
  row.probability_slower = error.above(row.ratio, 1);
  row.probability_broken = error.above(row.ratio, 1 + max_slowdown);
  row.error = error;
  row.passed = row.ratio <= 1 + max_slowdown;
  return row;
}

/// Of the rows that do not use local memory, if any differs; else of those that do. Where no forecast differs, that of
/// launches with the same bounds; where none could be compared, that of any.
RatioError widest_error(const std::vector<report::CheckRow>& rows) {
  const auto widest = [&](bool local_memory) {
    RatioError error;
    for (const report::CheckRow& r : rows)
      if (r.local_memory == local_memory && r.error.quartile > error.quartile) error = r.error;
    return error;
  };
  for (const bool local_memory : {false, true})
    if (const RatioError error = widest(local_memory); error.quartile > 0) return error;
  const bool compared = std::ranges::any_of(rows, [](const report::CheckRow& r) { return r.failure.empty(); });
  return compared ? kernelcast_same_bounds_ratio_error : kernelcast_ratio_error;
}

/// BASE's flags are right, so that what is wrong here was said by one that begins with --new-.
Request checked_changed(const CheckFlags& f) {
  static const std::map<std::string_view, std::string> own{
      {"D", KC_SETTING(new_define)},    {"kernel", KC_SETTING(new_kernel)}, {"grid", KC_SETTING(new_grid)},
      {"block", KC_SETTING(new_block)}, {"global", KC_SETTING(new_global)}, {"shared", KC_SETTING(new_shared)},
      {"arg", KC_SETTING(new_arg)},     {"buffer", KC_SETTING(new_buffer)}};
  try {
    return checked(changed_flags(f));
  } catch (const UsageError& e) {
    throw UsageError(spelled(e.message(), [](std::string_view name) {
      const auto found = own.find(name);
      return found != own.end() ? found->second : setting_begin + std::string(name) + setting_end;
    }));
  }
}

/// Flags of both sides have the same names in messages; what is wrong with NEW says so.
ForecastRun run_changed(Request& changed, const Frontend& frontend, const DeviceCatalog& catalog,
                        const std::function<void(const std::string&)>& progress) {
  try {
    return run_forecast(changed, frontend, catalog, progress);
  } catch (const UsageError& e) {
    throw UsageError(std::string("NEW: ") + message_of(e));
  }
}

/// One file and a revision of it are NEW and BASE; without a revision there are two files.
CheckFlags with_both_sides(CheckFlags f) {
  if (!f.base_ref.empty()) {
    if (!f.changed.empty())
      throw UsageError(KC_SETTING(base_ref) " " + f.base_ref + ": BASE is that revision of NEW: give one file");
    if (f.base.file == "-")
      throw UsageError(KC_SETTING(base_ref) " " + f.base_ref + ": standard input has no revisions: name a file");
    f.changed = f.base.file;
  } else if (f.changed.empty()) {
    throw UsageError(
        "NEW is required: give a second file, or " KC_SETTING(base_ref) " with a git revision of the first");
  }
  return f;
}

bool is_folder(const std::string& path) {
  std::error_code unreadable;  // reading it will say why
  return std::filesystem::is_directory(path, unreadable);
}

/// Whether launches are found rather than named: in a folder, or in the host code of a file and of a revision of it.
bool finds_launches(const CheckFlags& f) {
  if (is_folder(f.base.file)) {
    if (f.base_ref.empty())
      throw UsageError(f.base.file + " is a folder: name a revision of it with " KC_SETTING(base_ref));
    return true;
  }
  return !f.base_ref.empty() && wants_launches(f.base);
}

void no_flags_of_new(const CheckFlags& f) {
  const bool any_text =
      !f.kernel.empty() || !f.grid.empty() || !f.block.empty() || !f.global.empty() || !f.shared.empty();
  if (any_text || !f.args.empty() || !f.buffers.empty() || !f.defines.empty())
    throw UsageError(
        "launches of both sides are found by " KC_SETTING(base_ref) ": leave out flags that begin with --new-");
}

/// What every comparison of a run needs.
struct Comparison {
  const DeviceCatalog& catalog;
  const Frontend& frontend;
  const std::function<void(const std::string&)>& progress;
  report::CheckReport report;
  std::vector<std::string> messages;

  /// A row for each device. `file`: where there are several.
  void add(Request& base, Request& changed, const std::string& file) {
    const ForecastRun old_run = run_forecast(base, frontend, catalog, progress);
    const ForecastRun new_run = run_changed(changed, frontend, catalog, progress);
    for (std::size_t i = 0; i < old_run.forecast.devices.size(); ++i) {
      report::CheckRow row = compared(old_run.forecast.devices[i], new_run.forecast.devices[i], report.max_slowdown);
      row.line = first_line_of(new_run.forecast.devices[i], changed.source.path);
      row.file = file;
      const auto same = [&](const report::CheckRow& r) {
        return r.name() == row.name() && r.device == row.device && r.launch == row.launch && r.base_s == row.base_s &&
               r.new_s == row.new_s;
      };
      if (file.empty() || std::none_of(report.rows.begin(), report.rows.end(), same))
        report.rows.push_back(std::move(row));
    }
    for (const ForecastRun* run : {&old_run, &new_run})
      for (const std::string& text : run->messages) say(text);
  }
  void say(const std::string& text) {
    if (std::find(messages.begin(), messages.end(), text) == messages.end()) messages.push_back(text);
  }
};

/// Launches of all sources that a change touches. Whether all of them could be compared.
bool compare_changes(const CheckFlags& flags, Comparison& comparison) {
  Changes changes;
  std::vector<std::string> files{flags.base.file};
  if (is_folder(flags.base.file)) {
    ChangedSources sources = changed_sources(flags.base.file, flags.base_ref);
    for (const std::string& added : sources.added) comparison.say(added + ": not in " + flags.base_ref);
    files = std::move(sources.changed);
  }
  for (const std::string& file : files) {
    ForecastFlags f = flags.base;
    f.file = file;
    add_pairs(f, flags.base_ref, comparison.catalog, changes);
  }
  for (const std::string& note : changes.notes) comparison.say(note);
  for (const LaunchPair& pair : changes.pairs) {
    try {
      Request base = checked(pair.base), changed = checked(pair.changed);
      base.source.text = pair.base_text;
      changed.source.text = pair.changed_text;
      comparison.add(base, changed, pair.changed.file);
    } catch (const Error& e) {
      changes.failures.push_back(fmt::format("{}: {}: {}", pair.changed.file, pair.changed.kernel, message_of(e)));
    }
  }
  for (const std::string& failure : changes.failures) comparison.say(failure);
  return changes.failures.empty();
}

int check(CheckFlags flags, const Environment& environment) {
  const bool found = finds_launches(flags), folder = is_folder(flags.base.file);
  if (found) no_flags_of_new(flags);
  flags = with_both_sides(std::move(flags));
  const bool markdown = flags.base.format == "markdown", sarif = flags.base.format == "sarif";
  if (markdown || sarif) flags.base.format = "text";
  if (flags.accept && flags.accepted.empty())
    throw UsageError(KC_SETTING(accept) ": name the file with " KC_SETTING(accepted));
  CheckFlags asked = flags;
  if (found) {  // everything but the launch is checked before anything runs
    if (asked.base.grid.empty() && asked.base.global.empty()) asked.base.grid = "1";
    if (asked.base.block.empty()) asked.base.block = "1";
    if (folder) asked.base.file = asked.changed = "any.cu";
    for (std::vector<std::string>* list : {&asked.base.lets, &asked.base.with}) list->clear();
    asked.base.argv.clear();
  }
  Request base = checked(asked.base), changed = checked_changed(asked);
  if (base.models.size() != 1 || base.models.front()->name() != "kernelcast") {
    throw UsageError("--model " + flags.base.model + ": only ratios of the model kernelcast have a measured error");
  }
  if (flags.base.file == "-" && flags.changed == "-")
    throw UsageError("only one of the two can come from standard input");
  const DeviceCatalog catalog = catalog_of(base.devices_dir, environment.devices_dir, base.point);
  const std::function<void(const std::string&)> progress = [&](const std::string& text) {
    if (environment.progress) progress_line(text);
  };
  const Frontend frontend = real_frontend();
  Comparison comparison{catalog, frontend, progress, {}, {}};
  report::CheckReport& report = comparison.report;
  report.head = environment.head;
  const std::string& base_name = found ? flags.base.file : base.source.path;
  report.base = flags.base_ref.empty() ? base_name : flags.base_ref + ":" + base_name;
  report.changed = found ? flags.changed : changed.source.path;
  report.max_slowdown = slowdown_of(flags.max_slowdown);
  bool complete = true;
  if (found) {
    complete = compare_changes(flags, comparison);
  } else {
    base.source.text =
        flags.base_ref.empty() ? read_source(base.source.path) : read_revision(base.source.path, flags.base_ref);
    changed.source.text = read_source(changed.source.path);
    comparison.add(base, changed, "");
  }
  if (!flags.accepted.empty()) {
    const std::vector<AcceptedTime> accepted = read_accepted(flags.accepted);
    if (flags.accept) write_accepted(flags.accepted, accepted, report);
    apply_accepted(flags.accept ? read_accepted(flags.accepted) : accepted, report);
  }
  if (report.rows.empty() && !complete) {  // no result, only messages
    for (const std::string& text : comparison.messages) message("kernelcast: " + text);
    return could_not_analyse;
  }
  const RatioError seen = widest_error(report.rows);
  report.ratio_factor = std::exp(seen.half_width());
  report.visible_ratio = seen.ratio_seen(0.9);
  const report::Style style(environment.colour && base.output.empty());
  write_result(base.output, base.json  ? report::check_json(report)
                            : markdown ? report::check_markdown(report)
                            : sarif    ? report::check_sarif(report)
                                       : report::check_text(report, style));
  for (const std::string& text : comparison.messages) message("kernelcast: " + text);
  return !report.passed() ? gate_broken : complete ? done : could_not_analyse;
}

}  // namespace

Action add_check(Parser& parser) {
  auto f = std::make_shared<CheckFlags>();
  Flags c = parser.command("check", "Compare two versions of a kernel: a gate that needs no GPU", check_examples);
  declare(c, f->base, "BASE",
          "Kernel source before the change; -: standard input; with --base-ref a folder: all kernel sources below it");
  c.positional("NEW", f->changed,
               "Kernel source after the change; -: standard input; the same file compares configurations");
  c.option("--base-ref", "REV", f->base_ref,
           "Git revision of the file or folder that is named: BASE is as it was then; headers are those on disk");
  c.option("--argv", "WORDS", f->base.argv,
           "Arguments of the programs whose launches are found: without --grid, --block and --global");
  c.list("--let", "NAME=VALUE", f->base.lets,
         "Value of a variable of the host code that is not known from the source; repeat");
  c.option("--accepted", "FILE", f->accepted,
           "File of accepted slowdowns: launches that pass up to the forecast time in it");
  c.flag("--accept", f->accept, "Write the launches that are slower than the gate allows to the file of --accepted");
  c.say_instead("--format", "text|markdown|sarif|json", "Output format (default: text)");
  c.say_instead("--model", "kernelcast", "Model (default: kernelcast, the one with a measured error of ratios)");
  c.option("--max-slowdown", "P%", f->max_slowdown,
           "Largest slowdown of NEW that passes, in percent or as a fraction (default: 5%)");
  c.option("--new-kernel", "NAME", f->kernel, "Kernel name in NEW (default: that of --kernel)");
  c.option("--new-grid", "X[,Y[,Z]]", f->grid, "Grid size of NEW in blocks");
  c.option("--new-block", "X[,Y[,Z]]", f->block, "Block size of NEW in threads");
  c.option("--new-global", "X[,Y[,Z]]", f->global, "Grid size of NEW in threads");
  c.option("--new-shared", "BYTES", f->shared, "Dynamic shared memory per block of NEW in bytes");
  c.list("--new-arg", "NAME=VALUE", f->args, "Value of a scalar argument of NEW; replaces --arg of that name; repeat");
  c.list("--new-buffer", "NAME=COUNT[:FILL]", f->buffers,
         "Elements and initializer of a buffer of NEW; replaces --buffer of that name; repeat");
  c.list("--new-define", "NAME[=VALUE]", f->defines, "Macro to define for NEW; replaces -D of that name; repeat");
  return [f](const Environment& environment) { return check(*f, environment); };
}

}  // namespace kernelcast::cli
