// A small profile by hand, for tests of what comes after the front end: out[i] = in[i] for i < n, then a loop of
// `rounds` trips over a shared array with a stride that conflicts.
#pragma once

#include "kernelcast/profile.h"

namespace kernelcast::test {

inline KernelProfile copy_profile() {
  KernelProfile p;
  p.kernel = "copy";
  p.target = "sm_70";
  p.files = {"copy.cl"};
  p.parameters = {{"in", "float*", true, false, false, 4},
                  {"out", "float*", true, false, false, 4},
                  {"n", "int", false, true, true, 4},
                  {"rounds", "int", false, true, true, 4}};
  p.buffers = {{"in", MemorySpace::global, -1, 256, 0},
               {"out", MemorySpace::global, -1, 256, 1},
               {"part", MemorySpace::shared, 8192, 256, -1}};
  const Expr id = Expr(local_size(0)) * Expr(group_id(0)) + Expr(local_id(0));
  const Expr inside = less(id, Expr(argument("n")));

  Block copy;
  copy.name = "copy";
  copy.line = {0, 2};
  copy.guard.paths[0].condition = inside;
  OpCounts index, moves;
  index[OpClass::int_mad] = 2;
  moves[OpClass::global_load] = 1;
  moves[OpClass::global_store] = 1;
  copy.lines = {{{0, 2}, index}, {{0, 3}, moves}};
  copy.ops = index;
  copy.ops += moves;
  Access load;
  load.buffer = 0;
  load.offset = 4 * id;
  load.line = {0, 3};
  Access store = load;
  store.kind = AccessKind::store;
  store.buffer = 1;
  copy.accesses = {load, store};

  Loop loop;
  loop.counter = Symbol("round");
  loop.trips = Expr(argument("rounds"));
  loop.line = {0, 4};
  p.loops = {loop};

  Block body;
  body.name = "body";
  body.loop = 0;
  body.line = {0, 5};
  body.ops[OpClass::shared_load] = 1;
  body.lines = {{{0, 5}, body.ops}};
  Access part;
  part.space = MemorySpace::shared;
  part.buffer = 2;
  part.offset = 8 * Expr(local_id(0));
  part.line = {0, 5};
  body.accesses = {part};

  p.blocks = {copy, body};
  Branch branch;
  branch.verdict = Branch::Verdict::divergent;
  branch.reason = "depends on lid.x";
  branch.block = 0;
  branch.condition = inside;
  branch.line = {0, 2};
  p.branches = {branch};
  p.registers = {8, 6, 10, "max-live estimate", 0};
  p.static_shared_bytes = 8192;
  return p;
}

}  // namespace kernelcast::test
