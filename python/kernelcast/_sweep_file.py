"""The file of a sweep: shards in a folder beside it until all are there, then one Parquet file with a row group for each. Every file is
complete or absent. The plan's digest is in the metadata: a file of another plan is refused."""
import json
import os
import shutil
from pathlib import Path

from ._errors import UsageError
from ._sweep_shard import arrow, schema

_KEY = b"kernelcast.plan"


def _put(path, data):
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(data)
    os.replace(fresh, path)


class SweepFile:
    """`failed`: errors by number of the shard; `rows` and `timed` once it is complete."""

    def __init__(self, path, plan):
        self.path, self.plan = Path(path), plan
        self.folder = self.path.with_name(self.path.name + ".shards")
        self.complete, self.rows, self.timed, self.failed = False, 0, 0, {}
        pa = arrow()
        if self.path.exists():
            try:
                metadata = pa.parquet.read_metadata(self.path)
            except (pa.ArrowInvalid, OSError):
                raise UsageError(f"{self.path}: is no Parquet file, and is not overwritten") from None
            if (metadata.metadata or {}).get(_KEY) != plan.digest.encode():
                raise UsageError(f"{self.path}: holds the results of another plan, and is not overwritten; give another -o")
            self.complete = True
            self._count()
            return
        mark = self.folder / "plan.json"
        if self.folder.exists():
            digest = json.loads(mark.read_text())["digest"] if mark.exists() else "none"
            if digest != plan.digest:
                raise UsageError(f"{self.folder}: holds shards of another plan, and is not overwritten; give another -o or remove it")
        else:
            self.folder.mkdir(parents=True)
            _put(mark, json.dumps({"digest": plan.digest}).encode())

    def _shard(self, shard):
        return self.folder / f"{shard.number:08}.parquet"

    def has(self, shard):
        return self._shard(shard).exists()

    def keep(self, shard, data):
        _put(self._shard(shard), data)

    def set_aside(self, shard, error):
        """The next run tries it again."""
        self.failed[shard.number] = f"{type(error).__name__}: {error}"
        _put(self.folder / f"{shard.number:08}.error", self.failed[shard.number].encode())

    def join(self, shards):
        """Shard after shard through memory, in the plan's order."""
        pa = arrow()
        whole = schema(pa, self.plan.parameter_names).with_metadata({_KEY: self.plan.digest.encode(), b"kernelcast.text": self.plan.text.encode()})
        fresh = self.path.with_name(self.path.name + ".new")
        with pa.parquet.ParquetWriter(fresh, whole, compression="zstd") as writer:
            for shard in shards:
                table = pa.parquet.read_table(self._shard(shard), schema=whole)
                if len(table):
                    writer.write_table(table.replace_schema_metadata(whole.metadata), row_group_size=len(table))
        os.replace(fresh, self.path)
        shutil.rmtree(self.folder)
        self.complete = True
        self._count()

    def _count(self):
        pa = arrow()
        file = pa.parquet.ParquetFile(self.path)
        self.rows = file.metadata.num_rows
        column = file.schema_arrow.get_field_index("time_s")
        groups = (file.metadata.row_group(k).column(column) for k in range(file.metadata.num_row_groups))
        self.timed = self.rows - sum(g.statistics.null_count for g in groups if g.statistics)
