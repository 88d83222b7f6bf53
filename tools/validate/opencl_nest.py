"""An OpenCL kernel as what a runtime for CPUs makes of it: a loop nest over groups, which threads share, and work-items.

Barriers and the loop over work-items are marked by calls: kernelcast runs what stands between two barriers in a loop of
its own, as such runtimes do. The nest is for counting what runs, not for running it.
"""

import re

PRELUDE = """#include <stddef.h>
#pragma clang diagnostic ignored "-Wignored-attributes"
#define __kernel
#define kernel
#define __global
#ifdef __x86_64__
#define __local __attribute__((annotate("kc_local")))
#else
#define __local
#endif
#define __private
#define __constant const
#define uchar unsigned char
#define uint unsigned int
#define bool _Bool
#define true 1
#define false 0
#define barrier(fences) kc_barrier()
extern void kc_barrier(void);
extern void kc_work_item(void);
struct kc_item { size_t global[3], local[3], group[3], groups[3], size[3]; };
extern const struct kc_item kc_item;
#define get_global_id(d) (kc_item.global[d])
#define get_local_id(d) (kc_item.local[d])
#define get_group_id(d) (kc_item.group[d])
#define get_num_groups(d) (kc_item.groups[d])
#define get_local_size(d) (kc_item.size[d])
#define get_global_size(d) (kc_item.groups[d] * kc_item.size[d])
"""


class NoKernel(Exception):
    pass


def three(sizes):
    return (list(sizes) + [1, 1])[:3]


def parameters_of(source, kernel):
    """(start of the declaration, start of the parameters, their text) of `void KERNEL(...)`."""
    found = re.search(rf"(__kernel\s+void|void\s+__kernel)\s+{kernel}\s*\(", source)
    if not found:
        raise NoKernel(f"no kernel '{kernel}' in the source")
    depth, end = 1, found.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(source[end], 0)
        end += 1
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", source[found.end() : end - 1], flags=re.S)
    return found.start(), found.end(), " ".join(text.split())


def nest(source, kernel, block, grid):
    """C source: the kernel as a function of one work-item, and a function of the kernel's name that runs all of them. It
    has the kernel's parameters and kc_gx, kc_gy, kc_gz, the number of groups. Threads share the outermost loop over
    groups that has more than one."""
    start, inside, text = parameters_of(source, kernel)
    names = [re.search(r"(\w+)\s*$", p)[1] for p in text.split(",")]
    item = source[:start] + f"static void {kernel}_item(const struct kc_item kc_item, " + source[inside:]
    sizes, groups = three(block), three(grid)
    shared = next((d for d in (2, 1, 0) if groups[d] > 1), 0)
    lines = []
    for d in (2, 1, 0):
        if groups[d] == 1 and d != shared:
            lines.append(f"  const size_t b{'xyz'[d]} = 0;")
        else:
            lines += ["  #pragma omp parallel for"] * (d == shared)
            lines.append(f"  for (size_t b{'xyz'[d]} = 0; b{'xyz'[d]} < kc_g{'xyz'[d]}; ++b{'xyz'[d]})")
    constants = [line for line in lines if line.startswith("  const")]
    loops = [line for line in lines if line not in constants]
    items = []
    flat = "barrier(" in source and sum(size > 1 for size in sizes) > 1  # barriers take one loop over all work-items
    if flat:
        x, y, z = sizes
        loops.append(f"  for (size_t item = 0; item < {x * y * z}; ++item)")
        items = [f"    const size_t lx = item % {x}, ly = item / {x} % {y}, lz = item / {x * y};"]
    for d in () if flat else (2, 1, 0):
        if sizes[d] == 1:
            constants.append(f"  const size_t l{'xyz'[d]} = 0;")
        else:
            loops.append(f"  for (size_t l{'xyz'[d]} = 0; l{'xyz'[d]} < {sizes[d]}; ++l{'xyz'[d]})")
    ids = ", ".join(f"b{c} * {n}UL + l{c}" for c, n in zip("xyz", sizes))
    values = f"{{{{{ids}}}, {{lx, ly, lz}}, {{bx, by, bz}}, {{kc_gx, kc_gy, kc_gz}}, {{{', '.join(map(str, sizes))}}}}}"
    body = ["    kc_work_item();", *items, f"    const struct kc_item kc_all = {values};", f"    {kernel}_item(kc_all, {', '.join(names)});"]
    return PRELUDE + item + "\n".join(
        ["", f"void {kernel}({text}, size_t kc_gx, size_t kc_gy, size_t kc_gz) {{", *constants, *loops, "  {", *body, "  }", "}", ""])


def threads_of(grid, most):
    """How many threads have work: no more than there are groups."""
    x, y, z = three(grid)
    return min(most, x * y * z)


def arguments_of(grid):
    """The flags that give the nest its groups."""
    return [word for c, n in zip("xyz", three(grid)) for word in ("--arg", f"kc_g{c}={n}")]
