// folder: execute frontend profile
// with: engines/execute/random_source.cpp
// A random kernel of affine addresses, a random launch and memory geometry: closed forms and the execution of every
// block count the same.
#include <cstdio>
#include <cstdlib>

#include "engines/execute/both_counts.h"
#include "engines/execute/random_source.h"
#include "fuzz/drawn.h"
#include "kernelcast/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelcast;
  fuzz::Drawn drawn(data, size);
  const auto seed = drawn.value<std::uint64_t>();
  Source source;
  source.path = "random.cl";
  source.text = agreement::random_source(seed);
  FrontendOptions options;
  options.target = drawn.below(2) != 0 ? "gfx90a" : "sm_70";
  options.program = true;
  const Analysis analysis = analyze(source, options);
  if (!analysis.profile.unknowns.empty()) return 0;  // not a closed form after all
  const Launch launch = agreement::random_launch(seed + drawn.below(1000));
  const std::string text = both::differences(analysis, launch, both::geometries[drawn.below(4)]);
  if (text.empty()) return 0;
  std::fprintf(stderr, "seed %llu for %s\n%s\n%s", static_cast<unsigned long long>(seed), options.target.c_str(),
               source.text.c_str(), text.c_str());
  std::abort();
}
