"""Rows spread out: one for each possible value, with its probability; and tables that were drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ._cells import NUMBERS, Kind
from ._draw import Column, Draw, generator
from ._evidence import Evidence, Floats, Value
from ._frames import ARROW, number, to_arrow
from ._rows import Attribute, Pool, Rows
from ._tables import Ints

Tuples = list[tuple[tuple[Value, ...], float]]


def weighted(rows: Rows, names: tuple[str, ...], parts: int, max_rows: int) -> pa.Table:
    """See `Release.weighted`."""
    attributes = [rows.attributes[name] for name in names]
    row = np.arange(rows.count, dtype=np.int64)
    weight = np.ones(rows.count)
    spread: dict[str, list[Value]] = {}
    for unit in _units(attributes):
        keys, known = _joint(rows, unit, parts)
        counts = np.array([len(options) for options in known])[keys[row]]
        if int(counts.sum()) > max_rows:
            raise ValueError(
                f"more than {max_rows} rows: name fewer attributes or parts, or a larger max_rows"
            )
        again = np.repeat(np.arange(len(row)), counts)
        step = np.arange(len(again)) - np.repeat(np.cumsum(counts) - counts, counts)
        row = row[again]
        start = np.cumsum([0, *(len(options) for options in known)])
        chosen = start[keys[row]] + step
        flat = [option for options in known for option in options]
        weight = weight[again] * np.array([share for _, share in flat])[chosen]
        spread = {name: [values[at] for at in again] for name, values in spread.items()}
        for position, attribute in enumerate(unit):
            spread[attribute.name] = [flat[at][0][position] for at in chosen]
    fields: dict[str, pa.Array] = {"row": pa.array(row)}
    for attribute in rows.attributes.values():
        if attribute.name in spread:
            fields[attribute.name] = _typed(spread[attribute.name], attribute.kind)
        elif _told(attribute):
            plain = to_arrow(Rows(rows.count, {attribute.name: attribute}, [], None), False)
            fields[attribute.name] = plain.column(0).take(pa.array(row))
    fields["weight"] = pa.array(weight)
    return pa.table(fields)


def _told(attribute: Attribute) -> bool:
    return (
        attribute.pool is None
        and attribute.content == "exact"
        and all(cell.is_exact or cell.kind is Kind.MISSING for cell in attribute.cells)
    )


def _units(attributes: list[Attribute]) -> list[list[Attribute]]:
    """Attributes whose values belong together in one pool stay together."""
    units: list[list[Attribute]] = []
    seen: dict[int, list[Attribute]] = {}
    for attribute in attributes:
        if attribute.pool is not None and id(attribute.pool) in seen:
            seen[id(attribute.pool)].append(attribute)
            continue
        units.append([attribute])
        if attribute.pool is not None:
            seen[id(attribute.pool)] = units[-1]
    return units


def _joint(rows: Rows, unit: list[Attribute], parts: int) -> tuple[Ints, list[Tuples]]:
    pool = unit[0].pool
    if len(unit) == 1 or pool is None:
        keys, shares = Evidence(rows, unit[0]).of_keys(parts)
        return keys, [[((value,), share) for value, share in known.items()] for known in shares]
    used, keys = np.unique(pool.row_bucket, return_inverse=True)
    evidence = [Evidence(rows, attribute) for attribute in unit]
    return keys.astype(np.int64), [_of_bucket(pool, evidence, int(bucket), parts) for bucket in used]


def _of_bucket(pool: Pool, evidence: list[Evidence], bucket: int, parts: int) -> Tuples:
    start, end = pool.ranges(np.array([bucket]))
    found: dict[tuple[Value, ...], float] = {}
    size = int(end[0] - start[0])
    for slot in range(int(start[0]), int(end[0])):
        options: Tuples = [((), 1.0 / size)]
        for one in evidence:
            known = one.shares(one.cells[pool.codes[one.attribute.name][slot]], parts)
            options = [
                ((*values, value), share * p) for values, share in options for value, p in known.items()
            ]
        for values, share in options:
            found[values] = found.get(values, 0.0) + share
    return list(found.items())


def _typed(values: list[Value], kind: str) -> pa.Array:
    if kind in NUMBERS:
        return pa.array(
            [None if value is None else number(float(value), kind) for value in values], ARROW[kind]
        )
    return pa.array(values, ARROW[kind])


def sample(rows: Rows, seed: int) -> pa.Table:
    """See `Release.sample`."""
    random = generator(seed)
    names = [name for name, attribute in rows.attributes.items() if attribute.content != "fingerprint"]
    columns = {name: Column(Evidence(rows, rows.attributes[name])) for name in names}
    draw = Draw(rows, names, columns, random)
    fields: dict[str, pa.Array] = {}
    for name, attribute in rows.attributes.items():
        if name in draw.values:
            fields[name] = drawn(draw.values[name], columns[name], attribute.kind)
        else:
            fields[name] = _fingerprints(rows, attribute, random)
    return pa.table(fields)


def drawn(values: Floats, column: Column, kind: str) -> pa.Array:
    """Drawn values in the type of their attribute."""
    gone = np.isnan(values)
    if not column.is_number:
        codes = pa.array(np.where(gone, 0, values).astype(np.int64), mask=gone)
        return pa.array(column.labels, pa.string()).take(codes)
    if kind == "decimal":
        return pa.array(values, mask=gone)
    whole = pa.array(np.where(gone, 0, values).astype(np.int64), mask=gone)
    return whole.cast(pa.int32()).cast(pa.date32()) if kind == "date" else whole


def _fingerprints(rows: Rows, attribute: Attribute, random: np.random.Generator) -> pa.Array:
    tree = attribute.hierarchy
    cells: list[list[list[str]] | None] = []
    for cell in attribute.cells:
        members = [
            [leaf for label in item for leaf in (tree.under(label) if tree else (label,))]
            for item in cell.items
        ]
        cells.append(members or None)
    out: list[Any] = []
    for code in attribute.codes:
        found = cells[code]
        out.append(
            None if found is None else [str(options[random.integers(len(options))]) for options in found]
        )
    return pa.array(out, pa.list_(pa.string()))
