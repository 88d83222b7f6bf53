// Asynchronous copies. What they move is there at once; when it may be used is what SharedOrder follows.
#include "execute/block_runner.h"
#include "execute/for_lanes.h"

namespace kernelcast::interpreter {

void BlockRunner::copy_group(const SimtInstruction& i, std::uint64_t lanes, int number) {
  SharedOrder* const order = shared_.order();
  if (order == nullptr) return;
  const auto what = static_cast<CopyGroup>(i.imm & 0xff);
  const auto left = static_cast<std::uint64_t>(i.imm) >> 8;
  for_lanes(lanes, [&](int l) {
    const int thread = number * width_ + l;
    if (what != CopyGroup::wait) order->commit_copies(thread);
    if (what != CopyGroup::commit) order->wait_for_copies(thread, left);
  });
}

void BlockRunner::report_shared(SharedTrouble trouble, AccessKind kind, SourceLine line, int number, int lane,
                                int other) {
  if (trouble == SharedTrouble::none) return;
  const bool unwritten = trouble == SharedTrouble::uninitialised;
  Finding* f =
      count(unwritten ? Finding::Kind::uninitialised : Finding::Kind::race, line, number, lane, unwritten ? -1 : other);
  if (f == nullptr) return;
  const bool stores = kind == AccessKind::store, own = other == number * width_ + lane;
  f->text = std::string(stores ? "writes" : kind == AccessKind::load ? "reads" : "updates") + " shared memory ";
  switch (trouble) {
    case SharedTrouble::uninitialised:
      f->text += "that nothing has written";
      return;
    case SharedTrouble::copy_pending:
      f->text +=
          std::string("before ") + (own ? "the thread" : "another thread") + " has waited for its cp.async to it";
      return;
    case SharedTrouble::copy_unordered:
      f->text += "to which another thread copies by cp.async, with no barrier since that thread has waited for it";
      return;
    default:
      f->text += std::string("that another thread ") + (stores ? "reads or " : "") + "writes with no barrier between";
      return;
  }
}

}  // namespace kernelcast::interpreter
