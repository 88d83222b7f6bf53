// Numbers for people: SI inside, scaled only here.
#pragma once

#include <string>

#include "kernelcast/launch.h"

namespace kernelcast::report {

std::string time_text(double seconds);   // "12.3 ms"
std::string bytes_text(double bytes);    // "2048 bytes", "4.19 MB": powers of ten
std::string count_text(double n);        // "1048576", "2.15e+09"
std::string percent_text(double share);  // 0.753 -> "75.3 %"
std::string dim_text(const Dim3& d);     // "64 x 16", trailing ones left out

}  // namespace kernelcast::report
