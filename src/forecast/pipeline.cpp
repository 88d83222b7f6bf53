// A device or model that fails is a value with its reason. A source is analyzed once for each code generation target.
#include "forecast/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "forecast/code_target.h"
#include "forecast/counter.h"
#include "forecast/narrowing.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "profile/launch_check.h"

namespace kernelcast {
namespace {

/// The values that were given for the arguments of an expression which cannot be evaluated.
std::string values_in(const ArithmeticError& e, const Launch& launch) {
  std::string given;
  for (const auto& [name, value] : launch.args) {
    if (std::find(e.symbols().begin(), e.symbols().end(), "arg:" + name) == e.symbols().end()) continue;
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      given += fmt::format("{}" KC_SETTING(arg) " {}={}", given.empty() ? "" : ", ", name, *integer);
  }
  return given.empty() ? "" : ", with " + given + ": give values that the program would";
}

/// No --kernel where there are several is a matter of the command line; anything else stays what it was. Called while
/// the error is handled.
[[noreturn]] void rethrow_front_end_error(const UserError& e, const ForecastQuestion& request,
                                          const FrontendOptions& options, const Frontend& frontend) {
  std::vector<std::string> names;
  try {
    names = frontend.kernels_in(request.source, options);
  } catch (const Error&) {
    throw UserError(message_of(e) +
                    includers_note(request.source, message_of(e)));  // the source is bad: the first error
  }
  if (request.kernel.empty() && names.size() > 1) {
    constexpr std::size_t most = 20;  // libraries of templates have hundreds, each with a long name
    const std::size_t shown = std::min(names.size(), most);
    throw UsageError(fmt::format("{} has several kernels; choose with " KC_SETTING(kernel) ": {}{}",
                                 request.source.path,
                                 fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                                 names.size() > most ? fmt::format(" and {} more", names.size() - most) : ""));
  }
  throw;
}

}  // namespace

std::shared_ptr<const AnalysedKernel> AnalysedKernels::get(const std::string& target, const Dim3& block,
                                                           const Analyse& analyse) {
  const std::lock_guard lock(mutex_);
  const Dim3 hint = target.starts_with("sm_") ? Dim3{} : block;
  std::shared_ptr<const AnalysedKernel>& known = known_[{target, hint.array()}];
  if (!known) known = std::make_shared<const AnalysedKernel>(analyse());
  return known;
}

void require_gpu(const Device& device) {
  if (device.kind == "cpu")
    throw LimitError(device.name +
                     " is a CPU: kernels are forecast on GPUs; `kernelcast offload` has loop nests on CPUs");
}

class Forecaster::Impl {
 public:
  Impl(const ForecastQuestion& request, const Frontend& frontend, std::shared_ptr<AnalysedKernels> known)
      : request_(request),
        frontend_(frontend),
        counter_(request),
        analysed_(known ? std::move(known) : std::make_shared<AnalysedKernels>()) {}

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
  [[nodiscard]] const std::vector<FindingReport>& findings() const { return counter_.findings(); }
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
    if (auto idle = note_on_idle_launch(*result.profile, *result.workload)) {
      // Where the execution found trouble, that is what keeps threads from their stores.
      const bool sound = !result.execution || (result.execution->complete && result.execution->findings.empty());
      const bool by_contents = sound && !generated_contents(*result.workload).empty();
      if (!by_contents)
        own.push_back(std::move(*idle));
      else if (!counter_.count_with_zeros(kernel, result))
        refuse_idle_by_contents(*result.workload);
    }
    result.assumptions = merged({&own, &result.profile->assumptions, &result.workload->assumptions});
    for (std::size_t i = 0; i < request_.models.size(); ++i) ask(*request_.models[i], result, result.models[i]);
  }

  const Kernel& kernel_for(const Device& device) {
    const Dim3& cluster = request_.launch.cluster;
    const std::string key =
        code_key(device) + (cluster == Dim3{0, 0, 0} ? "" : fmt::format(" {},{},{}", cluster.x, cluster.y, cluster.z));
    auto found = by_target_.find(key);
    if (found == by_target_.end()) {
      found =
          by_target_.emplace(key, analysed_->get(key, request_.launch.block, [&] { return analyse(device); })).first;
      for (const std::string& text : found->second->warnings) warn(text);
    }
    if (found->second->trouble) std::rethrow_exception(found->second->trouble);
    return found->second->kernel;
  }

  AnalysedKernel analyse(const Device& device) const {
    FrontendOptions options;
    options.kernel = request_.kernel;
    generate_for(device, options);
    options.map = request_.map;
    options.ptxas = request_.ptxas;
    options.nvrtc = request_.nvrtc;
    options.block = request_.launch.block;
    options.cluster = request_.launch.cluster;
    options.program = request_.counts != Counting::symbolic;
    options.time_limit_s = request_.compile_seconds;
    try {
      try {
        Analysis analysis = frontend_.analyze(request_.source, options);
        AnalysedKernel result;
        for (const Diagnostic& d : analysis.diagnostics) result.warnings.push_back(d.text);
        result.kernel = {std::make_shared<const KernelProfile>(std::move(analysis.profile)),
                         std::move(analysis.program), std::move(analysis.no_program)};
        return result;
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
      answer.estimate =
          model.estimate_within(*result.profile, *result.workload, result.device, request_.execute.max_seconds);
      rank_what_narrows(model, result, *answer.estimate);
    } catch (const Error& e) {
      answer.failure = message_of(e);
      failures_.push_back(std::current_exception());
    }
  }

  void warn(const std::string& text) {
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
  }

  const ForecastQuestion& request_;
  const Frontend& frontend_;
  Counter counter_;
  std::shared_ptr<AnalysedKernels> analysed_;
  std::map<std::string, std::shared_ptr<const AnalysedKernel>> by_target_;
  std::vector<std::string> warnings_;
  std::vector<std::exception_ptr> failures_;
};

Forecaster::Forecaster(const ForecastQuestion& question, const Frontend& frontend,
                       std::shared_ptr<AnalysedKernels> known)
    : impl_(std::make_unique<Impl>(question, frontend, std::move(known))) {}
Forecaster::~Forecaster() = default;
DeviceResult Forecaster::on(const Device& device) { return impl_->on(device); }
const std::vector<std::string>& Forecaster::warnings() const { return impl_->warnings(); }
const std::vector<FindingReport>& Forecaster::findings() const { return impl_->findings(); }
void Forecaster::rethrow_first_failure() const { impl_->rethrow_first_failure(); }

Frontend real_frontend() {
  return {[](const Source& s, const FrontendOptions& o) { return analyze(s, o); },
          [](const Source& s, const FrontendOptions& o) { return kernels_in(s, o); }};
}

}  // namespace kernelcast
