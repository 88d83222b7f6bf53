// Names of devices without what people spell differently.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast {

/// How much of a name counts.
enum class Spelling {
  whole,          // all letters and digits
  without_maker,  // leading "NVIDIA", "AMD", "ATI", "Intel" dropped
  without_line,   // leading words of product lines dropped too: "GeForce", "Radeon", "Tesla", "Quadro", "Instinct", ...
};

/// Lower-case letters and digits of a name, without "(R)" and "(TM)": "GeForce(R) RTX 3080" -> "geforcertx3080", and
/// without_line "rtx3080". Words that tell devices apart (GTX, RTX, RX, HD, Titan) stay, and a name of nothing but
/// makers' words keeps its last one.
std::string device_key(std::string_view name, Spelling spelling = Spelling::whole);

}  // namespace kernelcast
