// A device or model that fails is shown with its reason. It makes the run incomplete when it was asked for by name;
// `--device all` and `--model all` ask for whatever works. A source is analysed once for each code generation target.
#include "cli/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "cli/catalog.h"
#include "cli/counting.h"
#include "cli/launch_size.h"
#include "cli/sources.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

using report::DeviceResult;
using report::ModelResult;

/// The values that were given for the arguments of an expression which cannot be evaluated.
std::string values_in(const ArithmeticError& e, const Launch& launch) {
  std::string given;
  for (const auto& [name, value] : launch.args) {
    if (std::find(e.symbols().begin(), e.symbols().end(), "arg:" + name) == e.symbols().end()) continue;
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      given += fmt::format("{}--arg {}={}", given.empty() ? "" : ", ", name, *integer);
  }
  return given.empty() ? "" : ", with " + given + ": give values that the program would";
}

/// No --kernel where there are several is a matter of the command line; anything else stays what it was. Called while
/// the error is handled.
[[noreturn]] void rethrow_front_end_error(const UserError& e, const Request& request, const FrontendOptions& options,
                                          const Frontend& frontend) {
  std::vector<std::string> names;
  try {
    names = frontend.kernels_in(request.source, options);
  } catch (const Error&) {
    throw UserError(message_of(e) +
                    includers_note(request.source.path, message_of(e)));  // the source is bad: the first error
  }
  if (request.kernel.empty() && names.size() > 1) {
    throw UsageError(
        fmt::format("{} has several kernels; choose with --kernel: {}", request.source.path, fmt::join(names, ", ")));
  }
  throw;
}

class Forecaster {
 public:
  Forecaster(const Request& request, const Frontend& frontend)
      : request_(request), frontend_(frontend), counter_(request) {}

  DeviceResult on(const Device& device) {
    DeviceResult result;
    result.device = device;
    result.launch = request_.launch;
    for (const Model* m : request_.models) result.models.push_back({std::string(m->name()), std::nullopt, ""});
    try {
      fill(result);
    } catch (const ArithmeticError& e) {
      result.failure = message_of(e) + values_in(e, request_.launch);
      result.workload.reset();
      failures_.push_back(std::make_exception_ptr(UserError(result.failure)));
    } catch (const Error& e) {
      result.failure = message_of(e);
      result.workload.reset();
      failures_.push_back(std::current_exception());
    }
    return result;
  }

  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] const std::vector<report::FindingReport>& findings() const { return counter_.findings(); }
  void rethrow_first_failure() const {
    if (!failures_.empty()) std::rethrow_exception(failures_.front());
  }

 private:
  void fill(DeviceResult& result) {
    require_gpu(result.device);
    const Kernel& kernel = kernel_for(result.device);
    result.profile = kernel.profile;
    name_positions(*result.profile, result.launch);
    std::vector<Assumption> own = codegen_assumptions(result.device);
    const std::vector<Assumption> sized = set_grid(request_, *result.profile, result.launch);
    own.insert(own.end(), sized.begin(), sized.end());
    counter_.count(kernel, result);
    if (auto idle = note_on_idle_launch(*result.profile, *result.workload)) own.push_back(std::move(*idle));
    result.assumptions = report::merged({&own, &result.profile->assumptions, &result.workload->assumptions});
    for (std::size_t i = 0; i < request_.models.size(); ++i) ask(*request_.models[i], result, result.models[i]);
  }

  /// --arg 3=4096, --buffer 0=1024: parameters by their position, from 0.
  static void name_positions(const KernelProfile& profile, Launch& launch) {
    const auto rename = [&profile](auto& values) {
      auto given = std::exchange(values, {});
      for (auto& [name, value] : given) {
        const bool number =
            !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
        std::size_t at = 0;
        if (number) std::from_chars(name.data(), name.data() + name.size(), at);
        values.emplace(number && at < profile.parameters.size() ? profile.parameters[at].name : name, std::move(value));
      }
    };
    rename(launch.args);
    rename(launch.buffers);
  }

  const Kernel& kernel_for(const Device& device) {
    const std::string& target = device.codegen_target;
    auto found = by_target_.find(target);
    if (found == by_target_.end()) found = by_target_.emplace(target, analyse(target)).first;
    if (found->second.trouble) std::rethrow_exception(found->second.trouble);
    return found->second.kernel;
  }

  AnalysedKernel analyse(const std::string& target) {
    FrontendOptions options;
    options.kernel = request_.kernel;
    options.target = target;
    options.map = request_.map;
    options.ptxas = request_.ptxas;
    options.nvrtc = request_.nvrtc;
    options.block = request_.launch.block;
    options.program = request_.counts != Counting::symbolic;
    options.time_limit_s = request_.compile_seconds;
    try {
      try {
        Analysis analysis = frontend_.analyze(request_.source, options);
        for (const Diagnostic& d : analysis.diagnostics) warn(d.text);
        return {{std::make_shared<const KernelProfile>(std::move(analysis.profile)), std::move(analysis.program),
                 std::move(analysis.no_program)},
                nullptr};
      } catch (const UsageError&) {
        throw;
      } catch (const UserError& e) {
        rethrow_front_end_error(e, request_, options, frontend_);
      }
    } catch (const Error&) {
      return {{}, std::current_exception()};
    }
  }

  static std::vector<Assumption> codegen_assumptions(const Device& device) {
    if (device.codegen_note.empty()) return {};
    return {{"code generation target", device.codegen_target + ", a stand-in: " + device.codegen_note, ""}};
  }

  void ask(const Model& model, const DeviceResult& result, ModelResult& answer) {
    try {
      answer.estimate = model.estimate(*result.profile, *result.workload, result.device);
    } catch (const Error& e) {
      answer.failure = message_of(e);
      failures_.push_back(std::current_exception());
    }
  }

  void warn(const std::string& text) {
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
  }

  const Request& request_;
  const Frontend& frontend_;
  Counter counter_;
  std::map<std::string, AnalysedKernel> by_target_;
  std::vector<std::string> warnings_;
  std::vector<std::exception_ptr> failures_;
};

bool any_answer(const DeviceResult& d) {
  return std::any_of(d.models.begin(), d.models.end(), [](const ModelResult& m) { return m.estimate.has_value(); });
}

bool all_answers(const DeviceResult& d) {
  return std::all_of(d.models.begin(), d.models.end(), [](const ModelResult& m) { return m.estimate.has_value(); });
}

/// One line for each distinct reason of a device.
void add_failures(const DeviceResult& d, std::vector<std::string>& messages) {
  std::vector<std::string> reasons;
  if (!d.failure.empty()) reasons.push_back(d.failure);
  for (const ModelResult& m : d.models) {
    if (!m.failure.empty() && std::find(reasons.begin(), reasons.end(), m.failure) == reasons.end()) {
      reasons.push_back(m.failure);
    }
  }
  for (const std::string& reason : reasons) messages.push_back(fmt::format("{}: {}", d.device.id, reason));
}

}  // namespace

Frontend real_frontend() {
  return {[](const Source& s, const FrontendOptions& o) { return analyze(s, o); },
          [](const Source& s, const FrontendOptions& o) { return kernels_in(s, o); }};
}

ForecastRun run_forecast(const Request& request, const Frontend& frontend, const DeviceCatalog& catalog,
                         const std::function<void(const std::string&)>& progress) {
  const std::vector<Device> devices = devices_of(request.devices, request.all_devices, catalog);
  Forecaster forecaster(request, frontend);
  ForecastRun run;
  run.forecast.kernel = request.kernel;
  run.forecast.source = request.source.path;
  for (const Device& device : devices) {
    progress(fmt::format("{} ({} of {})", device.id, run.forecast.devices.size() + 1, devices.size()));
    run.forecast.devices.push_back(forecaster.on(device));
  }
  const auto& results = run.forecast.devices;
  if (std::none_of(results.begin(), results.end(), any_answer)) forecaster.rethrow_first_failure();
  run.complete = request.all_devices || std::all_of(results.begin(), results.end(), [&](const DeviceResult& d) {
                   return request.all_models ? any_answer(d) : all_answers(d);
                 });
  run.messages = forecaster.warnings();
  run.forecast.findings = forecaster.findings();
  for (const report::FindingReport& f : run.forecast.findings) run.messages.push_back(f.text());
  for (const DeviceResult& d : results) add_failures(d, run.messages);
  return run;
}

}  // namespace kernelcast::cli
