"""One published table in memory: the distinct cells of each column, and which row has which.

CSV and Parquet become the same thing. Cells are kept in their text form until
it is known of which attribute they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from ._cells import Cell, parse, parse_item_list, parse_items, parse_set_list, plain
from ._errors import ReleaseError

Ints = npt.NDArray[np.int64]
_NUMBERS = ("group", "block", "bucket", "count", "counterfeits", "column")


@dataclass
class Texts:
    """Distinct texts of a column, and the position of each row's among them."""

    texts: list[str]
    codes: Ints

    def cells(self, kind: str) -> list[Cell]:
        """What the texts say of an attribute of this type."""
        return [parse(text, kind) for text in self.texts]


@dataclass
class Column:
    """A column that publishes an attribute."""

    kind: str
    content: str
    cells: list[Cell]
    codes: Ints


@dataclass
class Table:
    """A published table: its attributes, its numbers (-1 for none) and its other texts."""

    name: str
    rows: int
    attributes: dict[str, Column]
    numbers: dict[str, Ints]
    texts: dict[str, Texts]
    order: list[tuple[str, str]]  # name and content, as the manifest has them
    kinds: dict[str, str]  # type of each attribute that has values here


def read_csv(path: Path) -> pa.Table:
    """Read a table of CSV; every cell is a text."""
    with path.open("rb") as opened:
        header = pcsv.open_csv(
            opened,
            parse_options=pcsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        ).schema.names
    return pcsv.read_csv(
        path,
        parse_options=pcsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pcsv.ConvertOptions(
            column_types={name: pa.string() for name in header}, strings_can_be_null=False, null_values=[]
        ),
    )


def read_table(description: dict[str, Any], path: Path) -> Table:
    """Read a table of a release as its manifest describes it, from CSV, Parquet or an Arrow file."""
    if path.suffix != ".csv":
        source = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).read_all()
        reader: Callable[[pa.Table, dict[str, Any]], Texts | Column] = _parquet_column
    else:
        source = read_csv(path)
        reader = _csv_column
    if source.num_rows != description["rows"]:
        raise ReleaseError(f"{path.name} has {source.num_rows} rows, the manifest says {description['rows']}")
    table = Table(description["name"], source.num_rows, {}, {}, {}, [], {})
    for column in description["columns"]:
        name, content = column["name"], column["content"]
        table.order.append((name, content))
        try:
            if content in _NUMBERS:
                table.numbers[name] = _numbers(source[name])
            elif content in ("attribute", "value"):
                table.texts[name] = _texts(_values(source, column))
                table.kinds.update(column.get("types") or {})
                if content == "attribute":
                    table.texts[name].texts = [plain(text) for text in table.texts[name].texts]
            else:
                found = reader(source, column)
                kind = column.get("type", "categorical")
                if isinstance(found, Texts):
                    found = Column(kind, content, found.cells(kind), found.codes)
                table.attributes[name] = found
        except KeyError:
            raise ReleaseError(f"{path.name} lacks a column that the manifest names") from None
    return table


def _numbers(column: pa.ChunkedArray) -> Ints:
    if pa.types.is_string(column.type):
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    filled = pc.fill_null(column.cast(pa.int64()), -1)
    return np.asarray(filled.to_numpy(), dtype=np.int64)


def _texts(column: pa.ChunkedArray) -> Texts:
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    filled = pc.fill_null(column, "")
    coded = filled.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks() if coded.num_chunks != 1 else coded.chunk(0)
    codes = np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    return Texts(coded.dictionary.to_pylist(), codes)


_VALUES = ("integer", "decimal", "date", "categorical")


def _values(source: pa.Table, column: dict[str, Any]) -> pa.ChunkedArray:
    """Texts of a column of names or values: Parquet has a column for each type that values have."""
    name, kinds = column["name"], set((column.get("types") or {}).values())
    names = source.schema.names
    if name in names and (pa.types.is_string(source[name].type) or pa.types.is_dictionary(source[name].type)):
        return source[name]
    fields = [name] if len(kinds) == 1 else [f"{name}_{kind}" for kind in _VALUES if kind in kinds]
    at = names.index(fields[0])
    texts = [source.column(at + one).cast(pa.string()) for one in range(len(fields))]
    behind = at + len(fields)
    joined = pc.coalesce(*texts)
    if column.get("masked"):
        joined, behind = pc.if_else(source.column(behind), "*", joined), behind + 1
    if column.get("missing"):
        joined = pc.if_else(source.column(behind), "(missing)", joined)
    return joined


def _csv_column(source: pa.Table, column: dict[str, Any]) -> Texts | Column:
    texts = _texts(source[column["name"]])
    if column["content"] == "fingerprint":
        return Column("categorical", "fingerprint", [parse_items(text) for text in texts.texts], texts.codes)
    return texts


def _parquet_column(source: pa.Table, column: dict[str, Any]) -> Texts | Column:
    name, content, kind = column["name"], column["content"], column.get("type", "categorical")
    # Flags stand behind the values; a name that was taken has underlines appended.
    at = source.schema.names.index(f"{name}_min" if _is_range(source, name, content, kind) else name)
    width = 2 if source.schema.names[at] == f"{name}_min" and content == "generalized" else 1
    behind = at + width
    masked = missing = None
    sets = pa.types.is_list(source.schema.types[at]) and content != "fingerprint"
    if column.get("masked") and (kind != "categorical" or sets or content == "fingerprint"):
        masked, behind = source.column(behind), behind + 1
    if column.get("missing") and kind != "categorical":
        missing = source.column(behind)
    if content == "fingerprint":
        return _listed(source.column(at), masked, "fingerprint", parse_item_list)
    if sets:
        return _listed(source.column(at), masked, content, parse_set_list)
    if kind == "categorical":
        return _texts(source.column(at))
    low, high = source.column(at).cast(pa.string()), source.column(at + width - 1).cast(pa.string())
    text = pc.if_else(pc.equal(low, high), low, pc.binary_join_element_wise(low, high, ".."))
    if missing is not None:
        both = pc.binary_join_element_wise("{(missing)|", text, "}", "")
        text = pc.if_else(missing, pc.fill_null(both, "(missing)"), text)
    if masked is not None:
        text = pc.if_else(masked, "*", text)
    return _texts(text)


def _is_range(source: pa.Table, name: str, content: str, kind: str) -> bool:
    return content == "generalized" and kind != "categorical" and f"{name}_min" in source.schema.names


def _listed(
    column: pa.ChunkedArray,
    masked: pa.ChunkedArray | None,
    content: str,
    parse_list: Callable[[list[str] | None, bool], Cell],
) -> Column:
    flags = masked.to_pylist() if masked is not None else [False] * len(column)
    cells: dict[Cell, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for row, (items, flag) in enumerate(zip(column.to_pylist(), flags, strict=True)):
        codes[row] = cells.setdefault(parse_list(items, bool(flag)), len(cells))
    return Column("categorical", content, list(cells), codes)
