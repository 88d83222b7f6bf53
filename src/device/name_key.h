// Names of devices without what people spell differently.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast {

/// How much of a name counts.
enum class Spelling {
  whole,          // all letters and digits
  without_maker,  // leading "NVIDIA", "AMD", "ATI", "Intel" dropped
  without_line,  // words of product lines dropped too: leading "GeForce", "Radeon", "Tesla", ..., trailing "GPU", "CPU"
  number,        // leading "GTX", "RTX", "GT", "RX", "HD" dropped too: "3060ti"
};

/// Lower-case letters and digits of a name, without "(R)", "(TM)" and a clock ("@ 2.50GHz"): "GeForce(R) RTX 3080" ->
/// "geforcertx3080", without_line "rtx3080". A name of nothing but words to drop keeps its last one.
std::string device_key(std::string_view name, Spelling spelling = Spelling::whole);

}  // namespace kernelcast
