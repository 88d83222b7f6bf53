// Sizes of launch and buffers that do not go together. Both are mistakes, or may be: what they cost is no time, so that
// there is no what-if.
#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "forecast/program_buffers.h"
#include "io/text.h"
#include "profile/buffer_reach.h"

namespace kernelcast::advice {
namespace {

Draft defect(SourceLine line, std::string token, std::string message, std::string change) {
  Draft d;
  d.line = line;
  d.token = std::move(token);
  d.message = std::move(message);
  d.change = std::move(change);
  d.defect = true;
  return d;
}

constexpr const char* size_or_guard =
    "give the buffer the size that the launch needs, or end threads that have no element";

std::vector<Draft> beyond_buffer(const Subject& s) {
  std::vector<Draft> drafts;
  std::set<SourceLine> known;
  for (const BeyondBuffer& b : accesses_beyond(s.base(), buffer_reaches(s.profile(), s.launch())))
    if (known.insert(b.line).second) drafts.push_back(defect(b.line, b.buffer, b.text, size_or_guard));
  return drafts;
}

std::vector<Draft> untouched_array(const Subject& s) {
  std::vector<Draft> drafts;
  if (s.question().launches_beside) return drafts;  // they may touch the rest
  for (const BufferReach& r : buffer_reaches(s.profile(), s.launch())) {
    const auto touched = r.by_thread ? mostly_untouched(r.touched, r.bytes) : std::nullopt;
    if (!touched) continue;
    const std::string& name = s.profile().buffers[static_cast<std::size_t>(r.buffer)].name;
    drafts.push_back(defect({}, "", untouched_text(*touched, name, r.bytes),
                            "check grid and block against the size of the array: each thread has its elements"));
  }
  return drafts;
}

}  // namespace

std::span<const Rule> buffer_rules() {
  static const Rule list[] = {
      {{"beyond-buffer", "an access that is sure to happen lies beyond its buffer"}, beyond_buffer},
      {{"untouched-array", "the launch leaves most of an array untouched"}, untouched_array},
  };
  return list;
}

}  // namespace kernelcast::advice
