// What running blocks costs the interpreter, so that a sample can be cut to a time without looking at a clock: the same
// launch gives the same sample on any machine.
#pragma once

#include <cstdint>

#include "execute/block_runner.h"

namespace kernelcast::interpreter {

/// In lanes of arithmetic instructions, of which an interpreter's thread does several hundred million a second: all
/// lanes of a warp count, active or not, memory instructions by lane and sector (more where the locality is recorded),
/// and the pages of buffers filled.
double work_of(const BlockCounts& counts, const KernelProfile& profile, int warp_size, bool locality);
double work_of_pages(std::int64_t bytes);
/// Of keeping how often each of so many words was updated by atomics.
double work_of_updated_words(std::size_t words);

}  // namespace kernelcast::interpreter
