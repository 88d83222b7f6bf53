// kernelcast tune: the best launch configuration, without running it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/flag_values.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/request.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "cli/triton.h"
#include "frontend/identity.h"
#include "io/clock.h"
#include "io/text.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "report/tune_views.h"
#include "tune/space_flags.h"
#include "tune/t1.h"
#include "tune/tuner.h"

namespace kernelcast::cli {
namespace {

constexpr const char* tune_examples = R"(Examples:
  kernelcast tune examples/matmul_tiled.cl --device v100 --problem 1024,1024 --block 'TILE,TILE' \
    --param TILE=4,8,16,32 --arg n=1024
  kernelcast tune examples/saxpy.cu --device v100,a100 --portable --problem 1048576 --block 32..1024:*2 --arg n=1048576
  kernelcast tune 'matmul_{BM}_{BN}.ptx' --device a100 --param BM=64,128 --param BN=64,128 --grid '4096/BM*4096/BN'
  kernelcast tune convolution.cu --space convolution.t1.json --device a100 --format t4 -o convolution.t4.json

Ranges: a..b, a..b:+n, a..b:*n; lists of an axis: {32,64,128}. Constraints are expressions of C over parameters, whole
numbers of --arg, block_x, block_y, block_z, threads, grid_x, grid_y, grid_z and shared.
Exit status: 0 success, 1 nothing can run or analysis failed, 2 usage, 130 interrupted (the best so far is shown).)";

constexpr double analysis_limit_s = 120;  // wall clock of one variant: all cores are busy with others
constexpr std::uintmax_t most_cache_bytes = std::uintmax_t{2} << 30;

struct TuneFlags {
  ForecastFlags common;
  tune::SpaceFlags space;
  std::string space_file, top = "10", search = "auto", budget, variants, risk, cache, measure, order = "time";
  bool no_cache = false, portable = false, as_printed = false;
};

std::size_t top_of(const std::string& text) {
  if (text == "all") return std::size_t{1} << 40;
  return static_cast<std::size_t>(whole_number("--top", text, 1));
}

tune::Search search_of(const std::string& text) {
  if (text == "auto") return tune::Search::automatic;
  if (text == "enumerate") return tune::Search::enumerate;
  if (text == "optimise") return tune::Search::optimise;
  throw UsageError("--search " + text + ": expected auto, enumerate or optimise");
}

tune::Order order_of(const std::string& text) {
  if (text == "time") return tune::Order::time;
  if (text == "energy") return tune::Order::energy;
  if (text == "energy-delay") return tune::Order::energy_delay;
  throw UsageError("--order " + text + ": expected time, energy or energy-delay");
}

Counting tune_counts(const TuneFlags& f) {
  const Counting counts = counts_of(f.common.counts);
  if (counts == Counting::symbolic) return counts;
  const std::string flag = "--counts " + f.common.counts;
  if (f.as_printed) throw UsageError(flag + ": --as-printed knows closed forms only");
  if (f.portable) throw UsageError(flag + ": --portable compares closed forms only");
  return counts;
}

double risk_of(const std::string& text) {
  if (text.empty()) return tune::TuneOptions{}.risk;
  const double risk = real_number("--risk", text);
  if (risk < 0 || risk > 1) throw UsageError("--risk " + text + ": expected a probability from 0 to 1");
  return risk;
}

std::string cache_of(const TuneFlags& f, const Environment& environment) {
  if (f.no_cache) {
    if (!f.cache.empty()) throw UsageError("--cache and --no-cache contradict each other");
    return "";
  }
  return f.cache.empty() ? environment.cache_dir : f.cache;
}

/// A T1 file also says which kernel is meant and how it is compiled, where flags do not.
tune::Space space_of(const TuneFlags& f, tune::TuneOptions& options) {
  if (f.space_file.empty())
    return tune::space_of(f.space, is_loop_nest(options.source), static_cast<bool>(options.variant_file));
  tune::T1File file = tune::read_t1(f.space_file, read_source(f.space_file));
  if (file.problem.empty() && !f.space.problem.empty()) file.problem = {"1"};  // the flag takes its place
  if (options.frontend.kernel.empty()) options.frontend.kernel = file.kernel_name;
  options.source.fast_math = options.source.fast_math || file.fast_math;
  tune::Space space = tune::space_of(file);
  tune::apply(f.space, space);
  return space;
}

/// Ten times a second at most: a terminal needs no more.
void show(const tune::Progress& p, double start) {
  constexpr std::size_t width = 30;
  const std::size_t done = std::min(p.done, p.all);
  const std::size_t filled = p.all == 0 ? width : done * width / p.all;
  const double now = steady_seconds();
  const double left = done == 0 ? 0 : (now - start) / static_cast<double>(done) * static_cast<double>(p.all - done);
  progress_line(fmt::format("[{:#<{}}{: <{}}] {} of {}, {:.0f} s left, best {}", "", filled, "", width - filled, done,
                            p.all, left, p.best_s > 0 ? format_seconds(p.best_s) : "-"));
}

/// Whether the name of the file has a parameter of the space in braces.
bool is_template(const std::string& path, const std::vector<std::string>& parameters) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return false;
  return std::any_of(parameters.begin(), parameters.end(), [&](const std::string& p) {
    return path.find("{" + p.substr(0, p.find('=')) + "}") != std::string::npos;
  });
}

/// A file for each configuration, or what Triton says of the only one.
void read_variants(TuneFlags& f, tune::TuneOptions& options) {
  if (is_template(f.common.file, f.space.parameters)) {
    if (!f.measure.empty()) throw UsageError("--measure: the configurations are files of compiled code");
    options.variant_file = [](const std::string& path) {
      const TritonMetadata triton = triton_metadata(path);
      return tune::VariantFile{read_source(path), triton.threads, triton.shared_bytes};
    };
    return;
  }
  const TritonMetadata triton = triton_metadata(f.common.file);
  if (f.space.block.empty() && triton.threads) f.space.block = std::to_string(*triton.threads);
  if (f.space.shared.empty() && triton.shared_bytes) f.space.shared = std::to_string(*triton.shared_bytes);
}

int run_tune(TuneFlags f, const Environment& environment) {
  if (f.common.format != "text" && f.common.format != "json" && f.common.format != "t4" && f.common.format != "html") {
    throw UsageError("--format " + f.common.format + ": expected text, json, t4 or html");
  }
  tune::TuneOptions options;
  options.source = source_of(f.common);
  options.launch = arguments_of(f.common);
  options.frontend.kernel = f.common.kernel;
  options.frontend.time_limit_s = analysis_limit_s;
  options.frontend.ptxas = program_file("--ptxas", f.common.ptxas);
  if (!f.common.map.empty()) options.frontend.map = mapped_loops(f.common.map, options.source);
  const NvrtcChoice nvrtc = nvrtc_choice(f.common.nvrtc, options.source);
  options.frontend.nvrtc = nvrtc.path;
  if (f.common.model == "sm")
    throw UsageError(
        "--model sm simulates each kernel, which is too slow for a search: use it with predict, explain, validate");
  options.model = &model_named(f.common.model.empty() ? "kernelcast" : f.common.model);
  options.top = top_of(f.top);
  options.search = search_of(f.search);
  options.risk = risk_of(f.risk);
  options.order = order_of(f.order);
  options.portable = f.portable;
  options.ske_as_printed = f.as_printed;
  options.counts = tune_counts(f);
  options.execute = execute_options_of(f.common);
  options.execute.locality = options.model->reads_reuse();
  if (options.order != tune::Order::time && options.model->name() != "kernelcast")
    throw UsageError("--order " + f.order + ": --model " + std::string(options.model->name()) + " forecasts time only");
  if (f.as_printed && options.model->name() != "ske") throw UsageError("--as-printed needs --model ske");
  if (!f.budget.empty()) options.budget = static_cast<std::uint64_t>(whole_number("--budget", f.budget, 1));
  if (!f.variants.empty())
    options.most_variants = static_cast<std::uint64_t>(whole_number("--max-variants", f.variants, 1));
  if (!f.common.seed.empty()) options.seed = static_cast<std::uint64_t>(whole_number("--seed", f.common.seed, 0));
  options.jobs = f.common.jobs.empty()
                     ? static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))
                     : static_cast<int>(std::min<std::int64_t>(whole_number("--jobs", f.common.jobs, 1), 1024));
  if (!f.measure.empty() && f.measure != "opencl") throw UsageError("--measure " + f.measure + ": expected opencl");
  if (!f.measure.empty() && !options.source.readable_dirs.empty())
    throw UsageError("--measure: the driver's compiler reads included files itself; leave out --restrict-includes");
  keep_inputs("-o", f.common.output, {f.common.file, f.space_file});
  if (!f.common.output.empty()) check_writable(f.common.output);
  const std::string cache = cache_of(f, environment);
  f.space.arguments = options.launch.args;
  read_variants(f, options);
  const tune::Space space = space_of(f, options);
  const DeviceCatalog catalog =
      catalog_of(f.common.devices_dir, environment.devices_dir, operating_point(f.common.clock, f.common.power_limit));
  options.devices = devices_of(comma_list("--device", f.common.device), f.common.device == "all", catalog);
  for (const Device& d : options.devices) require_gpu(d);
  if (f.common.format == "t4" && options.devices.size() > 1) throw UsageError("--format t4 is for one device");
  if (!options.variant_file) options.source.text = read_source(options.source.path);
  options.stop =
      &defer_interrupts(std::min(options.jobs, static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))));
  const double start = steady_seconds();
  if (environment.progress) options.progress = [start](const tune::Progress& p) { show(p, start); };
  tune::AnalysisMemory memory(analyze, cache,
                              std::string(frontend_identity()) + options.frontend.ptxas + nvrtc.path + nvrtc.version);
  report::TuneReport report;
  report.head = environment.head;
  report.by_energy = options.order != tune::Order::time;
  report.result = tune::tune(space, options, memory);
  if (!f.measure.empty() && !report.result.interrupted) {
    measure_opencl(options.source, report, [&](const std::string& text) {
      if (environment.progress) progress_line(text);
    });
  }
  const report::Style style(environment.colour && f.common.output.empty());
  if (f.common.format == "html") {
    write_page(f.common.output, report::tune_html(report));
  } else {
    write_result(f.common.output, f.common.format == "json" ? report::tune_json(report)
                                  : f.common.format == "t4" ? report::tune_t4(report)
                                                            : report::tune_text(report, style));
  }
  for (const std::string& text : report.result.messages) message("kernelcast: " + text);
  if (report.result.compiled > 0) memory.trim(most_cache_bytes);
  if (report.result.interrupted) return interrupted;
  const auto found = [](const tune::DeviceTuning& d) { return !d.best.empty(); };
  const bool complete =
      f.common.device == "all" || std::all_of(report.result.devices.begin(), report.result.devices.end(), found);
  return complete ? done : could_not_analyse;
}

}  // namespace

Action add_tune(Parser& parser) {
  auto f = std::make_shared<TuneFlags>();
  f->common.counts = "symbolic";
  Flags c = parser.command("tune", "Find the best launch configuration without running any", tune_examples);
  constexpr auto required = Flags::Need::required;
  ForecastFlags& common = f->common;
  c.positional("FILE", common.file,
               "Kernel source; -: standard input; NAME_{P}.ptx: a file for each value of the parameter P", required);
  c.option("--kernel", "NAME", common.kernel, "Kernel name (default: the only kernel)");
  c.option("--device", "DEV[,DEV...|all]", common.device,
           "Devices: ids, aliases or paths of device files; all: every GPU", required);
  c.option("--block", "X[,Y[,Z]]", f->space.block,
           "Block size in threads: numbers, ranges, lists, or expressions over parameters");
  c.option("--grid", "X[,Y[,Z]]", f->space.grid, "Grid size in blocks, as --block");
  c.option("--global", "X[,Y[,Z]]", f->space.global, "Grid size in threads, as --block; grid = ceil(global / block)");
  c.option("--problem", "X[,Y[,Z]]", f->space.problem,
           "Problem size in elements; grid = ceil(problem / (block * tile))");
  c.option("--tile", "X[,Y[,Z]]", f->space.tile, "Elements per thread, as --block (default: 1)");
  c.option("--shared", "BYTES", f->space.shared,
           "Dynamic shared memory per block in bytes: a number, a range or an expression (default: 0)");
  c.list("--param", "NAME=V1,V2,...", f->space.parameters,
         "Values of a macro, passed as -D NAME=VALUE; ranges too; repeat");
  c.list("--constraint", "EXPR", f->space.constraints, "Condition of a configuration, an expression of C; repeat");
  c.option("--space", "FILE", f->space_file, "Space in Kernel Tuner's T1 format");
  c.list("--arg", "NAME=VALUE", common.args, "Value of a scalar kernel argument; repeat");
  c.list("--buffer", "NAME=COUNT[:FILL]", common.buffers,
         "Elements of a buffer, and its initializer for execution; repeat");
  declare_source(c, common);
  c.option("--model", "NAME", common.model, "Ranking model, see `kernelcast models` (default: kernelcast)");
  c.flag("--as-printed", f->as_printed,
         "SKE's formula (9) under its constraints (10)-(16) and no others, with --model ske");
  c.option("--map", "i[,j[,k]]", common.map, "Loops of a C nest that become threads, outermost first");
  declare_vendor(c, common.ptxas, common.nvrtc);
  c.list("--assume", "KEY=VALUE", common.assume, "Value of an unknown, by the key that the assumptions name; repeat");
  declare_launch_state(c, common, "--cache-state");
  declare_operating_point(c, common);
  c.option("--top", "N|all", f->top, "Configurations to show (default: 10)");
  c.option("--order", "time|energy|energy-delay", f->order,
           "Ranking: time, energy, or energy times time; the latter two of the 100 fastest (default: time)");
  c.option("--measure", "opencl", f->measure,
           "Runs of the first device's best configurations on this machine's OpenCL device");
  c.option("--counts", "auto|symbolic|executed", common.counts,
           "Counting method of the best configurations: closed forms (symbolic), execution (executed), or execution "
           "where data decide (auto) (default: symbolic)");
  c.option("--sample", "N|all", common.sample, "Blocks to execute (default: as many as fit in half a second)");
  c.option("--max-seconds", "S", common.max_seconds, "Execution time limit per configuration in seconds (default: 60)");
  c.flag("--portable", f->portable, "One configuration for all devices, too: the smallest worst loss");
  c.option("--risk", "P", f->risk, "Largest probability of too many registers that is not refused (default: 0.5)");
  c.option("--search", "auto|enumerate|optimise", f->search,
           "Search method: every configuration, or an optimizer's choice (default: auto, by the size of the space)");
  c.option("--budget", "N", f->budget,
           "Configurations that the optimizer may try (default: 4000 with compile-time parameters, else 100000)");
  c.option("--max-variants", "N", f->variants,
           "Largest number of variants that --search auto enumerates (default: 10000)");
  c.option("--seed", "N", common.seed,
           "Random seed of the optimizer, of buffer contents and of the sample (default: 1)");
  c.option("--jobs", "N", common.jobs, "Threads (default: one per processor)");
  c.option("--cache", "DIR", f->cache, "Cache folder of analyses (default: kernelcast/ in XDG_CACHE_HOME or ~/.cache)");
  c.flag("--no-cache", f->no_cache, "No cache of analyses");
  c.option("--format", "text|json|t4|html", common.format,
           "Output format; t4: Kernel Tuner's results file; html: a page with plots (default: text)");
  c.option("-o", "FILE", common.output, "Output file, written in one step (default: standard output)");
  declare_devices_dir(c, common.devices_dir);
  return [f](const Environment& environment) { return run_tune(*f, environment); };
}

}  // namespace kernelcast::cli
