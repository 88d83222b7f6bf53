#include "cli/findings.h"

#include <map>
#include <memory>
#include <tuple>

#include "kernelcast/error.h"

namespace kernelcast::cli {

Frontend cached_frontend(bool listing) {
  using Key = std::tuple<std::string, bool, std::string, std::string, bool>;
  auto known = std::make_shared<std::map<Key, Analysis>>();
  Frontend real = real_frontend();
  Frontend cached = real;
  cached.analyze = [known, real, listing](const Source& s, const FrontendOptions& asked) {
    const Key key{s.text, s.fast_math, asked.target, asked.kernel, asked.program};
    auto found = known->find(key);
    if (found == known->end()) {
      FrontendOptions o = asked;
      o.listing = listing;
      found = known->emplace(key, real.analyze(s, o)).first;
    }
    return found->second;
  };
  return cached;
}

report::DeviceAdvice advice_on(const Request& request, const Frontend& frontend, const DeviceResult& result,
                               const advice::SourceLines& sources, const advice::AdviceOptions& options) {
  report::DeviceAdvice d;
  d.device = result.device.id;
  d.name = result.device.name;
  d.kernel = result.profile ? result.profile->kernel : request.kernel;
  const ModelResult& m = result.models.front();
  d.failure = !result.failure.empty()     ? result.failure
              : !m.estimate               ? m.failure
              : !m.estimate->time_s.value ? m.estimate->time_s.reason
                                          : std::string();
  if (!d.failure.empty()) return d;
  d.time_s = m.estimate->time_s.value;
  d.floor_s = m.estimate->floor_s.value;
  d.limiter = m.estimate->limiter;
  for (const Assumption& a : result.assumptions) d.assumptions.push_back(plain_text(a.what + " = " + a.value));
  const advice::Subject subject(request, frontend, result, sources, options.limits);
  d.findings = advice::findings(subject, options);
  d.not_asked = subject.not_asked();
  return d;
}

}  // namespace kernelcast::cli
