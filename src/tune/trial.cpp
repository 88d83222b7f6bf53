#include "tune/trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "forecast/code_target.h"
#include "io/text.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "profile/launch_check.h"
#include "tune/digest.h"
#include "tune/identity.h"
#include "tune/positional.h"
#include "tune/t1.h"

namespace kernelcast::tune {
namespace {

constexpr double most_elements = 1e15;  // of a buffer

CodeKind kind_of(const Device& d) { return {code_key(d), d.geometry()}; }

/// Parallel to the devices: from where on the reuse of a launch matters to any device of the same kind.
std::vector<int> first_windows(const TuneOptions& options) {
  std::map<CodeKind, int> first;
  for (const Device& d : options.devices) {
    const int own = options.model->on(d)->first_window();
    int& of_kind = first.try_emplace(kind_of(d), own).first->second;
    of_kind = std::min(of_kind, own);
  }
  std::vector<int> all;
  for (const Device& d : options.devices) all.push_back(first.at(kind_of(d)));
  return all;
}

std::string joined(const std::vector<std::string>& defines) {
  std::string text;
  for (const std::string& d : defines) text += d + '\n';
  return text;
}

}  // namespace

TrialContext context_of(const Space& space, const TuneOptions& options, AnalysisMemory& memory) {
  TrialContext context{space, options, memory, {}, first_windows(options), false, {}};
  for (const Device& d : options.devices) context.limits.emplace_back(d);
  context.one_variant =
      !space.kernel_tuner && std::none_of(space.parameters.begin(), space.parameters.end(),
                                          [](const Parameter& p) { return p.define && p.values.size() > 1; });
  // The launches of a single variant are forecast faster than they are read.
  if (context.one_variant || !memory.keeps()) return context;
  for (const Device& d : options.devices) {
    Digest about;
    about.add({std::string(forecast_identity()), std::string(options.model->name()), digest_of(d),
               digest_of(options.launch), fmt::format("{} {}", options.risk, options.ske_as_printed)});
    context.about.push_back(about.str());
  }
  return context;
}

/// What is asked of the same configuration for several devices is read once.
void Trial::choose(Configuration configuration) {
  if (chosen_ == configuration) return;
  chosen_.reset();
  shape_.reset();
  reader_.choose(configuration);
  chosen_ = configuration;
}

const LaunchShape& Trial::shape_of_choice() {
  if (!shape_) {
    shape_ = reader_.shape();
    if (context_.options.variant_file) complete_from_file(*shape_);
  }
  return *shape_;
}

std::string Trial::file_of_choice() const {
  std::string path = context_.options.source.path;
  for (const auto& [name, value] : reader_.parameters()) {
    const std::string mark = "{" + name + "}", text = text_of(value);
    for (std::size_t at = path.find(mark); at != std::string::npos; at = path.find(mark, at + text.size()))
      path.replace(at, mark.size(), text);
  }
  return path;
}

/// A file that cannot be read is refused where it is analysed.
void Trial::complete_from_file(LaunchShape& shape) const {
  try {
    const VariantFile file = context_.options.variant_file(file_of_choice());
    if (!shape.block_known && file.threads) {
      shape.block = {*file.threads, 1, 1};
      shape.block_known = true;
    }
    if (context_.space.dynamic_shared.empty() && file.shared_bytes) shape.dynamic_shared_bytes = *file.shared_bytes;
  } catch (const Error&) {
    return;
  }
}

std::optional<LaunchShape> Trial::launch(Configuration configuration) {
  choose(configuration);
  const LaunchShape shape = shape_of_choice();
  for (std::size_t k = 0; k < context_.space.constraints.size(); ++k)
    if (!reader_.holds(k)) return std::nullopt;
  return shape;
}

std::string Trial::variant(Configuration configuration) {
  if (context_.one_variant) return "the only one";
  choose(configuration);
  return joined(reader_.defines(context_.space.kernel_tuner ? shape_of_choice() : LaunchShape{}));
}

TrialTime Trial::time(Configuration configuration, std::size_t device, bool explain) {
  TrialTime a;
  choose(configuration);
  LaunchShape shape;
  try {
    shape = shape_of_choice();
  } catch (const Error& e) {
    a.refusal = Refusal::forecast;
    a.reason = message_of(e);
    return a;
  }
  const LaunchLimits& limits = context_.limits[device];
  const bool ours = !context_.options.ske_as_printed;
  a.refusal = ours ? limits.check(shape) : Refusal::none;
  if (a.refusal != Refusal::none) {
    if (explain) a.reason = limits.why(a.refusal, shape);
    return a;
  }
  try {
    enter(shape);
    if (KeptForecasts* known = kept(device)) {
      if (const TrialTime* again = known->find(shape)) {
        context_.memory.note_found(source(), frontend(context_.options.devices[device]));
        return *again;
      }
    }
    const LaunchShape asked = shape;
    LaunchForecaster& f = forecaster(device);
    if (!shape.block_known || !shape.grid_known) {
      shape = completed(shape, f.profile(), context_.options.launch);
      a.refusal = ours ? limits.check(shape) : Refusal::none;
      if (a.refusal != Refusal::none) {
        if (explain) a.reason = limits.why(a.refusal, shape);
        return a;
      }
    }
    a = f.time(shape);
    if (!a.argument.empty()) return a;  // the next command may give it
    if (KeptForecasts* known = kept(device)) known->add(asked, a);
    return a;
  } catch (const Error& e) {
    a.refusal = Refusal::source;
    a.reason = first_line(message_of(e));
    return a;
  }
}

Candidate Trial::describe(Configuration configuration, std::size_t device) {
  choose(configuration);
  const LaunchShape shape = shape_of_choice();
  enter(shape);
  return described_by(forecaster(device), shape, {});
}

Candidate Trial::recount(Configuration configuration, std::size_t device) {
  choose(configuration);
  const LaunchShape shape = shape_of_choice();
  enter(shape);
  const TuneOptions& o = context_.options;
  const Device& d = o.devices[device];
  const Kernel& kernel = executable(d);
  // The indices of an execution's counts are those of the analysis that it came with.
  auto counts = std::make_shared<LaunchCounts>(kernel.profile, d.geometry(), *o.model, launch_for(*kernel.profile), 1);
  LaunchForecaster f(std::move(counts), d, context_.limits[device], *o.model, o.risk);
  return described_by(f, shape, [&](const Launch& launch, Workload closed) {
    const double registers = closed.registers_per_thread;  // as many as fit, see LaunchForecaster
    Counted c = count(*kernel.profile, launch, std::move(closed), d, o.counts, [&](const Sharing& sharing) {
      return execute_on(kernel, launch, d.geometry(), sharing, o.execute);
    });
    c.workload.registers_per_thread = registers;
    return std::move(c.workload);
  });
}

Candidate Trial::described_by(LaunchForecaster& f, const LaunchShape& shape, const Recount& recount) {
  Candidate c;
  c.parameters = reader_.parameters();
  c.defines = reader_.defines(shape);
  f.describe(completed(shape, f.profile(), context_.options.launch), c, recount);
  assumptions_ = f.profile().assumptions;
  assumptions_.insert(assumptions_.end(), f.assumptions().begin(), f.assumptions().end());
  kernel_ = f.profile().kernel;
  return c;
}

const Kernel& Trial::executable(const Device& device) {
  Kernel& e = executables_[code_key(device)];
  if (e.profile == nullptr) {
    Analysis a = context_.memory.analyze_program(source(), frontend(device));
    e = {std::make_shared<const KernelProfile>(std::move(a.profile)), std::move(a.program), std::move(a.no_program)};
  }
  return e;
}

Refused Trial::described(Configuration configuration) {
  Refused r;
  choose(configuration);
  r.parameters = reader_.parameters();
  try {
    r.shape = shape_of_choice();
  } catch (const Error&) {
    r.shape.block_known = r.shape.grid_known = false;
  }
  return r;
}

void Trial::flush() {
  for (const auto& [device, forecasts] : kept_) {
    if (forecasts != nullptr) forecasts->flush();
  }
}

/// Makes the chosen configuration's variant the one that everything kept here is of.
void Trial::enter(const LaunchShape& shape) {
  if (entered_ && context_.one_variant) return;
  std::vector<std::string> defines = reader_.defines(shape);
  std::string variant = joined(defines);
  if (entered_ && variant == variant_) return;
  flush();
  kept_.clear();
  forecasters_.clear();
  counts_.clear();
  profiles_.clear();
  failures_.clear();
  executables_.clear();
  source_.reset();
  variant_ = std::move(variant);
  defines_ = std::move(defines);
  entered_ = true;
}

std::shared_ptr<LaunchCounts> Trial::counts(std::size_t device) {
  const Device& d = context_.options.devices[device];
  std::shared_ptr<LaunchCounts>& found = counts_[kind_of(d)];
  if (found == nullptr) {
    auto profile = analyse(d);
    Launch launch = launch_for(*profile);
    found = std::make_shared<LaunchCounts>(std::move(profile), d.geometry(), *context_.options.model, std::move(launch),
                                           context_.first_window[device]);
  }
  return found;
}

LaunchForecaster& Trial::forecaster(std::size_t device) {
  std::unique_ptr<LaunchForecaster>& found = forecasters_[device];
  if (found == nullptr) {
    const TuneOptions& o = context_.options;
    found = std::make_unique<LaunchForecaster>(counts(device), o.devices[device], context_.limits[device], *o.model,
                                               o.risk, o.ske_as_printed);
  }
  return *found;
}

KeptForecasts* Trial::kept(std::size_t device) {
  if (context_.about.empty()) return nullptr;
  std::unique_ptr<KeptForecasts>& found = kept_[device];
  if (found == nullptr) {
    const auto profile = context_.memory.kept_profile(source(), frontend(context_.options.devices[device]));
    if (!profile) return nullptr;
    Digest name;
    name.add({*profile, context_.about[device]});
    for (const SpaceArgument& a : context_.space.arguments) {
      name.add(fmt::format("{} {} {} {} {}", a.name, a.scalar, a.constant_memory, a.element_bytes,
                           reader_.python(a.scalar ? a.value : a.size)));
    }
    found = std::make_unique<KeptForecasts>(context_.memory, name.str());
  }
  return found.get();
}

const Source& Trial::source() {
  if (!source_) {
    source_ = context_.options.source;
    if (context_.options.variant_file) {
      source_->path = file_of_choice();
      source_->text = context_.options.variant_file(source_->path).text;
    }
    source_->defines.insert(source_->defines.end(), defines_.begin(), defines_.end());
    if (context_.space.kernel_tuner) source_->text = without_unused_unrolls(std::move(source_->text), defines_);
  }
  return *source_;
}

FrontendOptions Trial::frontend(const Device& device) const {
  FrontendOptions frontend = context_.options.frontend;
  generate_for(device, frontend);
  return frontend;
}

std::shared_ptr<const KernelProfile> Trial::analyse(const Device& device) {
  const std::string key = code_key(device);
  std::shared_ptr<const KernelProfile>& profile = profiles_[key];
  if (profile != nullptr) return profile;
  if (const auto failed = failures_.find(key); failed != failures_.end()) throw UserError(failed->second);
  try {
    return profile = context_.memory.analyze(source(), frontend(device));
  } catch (const Error& e) {
    failures_[key] = message_of(e);
    throw;
  }
}

Launch Trial::launch_for(const KernelProfile& profile) {
  Launch launch = context_.options.launch;
  name_positions(profile, launch);
  std::vector<PositionalArgument> positional;
  for (const SpaceArgument& a : context_.space.arguments) {
    PositionalArgument p{a.name, a.scalar, a.constant_memory, 0, a.element_bytes, 0};
    if (a.scalar) {
      p.value = reader_.python(a.value);
    } else {
      const double size = reader_.python(a.size);
      if (!(size >= 0 && size <= most_elements))
        throw UserError(fmt::format("{}: argument {} has {} elements; 0 to {} are possible", context_.space.place,
                                    a.name, size, most_elements));
      p.elements = static_cast<std::int64_t>(size);
    }
    positional.push_back(std::move(p));
  }
  if (positional.empty()) return launch;
  // Files are copied from one kernel to the next: where names on the command line say everything, the list is not
  // needed.
  const bool said = !launch.args.empty() || !launch.buffers.empty();
  try {
    Launch placed = launch;
    place_arguments(std::move(positional), profile, placed);
    return placed;
  } catch (const UserError& e) {
    if (!said)
      throw UserError(context_.space.place + ": " + message_of(e) +
                      "; give " KC_SETTING(arg) " and " KC_SETTING(buffer));
  }
  return launch;
}

}  // namespace kernelcast::tune
