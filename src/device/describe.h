// Numbers as people read them, for the `why` sentences of bounds and for messages.
#pragma once

#include <functional>
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

/// What matrix instructions multiply, type by type, at `peak` operations a second: "550 GFLOP of FP64 products at
/// 1.29 TFLOP/s".
std::string products(const TensorOps& ops, const std::function<double(TensorType)>& peak);
/// The first type that is multiplied and that the device has not, or has no rate for; empty: none.
std::string missing_tensor_rate(const TensorOps& ops, const Device& device);

}  // namespace kernelcast::describe
