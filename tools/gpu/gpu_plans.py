#!/usr/bin/env python3
"""What a machine with an NVIDIA GPU is to run: tools/gpu/gpu_plans.py DEVICE FOLDER [KERNELCAST].

Writes FOLDER/probe.plan (kernelcast probe --plan) and FOLDER/examples.plan: the kernels of examples/, compiled to PTX by clang-19
(the compiler inside kernelcast; a program of its own here) with libclc's mathematical functions, and with the sizes below. A
buffer holds random numbers unless a fill is named. Beside them goes kernelcast-cuda, which runs them."""

import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CLC = "/usr/lib/clc/nvptx64--nvidiacl.bc"
MIB = 1 << 20


def i(name, value):
    return name, "scalar", struct.pack("<i", value), str(value)


def f(name, value):
    return name, "scalar", struct.pack("<f", value), str(value)


def b(name, count, size=4, fill="real"):
    """A buffer of `count` elements of `size` bytes; `fill` is real, zero, byte, sorted(n), below(n)."""
    return name, "buffer", count, size, fill


# File, entry, grid, block, parameters in their order.
EXAMPLES = [
    ("saxpy.cu", "_Z5saxpyifPKfPf", (65536, 1), (256, 1), [i("n", 16 * MIB), f("a", 3), b("x", 16 * MIB), b("y", 16 * MIB)]),
    ("matmul_naive.cu", "_Z12matmul_naivePKfS0_Pfi", (64, 64), (16, 16), [b("a", MIB), b("b", MIB), b("c", MIB, 4, "zero"), i("n", 1024)]),
    ("matmul_tiled.cu", "_Z12matmul_tiledILi16EEvPKfS1_Pfi", (64, 64), (16, 16), [b("a", MIB), b("b", MIB), b("c", MIB, 4, "zero"), i("n", 1024)]),
    ("matmul_naive.cl", "matmul_naive", (64, 64), (16, 16), [b("a", MIB), b("b", MIB), b("c", MIB, 4, "zero"), i("n", 1024)]),
    ("matmul_tiled.cl", "matmul_tiled", (64, 64), (16, 16), [b("a", MIB), b("b", MIB), b("c", MIB, 4, "zero"), i("n", 1024)]),
    ("nbody.cl", "nbody", (64, 1), (256, 1), [b("body", 16384 * 4), b("acceleration", 16384 * 4, 4, "zero"), i("n", 16384), f("softening", 0.01)]),
    ("scan_blelloch.cl", "scan_blelloch", (2048, 1), (256, 1), [b("in", MIB), b("out", MIB, 4, "zero")]),
    ("scan_hillis_steele.cl", "scan_hillis_steele", (4096, 1), (256, 1), [b("in", MIB), b("out", MIB, 4, "zero")]),
    ("transpose.cl", "transpose", (128, 128), (16, 16), [b("in", 4 * MIB), b("out", 4 * MIB, 4, "zero"), i("n", 2048)]),
    ("reduce.cu", "_Z6reducePKfPfi", (320, 1), (256, 1), [b("in", 16 * MIB), b("total", 1, 4, "zero"), i("n", 16 * MIB)]),
    ("histogram.cu", "_Z9histogramPKhPji", (160, 1), (256, 1), [b("in", 16 * MIB, 1, "byte"), b("bins", 256, 4, "zero"), i("n", 16 * MIB)]),
    ("stencil5.cu", "_Z8stencil5PKfPfiif", (128, 256), (32, 8), [b("in", 8 * MIB), b("out", 8 * MIB, 4, "zero"), i("width", 4096), i("height", 2048), f("weight", 0.25)]),
    ("resize.cu", "_Z6resizePKhPhiiiiii", (15, 68), (32, 4), [b("in", 1920 * 1080 * 3, 1, "byte"), b("out", 480 * 270 * 3, 1, "zero"), i("width", 480), i("height", 270),
                                                             i("in_width", 1920), i("in_height", 1080), i("sx", 4096), i("sy", 4096)]),
    ("spmv_csr.cu", "_Z8spmv_csriPKiS0_PKfS2_Pf", (256, 1), (256, 1), [i("rows", 65536), b("start", 65537, 4, "sorted(1048576)"), b("column", MIB, 4, "below(65536)"),
                                                                       b("value", MIB), b("x", 65536), b("y", 65536, 4, "zero")]),
]


def field(data):
    data = data.encode() if isinstance(data, str) else data
    return str(len(data)).encode() + b":" + data


def number(n):
    return field(repr(n) if isinstance(n, float) else str(n))


def many(parts):
    return number(len(parts)) + b"".join(parts)


def buffer_bytes(fill, size, data):
    """`fill`: 0 zero, 1 data, 2 data over and over."""
    return number(fill) + number(size) + field(data) + number(0) + number(0)


def argument_bytes(buffer=None, value=b""):
    """The address of a buffer, by its place in the phase, or a scalar's bytes."""
    return number(0 if buffer is None else buffer + 1) + number(0) + field(value)


def launch_bytes(name, image, entry, grid, block, arguments, shared=0, before=-1, only_before=False):
    """`before`: launch that is run just before, by its place; -1: none."""
    sizes = b"".join(number(n) for n in (*grid, *block))
    return field(name) + number(image) + field(entry) + sizes + number(shared) + many(arguments) + number(0) + number(before + 1) + number(int(only_before)) + number(1) + number(1.0)


def phase_bytes(name, images, buffers, launches, least_rounds, most_rounds, seconds):
    return field(name) + many([field(i) for i in images]) + many(buffers) + many(launches) + many([]) + number(least_rounds) + number(most_rounds) + number(seconds)


def plan_bytes(name, architecture, phase):
    info = field(name) + number(0) + number(architecture) + number(0) + number(32) + b"".join(number(0.0) for _ in range(5))
    return field("kernelcast cuda plan 1") + info + many([]) + many([phase])


def ptx_of(name, target, folder):
    path = os.path.join(ROOT, "examples", name)
    out = os.path.join(folder, name + ".ptx")
    common = ["-O3", "-S", "-o", out, "-Xclang", "-target-feature", "-Xclang", "+ptx78", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", CLC, "-Wno-linker-warnings"]
    if name.endswith(".cl"):
        command = ["clang-19", "--target=nvptx64-nvidia-nvcl", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-target-cpu", "-Xclang", target, *common, path]
    else:
        with open(path, encoding="utf-8") as file:
            text = re.split(r"^int main\b", file.read(), flags=re.M)[0]  # host code would need the host's headers
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        headers = os.path.join(ROOT, "src", "frontend", "headers")
        with open(os.path.join(folder, "cuda_runtime.h"), "w", encoding="utf-8"):
            pass
        includes = [w for h in ("core", "vectors", "math", "intrinsics", "warp", "atomics", "host_api") for w in ("-include", f"kernelcast/{h}.h")]
        command = ["clang-19", "-x", "cuda", "--cuda-device-only", "--cuda-path=/nonexistent", f"--cuda-gpu-arch={target}", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version",
                   "-D__CUDACC__=1", "-D__NVCC__=1", "-D__KERNELCAST_WARP_SIZE=32", "-I", folder, "-isystem", headers, *includes, *common, path]
    subprocess.run(command, check=True)
    with open(out, encoding="utf-8") as file:
        return file.read()


def contents(count, size, fill):
    """Fill's number in the plan, and the bytes."""
    source = random.Random(count)
    if fill == "zero":
        return 0, b""
    if fill == "byte":
        return 2, source.randbytes(65536)
    if fill == "real":
        return 2, struct.pack("<16384f", *(source.random() for _ in range(16384)))
    limit = int(re.search(r"\d+", fill)[0])
    values = [source.randrange(limit) for _ in range(count)]
    if fill.startswith("sorted"):
        values = [0, *sorted(values[: count - 2]), limit]
    return 1, struct.pack(f"<{count}i", *values)


def examples_plan(target):
    images, buffers, launches = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, entry, grid, block, parameters in EXAMPLES:
            arguments = []
            for p in parameters:
                if p[1] == "scalar":
                    arguments.append(argument_bytes(value=p[2]))
                    continue
                _, _, count, size, fill = p
                kind, data = contents(count, size, fill)
                buffers.append(buffer_bytes(kind, count * size, data))
                arguments.append(argument_bytes(buffer=len(buffers) - 1))
            images.append(ptx_of(name, target, folder))
            launches.append(launch_bytes("example." + name, len(images) - 1, entry, (*grid, 1), (*block, 1), arguments))
    return plan_bytes("examples", int(target[3:]), phase_bytes("examples", images, buffers, launches, 10, 50, 60.0))


def main(device, folder, program=os.path.join(ROOT, "build", "bin", "kernelcast")):
    os.makedirs(folder, exist_ok=True)
    subprocess.run([program, "probe", "--backend", "cuda", "--device", device, "--plan", os.path.join(folder, "probe.plan")], check=True)
    with open(os.path.join(folder, "probe.plan"), "rb") as file:
        head = file.read(4096)
    # Mark, name, driver, architecture: fields of "length:bytes".
    at, words = 0, []
    while len(words) < 4:
        colon = head.index(b":", at)
        end = colon + 1 + int(head[at:colon])
        words.append(head[colon + 1 : end].decode())
        at = end
    with open(os.path.join(folder, "examples.plan"), "wb") as file:
        file.write(examples_plan("sm_" + words[3]))
    shutil.copy2(os.path.join(os.path.dirname(program), "kernelcast-cuda"), folder)
    build = os.path.dirname(os.path.dirname(program))
    for part in ("bin/converge_sweep_cuda", "libconverge/sweep.ptx"):  # the sweep of divergent loops, where both are built
        if os.path.exists(os.path.join(build, part)):
            shutil.copy2(os.path.join(build, part), folder)
    print(f"{folder}: probe.plan, examples.plan, kernelcast-cuda; carry it to the GPU and run tools/gpu/gpu_session.sh {folder}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
