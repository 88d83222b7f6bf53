#include "probe/cuda/plan.h"

#include <algorithm>

#include "probe/wire.h"

namespace kernelcast::probe::cuda {
namespace {

constexpr const char* plan_mark = "kernelcast cuda plan 1";
constexpr const char* record_mark = "kernelcast cuda record 1";
constexpr const char* who = "its CUDA runner";

template <class T>
std::size_t up(T n) {
  return static_cast<std::size_t>(n + 1);  // -1: none
}
int down(std::size_t n) { return static_cast<int>(n) - 1; }

void put(Writer& w, const Info& i) {
  w.text(i.name);
  for (int n : {i.driver_version, i.architecture, i.units, i.warp_size}) w.number(static_cast<std::size_t>(n));
  for (double x : {i.clock_hz, i.memory_clock_hz, i.bus_bits, i.memory_bytes, i.l2_bytes}) w.real(x);
}

Info info_from(Reader& r) {
  Info i;
  i.name = r.text();
  for (int* n : {&i.driver_version, &i.architecture, &i.units, &i.warp_size}) *n = static_cast<int>(r.number());
  for (double* x : {&i.clock_hz, &i.memory_clock_hz, &i.bus_bits, &i.memory_bytes, &i.l2_bytes}) *x = r.real();
  return i;
}

template <class T, class F>
void put_all(Writer& w, const std::vector<T>& all, F one) {
  w.number(all.size());
  for (const T& x : all) one(x);
}

template <class F>
void each(Reader& r, F one) {
  for (std::size_t left = r.number(); left > 0; --left) one();
}

void put(Writer& w, const PlannedLaunch& l) {
  w.text(l.name);
  w.number(static_cast<std::size_t>(l.image));
  w.text(l.kernel);
  for (unsigned n : l.grid) w.number(n);
  for (unsigned n : l.block) w.number(n);
  w.number(l.shared_bytes);
  put_all(w, l.arguments, [&](const Argument& a) {
    w.number(up(a.buffer));
    w.number(a.offset);
    w.text(a.value);
  });
  for (int n : {l.clocks, l.before}) w.number(up(n));
  w.number(l.only_before ? 1 : 0);
  w.number(static_cast<std::size_t>(l.repeat));
  w.real(l.items);
}

PlannedLaunch launch_from(Reader& r) {
  PlannedLaunch l;
  l.name = r.text();
  l.image = static_cast<int>(r.number());
  l.kernel = r.text();
  for (unsigned& n : l.grid) n = static_cast<unsigned>(r.number());
  for (unsigned& n : l.block) n = static_cast<unsigned>(r.number());
  l.shared_bytes = static_cast<unsigned>(r.number());
  each(r, [&] {
    Argument a;
    a.buffer = down(r.number());
    a.offset = r.number();
    a.value = r.text();
    l.arguments.push_back(a);
  });
  for (int* n : {&l.clocks, &l.before}) *n = down(r.number());
  l.only_before = r.number() != 0;
  l.repeat = static_cast<int>(r.number());
  l.items = r.real();
  return l;
}

void put(Writer& w, const Phase& p) {
  w.text(p.name);
  put_all(w, p.images, [&](const std::string& s) { w.text(s); });
  put_all(w, p.buffers, [&](const Buffer& b) {
    w.number(static_cast<std::size_t>(b.fill));
    w.number(b.bytes);
    w.text(b.data);
    w.number(b.stride);
    w.number(b.sequential ? 1 : 0);
  });
  put_all(w, p.launches, [&](const PlannedLaunch& l) { put(w, l); });
  put_all(w, p.transfers, [&](const Transfer& t) {
    w.text(t.name);
    w.number(t.bytes);
    w.number(t.to_device ? 1 : 0);
    w.number(t.pinned ? 1 : 0);
    w.number(static_cast<std::size_t>(t.count));
  });
  w.number(static_cast<std::size_t>(p.min_rounds));
  w.number(static_cast<std::size_t>(p.max_rounds));
  w.real(p.seconds);
}

/// An index of one of `count`, or -1 where that is allowed.
void check_index(int index, std::size_t count, bool none) {
  if (index < (none ? -1 : 0) || index >= static_cast<int>(count))
    throw LimitError(std::string("the message between kernelcast and ") + who + " names what it does not hold");
}

Phase phase_from(Reader& r) {
  Phase p;
  p.name = r.text();
  each(r, [&] { p.images.push_back(r.text()); });
  each(r, [&] {
    Buffer b;
    b.fill = static_cast<Buffer::Fill>(std::min<std::size_t>(r.number(), 3));
    b.bytes = r.number();
    b.data = r.text();
    b.stride = r.number();
    b.sequential = r.number() != 0;
    p.buffers.push_back(std::move(b));
  });
  each(r, [&] { p.launches.push_back(launch_from(r)); });
  each(r, [&] {
    Transfer t;
    t.name = r.text();
    t.bytes = r.number();
    t.to_device = r.number() != 0;
    t.pinned = r.number() != 0;
    t.count = static_cast<int>(r.number());
    p.transfers.push_back(t);
  });
  p.min_rounds = static_cast<int>(r.number());
  p.max_rounds = static_cast<int>(r.number());
  p.seconds = r.real();
  for (const PlannedLaunch& l : p.launches) {
    check_index(l.image, p.images.size(), false);
    check_index(l.clocks, p.buffers.size(), true);
    check_index(l.before, p.launches.size(), true);
    for (const Argument& a : l.arguments) check_index(a.buffer, p.buffers.size(), true);
  }
  return p;
}

void check_mark(Reader& r, const char* mark) {
  if (r.text() != mark) throw LimitError(std::string("this is no \"") + mark + "\"");
}

}  // namespace

std::string bytes_of(const Plan& plan) {
  Writer w;
  w.text(plan_mark);
  put(w, plan.info);
  put_all(w, plan.notes, [&](const std::string& s) { w.text(s); });
  put_all(w, plan.phases, [&](const Phase& p) { put(w, p); });
  return w.take();
}

Plan plan_of(std::string_view bytes) {
  Reader r(bytes, who);
  check_mark(r, plan_mark);
  Plan plan;
  plan.info = info_from(r);
  each(r, [&] { plan.notes.push_back(r.text()); });
  each(r, [&] { plan.phases.push_back(phase_from(r)); });
  return plan;
}

std::string bytes_of(const Record& record) {
  Writer w;
  w.text(record_mark);
  put(w, record.info);
  w.text(record.failure);
  w.number(record.no_device ? 1 : 0);
  put_all(w, record.notes, [&](const std::string& s) { w.text(s); });
  const auto head = [&](const auto& s) {
    w.text(s.name);
    w.text(s.failure);
    w.real(s.items);
  };
  put_all(w, record.launches, [&](const Series<Run>& s) {
    head(s);
    put_all(w, s.runs, [&](const Run& run) {
      for (double x : {run.device_s, run.wall_s, run.issue_s, run.cycles}) w.real(x);
      w.number(run.result);
    });
  });
  put_all(w, record.transfers, [&](const Series<TransferRun>& s) {
    head(s);
    put_all(w, s.runs, [&](const TransferRun& run) {
      w.real(run.done_s);
      w.real(run.issue_s);
    });
  });
  return w.take();
}

Record record_of(std::string_view bytes) {
  Reader r(bytes, who);
  check_mark(r, record_mark);
  Record record;
  record.info = info_from(r);
  record.failure = r.text();
  record.no_device = r.number() != 0;
  each(r, [&] { record.notes.push_back(r.text()); });
  const auto head = [&](auto& s) {
    s.name = r.text();
    s.failure = r.text();
    s.items = r.real();
  };
  each(r, [&] {
    Series<Run>& s = record.launches.emplace_back();
    head(s);
    each(r, [&] {
      Run& run = s.runs.emplace_back();
      for (double* x : {&run.device_s, &run.wall_s, &run.issue_s, &run.cycles}) *x = r.real();
      run.result = r.number();
    });
  });
  each(r, [&] {
    Series<TransferRun>& s = record.transfers.emplace_back();
    head(s);
    each(r, [&] {
      TransferRun& run = s.runs.emplace_back();
      run.done_s = r.real();
      run.issue_s = r.real();
    });
  });
  return record;
}

}  // namespace kernelcast::probe::cuda
