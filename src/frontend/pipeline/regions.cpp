// A debug location has line and column and, once it is inlined, the chain of calls. The outermost link in a region
// decides: what a path calls is the path's own. Code that the optimiser merged from both paths has no line and goes
// with its neighbours, as everywhere.
#include "frontend/pipeline/pipeline.h"

#include <filesystem>
#include <map>

#include "frontend/source/kernels.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

namespace fs = std::filesystem;

bool holds(const CodeRegion& r, const DILocation& at) {
  const int line = static_cast<int>(at.getLine()), column = static_cast<int>(at.getColumn());
  if (line == 0) return false;
  if (line < r.first_line || (line == r.first_line && column < r.first_column)) return false;
  return line < r.last_line || (line == r.last_line && column <= r.last_column);
}

class Marker {
 public:
  Marker(Function& kernel, const std::vector<CodeRegion>& regions) : kernel_(kernel), regions_(regions) {
    std::error_code error;
    for (const CodeRegion& r : regions) files_.push_back(fs::absolute(r.file, error).lexically_normal());
  }

  /// The location itself where no region holds it.
  DILocation* moved(DILocation* location) const {
    SmallVector<const DILocation*, 8> chain;
    for (const DILocation* at = location; at != nullptr; at = at->getInlinedAt()) chain.push_back(at);
    for (const DILocation* at : reverse(chain)) {
      for (std::size_t k = regions_.size(); k-- > 0;) {
        if (!holds(regions_[k], *at) || files_[k] != path_of(*at->getFile())) continue;
        const int line = region_line(static_cast<int>(k), static_cast<int>(at->getLine()));
        return DILocation::get(kernel_.getContext(), static_cast<unsigned>(line), at->getColumn(),
                               kernel_.getSubprogram());
      }
    }
    return location;
  }

 private:
  const fs::path& path_of(const DIFile& file) const {
    const auto [known, is_new] = paths_.try_emplace(&file);
    if (is_new) known->second = whole_path(file);
    return known->second;
  }
  Function& kernel_;
  const std::vector<CodeRegion>& regions_;
  std::vector<fs::path> files_;                      // of the regions
  mutable std::map<const DIFile*, fs::path> paths_;  // known ones
};

}  // namespace

void mark_regions(Function& kernel, const std::vector<CodeRegion>& regions) {
  if (regions.empty() || kernel.getSubprogram() == nullptr) return;
  const Marker marker(kernel, regions);
  for (Instruction& i : instructions(kernel)) {
    if (DILocation* at = i.getDebugLoc().get()) i.setDebugLoc(marker.moved(at));
    updateLoopMetadataDebugLocations(i, [&marker](Metadata* m) -> Metadata* {
      auto* at = dyn_cast_or_null<DILocation>(m);
      return at == nullptr ? m : marker.moved(at);
    });
  }
}

}  // namespace kernelcast::frontend
