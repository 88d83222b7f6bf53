// Asynchronous copies and mbarriers. What copies move is there at once; when it may be used is what SharedOrder
// follows. A warp that waits for an mbarrier stands still until the phase is complete.
#include <algorithm>
#include <cstring>

#include "execute/block_runner.h"
#include "execute/for_lanes.h"
#include "kernelcast/address.h"

namespace kernelcast::interpreter {

void BlockRunner::copy_group(const SimtInstruction& i, std::uint64_t lanes, int number) {
  SharedOrder* const order = shared_.order();
  if (order == nullptr) return;
  const auto what = static_cast<CopyGroup>(i.imm & 0xff);
  const auto left = static_cast<std::uint64_t>(i.imm) >> 8;
  for_lanes(lanes, [&](int l) {
    const int thread = number * width_ + l;
    switch (what) {
      case CopyGroup::wait_all:
        order->commit_copies(thread);
        return order->wait_for_copies(thread, 0);
      case CopyGroup::commit:
        return order->commit_copies(thread);
      case CopyGroup::wait:
        return order->wait_for_copies(thread, left);
      case CopyGroup::bulk_commit:
        return order->commit_bulk(thread);
      case CopyGroup::bulk_wait:
        return order->wait_for_bulk(thread, left);
    }
  });
}

/// A barrier of some of the block's threads, in kernels whose warps have different roles. False: it is the whole
/// block's.
bool BlockRunner::meet_some(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number, bool waits) {
  const SimtInstruction& i = program_.code[op.source];
  if (!plan_.in_order || i.c == no_register || warps_ > 64) return false;
  const int first = std::countr_zero(lanes);
  const int id = static_cast<int>(bits_at(w, op.b, 4, first)), wanted = static_cast<int>(bits_at(w, op.c, 4, first));
  if (waits && wanted >= threads_ && !plan_.some_only_arrive) return false;
  Meeting& m = meetings_[id];
  m.threads += plan_.options.independent_threads ? lane_count(lanes) : width_;  // in lock-step a warp comes as one
  if (SharedOrder* order = shared_.order()) order->release(number, m.seen);
  if (waits) {
    m.warps |= std::uint64_t{1} << number;
    if (!plan_.options.independent_threads) w.state = State::at_barrier;
  }
  met_ = m.threads >= wanted;
  if (!met_) return true;
  counts_.barriers += 1;
  for (int n = 0; n < warps_; ++n) {
    if ((m.warps >> n & 1U) == 0) continue;
    Warp& other = warp_[static_cast<std::size_t>(n)];
    if (SharedOrder* order = shared_.order()) order->acquire(n, m.seen);
    other.state = State::ready;
    other.waiting = 0;
  }
  meetings_.erase(id);
  return true;
}

/// The mbarrier at a lane's address; null, and reported, where there is none that the thread may use.
Mbarrier* BlockRunner::mbarrier_of(const SimtInstruction& i, int number, int lane) {
  Mbarrier* const m = mbarriers_.at(static_cast<std::int64_t>(address_[lane]));
  if (m == nullptr) {
    report(Finding::Kind::uninitialised, i.line, "uses an mbarrier that nothing has initialised", number, lane);
    return nullptr;
  }
  if (const SharedOrder* order = shared_.order();
      order != nullptr && !order->seen_access(number, m->made_by, m->made_at))
    report(Finding::Kind::race, i.line, "uses an mbarrier that another thread has initialised with no barrier between",
           number, lane, static_cast<int>(m->made_by) * width_);
  return m;
}

void BlockRunner::arrive(Mbarrier& m, const SimtInstruction& i, std::int64_t count, int number, int lane) {
  const std::uint32_t phase = m.phase;
  if (SharedOrder* order = shared_.order()) order->release(number, m.arrived);
  if (!mbarriers_.arrive(m, count))
    report(Finding::Kind::divergent_barrier, i.line, "arrives at an mbarrier more often than it expects", number, lane);
  note_phase(m, phase);
}

/// Who sees a phase complete has seen the copies in bulk that it waited for.
void BlockRunner::note_phase(Mbarrier& m, std::uint32_t before) {
  if (m.phase == before) return;
  if (const SharedOrder* order = shared_.order()) order->note_phase(m.complete, m.number, m.phases());
}

/// False: the warp, or the path, stands still here until something changes.
bool BlockRunner::mbarrier(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const auto what = static_cast<MbarrierOp>(i.imm & 0xff);
  const std::int64_t flags = i.imm >> 8;
  const bool waits = what == MbarrierOp::wait_state || what == MbarrierOp::wait_parity;
  const AccessKind kind = waits                                                        ? AccessKind::load
                          : what == MbarrierOp::init || what == MbarrierOp::invalidate ? AccessKind::store
                                                                                       : AccessKind::atomic;
  constexpr int bytes = 8;  // of an mbarrier
  std::uint64_t good = translate(w, lanes, op, number, bytes, kind);
  if ((good & ~shared_lanes_) != 0) {
    for_lanes(good & ~shared_lanes_, [&](int l) {
      report(Finding::Kind::out_of_bounds, i.line, "uses an mbarrier that does not lie in shared memory", number, l);
    });
    good &= shared_lanes_;
  }
  const auto b = [&](int l, std::int64_t otherwise) {
    return i.b == no_register ? otherwise
                              : static_cast<std::int64_t>(bits_at(w, op.b, size_of(program_.registers[i.b]), l));
  };
  if (!plan_.mbarriers) {  // cuda::barrier, which waits at a barrier of the block
    count_request(i, lanes);
    if (op.dst_size != 0) for_lanes(lanes, [&](int l) { set_bits(w, op.dst, op.dst_size, l, 0); });
    return true;
  }
  if (waits) {
    std::uint64_t done = lanes & ~good;  // where there is no mbarrier there is nothing to wait for
    for_lanes(good, [&](int l) {
      const Mbarrier* m = mbarriers_.at(static_cast<std::int64_t>(address_[l]));
      const auto wanted = static_cast<std::uint64_t>(b(l, 0));
      if (m == nullptr || (what == MbarrierOp::wait_state ? m->completed_state(wanted) : m->completed_parity(wanted)))
        done |= std::uint64_t{1} << l;
    });
    if (done != lanes && !w.gives_up) {
      w.waits_at = static_cast<std::int64_t>(address_[std::countr_zero(lanes & ~done)]);
      w.wait_line = i.line;
      w.waiting_lane = std::countr_zero(lanes & ~done);
      w.seen_changes = mbarriers_.changes();
      return false;
    }
    w.gives_up = false;
    count_request(i, lanes);
    for_lanes(good & done, [&](int l) {
      if (const Mbarrier* m = mbarrier_of(i, number, l); m != nullptr && shared_.order() != nullptr)
        shared_.order()->acquire(number, m->complete);
    });
    for_lanes(lanes, [&](int l) { set_bits(w, op.dst, op.dst_size, l, done >> l & 1U); });
    return true;
  }
  count_request(i, lanes);
  shared_.instruction();
  for_lanes(good, [&](int l) {
    if (what == MbarrierOp::init) {
      Mbarrier& m = mbarriers_.make(static_cast<std::int64_t>(address_[l]), b(l, 0) & 0xfffff);
      m.made_by = static_cast<std::uint32_t>(number);
      if (const SharedOrder* order = shared_.order()) m.made_at = order->stamp();
      return;
    }
    if (what == MbarrierOp::arrive_copies) {
      // Without .noinc it takes one more arrival first.
      Mbarrier* const m = mbarrier_of(i, number, l);
      if (m == nullptr) return;
      SharedOrder* const order = shared_.order();
      if (order != nullptr) order->release_copies(number * width_ + l, m->arrived);
      if ((flags & mbarrier_no_increment) != 0) return arrive(*m, i, 1, number, l);
      if (order != nullptr) order->release(number, m->arrived);
      return;
    }
    Mbarrier* const m = mbarrier_of(i, number, l);
    if (m == nullptr) {
      if (op.dst_size != 0) set_bits(w, op.dst, op.dst_size, l, 0);
      return;
    }
    const std::uint32_t phase = m->phase;
    switch (what) {
      case MbarrierOp::invalidate:
        return mbarriers_.invalidate(static_cast<std::int64_t>(address_[l]));
      case MbarrierOp::expect:
        return mbarriers_.expect(*m, b(l, 0) & 0xffffffff);
      case MbarrierOp::complete:
        mbarriers_.complete(*m, b(l, 0) & 0xffffffff);
        return note_phase(*m, phase);
      default:
        break;
    }
    if (op.dst_size != 0) set_bits(w, op.dst, op.dst_size, l, m->state());
    if (i.c != no_register)
      mbarriers_.expect(*m,
                        static_cast<std::int64_t>(bits_at(w, op.c, size_of(program_.registers[i.c]), l) & 0xffffffff));
    if ((flags & mbarrier_drops) != 0) --m->expected;
    arrive(*m, i, b(l, 1) & 0xffffffff, number, l);
  });
  return true;
}

void BlockRunner::count_bulk(const SimtInstruction& i, int lane, std::int64_t bytes) {
  if (i.site < 0) return;
  for (const AccessSite::Piece& p : program_.sites[static_cast<std::size_t>(i.site)].pieces) {
    AccessCount& out = counts_.accesses[static_cast<std::size_t>(p.access)];
    out.bytes += static_cast<double>(bytes);
    if (space_ == MemorySpace::shared) {
      requests_.bulk_shared(bytes, out);
      continue;
    }
    requests_.bulk_global(address_[lane], bytes, out);
    if (recorder != nullptr) recorder->touch(running_, requests_.sectors());
  }
}

/// Where each lane's copy in bulk reads; what it reads is moved by bulk_write().
void BlockRunner::bulk_read(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  bulk_lanes_ = 0;
  for_lanes(lanes, [&](int l) {
    const auto bytes = static_cast<std::int64_t>(static_cast<std::uint32_t>(bits_at(w, op.c, 4, l)));
    if (bytes == 0) return;
    if (bytes % 16 != 0) {
      report(Finding::Kind::misaligned, i.line, "copies a number of bytes in bulk that is no multiple of 16", number,
             l);
      return;
    }
    if (bytes > most_bulk_bytes) {
      report(Finding::Kind::out_of_bounds, i.line, "copies more bytes in bulk than shared memory has", number, l);
      return;
    }
    const std::uint64_t lane = std::uint64_t{1} << l;
    const bool good = translate(w, lane, op, number, static_cast<int>(bytes), AccessKind::load) != 0;
    count_bulk(i, l, bytes);
    if (!good) return;
    bulk_lanes_ |= lane;
    bulk_from_[l] = host_[l];
    const int n = static_cast<int>(bytes);
    if (shared_lanes_ != 0) {
      int other = -1;
      const SharedTrouble t =
          shared_.bulk_read(static_cast<std::int64_t>(address_[l]), n, number * width_ + l, number, other);
      report_shared(t, AccessKind::load, i.line, number, l, other);
    } else if (plan_.watches_global) {
      check_global(i, number, l, n, 0, false);
    }
  });
}

void BlockRunner::bulk_write(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const auto what = static_cast<BulkOp>(i.imm & 0xff);
  const auto combine = static_cast<AtomicOp>(i.imm >> 8);
  const AccessKind kind = what == BulkOp::reduce ? AccessKind::atomic : AccessKind::store;
  shared_.instruction();
  for_lanes(lanes & bulk_lanes_, [&](int l) {
    const int bytes = static_cast<int>(bits_at(w, op.c, 4, l));
    const bool good = translate(w, std::uint64_t{1} << l, op, number, bytes, kind) != 0;
    count_bulk(i, l, bytes);
    if (good) {
      unsigned char* const to = host_[l];
      const bool in_shared = shared_lanes_ != 0;
      if (what != BulkOp::reduce) {
        if (!in_shared && plan_.watches_global)
          check_global(i, number, l, bytes, 1, std::memcmp(to, bulk_from_[l], static_cast<std::size_t>(bytes)) != 0);
        std::memmove(to, bulk_from_[l], static_cast<std::size_t>(bytes));
      } else {
        if (!in_shared && plan_.watches_global) check_global(i, number, l, bytes, 2, true);
        combine_bulk(combine, i.type, to, bulk_from_[l], bytes);
      }
      if (in_shared && what == BulkOp::to_mbarrier) bulk_target_[l] = static_cast<std::int64_t>(address_[l]);
    }
    if (what != BulkOp::to_mbarrier) return;
    const bool moved = good && shared_lanes_ != 0;
    const std::int64_t to = bulk_target_[l];
    const int thread = number * width_ + l;
    int other = -1;
    // The mbarrier hears of the bytes whether or not they could be moved: whoever waits goes on.
    const std::uint64_t at = bits_at(w, op.b, 8, l);
    address_[l] = window_of(at) == shared_window ? static_cast<std::uint64_t>(offset_of(at)) : at;
    Mbarrier* const m = plan_.mbarriers ? mbarrier_of(i, number, l) : nullptr;
    if (moved) {
      const SharedTrouble t = m != nullptr
                                  ? shared_.bulk_write(to, bytes, thread, number, m->number, m->phases(), other)
                                  : shared_.store(to, bytes, thread, number, true, other);
      report_shared(t, AccessKind::store, i.line, number, l, other);
    }
    if (m == nullptr) return;
    const std::uint32_t phase = m->phase;
    mbarriers_.complete(*m, bytes);
    note_phase(*m, phase);
  });
}

bool BlockRunner::all_stand() const {
  return std::none_of(warp_.begin(), warp_.end(), [this](const Warp& w) {
    return w.state == State::ready || (w.state == State::at_mbarrier && w.seen_changes != mbarriers_.changes());
  });
}

/// Nothing can change any more what some warps wait for. A wait may fail (try_wait after a time limit, test_wait at
/// once), after which code may do what others wait for: all of them fail, several times, before the block is given up.
bool BlockRunner::end_waits() {
  if (mbarriers_.changes() != last_changes_) {
    last_changes_ = mbarriers_.changes();
    fruitless_ = 0;
  }
  constexpr int most_fruitless = 256;
  if (++fruitless_ <= most_fruitless) {
    for (Warp& w : warp_)
      if (w.state == State::at_mbarrier) {
        w.gives_up = true;
        w.seen_changes = mbarriers_.changes() - 1;
      }
    return true;
  }
  for (int n = 0; n < warps_; ++n) {
    Warp& w = warp_[static_cast<std::size_t>(n)];
    if (w.state == State::at_mbarrier) {
      if (Finding* f = count(Finding::Kind::endless_wait, w.wait_line, n, w.waiting_lane)) {
        const Mbarrier* m = mbarriers_.at(w.waits_at);
        f->text = "waits for an mbarrier whose phase is never complete";
        if (m != nullptr && m->pending > 0) f->text += ": arrivals missing: " + std::to_string(m->pending);
        if (m != nullptr && m->bytes != 0)
          f->text += std::string(m->pending > 0 ? ", " : ": ") +
                     (m->bytes > 0 ? "bytes missing: " + std::to_string(m->bytes)
                                   : "bytes that nothing expects: " + std::to_string(-m->bytes));
        if (!plan_.options.independent_threads && (w.members & ~w.exited & ~w.paths.back().lanes) != 0)
          f->text += "; other lanes of the warp have not come there, which they can with independent threads";
      }
    }
    w.state = State::done;
  }
  return false;
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
    case SharedTrouble::bulk_pending:
      f->text += "to which a copy in bulk is under way: nothing has waited for the phase of its mbarrier";
      return;
    case SharedTrouble::read_pending:
      f->text += std::string("that a copy in bulk may still read: ") + (own ? "the thread" : "another thread") +
                 " has not waited for its group, or nothing orders the two since";
      return;
    default:
      f->text += std::string("that another thread ") + (stores ? "reads or " : "") + "writes with no barrier between";
      return;
  }
}

}  // namespace kernelcast::interpreter
