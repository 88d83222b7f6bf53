// Which lanes an instruction goes to, and arbitration for those that schedulers share.
//
// A scheduler prefers its private lanes. Shared ones are taken at once when the control code announced a dual issue;
// the scheduler with the lower number comes first. When the private lanes are still collecting the operands of a bank
// conflict, the request for the shared ones comes late: it is granted late_request_cycles later at the earliest, for
// the one cycle in which the lanes are free first.
#include <algorithm>

#include "machine/sm/stages.h"

namespace kernelcast::sm {
namespace {

bool granted_to_other(const Lanes& lanes, int scheduler, Cycle now) {
  return lanes.granted_to >= 0 && lanes.granted_to != scheduler && now <= lanes.granted_at;
}

bool granted(const Lanes& lanes, int scheduler, Cycle now) {
  return lanes.granted_to == scheduler && now == lanes.granted_at;
}

void grant(Lanes& lanes, int scheduler, Cycle earliest) {
  lanes.granted_to = lanes.last_late = scheduler;
  lanes.granted_at = std::max(earliest, lanes.free_at);
}

/// When a grant was used or has passed, the one that waits has the lanes next.
void pass_on_grant(Lanes& lanes, Cycle now) {
  if (lanes.granted_to >= 0 && now > lanes.granted_at) {
    lanes.granted_to = -1;
    lanes.handed_over = lanes.granted_at + 1;
  }
  if (lanes.granted_to >= 0 || lanes.queued < 0) return;
  grant(lanes, lanes.queued, lanes.handed_over);
  lanes.queued = -1;
  if (now > lanes.granted_at) lanes.granted_to = -1;
}

/// Notes a late request: granted when the lanes are free and the other scheduler had its turn.
void request(const Spec& spec, Lanes& lanes, int scheduler, Cycle now) {
  if (lanes.granted_to == scheduler) return;
  const Cycle earliest = now + static_cast<Cycle>(spec.late_request_cycles);
  if (lanes.granted_to < 0 && lanes.last_late != scheduler) return grant(lanes, scheduler, earliest);
  if (lanes.granted_to < 0 && lanes.queued != scheduler) lanes.handed_over = earliest;
  lanes.queued = scheduler;
}

}  // namespace

Choice choose_lanes(SmState& m, int scheduler, Op op, bool announced, int other_than, bool other_name) {
  const std::vector<int>& candidates =
      m.lanes_of[static_cast<std::size_t>(scheduler) * op_count + static_cast<std::size_t>(op)];
  if (candidates.empty()) return {-1, false};
  Choice out{-1, true, Stall::unit, never};
  for (int index : candidates) {  // lanes that were asked for late are used as soon as they can be
    Lanes& lanes = m.lanes[static_cast<std::size_t>(index)];
    if (announced || !lanes.shared) continue;
    pass_on_grant(lanes, m.now);
    if (!granted(lanes, scheduler, m.now) || lanes.free_at > m.now) continue;
    lanes.granted_to = -1;
    lanes.handed_over = m.now;
    out.lanes = index;
    return out;
  }
  for (int index : candidates) {
    Lanes& lanes = m.lanes[static_cast<std::size_t>(index)];
    if (index == other_than ||
        (other_name && other_than >= 0 && lanes.unit == m.lanes[static_cast<std::size_t>(other_than)].unit)) {
      out.wake = m.now + 1;
      continue;
    }
    const bool late = lanes.shared && !announced && m.spec->late_request_cycles > 0;
    if (lanes.shared) pass_on_grant(lanes, m.now);
    if (lanes.free_at > m.now) {
      if (late) request(*m.spec, lanes, scheduler, m.now);
      out.wake = std::min(out.wake, lanes.free_at);
      continue;
    }
    if ((!late && !granted_to_other(lanes, scheduler, m.now)) || granted(lanes, scheduler, m.now)) {
      lanes.granted_to = -1;
      lanes.handed_over = m.now;
      out.lanes = index;
      return out;
    }
    if (late) request(*m.spec, lanes, scheduler, m.now);
    out.why = Stall::arbitration;
    out.wake = m.now + 1;
  }
  return out;
}

}  // namespace kernelcast::sm
