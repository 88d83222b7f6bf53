"""Ten Triton kernels, each with the arguments of a typical launch: what tools/triton/compile.py compiles."""
import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def reduction(x, out, n, BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
    begin = tl.program_id(0) * BLOCK * ROUNDS
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(ROUNDS):
        at = begin + i * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0)
    tl.atomic_add(out, tl.sum(total, axis=0))


@triton.jit
def softmax(out, x, row_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * row_stride + at, mask=at < columns, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * row_stride + at, power / tl.sum(power, axis=0), mask=at < columns)


@triton.jit
def layer_norm(x, out, weight, bias, mean_out, rstd_out, row_stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total += tl.load(x + row * row_stride + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = tl.load(x + row * row_stride + at, mask=at < columns, other=0.0).to(tl.float32)
        squares += tl.where(at < columns, (value - mean) * (value - mean), 0.0)
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = tl.load(x + row * row_stride + at, mask=at < columns, other=0.0).to(tl.float32)
        w = tl.load(weight + at, mask=at < columns)
        b = tl.load(bias + at, mask=at < columns)
        tl.store(out + row * row_stride + at, (value - mean) * rstd * w + b, mask=at < columns)


@triton.jit
def layer_norm_backward(dx, dy, x, weight, mean_in, rstd_in, row_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * row_stride + at, mask=inside, other=0.0).to(tl.float32)
    gradient = tl.load(dy + row * row_stride + at, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_in + row)
    normal = tl.where(inside, (value - tl.load(mean_in + row)) * rstd, 0.0)
    scaled = tl.where(inside, w * gradient, 0.0)
    c1 = tl.sum(normal * scaled, axis=0) / columns
    c2 = tl.sum(scaled, axis=0) / columns
    tl.store(dx + row * row_stride + at, (scaled - (normal * c1 + c2)) * rstd, mask=inside)


@triton.jit
def _tile_of(pid, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (GROUP * columns)
    first = group * GROUP
    size = min(rows - first, GROUP)
    return first + (pid % (GROUP * columns)) % size, (pid % (GROUP * columns)) // size


@triton.jit
def matmul(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr, GROUP: tl.constexpr):
    row, column = _tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
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
    tl.store(c + stride_cm * cm[:, None] + stride_cn * cn[None, :], total.to(c.dtype.element_ty), mask=(cm[:, None] < M) & (cn[None, :] < N))


@triton.jit
def batched_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    batch = tl.program_id(2)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + batch * M * K + m[:, None] * K + k[None, :]
    pb = b + batch * K * N + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(pa), tl.load(pb), total)
        pa += BK
        pb += BK * N
    tl.store(c + batch * M * N + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty))


@triton.jit
def attention(q, k, v, out, scale, sequence, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * sequence * HEAD
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, HEAD)
    query = tl.load(q + head + m[:, None] * HEAD + d[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, HEAD), tl.float32)
    for begin in range(0, sequence, BN):
        key = tl.load(k + head + (begin + n)[None, :] * HEAD + d[:, None])
        score = tl.dot(query, key) * scale
        now = tl.maximum(largest, tl.max(score, axis=1))
        power = tl.exp2(score - now[:, None])
        keep = tl.exp2(largest - now)
        weight = weight * keep + tl.sum(power, axis=1)
        value = tl.load(v + head + (begin + n)[:, None] * HEAD + d[None, :])
        total = tl.dot(power.to(tl.float16), value, total * keep[:, None])
        largest = now
    tl.store(out + head + m[:, None] * HEAD + d[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def grouped_matmul(a, b, c, sizes, groups, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    tile, last, first_row = tl.program_id(0), 0, 0
    columns = tl.cdiv(N, BN)
    for g in range(groups):
        rows = tl.load(sizes + g)
        tiles = tl.cdiv(rows, BM) * columns
        while tile >= last and tile < last + tiles:
            at = tile - last
            m = first_row + (at // columns) * BM + tl.arange(0, BM)
            n = (at % columns) * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            pa = a + m[:, None] * K + k[None, :]
            pb = b + g * K * N + k[:, None] * N + n[None, :]
            total = tl.zeros((BM, BN), tl.float32)
            for _ in range(0, K, BK):
                total = tl.dot(tl.load(pa), tl.load(pb), total)
                pa += BK
                pb += BK * N
            tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))
            tile += PROGRAMS
        last += tiles
        first_row += rows


@triton.jit
def persistent_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PROGRAMS: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        row, column = _tile_of(tile, M, N, BM, BN, GROUP)
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(tl.cdiv(K, BK)):
            total = tl.dot(da.load([row * BM, i * BK]), db.load([column * BN, i * BK]).T, total)
        dc.store([row * BM, column * BN], total.to(tl.float16))


_product = {"M": 4096, "N": 4096, "K": 4096}
_strides = {"stride_am": 4096, "stride_ak": 1, "stride_bk": 4096, "stride_bn": 1, "stride_cm": 4096, "stride_cn": 1}
_half = {"a": "*fp16", "b": "*fp16", "c": "*fp16"}

# name: (kernel, arguments, grid, num_warps, num_stages)
LAUNCHES = {
    "vector_add": (vector_add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": 1 << 26, "BLOCK": 1024}, (1 << 16,), 4, 3),
    "reduction": (reduction, {"x": "*fp32", "out": "*fp32", "n": 1 << 26, "BLOCK": 1024, "ROUNDS": 16}, (1 << 12,), 4, 3),
    "softmax": (softmax, {"out": "*fp32", "x": "*fp32", "row_stride": 4096, "columns": 4096, "BLOCK": 4096}, (8192,), 8, 3),
    "layer_norm": (layer_norm, {"x": "*fp16", "out": "*fp16", "weight": "*fp16", "bias": "*fp16", "mean_out": "*fp32", "rstd_out": "*fp32",
                                "row_stride": 8192, "columns": 8192, "eps": 1e-5, "BLOCK": 2048}, (4096,), 8, 3),
    "layer_norm_backward": (layer_norm_backward, {"dx": "*fp16", "dy": "*fp16", "x": "*fp16", "weight": "*fp16", "mean_in": "*fp32",
                                                  "rstd_in": "*fp32", "row_stride": 8192, "columns": 8192, "BLOCK": 8192}, (4096,), 8, 3),
    "matmul": (matmul, {**_half, **_product, **_strides, "BM": 128, "BN": 128, "BK": 32, "GROUP": 8}, (1024,), 8, 3),
    "batched_matmul": (batched_matmul, {**_half, "M": 1024, "N": 1024, "K": 1024, "BM": 128, "BN": 128, "BK": 32}, (8, 8, 32), 8, 3),
    "attention": (attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "scale": 0.18, "sequence": 4096, "HEAD": 64, "BM": 128,
                              "BN": 64}, (32, 32), 4, 3),
    "grouped_matmul": (grouped_matmul, {**_half, "sizes": "*i32", "groups": 8, "N": 4096, "K": 4096, "BM": 128, "BN": 128, "BK": 32,
                                        "PROGRAMS": 108}, (108,), 8, 3),
    "persistent_matmul": (persistent_matmul, {**_half, **_product, "BM": 128, "BN": 128, "BK": 64, "GROUP": 8, "PROGRAMS": 132}, (132,), 8, 3),
    "fp8_matmul": (matmul, {"a": "*fp8e4nv", "b": "*fp8e4nv", "c": "*fp16", **_product, **_strides, "BM": 128, "BN": 128, "BK": 64, "GROUP": 8},
                   (1024,), 8, 3),
}
