"""What is sent: files, data frames and JSON, read piece by piece."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

Progress = bool | Callable[[int, int | None], None] | None

CSV, NDJSON, PARQUET = "text/csv", "application/x-ndjson", "application/vnd.apache.parquet"
_BY_SUFFIX = {".csv": CSV, ".ndjson": NDJSON, ".jsonl": NDJSON, ".parquet": PARQUET}
_PIECE = 256 * 1024


class Body:
    """The body of a request: `chunks()` gives it, from the beginning each time."""

    def __init__(
        self, source: IO[bytes], media_type: str, progress: Progress = None, owned: bool = False
    ) -> None:
        self.media_type = media_type
        self._source, self._owned = source, owned
        self._tell = bar(progress)
        self.can_repeat = source.seekable()
        self.length: int | None = None
        self._begin = 0
        if self.can_repeat:
            self._begin = source.tell()
            self.length = source.seek(0, os.SEEK_END) - self._begin
            source.seek(self._begin)

    def chunks(self) -> Iterator[bytes]:
        """Give the bytes in pieces of 256 KiB."""
        if self.can_repeat:
            self._source.seek(self._begin)
        done = 0
        self._tell(done, self.length)
        while piece := self._source.read(_PIECE):
            yield piece
            done += len(piece)
            self._tell(done, self.length)

    def __enter__(self) -> Body:
        return self

    def __exit__(self, *_: object) -> None:
        if self._owned:
            self._source.close()


def of_json(value: Any) -> Body:
    """JSON; numbers that JSON has not are refused."""
    return Body(io.BytesIO(json.dumps(value, allow_nan=False).encode()), "application/json")


def of_bytes(data: bytes, media_type: str) -> Body:
    """Bytes that are there already."""
    return Body(io.BytesIO(data), media_type)


def of_data(data: Any, media_type: str | None = None, progress: Progress = None) -> Body:
    """A path, a file opened for bytes, or a table of pyarrow, pandas or polars.

    Files go as they are. Tables are written as Parquet into a temporary file
    and go from there, so that no second copy is in memory.
    """
    if isinstance(data, (str, Path)):
        path = Path(data)
        kind = media_type or _BY_SUFFIX.get(path.suffix.lower())
        if kind is None:
            raise ValueError("the file's name does not say what it is: give media_type")
        return Body(path.open("rb"), kind, progress, owned=True)
    if hasattr(data, "read"):
        if isinstance(data, io.TextIOBase):
            raise TypeError("open the file for bytes (mode 'rb')")
        name = Path(str(getattr(data, "name", "")))
        return Body(data, media_type or _BY_SUFFIX.get(name.suffix.lower(), CSV), progress)
    file = tempfile.TemporaryFile(prefix="vizard-")  # noqa: SIM115 - the body closes it
    pq.write_table(_flat(to_table(data)), file, compression="zstd")
    file.seek(0)
    return Body(file, PARQUET, progress, owned=True)


def to_table(data: Any) -> pa.Table:
    """A table of pandas, polars or pyarrow as one of pyarrow."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    module = type(data).__module__.partition(".")[0]
    if module == "pandas":
        return pa.Table.from_pandas(data, preserve_index=False)
    if module == "polars" and hasattr(data, "to_arrow"):
        return data.to_arrow()
    raise TypeError("data is a path, a file opened for bytes, or a table of pandas, polars or pyarrow")


def _flat(table: pa.Table) -> pa.Table:
    """Columns of types that the service reads: texts plain, truth values as texts."""
    fields = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type  # noqa: PLW2901
        is_text = pa.types.is_large_string(kind) or str(kind) == "string_view"
        if is_text or pa.types.is_boolean(kind) or pa.types.is_null(kind):
            column = column.cast(pa.string())  # noqa: PLW2901
        fields[name] = column
    return pa.table(fields)


def bar(progress: Progress) -> Callable[[int, int | None], None]:
    """What tells how much is done: a bar on standard error, the caller's function, or nothing."""
    if progress is None or progress is False:
        return lambda done, total: None
    if callable(progress):
        return progress
    shown = 0.0

    def show(done: int, total: int | None) -> None:
        nonlocal shown
        ended = total is not None and done >= total
        if not ended and time.monotonic() - shown < 0.1:
            return
        shown = time.monotonic()
        if total:
            full = 30 * done // total
            line = f"[{'#' * full}{'.' * (30 - full)}] {100 * done // total:3d} %"
        else:
            line = f"{done:,}"
        sys.stderr.write(f"\r{line}" + ("\n" if ended else ""))
        sys.stderr.flush()

    return show
