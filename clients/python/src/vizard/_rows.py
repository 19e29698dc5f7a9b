"""The rows of a release with everything that is known of each value.

A row's value is told by its own cell, or it is one of a *pool*: values that a
bucket, a block or a slice has for its rows together, without saying whose is
whose. A pool has *slots*; of a bucket they are its values, of a slice its
rows, which carry the values of several attributes at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ._cells import EMPTY, Cell, Kind, parse
from ._errors import ReleaseError
from ._hierarchy import Hierarchy
from ._tables import Ints, Table

_ROWS = ("microdata", "persons", "quasi", "sliced")


@dataclass
class Pool:
    """Values that rows share: which bucket each row is in (-1: none), and the buckets' slots.

    `slot_bucket` ascends. `codes` gives for each attribute the cell in each
    slot. Where rows are linked by their group alone, `group_of` is set and
    `row_bucket` is one of the assignments that the release allows.
    """

    attributes: tuple[str, ...]
    row_bucket: Ints
    slot_bucket: Ints
    codes: dict[str, Ints]
    group_of: Ints | None = None
    group_weights: dict[int, dict[int, float]] = field(default_factory=dict)

    def ranges(self, buckets: Ints) -> tuple[Ints, Ints]:
        """First slot of each bucket, and one behind its last."""
        return (
            np.searchsorted(self.slot_bucket, buckets, "left").astype(np.int64),
            np.searchsorted(self.slot_bucket, buckets, "right").astype(np.int64),
        )


@dataclass
class Attribute:
    """An attribute of the rows: `codes[row]` is the row's cell among `cells`, if no pool has it."""

    name: str
    kind: str
    content: str
    cells: list[Cell]
    codes: Ints
    pool: Pool | None = None
    hierarchy: Hierarchy | None = None


@dataclass
class Rows:
    """All rows of a release."""

    count: int
    attributes: dict[str, Attribute]
    pools: list[Pool]
    groups: Ints | None


def assemble(tables: dict[str, Table], hierarchies: dict[str, Hierarchy]) -> Rows:
    """Put the tables of a release together."""
    table = next((tables[name] for name in _ROWS if name in tables), None)
    if table is None:
        raise ReleaseError("the release has no table of rows that this package knows")
    rows = Rows(table.rows, {}, [], table.numbers.get("group"))
    for name, column in table.attributes.items():
        rows.attributes[name] = Attribute(name, column.kind, column.content, column.cells, column.codes)
    if table.name == "sliced":
        _slice(rows, table, tables["columns"])
    elif table.name == "quasi":
        # Of one attribute alone the column is called `block`, of several after each.
        blocks = {name: table.numbers[name] for name, what in table.order if what == "block"}
        named = tables["sensitive"].texts["attribute"].texts
        links = {name: blocks[f"{name}_block" if f"{name}_block" in blocks else "block"] for name in named}
        _link(rows, tables["sensitive"], "block", links)
    elif "group_buckets" in tables:
        _link_groups(rows, tables["buckets"], tables["group_buckets"])
    elif "buckets" in tables:
        links = {
            before: table.numbers[name]
            for (before, _), (name, what) in zip(table.order, table.order[1:], strict=False)
            if what == "bucket"
        }
        _link(rows, tables["buckets"], "bucket", links)
    for name, attribute in rows.attributes.items():
        attribute.hierarchy = hierarchies.get(name) if attribute.kind == "categorical" else None
    return rows


def _values(
    table: Table, number: str, name: str, known: Iterable[Cell], kind: str
) -> tuple[list[Cell], Ints, Ints]:
    """The cells of an attribute's buckets, joined to those known: cells, slot → cell, slot → bucket."""
    attribute, value = table.texts["attribute"], table.texts["value"]
    cells = list(known)
    if name not in attribute.texts:
        return cells, np.empty(0, np.int64), np.empty(0, np.int64)
    chosen = np.flatnonzero(attribute.codes == attribute.texts.index(name))
    codes, position = {cell: at for at, cell in enumerate(cells)}, np.full(len(value.texts), -1)
    for text in np.unique(value.codes[chosen]):
        cell = parse(value.texts[text], kind)
        position[text] = codes.setdefault(cell, len(codes))
    counts = table.numbers["count"][chosen]
    slots = np.repeat(position[value.codes[chosen]], counts).astype(np.int64)
    buckets = np.repeat(table.numbers[number][chosen], counts).astype(np.int64)
    order = np.argsort(buckets, kind="stable")
    return list(codes), slots[order], buckets[order]


def _link(rows: Rows, table: Table, number: str, links: dict[str, Ints]) -> None:
    for name, bucket in links.items():
        found = rows.attributes.get(name)
        kind = found.kind if found else table.kinds.get(name, "categorical")
        cells, slots, buckets = _values(table, number, name, found.cells if found else [EMPTY], kind)
        if not len(slots):
            continue  # Nobody asked for a bucket of it.
        codes = found.codes if found else np.zeros(rows.count, np.int64)
        pool = Pool((name,), bucket, buckets, {name: slots})
        content = found.content if found else "bucket"
        rows.attributes[name] = Attribute(name, kind, content, cells, codes, pool)
        rows.pools.append(pool)


def _link_groups(rows: Rows, table: Table, links: Table) -> None:
    if rows.groups is None:
        raise ReleaseError("buckets are linked by groups, and rows have none")
    attribute = links.texts["attribute"]
    for name in list(rows.attributes):
        found = rows.attributes[name]
        if name not in attribute.texts:
            continue
        cells, slots, buckets = _values(table, "bucket", name, found.cells, found.kind)
        chosen = np.flatnonzero(attribute.codes == attribute.texts.index(name))
        hidden = np.array([cell.kind is Kind.EMPTY for cell in cells])[found.codes]
        row_bucket = np.full(rows.count, -1, np.int64)
        weights: dict[int, dict[int, float]] = {}
        runs: dict[int, list[int]] = {}
        for link in chosen:
            group, bucket = int(links.numbers["group"][link]), int(links.numbers["bucket"][link])
            count = int(links.numbers["count"][link])
            runs.setdefault(group, []).extend([bucket] * count)
            weights.setdefault(group, {})[bucket] = float(count)
        members = np.flatnonzero(hidden)
        by_group = members[np.argsort(rows.groups[members], kind="stable")]
        starts = {int(g): i for i, g in reversed(list(enumerate(rows.groups[by_group])))}
        for group, run in runs.items():
            start = starts[group]
            row_bucket[by_group[start : start + len(run)]] = run
            total = float(len(run))
            weights[group] = {bucket: count / total for bucket, count in weights[group].items()}
        pool = Pool(
            (name,), row_bucket, buckets, {name: slots}, np.where(row_bucket >= 0, rows.groups, -1), weights
        )
        rows.attributes[name] = Attribute(name, found.kind, found.content, cells, found.codes, pool)
        rows.pools.append(pool)


def _slice(rows: Rows, table: Table, columns: Table) -> None:
    """Make a pool of every column but the first, which stays where it is."""
    bucket = table.numbers["bucket"]
    attribute, number = columns.texts["attribute"], columns.numbers["column"]
    of_column: dict[int, list[str]] = {}
    for code, column in zip(attribute.codes, number, strict=True):
        of_column.setdefault(int(column), []).append(attribute.texts[code])
    order = np.argsort(bucket, kind="stable")
    for column in sorted(of_column)[1 if -1 not in of_column else 2 :]:
        # A second appearance repeats what another column shows.
        names = tuple(name for name in of_column[column] if not _repeats(name, rows))
        if not names:
            continue
        codes = {name: rows.attributes[name].codes[order] for name in names}
        pool = Pool(names, bucket, bucket[order], codes)
        rows.pools.append(pool)
        for name in names:
            rows.attributes[name].pool = pool
    for name in [name for name in rows.attributes if _repeats(name, rows)]:
        del rows.attributes[name]


def _repeats(name: str, rows: Rows) -> bool:
    return name.endswith("@2") and name.removesuffix("@2") in rows.attributes
