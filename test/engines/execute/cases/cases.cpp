#include "engines/execute/cases/cases.h"

#include "engines/execute/cases/case_files.h"

namespace kernelcast::agreement {
std::vector<CaseFile> all_files() {
  return {{"reductions.cl", "reductions.cl", reductions},
          {"scans.cl", "scans.cl", scans},
          {"atomics.cl", "atomics.cl", atomics},
          {"graphs.cl", "graphs.cl", graphs},
          {"sorting.cl", "sorting.cl", sorting},
          {"tables.cl", "tables.cl", tables},
          {"matrices.cl", "matrices.cl", matrices},
          {"loops.cl", "loops.cl", loops},
          {"bits.cl", "bits.cl", bits},
          {"vectors.cl", "vectors.cl", vectors},
          {"memory.cl", "memory.cl", memory},
          {"math.cl", "math.cl", math},
          {"warps.cu", "warps_twin.cl", warps},
          {"converge.cl", "converge.cl", converge},
          {"divergent.cl", "divergent_rewritten.cl", divergent},
          {"divergent_rewritten.cl", "divergent.cl", divergent}};
}

}  // namespace kernelcast::agreement
