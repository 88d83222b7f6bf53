// Fields as in wire.h.
#include "probe/opencl_wire.h"

#include "io/process.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "probe/wire.h"

namespace kernelcast::probe {
namespace {

void put(Writer& w, const OpenclLaunch& l) {
  w.text(l.source);
  w.text(l.options);
  w.text(l.kernel);
  for (const std::size_t n : l.grid) w.number(n);
  for (const std::size_t n : l.block) w.number(n);
  w.number(l.arguments.size());
  for (const OpenclArgument& a : l.arguments) {
    w.number(static_cast<std::size_t>(a.kind));
    w.number(a.bytes);
    w.text({reinterpret_cast<const char*>(a.value.data()), a.value.size()});
    w.number(a.real ? 1 : 0);
    w.number(a.walk ? 1 : 0);
  }
}

OpenclLaunch launch_from(Reader& r) {
  OpenclLaunch l;
  l.source = r.text();
  l.options = r.text();
  l.kernel = r.text();
  for (std::size_t& n : l.grid) n = r.number();
  for (std::size_t& n : l.block) n = r.number();
  for (std::size_t left = r.number(); left > 0; --left) {
    OpenclArgument a;
    a.kind = static_cast<OpenclArgument::Kind>(std::min<std::size_t>(r.number(), 2));
    a.bytes = r.number();
    const std::string value = r.text();
    a.value.assign(value.begin(), value.end());
    a.real = r.number() != 0;
    a.walk = r.number() != 0;
    l.arguments.push_back(std::move(a));
  }
  return l;
}

}  // namespace

std::string bytes_of(const OpenclLaunch& l) {
  Writer w;
  put(w, l);
  return w.take();
}

OpenclLaunch launch_of(std::string_view bytes) {
  Reader r(bytes);
  return launch_from(r);
}

std::string bytes_of(const OpenclBatch& batch) {
  Writer w;
  w.number(batch.launches.size());
  for (const OpenclLaunch& l : batch.launches) put(w, l);
  w.number(batch.transfers.size());
  for (const OpenclBatch::Transfer& t : batch.transfers) {
    w.number(t.bytes);
    w.number(t.to_device ? 1 : 0);
    w.number(static_cast<std::size_t>(t.count));
  }
  w.number(static_cast<std::size_t>(batch.clock + 1));
  w.number(static_cast<std::size_t>(batch.min_rounds));
  w.number(static_cast<std::size_t>(batch.max_rounds));
  w.real(batch.seconds);
  return w.take();
}

OpenclBatch batch_of(std::string_view bytes) {
  Reader r(bytes);
  OpenclBatch out;
  for (std::size_t left = r.number(); left > 0; --left) out.launches.push_back(launch_from(r));
  for (std::size_t left = r.number(); left > 0; --left) {
    OpenclBatch::Transfer t;
    t.bytes = r.number();
    t.to_device = r.number() != 0;
    t.count = static_cast<int>(r.number());
    out.transfers.push_back(t);
  }
  out.clock = static_cast<int>(r.number()) - 1;
  out.min_rounds = static_cast<int>(r.number());
  out.max_rounds = static_cast<int>(r.number());
  out.seconds = r.real();
  return out;
}

std::string bytes_of(const OpenclBatchReply& reply) {
  Writer w;
  w.text(reply.failure);
  w.number(reply.no_device ? 1 : 0);
  w.text(reply.info.name);
  w.number(reply.info.cpu ? 1 : 0);
  w.number(reply.info.doubles ? 1 : 0);
  for (const double x :
       {reply.info.units, reply.info.clock_hz, reply.info.memory_bytes, reply.info.largest_buffer_bytes})
    w.real(x);
  w.number(reply.launches.size());
  for (std::size_t i = 0; i < reply.launches.size(); ++i) {
    w.text(reply.failures[i]);
    w.number(reply.launches[i].size());
    for (const OpenclSeconds& s : reply.launches[i]) {
      w.real(s.device_s);
      w.real(s.wall_s);
      w.real(s.beside_s);
    }
  }
  w.number(reply.transfers.size());
  for (const auto& rounds : reply.transfers) {
    w.number(rounds.size());
    for (const OpenclRunner::Transfer& t : rounds) {
      w.real(t.done_s);
      w.real(t.started_s);
    }
  }
  return w.take();
}

OpenclBatchReply batch_reply_of(std::string_view bytes) {
  Reader r(bytes);
  OpenclBatchReply reply;
  reply.failure = r.text();
  reply.no_device = r.number() != 0;
  reply.info.name = r.text();
  reply.info.cpu = r.number() != 0;
  reply.info.doubles = r.number() != 0;
  for (double* x :
       {&reply.info.units, &reply.info.clock_hz, &reply.info.memory_bytes, &reply.info.largest_buffer_bytes})
    *x = r.real();
  for (std::size_t left = r.number(); left > 0; --left) {
    reply.failures.push_back(r.text());
    reply.launches.emplace_back();
    for (std::size_t rounds = r.number(); rounds > 0; --rounds) {
      const double device = r.real(), wall = r.real();
      reply.launches.back().push_back({device, wall, r.real()});
    }
  }
  for (std::size_t left = r.number(); left > 0; --left) {
    reply.transfers.emplace_back();
    for (std::size_t rounds = r.number(); rounds > 0; --rounds) {
      const double done = r.real();
      reply.transfers.back().push_back({done, r.real()});
    }
  }
  return reply;
}

OpenclBatchReply run_batch_in_process(const std::string& runner, const OpenclBatch& batch, double seconds) {
  OpenclBatchReply reply;
  try {
    TemporaryFolder folder("kernelcast-opencl");
    const std::string request = folder.file("request"), answer = folder.file("reply");
    write_text_file(request, bytes_of(batch));
    reply.failure = run_process({runner, "batch", request, answer}, seconds, "the OpenCL driver").failure;
    if (reply.failure.empty()) reply = batch_reply_of(read_text_file(answer));
  } catch (const Error& e) {
    reply.failure = message_of(e);
  }
  return reply;
}

std::string bytes_of(const OpenclReply& reply) {
  Writer w;
  w.text(reply.device);
  w.text(reply.failure);
  w.number(reply.no_device ? 1 : 0);
  w.real(reply.timing.median_s);
  w.real(reply.timing.fastest_s);
  w.real(reply.timing.slowest_s);
  w.number(static_cast<std::size_t>(reply.timing.runs));
  return w.take();
}

OpenclReply reply_of(std::string_view bytes) {
  Reader r(bytes);
  OpenclReply reply;
  reply.device = r.text();
  reply.failure = r.text();
  reply.no_device = r.number() != 0;
  reply.timing.median_s = r.real();
  reply.timing.fastest_s = r.real();
  reply.timing.slowest_s = r.real();
  reply.timing.runs = static_cast<int>(r.number());
  return reply;
}

OpenclReply run_in_process(const std::string& runner, const OpenclLaunch& launch, double seconds) {
  OpenclReply reply;
  try {
    TemporaryFolder folder("kernelcast-opencl");
    const std::string request = folder.file("request"), answer = folder.file("reply");
    write_text_file(request, bytes_of(launch));
    reply.failure = run_process({runner, "launch", request, answer}, seconds, "the OpenCL driver").failure;
    if (reply.failure.empty()) reply = reply_of(read_text_file(answer));
  } catch (const Error& e) {
    reply.failure = message_of(e);
  }
  return reply;
}

}  // namespace kernelcast::probe
