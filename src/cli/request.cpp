// Flags of the stable contract. Strings throughout, so that our own messages name flag and value.
#include "cli/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "cli/common_flags.h"
#include "cli/flag_values.h"
#include "cli/triton.h"
#include "execute/fill.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"

namespace kernelcast::cli {
namespace {

Language language_named(const std::string& name) {
  static const std::map<std::string, Language> names{
      {"opencl", Language::opencl}, {"cuda", Language::cuda}, {"hip", Language::hip},         {"c", Language::c},
      {"cxx", Language::cxx},       {"c++", Language::cxx},   {"llvm-ir", Language::llvm_ir}, {"ptx", Language::ptx}};
  const auto found = names.find(name);
  if (found == names.end())
    throw UsageError(KC_SETTING(lang) " " + name + ": expected opencl, cuda, hip, c, cxx, llvm-ir or ptx");
  return found->second;
}

Language language_by_ending(const std::string& path) {
  try {
    return language_of(path);
  } catch (const UserError& e) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw UsageError(path + ": is a directory; name a source file in it");
    throw UsageError(message_of(e) + std::string("; " KC_SETTING(lang) " names it for any other file"));
  }
}

/// The type of the elements is not known yet: wrong is what neither reals nor whole numbers can be filled with. Files
/// are read with the buffer.
void check_fill(const std::string& name, const BufferSpec& spec) {
  if (spec.fill.empty() || spec.fill.starts_with("file:")) return;
  interpreter::FillTarget target;
  target.buffer = name;
  target.elements =
      interpreter::bytes_given(spec.fill) ? 0 : spec.elements;  // how long elements are is not known either
  try {
    target.type = {ValueType::f64, interpreter::ElementType::Sign::unknown, true};
    interpreter::make_fill(spec.fill, target);
  } catch (const UserError& e) {
    try {
      target.type = {ValueType::i64, interpreter::ElementType::Sign::unsigned_, true};
      interpreter::make_fill(spec.fill, target);
    } catch (const UserError&) {
      throw UsageError(message_of(e));
    }
  }
}

/// What is no macro is refused here: the compiler would see an error in a file that nobody wrote, and errors outside of
/// the kernel are passed over in CUDA.
void check_macro(const char* flag, const std::string& text, const char* form) {
  const std::string name = text.substr(0, text.find_first_of("=("));
  const auto part_of_a_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '$'; };
  const bool good = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                    std::all_of(name.begin(), name.end(), part_of_a_name);
  if (!good) throw UsageError(fmt::format("{} {}: expected {}, where NAME is an identifier", flag, text, form));
}

/// Files that the flags name: the source, devices, contents of buffers.
std::vector<std::string> files_read(const ForecastFlags& f) {
  std::vector<std::string> files{f.file};
  for (std::size_t at = 0; at <= f.device.size();) {
    const std::size_t end = std::min(f.device.find(',', at), f.device.size());
    files.push_back(f.device.substr(at, end - at));
    at = end + 1;
  }
  for (const std::string& b : f.buffers)
    if (const std::size_t at = b.find(":file:"); at != std::string::npos) files.push_back(b.substr(at + 6));
  return files;
}

}  // namespace

Source source_of(const ForecastFlags& f) {
  Source s;
  s.path = f.file == "-" ? "<stdin>" : f.file;
  if (!f.language.empty()) s.language = language_named(f.language);
  if (f.file == "-" && f.language.empty()) {
    throw UsageError(
        "standard input has no file ending: give " KC_SETTING(lang) " opencl, cuda, hip, c, cxx, llvm-ir or ptx");
  }
  if (s.language == Language::automatic) {
    s.language = language_by_ending(f.file);
    const bool host = !f.launch.empty() || !f.argv.empty() || !f.with.empty();
    if (host && (s.language == Language::c || s.language == Language::cxx)) s.language = Language::cuda;
  }
  for (const std::string& d : f.defines) check_macro(KC_SETTING(D), d, "NAME or NAME=VALUE");
  for (const std::string& u : f.undefines) check_macro(KC_SETTING(U), u, "NAME");
  s.defines = f.defines;
  s.undefines = f.undefines;
  s.include_dirs = f.includes;
  s.readable_dirs = f.readable;
  s.standard = f.standard;
  s.fast_math = f.fast_math;
  for (const std::string& map : f.tensor_maps) s.tensor_maps.push_back(tensor_box(map));
  return s;
}

double launch_overhead_of(const std::string& text) {
  if (text.empty()) return 0;
  const double seconds = real_number(KC_SETTING(launch_overhead), text);
  if (!(seconds >= 0 && seconds <= 1))
    throw UsageError(KC_SETTING(launch_overhead) " " + text + ": expected seconds from 0 to 1");
  return seconds;
}

Launch arguments_of(const ForecastFlags& f) {
  Launch launch;
  for (const std::string& text : f.args) {
    const std::string name = name_and_value(KC_SETTING(arg), text).first;
    if (!launch.args.emplace(name, argument_value(KC_SETTING(arg), text)).second) {
      throw UsageError(KC_SETTING(arg) " " + name + " is given twice");
    }
  }
  for (const std::string& text : f.buffers) {
    const std::string name = name_and_value(KC_SETTING(buffer), text).first;
    const auto [buffer, added] = launch.buffers.emplace(name, buffer_spec(KC_SETTING(buffer), text));
    if (!added) throw UsageError(KC_SETTING(buffer) " " + name + " is given twice");
    check_fill(name, buffer->second);
  }
  for (const std::string& text : f.assume) {
    const auto [key, value] = name_and_value(KC_SETTING(assume), text);
    if (!key.starts_with("trips:") && !key.starts_with("branch:") && !key.starts_with("access:")) {
      throw UsageError(KC_SETTING(assume) " " + key +
                       ": expected trips:LINE, branch:LINE or access:LINE, as output names it");
    }
    if (!launch.assume.emplace(key, real_number(KC_SETTING(assume) " " + key, value)).second) {
      throw UsageError(KC_SETTING(assume) " " + key + " is given twice");
    }
  }
  if (!f.cache_state.empty() && f.cache_state != "cold" && f.cache_state != "warm")
    throw UsageError(KC_SETTING(cache_state) " " + f.cache_state + ": expected cold or warm");
  if (f.cache_state == "warm") launch.cache = CacheState::warm;
  launch.launch_overhead_s = launch_overhead_of(f.launch_overhead);
  return launch;
}

namespace {

Launch launch_of(const ForecastFlags& f) {
  Launch launch = arguments_of(f);
  const TritonMetadata triton = triton_metadata(f.file);
  if (f.block.empty() && !triton.threads) throw UsageError("give the threads of a block with " KC_SETTING(block));
  launch.block = f.block.empty() && triton.threads ? Dim3{*triton.threads, 1, 1} : sizes(KC_SETTING(block), f.block);
  if (f.shared.empty() && triton.shared_bytes) launch.dynamic_shared_bytes = *triton.shared_bytes;
  if (!f.shared.empty()) launch.dynamic_shared_bytes = whole_number(KC_SETTING(shared), f.shared, 0);
  if (!f.cluster.empty()) launch.cluster = sizes(KC_SETTING(cluster), f.cluster);
  return launch;
}

}  // namespace

void declare_launch_state(Flags c, ForecastFlags& f, const std::string& cache_flag) {
  c.option(cache_flag, "cold|warm", f.cache_state,
           "L2 contents before the launch: nothing (cold), or the buffers that fit (warm) (default: cold)");
  c.option("--launch-overhead", "S", f.launch_overhead,
           "Host's launch overhead in seconds, added to the GPU's duration (default: 0)");
}

void declare_operating_point(Flags c, ForecastFlags& f) {
  c.option("--clock", "HZ|base|boost", f.clock,
           "Clock of the GPU's units, such as 1.41e9 or 1410MHz (default: boost, less where the power limit holds it)");
  c.option("--power-limit", "W", f.power_limit, "Power limit of the GPU in watts (default: the device file's)");
}

void declare_launches(Flags c, ForecastFlags& f) {
  c.option("--launch", "N|list", f.launch,
           "Launch of the host code, by its number; list: only list launches (default: all, where no grid and no block "
           "is given)");
  c.option("--argv", "WORDS", f.argv, "Arguments of the program whose host code launches, such as \"1024 10\"");
  c.list("--with", "FILE", f.with,
         "Further source file of the program; repeat. Files beside the source that define what it calls are found");
  c.list("--let", "NAME=VALUE", f.lets,
         "Value of a variable of the host code that is not known from the source; repeat");
}

void declare_compile_seconds(Flags c, ForecastFlags& f) {
  c.option("--compile-seconds", "S", f.compile_seconds,
           "Processor time limit of compilation in seconds (default: 120)");
}

void declare_source(Flags c, ForecastFlags& f) {
  c.list("-D", "NAME[=VALUE]", f.defines, "Macro to define; repeat");
  c.list("-U", "NAME", f.undefines, "Macro to undefine; repeat");
  c.list("-I", "DIR", f.includes, "Include folder; repeat");
  c.list("--restrict-includes", "DIR", f.readable,
         "Folder from which included files may be read, besides system headers; repeat (default: all)");
  c.option("--std", "STD", f.standard, "Language standard: CL1.2, CL2.0, CL3.0, c++17, ... (default: the language's)");
  c.option("--lang", "LANG", f.language,
           "Language: opencl, cuda, hip, c, cxx, llvm-ir or ptx (default: by the file's ending)");
  c.flag("--use_fast_math", f.fast_math, "Fast math, as in the vendors' compilers");
}

bool is_loop_nest(const Source& s) { return s.language == Language::c || s.language == Language::cxx; }

std::vector<std::string> mapped_loops(const std::string& text, const Source& source) {
  if (!is_loop_nest(source))
    throw UsageError(
        fmt::format(KC_SETTING(map) " {}: {} is no C or C++ loop nest, whose loops it names", text, source.path));
  std::vector<std::string> loops = comma_list(KC_SETTING(map), text);
  for (auto l = loops.begin(); l != loops.end(); ++l)
    if (std::find(loops.begin(), l, *l) != l)
      throw UsageError(fmt::format(KC_SETTING(map) " {}: {} is named twice", text, *l));
  return loops;
}

Counting counts_of(const std::string& text) {
  if (text == "auto") return Counting::automatic;
  if (text == "symbolic") return Counting::symbolic;
  if (text == "executed") return Counting::executed;
  throw UsageError(KC_SETTING(counts) " " + text + ": expected auto, symbolic or executed");
}

ExecuteOptions execute_options_of(const ForecastFlags& f) {
  ExecuteOptions o;
  if (!f.sample.empty()) o.sample = f.sample == "all" ? -1 : whole_number(KC_SETTING(sample), f.sample, 1);
  if (f.threads != "lockstep" && f.threads != "independent") {
    throw UsageError(KC_SETTING(threads) " " + f.threads + ": expected lockstep or independent");
  }
  o.independent_threads = f.threads == "independent";
  if (!f.seed.empty()) o.seed = static_cast<std::uint64_t>(whole_number(KC_SETTING(seed), f.seed, 0));
  if (!f.max_instructions.empty()) {
    o.max_lane_instructions = positive_number(KC_SETTING(max_instructions), f.max_instructions);
  } else if (f.counts == "auto") {
    o.most_sample_work = ExecuteOptions::unasked_work;
  }
  if (!f.max_memory.empty()) o.max_memory_bytes = byte_count(KC_SETTING(max_memory), f.max_memory);
  if (!f.max_seconds.empty()) o.max_seconds = positive_number(KC_SETTING(max_seconds), f.max_seconds);
  if (!f.jobs.empty())
    o.jobs = static_cast<int>(std::min<std::int64_t>(whole_number(KC_SETTING(jobs), f.jobs, 1), 1024));
  o.check_shared = !f.no_checks;
  o.locality = false;  // see checked(); `explain` turns it on
  return o;
}

NvrtcChoice nvrtc_choice(const std::string& path) {
  if (path.empty()) return {};
  try {
    return {path, nvrtc_version(path)};
  } catch (const UserError& e) {
    throw UsageError(std::string(KC_SETTING(nvrtc) ": ") + message_of(e));
  }
}

NvrtcChoice nvrtc_choice(const std::string& path, const Source& source) {
  if (!path.empty() && source.language != Language::cuda)
    throw UsageError(KC_SETTING(nvrtc) " " + path + ": NVIDIA's run-time compiler takes CUDA C++ alone, and " +
                     source.path + " is in another language");
  if (!path.empty() && !source.readable_dirs.empty())
    throw UsageError(
        KC_SETTING(nvrtc) " " + path +
        ": NVIDIA's run-time compiler reads included files itself; leave out " KC_SETTING(restrict_includes));
  return nvrtc_choice(path);
}

void declare_vendor(Flags c, std::string& ptxas, std::string& nvrtc) {
  c.option("--ptxas", "FILE", ptxas,
           "NVIDIA's assembler as the source of registers, spills and counts (sm_70 and later)");
  c.option("--nvrtc", "LIBRARY", nvrtc,
           "NVIDIA's run-time compiler (libnvrtc.so) as the source of registers, spills and static shared memory (CUDA "
           "C++)");
}

void declare(Flags c, ForecastFlags& f, const std::string& file, const std::string& what) {
  constexpr auto required = Flags::Need::required;
  c.positional(file, f.file, what, required);
  c.option("--kernel", "NAME", f.kernel, "Kernel name (default: the only kernel)");
  c.option("--device", "DEV[,DEV...|all]", f.device, "Devices: ids, aliases or paths of device files; all: every GPU",
           required);
  c.option("--grid", "X[,Y[,Z]]", f.grid, "Grid size in blocks (work-groups)");
  c.option("--block", "X[,Y[,Z]]", f.block,
           "Block size in threads (work-items); not needed where Triton's metadata is beside a .ptx");
  c.option("--global", "X[,Y[,Z]]", f.global, "Grid size in threads, as in OpenCL; instead of --grid");
  c.option("--shared", "BYTES", f.shared, "Dynamic shared memory per block in bytes (default: 0)");
  c.option("--cluster", "X[,Y[,Z]]", f.cluster,
           "Blocks of a cluster, where the launch sets them and the code does not (default: as in the code)");
  c.list("--arg", "NAME=VALUE", f.args, "Value of a scalar kernel argument; repeat");
  c.list("--buffer", "NAME=COUNT[:FILL]", f.buffers, "Elements of a buffer, and its initializer for execution; repeat");
  declare_source(c, f);
  c.option("--model", "NAME[,NAME...|all]", f.model,
           "Models, see `kernelcast models` (default: kernelcast); all: every model except sm, which simulates");
  c.option(
      "--counts", "auto|symbolic|executed", f.counts,
      "Counting method: closed forms (symbolic), execution (executed), or execution where data decide (default: auto)");
  c.option("--sample", "N|all", f.sample, "Blocks to execute (default: as many as fit in half a second)");
  c.option("--threads", "lockstep|independent", f.threads,
           "Execution of diverged threads: in lockstep, or independently as from Volta on (default: lockstep)");
  c.option("--seed", "N", f.seed, "Random seed of buffer contents and of the sample (default: 1)");
  c.option("--max-instructions", "N", f.max_instructions,
           "Limit of executed lane instructions, inactive lanes included (default: 2e11)");
  c.option("--max-memory", "BYTES", f.max_memory,
           "Memory limit of touched buffers in bytes, such as 512M (default: 4G)");
  c.option("--max-seconds", "S", f.max_seconds, "Execution time limit in seconds (default: 60)");
  declare_compile_seconds(c, f);
  c.flag("--no-checks", f.no_checks, "No checks for races, uninitialized reads, divisions by zero and wide shifts");
  c.option("--jobs", "N", f.jobs, "Threads that execute blocks (default: one per processor)");
  c.option("--map", "i[,j[,k]]", f.map, "Loops of a C nest that become threads, outermost first");
  declare_vendor(c, f.ptxas, f.nvrtc);
  c.list("--assume", "KEY=VALUE", f.assume, "Value of an unknown, by the key that the assumptions name; repeat");
  c.list("--tensor-map", "NAME=DIM[xDIM...]:BYTES", f.tensor_maps,
         "Box of the tensor map in a parameter: elements along its dimensions, bytes of one; repeat");
  declare_launch_state(c, f, "--cache,--cache-state");
  declare_operating_point(c, f);
  declare_result(c, f.format, f.output);
  declare_devices_dir(c, f.devices_dir);
}

double compile_seconds_of(const ForecastFlags& f) {
  return f.compile_seconds.empty() ? FrontendOptions{}.time_limit_s
                                   : positive_number(KC_SETTING(compile_seconds), f.compile_seconds);
}

Request checked(const ForecastFlags& f) {
  Request r;
  r.counts = counts_of(f.counts);
  r.execute = execute_options_of(f);
  r.compile_seconds = compile_seconds_of(f);
  r.launch = launch_of(f);
  r.launches_beside = f.launches_beside;
  r.launch.structures = f.structures;
  r.launch.globals = f.globals;
  if (!f.grid.empty() && !f.global.empty())
    throw UsageError(KC_SETTING(grid) " and " KC_SETTING(global) " say the same: give one of them");
  if (!f.grid.empty()) r.grid = sizes(KC_SETTING(grid), f.grid);
  if (!f.global.empty()) r.global = sizes(KC_SETTING(global), f.global);
  r.json = is_json(f.format);
  r.devices = comma_list(KC_SETTING(device), f.device);
  r.all_devices = f.device == "all";
  r.all_models = f.model == "all";
  if (f.model.empty()) {
    r.models = {&model_named("kernelcast")};
  } else if (r.all_models) {
    r.models.assign(all_models().begin(), all_models().end());
  } else {
    for (const std::string& name : comma_list(KC_SETTING(model), f.model))
      r.models.push_back(&sm::any_model_named(name));
  }
  r.execute.locality = any_reads_reuse(r.models);  // the same models read both
  r.source = source_of(f);
  const bool loop_nest = is_loop_nest(r.source);
  if (!f.map.empty()) r.map = mapped_loops(f.map, r.source);
  if (!r.grid && !r.global && !loop_nest)
    throw UsageError("give the number of blocks with " KC_SETTING(grid) ", or of threads with " KC_SETTING(global));
  r.kernel = f.kernel;
  r.ptxas = program_file(KC_SETTING(ptxas), f.ptxas);
  r.nvrtc = nvrtc_choice(f.nvrtc, r.source).path;
  r.output = f.output;
  keep_inputs("-o", f.output, files_read(f));
  r.devices_dir = f.devices_dir;
  r.point = operating_point(f.clock, f.power_limit);
  return r;
}

}  // namespace kernelcast::cli
