// Numbers as people read them, for the `why` sentences of bounds and for messages.
#pragma once

#include <string>

#include "kernelcast/device.h"

namespace kernelcast::describe {

/// Four significant digits, no exponent where it can be avoided: "1092", "0.1875", "3.142e-09".
std::string number(double value);
/// With an SI prefix: si(1.417e11, "B/s") == "141.7 GB/s".
std::string si(double value, const char* unit);
/// "memory.l2_bytes".
std::string key_of(Field field);
/// "memory.l2_bytes in FILE": what a person sets to replace or supply a number of a device.
std::string where_to_set(const Device& device, const char* key);

}  // namespace kernelcast::describe
