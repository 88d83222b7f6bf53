// For both: one machine block for each IR block, so that nothing merges, copies or folds blocks.
//
// For NVIDIA: sums stay in front of the guards of their stores, as NVIDIA's compiler keeps them, which predicates such
// stores; sunk behind the guards, all that they read would stay alive until then. Addresses are sunk by our own pass
// (sink_addresses() in optimize.cpp), and nothing hoists them again. LLVM's search of machine code for common
// subexpressions is off: it moves what two guarded blocks compute in front of both, which the LLVM 7 in NVIDIA's
// compilers does not, and keeps all such values alive (1,800 guarded loads: 253 registers, 87 without, ptxas 48). Loops
// with `#pragma unroll` are unrolled up to a size of 22,000: NVRTC 11.8 unrolls 15 x 15 filters of 3,600 and 4,500
// multiply-adds and not of 5,400 (7 variants, all as here), which is 32,768 in the units of LLVM 14 to 16, where the
// same loops count 1.48 times as much as in LLVM 19. Loops whose number of trips is known only to be small are no
// exception to what is done where it is not known at all: LLVM 19 unrolls them to their bound under the pragma and
// leaves them alone without it, NVRTC 13.0 unrolls by four at run time and keeps the loop either way (16 loops of at
// most 2 to 12 trips, 24 variants of a stencil's tile).
// Without a pragma loops are unrolled whole up to a size of 405 and in part up to 202, at run time by four at most
// (tools/measure/measure_unrolling.py; what needs more than a threshold is in unrolling.cpp).
// Arrays stay in registers over a loop however often it reads and writes them: nvcc 13.0 does so with the 128
// accumulators of a wgmma that a later loop indexes (256 accesses, where LLVM gives up at 250; 129 addresses, where it
// looks at 100 before it takes an array to be known elsewhere).
// ROCm is LLVM: AMD keeps LLVM's defaults.
#include "frontend/ir/vendor_options.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "llvm/Support/CommandLine.h"

namespace kernelcast::frontend {
namespace {

struct Option {
  const char* name;
  const char* nvidia;  // value; nullptr: LLVM's own
  const char* amd;
};
constexpr std::array<Option, 16> options{{{"disable-early-taildup", "true", "true"},
                                          {"disable-tail-duplicate", "true", "true"},
                                          {"disable-branch-fold", "true", "true"},
                                          {"tail-dup-placement", "false", "false"},
                                          {"disable-cgp-select2branch", "true", "true"},
                                          {"instcombine-code-sinking", "false", nullptr},
                                          {"disable-machine-sink", "true", nullptr},
                                          {"disable-machine-cse", "true", nullptr},
                                          {"spec-exec-max-speculation-cost", "0", nullptr},
                                          {"pragma-unroll-threshold", "22000", nullptr},
                                          {"unroll-max-upperbound", "0", nullptr},
                                          {"unroll-threshold", "405", nullptr},
                                          {"unroll-partial-threshold", "202", nullptr},
                                          {"unroll-max-count", "4", nullptr},
                                          {"licm-mssa-max-acc-promotion", "2000", nullptr},
                                          {"capture-tracking-max-uses-to-explore", "2000", nullptr}}};

void set_options(bool nvidia) {
  auto& known = llvm::cl::getRegisteredOptions();
  for (const Option& o : options) {
    const auto at = known.find(o.name);
    if (at == known.end()) continue;
    at->second->reset();
    if (const char* value = nvidia ? o.nvidia : o.amd) at->second->addOccurrence(0, o.name, value);
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
