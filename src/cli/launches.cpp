// Each launch becomes the flags that a user would have typed for it, so that both ways give one forecast.
#include "cli/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "cli/flag_values.h"
#include "cli/forecast.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "forecast/program_launches.h"
#include "kernelcast/error.h"
#include "report/views.h"

namespace kernelcast::cli {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::map<std::string, std::int64_t> properties_of(const Device& d) {
  std::map<std::string, std::int64_t> found;
  const std::pair<const char*, Field> fields[] = {{"multiProcessorCount", Field::compute_units},
                                                  {"warpSize", Field::compute_warp_size},
                                                  {"maxThreadsPerBlock", Field::limits_max_threads_per_block},
                                                  {"maxThreadsPerMultiProcessor", Field::limits_max_threads_per_unit},
                                                  {"sharedMemPerBlockOptin", Field::limits_shared_bytes_per_block},
                                                  {"sharedMemPerMultiprocessor", Field::limits_shared_bytes_per_unit},
                                                  {"regsPerMultiprocessor", Field::limits_registers_per_unit},
                                                  {"regsPerBlock", Field::limits_registers_per_unit},
                                                  {"maxBlocksPerMultiProcessor", Field::limits_max_blocks_per_unit},
                                                  {"totalGlobalMem", Field::memory_dram_bytes},
                                                  {"l2CacheSize", Field::memory_l2_bytes}};
  for (const auto& [name, field] : fields)
    if (const auto value = d.get(field)) found[name] = static_cast<std::int64_t>(*value);
  // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same for 3.0 and later.
  found["maxGridSize[0]"] = 2147483647;
  found["maxGridSize[1]"] = found["maxGridSize[2]"] = 65535;
  found["maxThreadsDim[0]"] = found["maxThreadsDim[1]"] = 1024;
  found["maxThreadsDim[2]"] = 64;
  found["sharedMemPerBlock"] = 48 << 10;  // without an attribute of the kernel
  found["totalConstMem"] = 64 << 10;
  found["canMapHostMemory"] = found["concurrentKernels"] = 1;
  found["computeMode"] = 0;  // cudaComputeModeDefault: a GPU takes any number of programs
  if (const auto clock = d.get(Field::clock_boost_clock_hz))
    found["clockRate"] = static_cast<std::int64_t>(*clock / 1000);  // kHz
  const std::size_t dot = d.compute_capability.find('.');
  if (dot != std::string::npos) {
    found["major"] = std::stoll(d.compute_capability.substr(0, dot));
    found["minor"] = std::stoll(d.compute_capability.substr(dot + 1));
    found["unifiedAddressing"] = found["major"] >= 2 ? 1 : 0;  // ibid., "Feature Support per Compute Capability"
    found["managedMemory"] = found["major"] >= 3 ? 1 : 0;
    found["cooperativeLaunch"] = found["major"] >= 6 ? 1 : 0;
  }
  return found;
}

std::string asking_for(const HostUnknown& u) {
  std::string text = u.why.empty() ? "not known" : u.why;
  if (u.line > 0) text += fmt::format(" (line {})", u.line);
  return u.name.empty() ? text : fmt::format("{}: {}; give " KC_SETTING(let) " {}=VALUE", u.name, text, u.name);
}

std::string names_of(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files)
    text += (text.empty() ? "" : ", ") + std::filesystem::path(file).filename().string();
  return text;
}

std::string place_of(const HostLaunch& launch) {
  return fmt::format("{}:{}: {}", launch.file, launch.line, launch.kernel);
}

std::string sizes_text(const HostLaunch& launch, const std::array<HostNumber, 3>& sizes, const char* what) {
  std::string text;
  for (const HostNumber& n : sizes) {
    if (const auto* u = std::get_if<HostUnknown>(&n))
      throw UserError(fmt::format("{}: the {} is not known: {}", place_of(launch), what, asking_for(*u)));
    text += (text.empty() ? "" : ",") + std::to_string(std::get<std::int64_t>(n));
  }
  return text;
}

bool gives(const std::vector<std::string>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& text) { return text.starts_with(name + "="); });
}

/// As a fill; empty: they are not known.
std::string contents_text(const HostBuffer& b) {
  if (b.contents.empty()) return b.fill;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "bytes:";
  for (const char c : b.contents) {
    const auto byte = static_cast<unsigned char>(c);
    text += {digits[byte >> 4U], digits[byte & 15U]};
  }
  if (b.repeats == 0) return text;
  return text + (b.repeats == 1 ? "*" : fmt::format("*{}", b.repeats));
}

/// Analyses of one kernel are shared by its launches.
Frontend remembering(const Frontend& frontend) {
  auto known = std::make_shared<std::map<std::string, Analysis>>();
  Frontend result = frontend;
  result.analyze = [known, frontend](const Source& source, const FrontendOptions& o) {
    std::string key = fmt::format("{}|{}|{}|{}", source.path, o.kernel, o.target, o.program);
    for (const Dim3& size : {o.block, o.cluster}) key += fmt::format("|{},{},{}", size.x, size.y, size.z);
    for (const TensorBox& b : source.tensor_maps) key += fmt::format("|{}={}/{}", b.parameter, b.bytes, b.row_bytes);
    if (const auto found = known->find(key); found != known->end()) return found->second;
    return known->emplace(key, frontend.analyze(source, o)).first->second;
  };
  return result;
}

/// What has a name in the host code is given by --let.
std::string argument_hint(const HostUnknown& unknown, const std::string& argument) {
  return unknown.name.empty() ? fmt::format("; give " KC_SETTING(arg) " {}=VALUE", argument) : "";
}

std::string about_argument(const HostLaunch& launch, const ArgumentError& error) {
  for (const HostArgument& a : launch.args) {
    if (const auto* s = std::get_if<HostStructure>(&a.value))
      for (const auto& [offset, unknown] : s->unknown)
        if (error.name() == fmt::format("{}+{}", a.name, offset))
          return fmt::format("{}: byte {} of argument {} is not known: {}{}", place_of(launch), offset, a.name,
                             asking_for(unknown), argument_hint(unknown, error.name()));
    if (a.name != error.name()) continue;
    if (const auto* u = std::get_if<HostUnknown>(&a.value))
      return fmt::format("{}: argument {} is not known: {}{}", place_of(launch), a.name, asking_for(*u),
                         argument_hint(*u, a.name));
  }
  return place_of(launch) + ": " + message_of(error);
}

}  // namespace

bool wants_launches(const ForecastFlags& f) {
  if (!f.grid.empty() || !f.block.empty() || !f.global.empty()) {
    if (!f.launch.empty() || !f.argv.empty() || !f.lets.empty() || !f.with.empty())
      throw UsageError(KC_SETTING(launch) ", " KC_SETTING(argv) ", " KC_SETTING(with) " and " KC_SETTING(let)
                       " are about launches in the host code: leave out " KC_SETTING(grid) ", " KC_SETTING(block) " and " KC_SETTING(global));
    return false;
  }
  const Source source = source_of(f);
  return source.language == Language::cuda || source.language == Language::hip;
}

report::ProgramForecast find_launches(const ForecastFlags& f, Source source, const DeviceCatalog& catalog) {
  HostOptions options;
  options.argv = words_of(f.argv);
  for (const std::string& text : f.lets)
    options.lets[name_and_value(KC_SETTING(let), text).first] = argument_value(KC_SETTING(let), text);
  const std::vector<Device> devices = devices_of(comma_list(KC_SETTING(device), f.device), f.device == "all", catalog);
  options.device = properties_of(devices.front());
  source.capability = capability_of(devices.front());
  if (devices.front().codegen_target.starts_with("sm_") || devices.front().codegen_target.starts_with("gfx"))
    options.target = devices.front().codegen_target;
  for (const std::string& file : f.with) options.more_files.push_back(std::filesystem::absolute(file).string());
  options.data_folders = {".", std::filesystem::absolute(source.path).parent_path().string()};
  put_occupancy_model(devices.front(), options);
  const double compile_seconds = compile_seconds_of(f);
  const ProgramLaunches whole = program_launches(source, options, [&](const HostKernelAsked& asked) {
    return kernel_resources(source, asked, devices.front(), compile_seconds);
  });
  const HostProgram& found = whole.program;
  report::ProgramForecast program;
  program.source = source.path;
  if (!whole.files.empty()) program.notes.push_back(source.path + ": read with it: " + names_of(whole.files));
  for (const std::string& note : found.notes) program.notes.push_back(source.path + ": " + note);
  for (const std::string& line : found.assumed) program.assumed.push_back(source.path + ": " + line);
  const bool list = f.launch == "list" || f.launch.empty();
  const std::int64_t wanted = list ? 0 : whole_number(KC_SETTING(launch), f.launch, 1);
  int number = 0;
  for (const HostLaunch& l : found.launches) {
    ++number;
    const std::string plain = l.kernel.substr(0, l.kernel.find('<'));
    if (wanted != 0 && number != wanted) continue;
    if (!f.kernel.empty() && f.kernel != l.kernel && f.kernel != plain && f.kernel != l.symbol) continue;
    program.launches.push_back({number, l, std::nullopt, ""});
  }
  program.whole = !whole.of_a_part && program.launches.size() == found.launches.size() && found.notes.empty();
  if (!program.launches.empty()) return program;
  std::string why = found.notes.empty() ? "" : "; " + found.notes.front();
  if (options.argv.empty() && !found.notes.empty()) why += "; give the program's arguments with " KC_SETTING(argv);
  if (wanted != 0 && number > 0)
    throw UsageError(
        fmt::format(KC_SETTING(launch) " {}: launches 1 to {} are found in {}", wanted, number, source.path));
  if (!f.kernel.empty() && number > 0)
    throw UsageError(fmt::format(
        KC_SETTING(kernel) " {}: no launch of it is found in {}; give " KC_SETTING(grid) " and " KC_SETTING(block),
        f.kernel, source.path));
  throw UsageError(
      fmt::format("{}: no launch is found in the host code{}; or give " KC_SETTING(grid) " and " KC_SETTING(block),
                  source.path, why));
}

namespace {

void refuse_host_memory(const HostLaunch& launch, const std::string& name, const HostBuffer& buffer) {
  if (buffer.in_host_memory)
    throw UserError(
        fmt::format("{}: buffer {} lies in host memory, which the kernel reaches over the link to the host; "
                    "such accesses are not modelled",
                    place_of(launch), name));
}

StructureSpec structure_of(const HostLaunch& launch, const std::string& name, const HostStructure& found) {
  StructureSpec spec{found.bytes, found.known, {}};
  for (const auto& [offset, buffer] : found.pointers) {
    const std::string field = fmt::format("{}+{}", name, offset);
    refuse_host_memory(launch, field, buffer);
    if (!buffer.elements || *buffer.elements <= 0) continue;
    spec.pointers.emplace(offset, BufferSpec{*buffer.elements, contents_text(buffer)});
  }
  return spec;
}

}  // namespace

ForecastFlags flags_for(const ForecastFlags& flags, const HostLaunch& launch) {
  ForecastFlags f = flags;
  f.grid = sizes_text(launch, launch.grid, "grid");
  f.block = sizes_text(launch, launch.block, "block");
  if (f.shared.empty()) {
    if (const auto* u = std::get_if<HostUnknown>(&launch.shared))
      throw UserError(fmt::format("{}: the dynamic shared memory is not known: {}", place_of(launch), asking_for(*u)));
    f.shared = std::to_string(std::get<std::int64_t>(launch.shared));
  }
  if (const auto* x = std::get_if<std::int64_t>(&launch.cluster[0]); f.cluster.empty() && (x == nullptr || *x > 0))
    f.cluster = sizes_text(launch, launch.cluster, "cluster");
  f.kernel = launch.kernel.find('<') == std::string::npos ? launch.symbol : launch.kernel;
  for (const HostArgument& a : launch.args) {
    const auto* buffer = std::get_if<HostBuffer>(&a.value);
    if (buffer != nullptr) refuse_host_memory(launch, a.name, *buffer);
    if (a.name.empty()) continue;
    if (const auto* s = std::get_if<HostStructure>(&a.value)) f.structures[a.name] = structure_of(launch, a.name, *s);
    if (const auto* whole = std::get_if<std::int64_t>(&a.value); whole != nullptr && !gives(f.args, a.name))
      f.args.push_back(fmt::format("{}={}", a.name, *whole));
    if (const auto* real = std::get_if<double>(&a.value); real != nullptr && !gives(f.args, a.name))
      f.args.push_back(fmt::format("{}={:.17g}", a.name, *real));
    if (const auto* map = std::get_if<HostTensorMap>(&a.value); map != nullptr && !gives(f.tensor_maps, a.name))
      f.tensor_maps.push_back(fmt::format("{}={}", a.name, map->text()));
    if (buffer != nullptr && buffer->elements && *buffer->elements > 0 && !gives(f.buffers, a.name)) {
      const std::string contents = contents_text(*buffer);
      f.buffers.push_back(fmt::format("{}={}{}{}", a.name, *buffer->elements, contents.empty() ? "" : ":", contents));
    }
  }
  for (const auto& [name, buffer] : launch.globals) f.globals[name] = {*buffer.elements, contents_text(buffer)};
  if (f.language.empty()) {
    const Language language = language_of(launch.kernel_file.empty() ? f.file : launch.kernel_file);
    if (language != Language::cuda && language != Language::hip) f.language = "cuda";
  }
  if (!launch.kernel_file.empty()) f.file = launch.kernel_file;
  f.launch.clear();
  f.argv.clear();
  f.with.clear();
  f.lets.clear();
  return f;
}

namespace {

/// Whether another launch, or what is no kernel's, may use the buffers of the program's only launch here.
bool has_company(const report::ProgramForecast& program) {
  const HostLaunch& launch = program.launches.front().launch;
  return !program.whole || launch.more || !launch.conditions.empty() ||
         std::any_of(launch.args.begin(), launch.args.end(), [](const HostArgument& a) {
           const auto* buffer = std::get_if<HostBuffer>(&a.value);
           const auto* structure = std::get_if<HostStructure>(&a.value);
           if (structure != nullptr)
             return std::any_of(structure->pointers.begin(), structure->pointers.end(),
                                [](const auto& p) { return p.second.array <= 0; });
           return buffer != nullptr && buffer->array <= 0;
         });
}

void add_buffer_findings(report::ProgramForecast& program) {
  std::vector<LaunchOnDevice> launches;
  for (const report::LaunchForecast& l : program.launches)
    launches.push_back({&l.launch, l.forecast ? &l.forecast->devices.front() : nullptr});
  const auto found = buffer_findings(launches, program.whole);
  for (std::size_t k = 0; k < launches.size(); ++k) program.launches[k].findings = found[k];
}

}  // namespace

int predict_program(const ForecastFlags& flags, const Environment& environment) {
  const DeviceCatalog catalog =
      catalog_of(flags.devices_dir, environment.devices_dir, operating_point(flags.clock, flags.power_limit));
  ForecastFlags probe = flags;  // everything but the launch is checked before anything runs
  probe.grid = probe.block = "1";
  const Request general = checked(probe);
  Source source = general.source;
  source.text = read_source(source.path);
  report::ProgramForecast program = find_launches(flags, source, catalog);
  program.head = environment.head;
  std::vector<std::string> messages = program.notes;
  messages.insert(messages.end(), program.assumed.begin(), program.assumed.end());
  const auto say = [&messages](std::string text) {  // once, of however many launches
    if (std::find(messages.begin(), messages.end(), text) == messages.end()) messages.push_back(std::move(text));
  };
  bool complete = true;
  const Frontend frontend = remembering(real_frontend());
  for (report::LaunchForecast& l : program.launches) {
    for (const std::string& condition : l.launch.conditions) say(place_of(l.launch) + ": the " + condition);
    if (flags.launch == "list") continue;
    try {
      Request request = checked(flags_for(flags, l.launch));
      request.source.text = l.launch.kernel_file.empty() ? source.text : read_source(l.launch.kernel_file);
      const auto progress = [&](const std::string& text) {
        if (environment.progress) progress_line(fmt::format("launch {}: {}", l.number, text));
      };
      ForecastRun run = run_forecast(request, frontend, catalog, progress);
      run.forecast.head = environment.head;
      complete = complete && run.complete;
      for (const std::string& text : run.messages) say(text);
      l.forecast = std::move(run.forecast);
    } catch (const ArgumentError& e) {
      l.failure = about_argument(l.launch, e);
    } catch (const LimitError& e) {
      l.failure = place_of(l.launch) + ": " + message_of(e);
    } catch (const UserError& e) {
      const std::string text = message_of(e);
      l.failure = text.starts_with(l.launch.file + ":") ? text : place_of(l.launch) + ": " + text;
    }
    if (l.failure.empty()) continue;
    complete = false;
    say(l.failure);
  }
  const bool any = std::any_of(program.launches.begin(), program.launches.end(),
                               [](const report::LaunchForecast& l) { return l.forecast.has_value(); });
  if (!any && flags.launch != "list") {  // as where one launch is typed: no result, only messages
    for (const std::string& line : messages) message("kernelcast: " + line);
    return could_not_analyse;
  }
  if (flags.launch != "list") add_buffer_findings(program);
  const report::Style style(environment.colour && general.output.empty());
  const bool single = program.launches.size() == 1 && program.launches.front().forecast;
  std::string text = general.json ? report::launches_json(program) : report::launches_text(program, style);
  if (single && !general.json) text += "\n" + report::predict_text(*program.launches.front().forecast, style);
  write_result(general.output, text);
  for (const std::string& line : messages) message("kernelcast: " + line);
  return complete ? done : could_not_analyse;
}

ForecastFlags only_launch(const ForecastFlags& flags, const Environment& environment) {
  if (flags.launch == "list") throw UsageError(KC_SETTING(launch) " list: `kernelcast predict` lists launches");
  const DeviceCatalog catalog =
      catalog_of(flags.devices_dir, environment.devices_dir, operating_point(flags.clock, flags.power_limit));
  Source source = source_of(flags);
  source.text = read_source(source.path);
  const report::ProgramForecast program = find_launches(flags, source, catalog);
  if (program.launches.size() > 1)
    throw UsageError(fmt::format(
        "{}: {} launches are found; choose one with " KC_SETTING(launch) " N (`kernelcast predict` lists them)",
        source.path, program.launches.size()));
  ForecastFlags only = flags_for(flags, program.launches.front().launch);
  only.launches_beside = has_company(program);
  return only;
}

}  // namespace kernelcast::cli
