// For both: one machine block for each IR block, so that nothing merges, copies or folds blocks.
//
// For NVIDIA: sums stay in front of the guards of their stores, as NVIDIA's compiler keeps them, which predicates such
// stores; sunk behind the guards, all that they read would stay alive until then. Addresses are sunk by our own pass
// (sink_addresses() in optimize.cpp), and nothing hoists them again. ROCm is LLVM: AMD keeps LLVM's defaults.
#include "frontend/vendor_options.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "llvm/Support/CommandLine.h"

namespace kernelcast::frontend {
namespace {

struct Option {
  const char* name;
  const char* value;
  bool nvidia_only;
};
constexpr std::array<Option, 8> options{{{"disable-early-taildup", "true", false},
                                         {"disable-tail-duplicate", "true", false},
                                         {"disable-branch-fold", "true", false},
                                         {"tail-dup-placement", "false", false},
                                         {"disable-cgp-select2branch", "true", false},
                                         {"instcombine-code-sinking", "false", true},
                                         {"disable-machine-sink", "true", true},
                                         {"spec-exec-max-speculation-cost", "0", true}}};

void set_options(bool nvidia) {
  auto& known = llvm::cl::getRegisteredOptions();
  for (const Option& o : options) {
    const auto at = known.find(o.name);
    if (at == known.end()) continue;
    at->second->reset();
    if (nvidia || !o.nvidia_only) at->second->addOccurrence(0, o.name, o.value);
  }
}

std::mutex mutex;
std::condition_variable changed;
int users = 0;
bool of_nvidia = false, ever_set = false;

}  // namespace

VendorOptions::VendorOptions(bool nvidia) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [nvidia] { return users == 0 || of_nvidia == nvidia; });
  if (!ever_set || of_nvidia != nvidia) set_options(nvidia);
  ever_set = true;
  of_nvidia = nvidia;
  ++users;
}

VendorOptions::~VendorOptions() {
  const std::lock_guard<std::mutex> lock(mutex);
  --users;
  changed.notify_all();
}

}  // namespace kernelcast::frontend
