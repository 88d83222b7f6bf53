// Mathematical functions that have no instruction of their own: their names in every dialect, and what they cost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

/// The OpenCL name of a mathematical function whose cost kernelcast knows or that is one instruction ("exp",
/// "native_exp", "fma"), from the symbol of an undefined function: OpenCL's and CUDA's mangling (`_Z3expf`,
/// `_Z6__expff`), C (`expf`, `exp`), libdevice (`__nv_expf`, `__nv_fast_expf`) and OCML (`__ocml_exp_f32`).
std::optional<std::string> math_function(std::string_view symbol);

/// True when `symbol` needs no body: generate_target_code() makes an instruction or a costed pseudo instruction of it.
bool is_costed_function(const std::string& symbol);

/// A function's body where NVIDIA's compilers put it in place of the call, before they unroll loops.
struct MathBody {
  unsigned instructions = 1;  // as LLVM's cost model counts them
  bool loops = false;
};

/// Of `name`, as math_function() gives it, for double or float. `fast`: under -use_fast_math. One instruction where
/// libdevice has no such function.
MathBody math_body(const std::string& name, bool is_double, bool fast);

/// Measured costs (measured_costs.inc) of PTX operations that ptxas expands ("div.rn.f32") and of functions
/// ("exp.f32"; with ".fast" behind it: as -use_fast_math compiles it), on the main path, in instructions of a lane.
std::optional<OpCounts> nvidia_cost(const std::string& key, int sm);
std::optional<OpCounts> amd_cost(const std::string& key);

/// Cost of the pseudo instruction `kc.math KEY, results and arguments...` that stands for a function in the assembly;
/// KEY may end in "xN" for N lanes of a vector.
Cost math_pseudo_cost(const std::vector<std::string_view>& operands, bool nvidia, int sm);

}  // namespace kernelcast::frontend
