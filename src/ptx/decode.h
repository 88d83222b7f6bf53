// The modifiers of an instruction as typed fields.
#pragma once

#include "ptx/module.h"

namespace kernelcast::ptx {

/// Splits `text` ("ld.global.nc.v4.f32") into opcode and modifiers and sets the fields that follow from them.
/// The instruction views `text`.
Instruction decode(std::string_view text);

}  // namespace kernelcast::ptx
