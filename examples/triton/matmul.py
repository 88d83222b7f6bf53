#   kernelcast predict examples/triton/matmul.ptx --device a100 --grid 1024 --arg 3=4096 --arg 4=4096 --arg 5=4096 --arg 6=4096 --arg 7=4096 --arg 8=4096
#
# The product of two matrices of half precision in Triton. examples/triton/matmul.ptx is what Triton makes of it for sm_80, and
# matmul.json its metadata, from which kernelcast takes the block and the shared memory; `explain` shows the lines of this file.
# To compile it again, without a GPU (pip install triton, and the package kernelcast):
#   python3 examples/triton/matmul.py
import json
import re
from pathlib import Path

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    row, column = first + (pid % (GROUP * columns)) % size, (pid % (GROUP * columns)) // size
    m = (row * BM + tl.arange(0, BM)) % M
    n = (column * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    pa = a + m[:, None] * stride_am + k[None, :] * stride_ak
    pb = b + k[:, None] * stride_bk + n[None, :] * stride_bn
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=k[None, :] < K - i * BK, other=0.0)
        y = tl.load(pb, mask=k[:, None] < K - i * BK, other=0.0)
        total = tl.dot(x, y, total)
        pa += BK * stride_ak
        pb += BK * stride_bk
    cm, cn = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    tl.store(c + stride_cm * cm[:, None] + stride_cn * cn[None, :], total.to(tl.float16), mask=(cm[:, None] < M) & (cn[None, :] < N))


if __name__ == "__main__":
    import kernelcast.triton

    arguments = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": 4096, "N": 4096, "K": 4096, "stride_am": 4096, "stride_ak": 1,
                 "stride_bk": 4096, "stride_bn": 1, "stride_cm": 4096, "stride_cn": 1, "BM": 128, "BN": 128, "BK": 32, "GROUP": 8}
    compiled = kernelcast.triton.compile_to_ptx(matmul, arguments, arch=80, num_warps=8, num_stages=3)
    here = Path(__file__).resolve()
    command = here.read_text().splitlines()[0].replace("#", "//", 1)
    ptx = re.sub(r'(\.file\t\d+ ")[^"]*/', r"\1", compiled.asm["ptx"].split("\t.section\t.debug_")[0])
    here.with_suffix(".ptx").write_text(f"{command}\n{ptx.strip()}\n")
    metadata = {key: compiled.metadata[key] for key in ("name", "num_warps", "shared", "num_ctas")}
    here.with_suffix(".json").write_text(json.dumps(metadata) + "\n")
