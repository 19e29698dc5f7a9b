"""Draws of what the rows of a release may be.

A pool's values are dealt out among its rows, each used once, so that what a
bucket shows stays true in every draw. A range, a set or a node gives each of
its values with the same chance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ._cells import Kind
from ._errors import ReleaseError
from ._evidence import Evidence, Floats
from ._rows import Pool, Rows
from ._shape import Shape
from ._tables import Ints

Random = np.random.Generator


class Column:
    """How values of one attribute are drawn. Numbers are floats; categories are positions in `labels`."""

    def __init__(self, evidence: Evidence) -> None:
        cells = evidence.cells
        self.is_number = evidence.is_number
        self.whole = evidence.attribute.kind != "decimal"
        self.absent: Floats = np.array([evidence.missing_share(cell) for cell in cells])
        self.exact = np.array([cell.is_exact or cell.kind is Kind.MISSING for cell in cells])
        self.labels: list[str] = []
        self.shape: Shape | None = None
        if self.is_number:
            known = self.absent < 1
            ends = [
                evidence.ends(cell) if told else (0.0, 0.0) for cell, told in zip(cells, known, strict=True)
            ]
            self.lo, self.hi = (np.array(end, dtype=np.float64) for end in zip(*ends, strict=True))
            return
        self.labels = evidence.labels
        position = {label: at for at, label in enumerate(self.labels)}
        options = [[position[label] for label in evidence.options(cell)] or [0] for cell in cells]
        self.exact &= np.array([len(found) == 1 for found in options])
        self.width = np.array([len(found) for found in options])
        self.start = np.concatenate([[0], np.cumsum(self.width)[:-1]])
        self.options = np.concatenate([np.array(found) for found in options])

    def learn(self, codes: Ints) -> None:
        """Spread numbers inside a range as they are spread over all of these cells."""
        used, counts = np.unique(codes[self.absent[codes] < 1], return_counts=True)
        if self.is_number and len(used) > 1 and not self.exact[used].all():
            lo, hi = self.lo[used], self.hi[used]
            self.shape = Shape(
                lo, hi + 1 if self.whole else np.where(hi > lo, hi, np.nextafter(hi, np.inf)), counts
            )

    def draw(self, codes: Ints, random: Random) -> Floats:
        """A value for each cell; NaN where there is none."""
        chance = random.random(len(codes))
        if self.is_number:
            lo, hi = self.lo[codes], self.hi[codes]
            behind = hi + 1 if self.whole else hi
            wide = lo + chance * (behind - lo) if self.shape is None else self.shape.draw(lo, behind, chance)
            out = np.where(lo == hi, lo, np.minimum(np.floor(wide) if self.whole else wide, hi))
        else:
            step = np.floor(chance * self.width[codes]).astype(np.int64)
            out = self.options[self.start[codes] + step].astype(np.float64)
        absent = self.absent[codes]
        gone = random.random(len(codes)) < absent
        return np.where(gone, np.nan, out)


class Draw:
    """One possible table: the slot of each row in each pool, and values of the attributes asked for."""

    def __init__(self, rows: Rows, names: list[str], columns: dict[str, Column], random: Random) -> None:
        self.rows = rows
        self.columns = columns
        self.random = random
        self.names = names
        wanted = set(names)
        self.pools = [pool for pool in rows.pools if wanted & set(pool.attributes)]
        self.slots = [_deal(pool, random) for pool in self.pools]
        self.values = {name: columns[name].draw(self.codes(name), random) for name in names}

    def codes(self, name: str) -> Ints:
        """The cell of each row, those of pools as they were dealt."""
        attribute = self.rows.attributes[name]
        codes = attribute.codes
        for pool, slots in zip(self.pools, self.slots, strict=True):
            if pool is attribute.pool:
                return np.where(slots >= 0, pool.codes[name][np.maximum(slots, 0)], codes)
        return codes

    def pairs(self) -> Iterator[tuple[int, Ints, Ints]]:
        """Rows that may exchange their slots: number of the pool, one row and the other of each pair."""
        for at, pool in enumerate(self.pools):
            slots = self.slots[at]
            bucket = np.where(slots >= 0, pool.slot_bucket[np.maximum(slots, 0)], -1)
            yield (at, *_pairs(bucket, self.random))
            if pool.group_of is not None:
                yield (at, *_pairs(pool.group_of, self.random))

    def exchanged(self, pool: int, one: Ints, other: Ints) -> dict[str, Floats]:
        """The values of the pool's attributes if these rows exchanged their slots."""
        out = {}
        for name in self.pools[pool].attributes:
            if name in self.values:
                values = self.values[name].copy()
                values[one], values[other] = values[other], values[one]
                out[name] = values
        return out

    def exchange(self, pool: int, one: Ints, other: Ints) -> None:
        """Let these rows exchange their slots; the values are the caller's to exchange."""
        slots = self.slots[pool]
        slots[one], slots[other] = slots[other], slots[one]


def _deal(pool: Pool, random: Random) -> Ints:
    """A slot of the own bucket for each row, no slot twice; -1 without a bucket."""
    members = np.flatnonzero(pool.row_bucket >= 0)
    members = members[np.argsort(pool.row_bucket[members], kind="stable")]
    bucket = pool.row_bucket[members]
    mixed = np.lexsort((random.random(len(pool.slot_bucket)), pool.slot_bucket))
    start, end = pool.ranges(bucket)
    rank = np.arange(len(members)) - np.searchsorted(bucket, bucket, "left")
    if np.any(start + rank >= end):
        raise ReleaseError("a bucket has fewer values than rows")
    out = np.full(len(pool.row_bucket), -1, np.int64)
    out[members] = mixed[start + rank]
    return out


def _pairs(key: Ints, random: Random) -> tuple[Ints, Ints]:
    """Pairs of rows with the same key (-1 aside), drawn anew each time."""
    order = np.lexsort((random.random(len(key)), key))
    order = order[np.searchsorted(key[order], 0, "left") :]
    sorted_key = key[order]
    rank = np.arange(len(order)) - np.searchsorted(sorted_key, sorted_key, "left")
    first = (
        np.flatnonzero((rank[:-1] % 2 == 0) & (sorted_key[:-1] == sorted_key[1:]))
        if len(order)
        else np.empty(0, np.int64)
    )
    return order[first], order[first + 1]


def generator(seed: int | None) -> Random:
    """A source of chance that a seed decides."""
    return np.random.default_rng(seed)


Bools = npt.NDArray[np.bool_]
