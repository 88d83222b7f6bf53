// Hand-made profiles of well-known kernels, as a front end would deliver them.
#pragma once

#include "kernelcast/profile.h"

namespace kernelcast::kernels {

struct Case {
  std::string name;
  KernelProfile profile;
  std::vector<Launch> launches;
};

/// Builds profiles from short parts.
class Builder {
 public:
  explicit Builder(std::string name);
  Builder& scalar(const std::string& name);
  int buffer(const std::string& name, MemorySpace space = MemorySpace::global);
  int loop(const Expr& trips, int parent = -1, Guard guard = {});
  int unknown_loop(double trips, int parent = -1, Guard guard = {});
  int unknown(Unknown::Kind kind, double value, bool uniform = false);
  int block(int loop = -1, Guard guard = {});
  Access& access(int block, int buffer, const Expr& offset, AccessKind kind = AccessKind::load, int bytes = 4);
  void branch(int block, const Expr& condition);
  void branch_unknown(int block, int unknown);
  [[nodiscard]] Expr counter(int loop) const { return Expr(p_.loops[loop].counter); }
  Block& at(int block) { return p_.blocks[block]; }
  KernelProfile take() { return std::move(p_); }

 private:
  KernelProfile p_;
};

Guard when(const Expr& condition);
Expr lid(int axis);
Expr wg(int axis);
Expr lsz(int axis);
Expr nwg(int axis);
Expr gid(int axis);
Expr arg(const std::string& name);
Launch launch(Dim3 grid, Dim3 block, std::map<std::string, ArgValue> args = {});

KernelProfile vector_add();
KernelProfile matmul_naive();
/// C = A * B with tiles of `tile` x `tile` in shared memory and guarded loads.
KernelProfile matmul_tiled(int tile);
/// Every example with a few small launches.
std::vector<Case> all_cases();

}  // namespace kernelcast::kernels
