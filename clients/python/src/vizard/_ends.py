"""What a group's range tells beside its ends: both ends are somebody's values.

Engines publish the least and the greatest number of a group. So of a group of
five with `33..62` one person is 33 and one 62, and three are anything between;
where the cell is `{(missing)|33..62}` one has no value. Releases of a series
keep the cells of people who have left, and rows of `ng` have ranges of their
neighbours: there nothing is known of the ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._cells import NONE, NUMBERS, Cell, Kind
from ._rows import Attribute, Pool, Rows
from ._tables import Ints


def have_ends(manifest: dict[str, Any]) -> bool:
    """Whether the ends of ranges are values of the group."""
    series = manifest.get("kept") or manifest.get("input", {}).get("series")
    return manifest.get("engine") != "ng" and not series


def with_ends(rows: Rows) -> Rows:
    """Give the rows with a pool for every attribute whose groups have ranges."""
    if rows.groups is None:
        return rows
    out = Rows(rows.count, dict(rows.attributes), list(rows.pools), rows.groups)
    for name, attribute in rows.attributes.items():
        is_range = attribute.kind in NUMBERS and attribute.content == "generalized"
        pool = _pool(rows, attribute) if is_range and attribute.pool is None else None
        if pool is not None:
            found, cells = pool
            out.attributes[name] = replace(attribute, cells=cells, pool=found)
            out.pools.append(found)
    return out


def _pool(rows: Rows, attribute: Attribute) -> tuple[Pool, list[Cell]] | None:
    groups = rows.groups
    assert groups is not None  # noqa: S101 - the caller looked
    order = np.argsort(groups, kind="stable")
    used, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    codes = {cell: at for at, cell in enumerate(attribute.cells)}
    slots: list[int] = []
    buckets: list[int] = []
    row_bucket: Ints = np.full(rows.count, -1, np.int64)
    for group, start, size in zip(used, starts, sizes, strict=True):
        members = order[start : start + size]
        code = int(attribute.codes[members[0]])
        cell = attribute.cells[code]
        known = _known(cell)
        if not known or len(known) > size or np.any(attribute.codes[members] != code):
            continue
        slots += [codes.setdefault(one, len(codes)) for one in known] + [code] * int(size - len(known))
        buckets += [int(group)] * int(size)
        row_bucket[members] = group
    if not slots:
        return None
    pool = Pool((attribute.name,), row_bucket, np.array(buckets), {attribute.name: np.array(slots)})
    return pool, list(codes)


def _known(cell: Cell) -> list[Cell]:
    """What at least one row of a group with this cell has."""
    if cell.kind is not Kind.RANGE or cell.is_exact:
        return []
    ends = dict.fromkeys([cell.lo, cell.hi])
    known = [Cell(Kind.RANGE, lo=end, hi=end) for end in ends]
    return [NONE, *known] if cell.or_missing else known
