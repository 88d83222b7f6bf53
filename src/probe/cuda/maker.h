// A phase under construction.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "probe/cuda/make_plan.h"

namespace kernelcast::probe::cuda {

/// A phase under construction; images that are alike are held once.
class Maker {
 public:
  Maker(const Info& info, std::string name) : info_(info) {
    phase_.name = std::move(name);
    out_ = buffer({Buffer::Fill::zero, 8 * (1 + 2 * 32)});
  }
  [[nodiscard]] int out() const { return out_; }

  int buffer(Buffer b) {
    phase_.buffers.push_back(std::move(b));
    return static_cast<int>(phase_.buffers.size()) - 1;
  }
  int image(const std::string& text) {
    const auto found = std::ranges::find(phase_.images, text);
    if (found != phase_.images.end()) return static_cast<int>(found - phase_.images.begin());
    phase_.images.push_back(text);
    return static_cast<int>(phase_.images.size()) - 1;
  }
  PlannedLaunch& launch(const std::string& name, const std::string& kernel, const std::string& text, OurArguments a,
                        unsigned blocks, unsigned threads, double items) {
    a.out = out_;
    PlannedLaunch l;
    l.name = name;
    l.kernel = kernel;
    l.image = image(text);
    l.grid[0] = blocks;
    l.block[0] = threads;
    l.arguments = arguments_of(a);
    l.clocks = out_;
    l.items = items;
    phase_.launches.push_back(std::move(l));
    return phase_.launches.back();
  }
  int last() const { return static_cast<int>(phase_.launches.size()) - 1; }
  [[nodiscard]] unsigned units() const { return static_cast<unsigned>(std::max(1, info_.units)); }
  Phase take() { return std::move(phase_); }
  Phase& phase() { return phase_; }

 private:
  const Info& info_;
  Phase phase_;
  int out_ = 0;
};

}  // namespace kernelcast::probe::cuda
