// What a loop that is too long to evaluate would have written, from what it has.
#pragma once

#include <memory>

#include "frontend/host/host_value.h"

namespace kernelcast::frontend::host {

/// Elements from the first on, as many as are written without a gap and are numbers; null: they are few, not finite, or
/// what follows is likely to be other: numbers that rise, fall or drift unevenly. `flat`: no other loop stands in this
/// one or around it, so what rises will go on.
std::shared_ptr<const Sample> sample_of(const Memory& memory, int line, std::int64_t loop, bool flat);

}  // namespace kernelcast::frontend::host
