"""A shard's rows as the bytes of a Parquet file: the work that threads and Dask's workers do. The same shard gives the same bytes."""
import functools
import io
import json
import threading

from ._sweep_plan import Plan

SIZES = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_bytes")


def arrow():
    """pyarrow and its parquet module."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("a sweep needs pyarrow: pip install 'kernelcast[sweep]'") from None
    return pyarrow


_one = threading.Lock()


@functools.lru_cache(maxsize=4)
def _plan_of(text):
    return Plan(text)


def plan_of(text):
    """A worker's own: analyses are made once for all of its shards."""
    with _one:
        return _plan_of(text)


def schema(pa, parameter_names):
    """kernel, device and reason are dictionaries; parameters too, null where a kernel has none of the name."""
    text = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([("kernel", text), ("device", text), ("arguments", text), ("configuration", pa.int64()), *((f"param_{n}", text) for n in parameter_names),
                      *((s, pa.int64()) for s in SIZES), ("time_s", pa.float64()), ("reason", text)])


def table_of(plan, shard):
    """The shard as an Arrow table."""
    pa = arrow()
    swept = plan.swept(shard.kernel)
    rows = swept.rows(shard.begin, shard.end)
    n, kernel = len(rows), plan.kernels[shard.kernel]

    def numbers(data, kind, validity=None, nulls=0):
        return pa.Array.from_buffers(kind, n, [validity and pa.py_buffer(validity), pa.py_buffer(data)], nulls)

    def text(indices, values, validity=None, nulls=0):
        return pa.DictionaryArray.from_arrays(numbers(indices, pa.int32(), validity, nulls), pa.array(values, pa.string()))

    same = bytes(4 * n)
    given = json.dumps({**kernel.get("args", {}), **kernel.get("buffers", {})}, sort_keys=True)
    indices = dict(zip((name for name, _ in swept.parameters), rows.parameters))
    values = dict(swept.parameters)
    names = plan.parameter_names
    columns = [text(same, [kernel["name"]]), text(rows.device, swept.devices), text(same, [given]), numbers(rows.configuration, pa.int64())]
    for name in names:
        columns.append(text(indices[name], values[name]) if name in indices else text(same, [""], bytes((n + 7) // 8), n))
    columns += [numbers(sizes, pa.int64()) for sizes in rows.sizes]
    columns.append(numbers(rows.time_s, pa.float64(), rows.time_validity, n - rows.timed))
    columns.append(text(rows.reason, rows.reasons, rows.reason_validity, rows.timed))
    return pa.Table.from_arrays(columns, schema=schema(pa, names))


def shard_bytes(plan, shard):
    """`plan`: a Plan or its text. What a Dask worker runs: it needs this package and pyarrow, and no file of the client's."""
    pa = arrow()
    table = table_of(plan_of(plan) if isinstance(plan, str) else plan, shard)
    out = io.BytesIO()
    pa.parquet.write_table(table, out, compression="zstd", row_group_size=max(1, len(table)))
    return out.getvalue()
