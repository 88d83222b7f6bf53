// What the elements of a buffer are: from the parameter's type as source or symbol have it, else from what the code
// loads and stores there.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "execute/fill.h"
#include "kernelcast/profile.h"

namespace kernelcast::interpreter {

struct Element {
  ElementType type;
  int bytes = 4;  // of one element: a vector's whole size
};

/// Of a pointer type as CUDA C++ or OpenCL C writes it: "const float4*", "__global unsigned char *", "uint32_t*".
/// Nothing for types that name no arithmetic type (structures, "void*", "ptr").
std::optional<Element> pointee_of(std::string_view type);

/// The parameter types of a mangled C++ symbol, outermost commas only; empty when it is not one.
std::vector<std::string> parameter_types(const std::string& symbol);

/// For every buffer of the profile. What nothing tells is taken as an integer of `Parameter::bytes`, or of 4 bytes, and
/// is not `known`.
std::vector<Element> elements_of(const KernelProfile& profile, const Program& program);

}  // namespace kernelcast::interpreter
