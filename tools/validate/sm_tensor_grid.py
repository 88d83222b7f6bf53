#!/usr/bin/env python3
"""Matrix products in a grid of stages, tiles, warps and types: time by the model `sm` over time by `kernelcast`.

  tools/validate/sm_tensor_grid.py [--kernelcast build/bin/kernelcast] [-o cells.csv]

Each cell is a kernel made from one of two templates: mma.sync fed by cp.async, and wgmma fed by copies in bulk (one warp
copies, or thread 0 of the warps that multiply does). Prints Markdown: a row for each GPU, type, tile and number of warps,
a column for each number of stages; and how many cells differ by more than 25 %.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile

MMA = {
    "f16": ("float", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f", 2),
    "tf32": ("float", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f", 4),
    "s8": ("int", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "r", 1),
}

WARPS = r"""
#include <stdint.h>
// Rows of 64 bytes of K, whatever the type: a fragment of 32 bytes is one product.
__device__ __forceinline__ uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void* s, const void* g) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(s)), "l"(g));
}
extern "C" __global__ void product(const char* A, const char* B, ACC* C, int K, int N) {
  constexpr int row = 64, threads = (BM / WM) * (BN / WN) * 32;
  extern __shared__ char smem[];
  char *sa = smem, *sb = smem + STAGES * BM * row;
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, wm = warp % (BM / WM), wn = warp / (BM / WM);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN * K;
  auto load = [&](int stage, int k) {
#pragma unroll
    for (int i = 0; i < BM * 4 / threads; ++i) {
      const int v = tid + i * threads, r = v / 4, c = v % 4;
      copy16(sa + stage * BM * row + r * row + (c ^ ((r >> 1) & 3)) * 16, A + r * K + k * row + c * 16);
    }
#pragma unroll
    for (int i = 0; i < BN * 4 / threads; ++i) {
      const int v = tid + i * threads, r = v / 4, c = v % 4;
      copy16(sb + stage * BN * row + r * row + (c ^ ((r >> 1) & 3)) * 16, B + r * K + k * row + c * 16);
    }
  };
  ACC acc[WM / 16][WN / 8][4] = {};
  const int steps = K / row;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    load(s, s);
    asm volatile("cp.async.commit_group;");
  }
  for (int k = 0; k < steps; ++k) {
    const int next = k + STAGES - 1;
    if (next < steps) load(next % STAGES, next);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1));
    __syncthreads();
    const int st = k % STAGES;
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      uint32_t a[WM / 16][4], b[WN / 8][2];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
        const int r = wm * WM + i * 16 + lane % 16, c = kk * 2 + lane / 16;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                     : "r"(at(sa + st * BM * row + r * row + (c ^ ((r >> 1) & 3)) * 16)));
      }
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {
        const int r = wn * WN + j * 16 + lane % 16, c = kk * 2 + lane / 16;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(b[2 * j][0]), "=r"(b[2 * j + 1][0]), "=r"(b[2 * j][1]), "=r"(b[2 * j + 1][1])
                     : "r"(at(sb + st * BN * row + r * row + (c ^ ((r >> 1) & 3)) * 16)));
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < WN / 8; ++j)
          asm volatile(OPCODE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                       : "+CONSTRAINT"(acc[i][j][0]), "+CONSTRAINT"(acc[i][j][1]), "+CONSTRAINT"(acc[i][j][2]),
                         "+CONSTRAINT"(acc[i][j][3])
                       : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int r = blockIdx.y * BM + wm * WM + i * 16 + lane / 4 + e / 2 * 8;
        C[r * N + blockIdx.x * BN + wn * WN + j * 8 + lane % 4 * 2 + e % 2] = acc[i][j][e];
      }
}
"""

GROUPS = r"""
#include <stdint.h>
__device__ __forceinline__ uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy(void* s, const void* g, uint32_t bytes, uint64_t* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(s)),
               "l"(g), "r"(bytes), "r"(at(bar)) : "memory");
}
__device__ __forceinline__ void wait(uint64_t* bar, uint32_t phase) {
  uint32_t done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(bar)), "r"(phase) : "memory");
  } while (!done);
}
__device__ __forceinline__ void expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory");
}
__device__ __forceinline__ uint64_t descriptor(const void* p) {
  return (uint64_t)((at(p) & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
__device__ __forceinline__ void multiply(float (&d)[BN / 2], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64nNNNk16.f32.f16.f16 {REGISTERS}, %A, %B, 1, 1, 1, 0, 0;"
               : OUTPUTS : "l"(a), "l"(b));
}
// Tiles of 64 columns of K lie packed in memory, so that one copy brings each.
extern "C" __global__ void __launch_bounds__(THREADS) product(const char* A, const char* B, float* C, int K, int N) {
  constexpr int row = 128;
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
  char *sa = smem, *sb = smem + STAGES * BM * row;
  const int tid = threadIdx.x, steps = K / row;
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN * K;
  if (tid == 0)
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&full[s])), "r"(1));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&empty[s])), "r"(BM / 64));
    }
  __syncthreads();
  auto fill = [&](int k) {
    const int s = k % STAGES;
    expect(&full[s], (BM + BN) * row);
    copy(sa + s * BM * row, A + k * BM * row, BM * row, &full[s]);
    copy(sb + s * BN * row, B + k * BN * row, BN * row, &full[s]);
  };
  float d[BN / 2] = {};
  const int group = ROLES ? tid / 128 - 1 : tid / 128;
  auto step = [&](int k) {
    const int s = k % STAGES;
    wait(&full[s], k / STAGES & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int kk = 0; kk < 4; ++kk)
      multiply(d, descriptor(sa + s * BM * row + group * 64 * row + kk * 32), descriptor(sb + s * BN * row + kk * 32));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  };
#if ROLES
  if (tid < 128) {
    if (tid == 0)
      for (int k = 0; k < steps; ++k) {
        wait(&empty[k % STAGES], (k / STAGES & 1) ^ 1);
        fill(k);
      }
    return;
  }
  for (int k = 0; k < steps; ++k) {
    step(k);
    if (tid % 128 == 0) arrive(&empty[k % STAGES]);
  }
#else
  if (tid == 0)
    for (int k = 0; k < STAGES; ++k) fill(k);
  for (int k = 0; k < steps; ++k) {
    step(k);
    __syncthreads();
    if (tid == 0 && k + STAGES < steps) fill(k + STAGES);
  }
#endif
  const int lane = tid % 32, warp = tid / 32 % 4;
#pragma unroll
  for (int j = 0; j < BN / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      C[(blockIdx.y * BM + group * 64 + warp * 16 + lane / 4 + e / 2 * 8) * N + blockIdx.x * BN + j * 8 + lane % 4 * 2 +
        e % 2] = d[j * 4 + e];
}
"""


def warps_kernel(kind, stages, tile, warp_tile):
    acc, opcode, constraint, size = MMA[kind]
    bm, bn = tile
    wm, wn = warp_tile
    head = "".join(f"#define {k} {v}\n" for k, v in dict(ACC=acc, STAGES=stages, BM=bm, BN=bn, WM=wm, WN=wn).items())
    text = head + WARPS.replace("OPCODE", f'"{opcode}"').replace("+CONSTRAINT", "+" + constraint)
    warps = bm // wm * (bn // wn)
    return text, warps, stages * (bm + bn) * 64, 4096 * size


def groups_kernel(roles, stages, tile):
    bm, bn = tile
    warps = bm // 16 + (4 if roles else 0)
    n = bn // 2
    text = (GROUPS.replace("NNN", str(bn)).replace("REGISTERS", ",".join(f"%{i}" for i in range(n)))
            .replace("%A", f"%{n}").replace("%B", f"%{n + 1}")
            .replace("OUTPUTS", ", ".join(f'"+f"(d[{i}])' for i in range(n))))
    head = "".join(f"#define {k} {v}\n"
                   for k, v in dict(ROLES=int(roles), STAGES=stages, BM=bm, BN=bn, THREADS=warps * 32).items())
    return head + text, warps, stages * (bm + bn) * 128, 8192


def cells():
    for kind in MMA:
        for tile, warp_tiles in (((64, 64), ((32, 32), (32, 64))), ((128, 128), ((64, 32), (64, 64)))):
            for warp_tile in warp_tiles:
                for stages in (1, 2, 3, 4):
                    kernel = warps_kernel(kind, stages, tile, warp_tile)
                    yield kind, tile, stages, kernel, ("a100-sxm4-80gb", "rtx3080", "rtx4090", "h100-sxm")
    for roles in (False, True):
        for tile in ((64, 128), (128, 128), (128, 256)):
            for stages in (1, 2, 3, 4):
                kind = "wgmma f16, " + ("a warp copies" if roles else "thread 0 copies")
                yield kind, tile, stages, groups_kernel(roles, stages, tile), ("h100-sxm",)


def run(program, cell):
    kind, tile, stages, (text, warps, shared, k), devices = cell
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as f:
        f.write(text)
        f.flush()
        command = [program, "predict", f.name, "--kernel", "product", "--device", ",".join(devices),
                   "--grid", f"{4096 // tile[1]},{4096 // tile[0]}", "--block", str(warps * 32), "--shared", str(shared),
                   "--arg", f"K={k}", "--arg", "N=4096", "--model", "sm,kernelcast", "--format", "json"]
        for name in "ABC":
            command += ["--buffer", f"{name}={4096 * k if name != 'C' else 4096 * 4096}"]
        done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        print(done.stderr, file=sys.stderr)
        return []
    times = {}
    for p in json.loads(done.stdout)["predictions"]:
        times.setdefault(p["device"], {})[p["model"]] = p
    out = []
    for device in times:
        sm, closed = times[device]["sm"], times[device]["kernelcast"]
        out.append(dict(gpu=device, type=kind, tile=f"{tile[0]}x{tile[1]}", warps=warps, stages=stages,
                        sm_s=sm["time_s"], kernelcast_s=closed["time_s"],
                        ratio=sm["time_s"] / closed["time_s"] if sm["time_s"] else None, sm_limiter=sm["limiter"],
                        kernelcast_limiter=closed["limiter"], reason="" if sm["time_s"] else sm.get("reason", "")))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelcast", default="build/bin/kernelcast")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-o", help="write the cells as CSV")
    args = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = [row for part in pool.map(lambda c: run(args.kernelcast, c), cells()) for row in part]
    rows.sort(key=lambda r: (r["gpu"], r["type"], r["tile"], r["warps"], r["stages"]))
    if args.o:
        with open(args.o, "w", newline="") as f:
            writer = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print("| GPU | type | tile | warps | 1 stage | 2 | 3 | 4 |\n|---|---|---|---:|---:|---:|---:|---:|")
    lines = {}
    for r in rows:
        lines.setdefault((r["gpu"], r["type"], r["tile"], r["warps"]), {})[r["stages"]] = r["ratio"]
    for key, by_stages in lines.items():
        values = [by_stages.get(s) for s in (1, 2, 3, 4)]
        print("| " + " | ".join(map(str, key)) + " | " + " | ".join("-" if v is None else f"{v:.2f}" for v in values) + " |")
    known = [r["ratio"] for r in rows if r["ratio"]]
    differ = [v for v in known if not 0.75 <= v <= 1.25]
    print(f"\n{len(known)} cells with both times of {len(rows)}; {len(differ)} differ by more than 25 %")


if __name__ == "__main__":
    main()
