"""Rows as tables of Arrow and pandas: ranges, sets and buckets as what they are."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ._cells import MISSING, NUMBERS, Cell, Kind, date
from ._errors import MidpointWarning
from ._evidence import Evidence
from ._rows import Attribute, Rows

if TYPE_CHECKING:
    import pandas as pd

ARROW: dict[str, pa.DataType] = {
    "integer": pa.int64(),
    "decimal": pa.float64(),
    "date": pa.date32(),
    "categorical": pa.string(),
}
Intervals = Literal["interval", "columns", "midpoint"]
Sets = Literal["list", "frozenset"]


def number(value: float, kind: str) -> Any:
    """A number or a day in the type of its attribute."""
    if kind == "date":
        return date(value)
    return int(value) if kind == "integer" else float(value)


def to_arrow(rows: Rows, expand: bool) -> pa.Table:
    """All rows; see `Release.to_arrow`."""
    fields: dict[str, pa.Array] = {}
    if rows.groups is not None:
        fields["group"] = pa.array(rows.groups)
    for attribute in rows.attributes.values():
        fields.update(_columns(rows, attribute, expand))
    return pa.table(fields)


def _columns(rows: Rows, attribute: Attribute, expand: bool) -> dict[str, pa.Array]:
    name, kind = attribute.name, attribute.kind
    if attribute.pool is not None:
        return {name: _weights(rows, attribute)}
    if attribute.content == "fingerprint":
        texts = [[_item(item) for item in cell.items] if cell.items else None for cell in attribute.cells]
        return {name: _take(texts, attribute, pa.list_(pa.string()))}
    if kind in NUMBERS:
        known = [cell if cell.kind is Kind.RANGE else None for cell in attribute.cells]
        lows = [None if cell is None else number(cell.lo, kind) for cell in known]
        highs = [None if cell is None else number(cell.hi, kind) for cell in known]
        if attribute.content == "exact":
            return {name: _take(lows, attribute, ARROW[kind])}
        out = {
            f"{name}_lower": _take(lows, attribute, ARROW[kind]),
            f"{name}_upper": _take(highs, attribute, ARROW[kind]),
        }
        if any(cell.kind is Kind.MISSING or cell.or_missing for cell in attribute.cells):
            flags = [cell.kind is Kind.MISSING or cell.or_missing for cell in attribute.cells]
            out[f"{name}_missing"] = _take(flags, attribute, pa.bool_())
        return out
    sets = [_labels(cell, attribute, expand) for cell in attribute.cells]
    if all(found is None or len(found) == 1 for found in sets):
        return {name: _take([found[0] if found else None for found in sets], attribute, pa.string())}
    return {name: _take(sets, attribute, pa.list_(pa.string()))}


def _take(values: list[Any], attribute: Attribute, kind: pa.DataType) -> pa.Array:
    return pa.array(values, kind).take(pa.array(attribute.codes))


def _labels(cell: Cell, attribute: Attribute, expand: bool) -> list[str] | None:
    """The members of a set; none of a missing, masked or empty cell."""
    labels: list[str] = list(cell.labels)
    if expand and attribute.hierarchy is not None:
        labels = [leaf for label in labels for leaf in attribute.hierarchy.under(label)]
    if cell.or_missing:
        labels.insert(0, MISSING)
    return labels or None


def _item(labels: tuple[str, ...]) -> str:
    """A member of a fingerprint as the service writes it: `{A|B}` is a value under one of them."""
    if len(labels) == 1:
        return ("\\" if labels[0][:1] in ("{", "\\") else "") + labels[0]
    escaped = ["".join("\\" + c if c in "\\{|}" else c for c in label) for label in labels]
    return "{" + "|".join(escaped) + "}"


def _weights(rows: Rows, attribute: Attribute) -> pa.Array:
    """Of each row the possible values with their probabilities."""
    kind = attribute.kind
    keys, shares = Evidence(rows, attribute).of_keys()
    lists = [
        [
            {
                "value": None if value is None else number(float(value), kind) if kind in NUMBERS else value,
                "weight": weight,
            }
            for value, weight in share.items()
        ]
        for share in shares
    ]
    struct = pa.struct([("value", ARROW[kind]), ("weight", pa.float64())])
    return pa.array(lists, pa.list_(struct)).take(pa.array(keys))


def to_pandas(rows: Rows, intervals: Intervals, sets: Sets, expand: bool) -> pd.DataFrame:
    """All rows; see `Release.to_pandas`."""
    import pandas as pd

    table = to_arrow(rows, expand)
    out: dict[str, Any] = {}
    if "group" in table.column_names and rows.groups is not None:
        out["group"] = rows.groups
    for name, attribute in rows.attributes.items():
        columns = _columns(rows, attribute, expand)
        if name in columns:
            out[name] = _objects(columns[name], attribute, sets)
        elif intervals == "columns":
            for column, array in columns.items():
                out[column] = _plain(array, attribute.kind)
        else:
            low = _plain(columns[f"{name}_lower"], attribute.kind)
            high = _plain(columns[f"{name}_upper"], attribute.kind)
            if intervals == "midpoint":
                out[name] = low + (high - low) / 2
            else:
                out[name] = pd.arrays.IntervalArray.from_arrays(low, high, closed="both")
            if f"{name}_missing" in columns:
                out[f"{name}_missing"] = columns[f"{name}_missing"].to_numpy(zero_copy_only=False)
    if intervals == "midpoint":
        warnings.warn(
            "The middle of a range is not its value: variances, correlations and regressions on these "
            "columns are biased. Release.regress and Release.sample know the ranges.",
            MidpointWarning,
            stacklevel=3,
        )
    frame: pd.DataFrame = pd.DataFrame(out)
    return frame


def _plain(array: pa.Array, kind: str) -> Any:
    import pandas as pd

    series = array.to_pandas(date_as_object=False)
    return pd.to_datetime(series) if kind == "date" else series


def _objects(array: pa.Array, attribute: Attribute, sets: Sets) -> Any:
    """Exact values in their type; sets as lists or frozensets, weights as dictionaries."""
    if not pa.types.is_list(array.type):
        return _plain(array, attribute.kind)
    out = np.empty(len(array), dtype=object)
    weighted = pa.types.is_struct(array.type.value_type)
    for row, found in enumerate(array.to_pylist()):
        if found is None:
            out[row] = None
        elif weighted:
            out[row] = {entry["value"]: entry["weight"] for entry in found}
        else:
            out[row] = frozenset(found) if sets == "frozenset" else found
    return out
