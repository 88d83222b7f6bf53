// Stands in for NVIDIA's driver library in the tests: the entry points that are used, on a scripted GPU. Memory is the
// host's; a kernel's time comes from the instructions in its PTX (or the FFMA of its cubin) and the rates below, so a
// figure is right only if the whole road from PTX to estimate is. The environment variable KERNELCAST_FAKE_CUDA scripts
// failures: "no-device", "no-driver", "refuse=TEXT" (modules that hold TEXT), "lose=KERNEL" (its launch breaks the
// context), "crash=KERNEL".
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fake_cuda.h"
#include "kernelcast/error.h"
#include "machine/sass/cubin.h"
#include "probe/cuda/driver.h"

namespace {

using namespace kernelcast::probe::cuda;
using namespace kernelcast::sass;
using namespace kernelcast::fake_cuda;

constexpr Status invalid_value = 1, not_initialized = 3, invalid_context = 201, invalid_image = 200, not_found = 500,
                 launch_failed = 719, unknown_error = 999;
constexpr int most_shared_bytes = 227 * 1024;

struct FakeModule {
  std::string image, entry;
};
struct FakeContext {
  std::map<Pointer, std::size_t> memory;  // size by address
  std::vector<std::unique_ptr<FakeModule>> modules;
  std::vector<std::unique_ptr<double>> events;
  bool lost = false;
};

bool started = false;
FakeContext* current = nullptr;
int contexts = 0, pinned = 0;
double now_s = 0;
std::uint64_t launches = 0;

std::string script() {
  const char* text = std::getenv("KERNELCAST_FAKE_CUDA");
  return text == nullptr ? "" : text;
}
bool scripted(const std::string& what, std::string_view in) {
  const std::string text = script();
  return text.starts_with(what + "=") && in.find(text.substr(what.size() + 1)) != in.npos;
}

Status usable() {
  return !started ? not_initialized : current == nullptr ? invalid_context : current->lost ? launch_failed : success;
}

/// The allocation that an address lies in; its size.
std::size_t size_at(Pointer p, std::size_t* rest = nullptr) {
  auto after = current->memory.upper_bound(p);
  if (after == current->memory.begin()) return 0;
  --after;
  if (p >= after->first + after->second) return 0;
  if (rest != nullptr) *rest = after->first + after->second - p;
  return after->second;
}

struct Call {
  std::uint64_t out = 0, data = 0, more = 0;
  std::uint32_t turns = 0, extra = 0;
  std::uint64_t blocks = 1, threads = 1;
  [[nodiscard]] double warps() const { return std::ceil(static_cast<double>(threads) / 32); }
};
struct Cost {
  double cycles = 0;    // of block 0
  double seconds = -1;  // of the whole launch; below 0: from the cycles
  std::uint64_t result = 42;
};

/// First words of the lines in the body of the timed loop.
std::vector<std::string> body(const std::string& ptx) {
  std::vector<std::string> out;
  std::istringstream lines(ptx.substr(std::min(ptx.size(), ptx.find("TURN:\n"))));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.find("sub.u32 %turn") == line.npos) {
    std::istringstream words(line);
    words >> line;
    out.push_back(line);
  }
  return out;
}

template <std::size_t n>
const Rate& rate_of(const std::array<Rate, n>& rates, const std::string& opcode) {
  for (const Rate& r : rates)
    if (opcode.starts_with(r.opcode)) return r;
  return rates.back();
}

Cost chase(const FakeModule& m, const Call& c) {
  auto* start = reinterpret_cast<std::uint64_t*>(c.data);
  const bool cached = m.image.find("ld.global.ca") != m.image.npos;
  const double bytes = static_cast<double>(size_at(c.data)) - 8;
  const double near = cached ? l1_cycles : l2_cycles, far = cached ? l2_cycles : dram_cycles;
  const std::uint64_t piece = cached ? l1_sector : l2_sector;
  std::uint64_t at = *start, last = ~std::uint64_t{0};
  Cost out;
  for (std::uint32_t i = 0; i < 8 * c.turns; ++i) {
    const bool cold = c.extra == 0;
    const bool fits = bytes <= (cached ? l1_bytes : l2_bytes);
    out.cycles += (cold ? at / piece == last : fits) ? near : !cold && cached && bytes > l2_bytes ? dram_cycles : far;
    last = at / piece;
    at = *reinterpret_cast<std::uint64_t*>(at);
  }
  out.cycles += 20;
  out.result = *start = at;
  return out;
}

Cost shared_read(const std::vector<std::string>& lines, const Call& c) {
  const bool wide = lines.front().find(".v4") != std::string::npos;
  std::map<std::uint32_t, std::map<std::uint32_t, int>> words;  // by bank
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t word = (lane * c.extra & 32767U) / shared_bank_bytes;
    ++words[word % shared_banks][word];
  }
  std::size_t passes = 1;
  for (const auto& [bank, of] : words) passes = std::max(passes, of.size());
  const double loads = static_cast<double>(lines.size()) / 2 * c.turns * c.warps();
  return {30 + loads * static_cast<double>(wide ? 4 : passes)};
}

Cost ptx(const FakeModule& m, const Call& c) {
  const std::vector<std::string> lines = body(m.image);
  const double per_turn = 9, turns = c.turns;
  if (m.entry == "empty") return {0, 2e-6};
  if (m.entry == "chase") return chase(m, c);
  if (m.entry == "shared_read") return shared_read(lines, c);
  if (m.entry == "shared_chase") return {25 + turns * (per_turn + shared_cycles * static_cast<double>(lines.size()))};
  if (m.entry == "barriers")
    return {25 + turns * (per_turn + barrier_cycles(c.warps()) * static_cast<double>(lines.size()))};
  if (m.entry == "atomic_chain")
    return {25 + turns * (per_turn + static_cast<double>(lines.size()) *
                                         (lines.front().find("shared") != std::string::npos ? atomic_shared_cycles
                                                                                            : atomic_global_cycles))};
  if (m.entry == "atomic_wide") {
    const double all = 8.0 * turns * static_cast<double>(c.blocks * c.threads);
    return {1, 3e-6 + all / (c.extra == 0 ? same_address_per_s : neighbours_per_s)};
  }
  if (m.entry == "stream") {
    const bool cached = m.image.find("ld.global.ca") != m.image.npos,
               copy = m.image.find("st.global.v4") != m.image.npos;
    const double set = 64.0 * static_cast<double>(c.blocks * c.threads) * turns, all = set * c.extra;
    if (cached) return {40 + all / l1_bytes_per_cycle};
    return {1, 3e-6 + all * (copy ? 2 : 1) / (set <= l2_bytes ? l2_bytes_per_s : dram_bytes_per_s)};
  }
  double chain = 0, wide = 0;
  for (const std::string& opcode : lines) {
    const Rate& r = rate_of(rates, opcode);
    chain += r.latency;
    wide += 1 / r.per_cycle;
  }
  if (m.entry == "chain") return {25 + turns * (per_turn + chain)};
  const double on_a_unit = static_cast<double>(c.threads * std::max<std::uint64_t>(1, c.blocks / units));
  const double cycles = 25 + turns * (per_turn + wide * on_a_unit);
  return {cycles, 2 * cycles / clock_hz + 3e-6};
}

/// FFMA of a cubin by stall, banks and reuse flags, as GH100 might do it: two banks, three distinct registers of one
/// bank take a cycle more unless a flag keeps one of them.
Cost cubin(const FakeModule& m, const Call& c) {
  const Cubin cubin(m.image, "image");
  const Cubin::Kernel& k = cubin.kernels().front();
  double issue = 0;
  bool chain = true, right = true;
  std::uint32_t before = zero_register;
  Instruction previous{};
  for (std::size_t i = 0; i < k.instructions; ++i) {
    const Instruction f = cubin.at(k, i);
    if (get(f, opcode) != ffma_registers) continue;
    const std::array<std::uint32_t, 3> sources{get(f, source_a), get(f, source_b), get(f, source_c)};
    const bool same_bank = sources[0] % 2 == sources[1] % 2 && sources[1] % 2 == sources[2] % 2;
    const bool distinct = sources[0] != sources[1] && sources[1] != sources[2] && sources[0] != sources[2];
    const std::array<std::uint32_t, 3> kept{get(previous, source_a), get(previous, source_b), get(previous, source_c)};
    bool saved = false;
    for (std::size_t s = 0; s < 3; ++s)
      if (previous.low != 0 && (get(previous, reuse) >> s & 1U) != 0 && kept[s] == sources[s]) saved = true;
    const double conflict = same_bank && distinct && !saved ? 1 : 0;
    issue += std::max<double>(get(f, stall), 1) + conflict;
    if (before != zero_register) {
      chain = chain && std::ranges::find(sources, before) != sources.end();
      if (chain && get(previous, stall) < static_cast<unsigned>(ffma_cycles)) right = false;
    }
    before = get(f, destination);
    previous = f;
  }
  // Several warps of a scheduler hide each other's stalls, but not conflicts.
  double cycles = issue;
  if (c.warps() > 4) {
    double slots = 0;
    for (std::size_t i = 0; i < k.instructions; ++i)
      if (get(cubin.at(k, i), opcode) == ffma_registers) slots += 1;
    const double conflicts = issue - [&] {
      double stalls = 0;
      for (std::size_t i = 0; i < k.instructions; ++i)
        if (get(cubin.at(k, i), opcode) == ffma_registers) stalls += std::max<double>(get(cubin.at(k, i), stall), 1);
      return stalls;
    }();
    cycles = (slots + conflicts) * c.warps() / 4;
  }
  return {25 + c.turns * (3 * std::max(1.0, c.warps() / 4) + cycles), -1, right || !chain ? 42U : 43U};
}

}  // namespace

constexpr std::size_t record_bytes = 160;
std::uint64_t flushed = 0;  // launches whose records were given
void (*give_buffer)(std::uint8_t**, std::size_t*, std::size_t*) = nullptr;
void (*take_buffer)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) = nullptr;

extern "C" {

Status cuInit(unsigned) {
  if (script() == "no-driver") return unknown_error;
  started = script() != "no-device";
  return started ? success : no_device;
}
Status cuDriverGetVersion(int* version) { return *version = 12040, success; }
Status cuDeviceGetCount(int* count) { return *count = 1, success; }
Status cuDeviceGet(DeviceHandle* device, int index) { return *device = 0, index == 0 ? success : invalid_value; }
Status cuDeviceGetName(char* name, int bytes, DeviceHandle) {
  std::strncpy(name, device_name, static_cast<std::size_t>(bytes));
  return success;
}
Status cuDeviceTotalMem_v2(std::size_t* bytes, DeviceHandle) { return *bytes = std::size_t{4} << 30, success; }
Status cuDeviceGetAttribute(int* value, int attribute, DeviceHandle) {
  const std::map<int, int> values{{10, 32},      {13, 1500000}, {16, units},
                                  {36, 2619000}, {37, 5120},    {38, static_cast<int>(l2_bytes)},
                                  {75, 9},       {76, 0}};
  const auto found = values.find(attribute);
  if (found == values.end()) return invalid_value;
  return *value = found->second, success;
}
Status cuCtxCreate_v2(Context* context, unsigned, DeviceHandle) {
  if (!started) return not_initialized;
  current = new FakeContext;
  ++contexts;
  *context = reinterpret_cast<Context>(current);
  return success;
}
Status cuCtxDestroy_v2(Context context) {
  auto* c = reinterpret_cast<FakeContext*>(context);
  for (const auto& [p, bytes] : c->memory) std::free(reinterpret_cast<void*>(p));
  delete c;
  --contexts;
  current = nullptr;
  return success;
}
Status cuCtxSynchronize() { return usable(); }
Status cuModuleLoadDataEx(Module* module, const void* image, unsigned options, int*, void** values) {
  if (const Status s = usable(); s != success) return s;
  auto m = std::make_unique<FakeModule>();
  const char* text = static_cast<const char*>(image);
  if (text[0] == 0x7f) {
    // The table of sections ends the file or is followed by program headers: 64 bytes of header say where.
    std::uint64_t at = 0;
    std::uint16_t sections = 0, programs = 0;
    std::uint64_t programs_at = 0;
    std::memcpy(&at, text + 40, 8);
    std::memcpy(&sections, text + 60, 2);
    std::memcpy(&programs_at, text + 32, 8);
    std::memcpy(&programs, text + 56, 2);
    m->image.assign(text, std::max(at + 64 * sections, programs_at + 56 * programs));
    m->entry = Cubin(m->image, "image").kernels().front().name;
  } else {
    m->image = text;
    const std::size_t name = m->image.find(".entry ");
    if (name == std::string::npos) return invalid_image;
    m->entry = m->image.substr(name + 7, m->image.find('(', name) - name - 7);
  }
  if (scripted("refuse", m->image)) {
    if (options == 2) std::strcpy(static_cast<char*>(values[0]), "ptxas error   : scripted");
    return invalid_image;
  }
  *module = reinterpret_cast<Module>(m.get());
  current->modules.push_back(std::move(m));
  return success;
}
Status cuModuleGetFunction(Function* function, Module module, const char* name) {
  auto* m = reinterpret_cast<FakeModule*>(module);
  *function = reinterpret_cast<Function>(m);
  return m->entry == name ? success : not_found;
}
Status cuFuncSetAttribute(Function, int, int value) { return value <= most_shared_bytes ? success : invalid_value; }
Status cuMemAlloc_v2(Pointer* p, std::size_t bytes) {
  if (const Status s = usable(); s != success) return s;
  *p = reinterpret_cast<Pointer>(std::malloc(bytes));
  if (*p == 0) return out_of_memory;
  current->memory[*p] = bytes;
  return success;
}
Status cuMemFree_v2(Pointer p) {
  if (current->memory.erase(p) == 0) return invalid_value;
  std::free(reinterpret_cast<void*>(p));
  return success;
}
Status cuMemHostAlloc(void** p, std::size_t bytes, unsigned) { return ++pinned, *p = std::malloc(bytes), success; }
Status cuMemFreeHost(void* p) { return --pinned, std::free(p), success; }
Status cuMemcpyHtoD_v2(Pointer to, const void* from, std::size_t bytes) {
  if (const Status s = usable(); s != success) return s;
  std::size_t rest = 0;
  if (size_at(to, &rest) == 0 || rest < bytes) return invalid_value;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return success;
}
Status cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t bytes) {
  if (const Status s = usable(); s != success) return s;
  std::size_t rest = 0;
  if (size_at(from, &rest) == 0 || rest < bytes) return invalid_value;
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return success;
}
Status cuMemcpyHtoDAsync_v2(Pointer to, const void* from, std::size_t bytes, Stream) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
Status cuMemcpyDtoHAsync_v2(void* to, Pointer from, std::size_t bytes, Stream) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
Status cuMemsetD8_v2(Pointer p, unsigned char value, std::size_t bytes) {
  std::size_t rest = 0;
  if (size_at(p, &rest) == 0 || rest < bytes) return invalid_value;
  std::memset(reinterpret_cast<void*>(p), value, bytes);
  return success;
}
Status cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned, Stream, void** values, void**) {
  if (const Status s = usable(); s != success) return s;
  auto* m = reinterpret_cast<FakeModule*>(function);
  if (m == nullptr || bx * by * bz > 1024 || bx * by * bz == 0) return invalid_value;
  if (scripted("crash", m->entry)) {
    std::signal(SIGSEGV, SIG_DFL);  // A sanitizer's handler would end the process by an exit status.
    std::raise(SIGSEGV);
  }
  if (scripted("lose", m->entry)) {
    current->lost = true;
    return success;  // as on a device: the launch is fine, what comes after it is not
  }
  Call c;
  c.blocks = std::uint64_t{gx} * gy * gz;
  c.threads = std::uint64_t{bx} * by * bz;
  const bool ours = m->image[0] == 0x7f || m->image.find("p_turns") != m->image.npos;
  Cost cost{0, 5e-6};
  if (ours || m->entry == "empty") {
    std::memcpy(&c.out, values[0], 8);
    std::memcpy(&c.data, values[1], 8);
    std::memcpy(&c.more, values[2], 8);
    std::memcpy(&c.turns, values[3], 4);
    std::memcpy(&c.extra, values[4], 4);
    if (c.data != 0 && size_at(c.data) == 0) return invalid_value;
    cost = m->image[0] == 0x7f ? cubin(*m, c) : ptx(*m, c);
  }
  // Disturbances only add time: one run in five takes up to 2 % longer.
  ++launches;
  const double noise = launches % 5 == 0 ? 1 + 0.02 * static_cast<double>(launches % 7) / 7 : 1;
  const double cycles = std::floor(cost.cycles * noise);
  now_s += cost.seconds >= 0 ? cost.seconds * noise : 2 * cycles / clock_hz + 3e-6;
  if (ours && c.out != 0) {
    std::vector<std::uint64_t> words{cost.result};
    for (int w = 0; w < static_cast<int>(c.warps()); ++w) {
      words.push_back(1000000 + static_cast<std::uint64_t>(w));
      words.push_back(1000000 + static_cast<std::uint64_t>(cycles));
    }
    std::size_t rest = 0;
    if (size_at(c.out, &rest) == 0 || rest < 8 * words.size()) return invalid_value;
    std::memcpy(reinterpret_cast<void*>(c.out), words.data(), 8 * words.size());
  }
  return success;
}
Status cuEventCreate(Event* event, unsigned) {
  if (const Status s = usable(); s != success) return s;
  current->events.push_back(std::make_unique<double>(0));
  *event = reinterpret_cast<Event>(current->events.back().get());
  return success;
}
Status cuEventRecord(Event event, Stream) {
  if (const Status s = usable(); s != success) return s;
  *reinterpret_cast<double*>(event) = now_s;
  return success;
}
Status cuEventSynchronize(Event) { return usable(); }
Status cuEventElapsedTime(float* ms, Event from, Event to) {
  *ms = static_cast<float>((*reinterpret_cast<double*>(to) - *reinterpret_cast<double*>(from)) * 1e3);
  return usable();
}
Status cuEventDestroy_v2(Event) { return success; }
Status cuGetErrorName(Status status, const char** name) {
  static const std::map<Status, const char*> names{{success, "CUDA_SUCCESS"},
                                                   {invalid_value, "CUDA_ERROR_INVALID_VALUE"},
                                                   {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {not_initialized, "CUDA_ERROR_NOT_INITIALIZED"},
                                                   {no_device, "CUDA_ERROR_NO_DEVICE"},
                                                   {invalid_image, "CUDA_ERROR_INVALID_IMAGE"},
                                                   {invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
                                                   {not_found, "CUDA_ERROR_NOT_FOUND"},
                                                   {launch_failed, "CUDA_ERROR_LAUNCH_FAILED"},
                                                   {unknown_error, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(status);
  if (found == names.end()) return invalid_value;
  return *name = found->second, success;
}

// CUPTI: a record for each launch since the last flush, with durations of 7 us.
int cuptiActivityRegisterCallbacks(void (*give)(std::uint8_t**, std::size_t*, std::size_t*),
                                   void (*take)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t)) {
  return give_buffer = give, take_buffer = take, 0;
}
int cuptiActivityEnable(int kind) { return kind == 10 ? 0 : 1; }
int cuptiActivityDisable(int) { return 0; }
int cuptiActivityFlushAll(std::uint32_t) {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, most = 0;
  give_buffer(&buffer, &bytes, &most);
  const std::size_t count = std::min(bytes / record_bytes, std::size_t{launches - flushed});
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t* record = buffer + i * record_bytes;
    std::memset(record, 0, record_bytes);
    const std::int32_t kind = 10;
    const std::uint64_t start = 1000000 + 100000 * (flushed + i), end = start + 7000;
    std::memcpy(record, &kind, sizeof kind);
    std::memcpy(record + 16, &start, sizeof start);
    std::memcpy(record + 24, &end, sizeof end);
  }
  flushed = launches;
  take_buffer(nullptr, 0, buffer, bytes, count * record_bytes);
  return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t used, void** record) {
  auto* next = *record == nullptr ? buffer : static_cast<std::uint8_t*>(*record) + record_bytes;
  if (next + record_bytes > buffer + used) return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
  return *record = next, 0;
}

/// Contexts and pinned pieces that were not given back.
int fake_cuda_left_over() { return contexts + pinned; }

}  // extern "C"
