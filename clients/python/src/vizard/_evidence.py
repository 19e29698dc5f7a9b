"""What a release tells of one attribute, as probabilities.

What a cell hides is taken as uniform over what is public, as the service's
queries do: the whole numbers or days of a range, its length for decimals, the
leaves of a node, the members of a set, the values of a bucket. A masked cell
may be anything that is published of the attribute. A number that may be
missing instead is so in one of two cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ._cells import MISSING, NUMBERS, Cell, Kind
from ._errors import ReleaseError
from ._rows import Attribute, Rows
from ._tables import Ints

Floats = npt.NDArray[np.float64]
Value = str | float | None
Shares = dict[Value, float]


class Evidence:
    """What is known of an attribute, cell by cell and row by row.

    Rows with the same *key* know the same: rows with one cell, or rows of one
    bucket.
    """

    def __init__(self, rows: Rows, attribute: Attribute) -> None:
        self.attribute = attribute
        self.is_number = attribute.kind in NUMBERS
        if attribute.content == "fingerprint":
            raise ReleaseError(f"{attribute.name!r} is a set of values a person: read it by to_arrow()")
        self.cells = attribute.cells
        self.rows = rows

    @cached_property
    def hull(self) -> tuple[float, float]:
        """Least and greatest published number."""
        known = [cell for cell in self.cells if cell.kind is Kind.RANGE]
        if not known:
            raise ReleaseError(f"nothing is published of {self.attribute.name!r}")
        return min(cell.lo for cell in known), max(cell.hi for cell in known)

    @cached_property
    def labels(self) -> list[str]:
        """The categories: the leaves of the hierarchy, else what is published."""
        tree = self.attribute.hierarchy
        found: dict[str, None] = dict.fromkeys(tree.leaves) if tree else {}
        for cell in self.cells:
            for label in cell.labels:
                found.update(dict.fromkeys(self.under(label)))
        return list(found) if tree else sorted(found)

    def under(self, label: str) -> tuple[str, ...]:
        """The categories that a label stands for."""
        tree = self.attribute.hierarchy
        return tree.under(label) if tree else (label,)

    def options(self, cell: Cell) -> list[str]:
        """The categories that a cell may be."""
        if cell.kind in (Kind.MASKED, Kind.EMPTY):
            return self.labels
        return list(dict.fromkeys(leaf for label in cell.labels for leaf in self.under(label)))

    def ends(self, cell: Cell) -> tuple[float, float]:
        """Least and greatest number that a cell may be."""
        return (cell.lo, cell.hi) if cell.kind is Kind.RANGE else self.hull

    def missing_share(self, cell: Cell) -> float:
        """How likely it is that there is no value."""
        return 1.0 if cell.kind is Kind.MISSING else 0.5 if cell.or_missing else 0.0

    def shares(self, cell: Cell, parts: int) -> Shares:
        """Each possible value with its probability; a range of decimals by the middles of `parts` parts."""
        absent = self.missing_share(cell)
        out: Shares = {None: absent} if absent else {}
        if absent == 1.0:
            return out
        values: Sequence[Value] = self._numbers(cell, parts) if self.is_number else self.options(cell)
        out.update(dict.fromkeys(values, (1.0 - absent) / len(values)))
        return out

    def _numbers(self, cell: Cell, parts: int) -> list[float]:
        lo, hi = self.ends(cell)
        if lo == hi:
            return [lo]
        if self.attribute.kind == "decimal":
            width = (hi - lo) / parts
            return [lo + (at + 0.5) * width for at in range(parts)]
        return list(range(int(lo), int(hi) + 1))

    @cached_property
    def keys(self) -> tuple[Ints, list[Floats]]:
        """The key of each row, and for each key the share of each cell."""
        pool = self.attribute.pool
        codes = self.attribute.codes
        width = len(self.cells)
        if pool is None:
            used, keys = np.unique(codes, return_inverse=True)
            return keys.astype(np.int64), [_unit(width, int(code)) for code in used]
        slots = pool.codes[self.attribute.name]
        at = pool.row_bucket if pool.group_of is None else pool.group_of
        marks = np.where(at >= 0, at, -1 - codes)
        used, keys = np.unique(marks, return_inverse=True)
        out = []
        for mark in used:
            if mark < 0:
                out.append(_unit(width, int(-1 - mark)))
                continue
            weights = {int(mark): 1.0} if pool.group_of is None else pool.group_weights[int(mark)]
            share = np.zeros(width)
            for bucket, weight in weights.items():
                start, end = pool.ranges(np.array([bucket]))
                run = slots[start[0] : end[0]]
                share += weight * np.bincount(run, minlength=width) / max(len(run), 1)
            out.append(share)
        return keys.astype(np.int64), out

    def of_keys(self, parts: int = 10) -> tuple[Ints, list[Shares]]:
        """The key of each row, and for each key the possible values with their probabilities."""
        keys, shares = self.keys
        of_cell: dict[int, Shares] = {}
        out: list[Shares] = []
        for share in shares:
            mixed: Shares = {}
            for code in np.flatnonzero(share):
                known = of_cell.setdefault(int(code), self.shares(self.cells[code], parts))
                for value, probability in known.items():
                    mixed[value] = mixed.get(value, 0.0) + probability * float(share[code])
            out.append(mixed)
        return keys, out

    def categories(self, cuts: Sequence[float] | None) -> tuple[list[str], Floats, npt.NDArray[np.bool_]]:
        """Categories, or intervals between cuts; the share of each in every cell; whether it is possible."""
        names = self._names(cuts)
        shares = np.zeros((len(self.cells), len(names)))
        possible = np.zeros(shares.shape, dtype=bool)
        position = {name: at for at, name in enumerate(names)}
        for at, cell in enumerate(self.cells):
            absent = self.missing_share(cell)
            if cuts is not None and absent < 1.0:
                lo, hi = self.ends(cell)
                shares[at, :-1] = (1.0 - absent) * _between(lo, hi, cuts, self.attribute.kind != "decimal")
            elif absent < 1.0:
                options = self.options(cell)
                for option in options:
                    shares[at, position[option]] = (1.0 - absent) / len(options)
            shares[at, -1] = absent
            possible[at] = shares[at] > 0
            if cell.kind in (Kind.MASKED, Kind.EMPTY):
                possible[at] = True
        return names, shares, possible

    def _names(self, cuts: Sequence[float] | None) -> list[str]:
        if cuts is None:
            if self.is_number:
                raise ValueError(
                    f"{self.attribute.name!r} has numbers: say where to cut them, cuts={{name: [40, 60]}}"
                )
            return [*self.labels, MISSING]
        if list(cuts) != sorted(set(cuts)) or not cuts:
            raise ValueError("cuts ascend")
        inner = [f"{low:g} to below {high:g}" for low, high in pairwise(cuts)]
        return [f"below {cuts[0]:g}", *inner, f"{cuts[-1]:g} and above", MISSING]


def _unit(width: int, at: int) -> Floats:
    share = np.zeros(width)
    share[at] = 1.0
    return share


def _between(lo: float, hi: float, cuts: Sequence[float], whole: bool) -> Floats:
    """The share of a range that lies between each two cuts."""
    edges = np.array([-np.inf, *cuts, np.inf])
    if whole:
        first = np.maximum(np.ceil(edges[:-1]), lo)
        last = np.minimum(np.ceil(edges[1:]) - 1, hi)
        return np.asarray(np.maximum(last - first + 1, 0) / (hi - lo + 1))
    if lo == hi:
        return np.asarray((edges[:-1] <= lo) & (lo < edges[1:]), dtype=np.float64)
    return np.asarray(np.maximum(np.minimum(edges[1:], hi) - np.maximum(edges[:-1], lo), 0) / (hi - lo))
