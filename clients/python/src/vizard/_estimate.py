"""Means and cross tables of a release, with bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ._cells import Kind
from ._draw import Column, Draw, generator
from ._evidence import Evidence, Floats
from ._rows import Pool, Rows
from ._rubin import pool as pooled

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A figure with its standard error, its 95 % interval and its bounds.

    `low` and `high` are for the people of whom the records are a sample, by
    multiple imputation. `bounds` hold for certain: the figure of the records
    themselves lies between them; None where the release does not tell any.
    `notes` say how ranges were treated. Days are counted from 1970-01-01.
    """

    value: float
    se: float
    low: float
    high: float
    bounds: Bounds | None
    rows: int
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Crosstab:
    """Expected counts of two attributes, and what they are at least and at most for certain."""

    table: pa.Table
    notes: tuple[str, ...]


def mean(rows: Rows, name: str, samples: int, seed: int) -> Estimate:
    """See `Release.mean`."""
    evidence = Evidence(rows, rows.attributes[name])
    if not evidence.is_number:
        raise ValueError(f"{name!r} has categories: crosstab counts them")
    columns, random = {name: Column(evidence)}, generator(seed)
    means, variances, counts = [], [], []
    for _ in range(samples):
        values = Draw(rows, [name], columns, random).values[name]
        values = values[~np.isnan(values)]
        if len(values) < 2:
            raise ValueError(f"{name!r} has fewer than two known values")
        means.append(values.mean())
        variances.append(values.var(ddof=1) / len(values))
        counts.append(len(values))
    found = pooled(np.array(means)[:, None], np.array(variances)[:, None], float(np.mean(counts)) - 1)
    bounds, notes = _mean_bounds(evidence)
    notes.insert(
        0, f"{samples} tables were drawn from what each cell tells (uniform), joined by Rubin's rules"
    )
    return Estimate(
        float(found.value[0]),
        float(found.se[0]),
        float(found.low[0]),
        float(found.high[0]),
        bounds,
        round(float(np.mean(counts))),
        tuple(notes),
    )


def _mean_bounds(evidence: Evidence) -> tuple[Bounds | None, list[str]]:
    attribute = evidence.attribute
    pool, codes, weights = attribute.pool, attribute.codes, None
    if pool is not None:
        if len(pool.slot_bucket) != int(np.sum(pool.row_bucket >= 0)):
            return None, ["buckets hold values of nobody (counterfeits): there is no certain bound"]
        # Each value of a bucket is somebody's, so their sum is known.
        codes = np.concatenate([codes[pool.row_bucket < 0], pool.codes[attribute.name]])
    used, weights = np.unique(codes, return_counts=True)
    cells = [evidence.cells[code] for code in used]
    if any(cell.kind in (Kind.MASKED, Kind.EMPTY) for cell in cells):
        return None, ["cells are masked: there is no certain bound"]
    sure = [
        (c.lo, c.hi, n)
        for c, n in zip(cells, weights, strict=True)
        if c.kind is Kind.RANGE and not c.or_missing
    ]
    maybe = [(c.lo, c.hi, n) for c, n in zip(cells, weights, strict=True) if c.or_missing]
    low = _least(sum(s[0] * s[2] for s in sure), sum(s[2] for s in sure), [(m[0], m[2]) for m in maybe])
    high = -_least(-sum(s[1] * s[2] for s in sure), sum(s[2] for s in sure), [(-m[1], m[2]) for m in maybe])
    notes = ["missing values are left out"] if maybe or any(c.kind is Kind.MISSING for c in cells) else []
    return (float(low), float(high)), notes


def _least(total: float, count: int, optional: list[tuple[float, int]]) -> float:
    """The least mean if each optional value may be there or not."""
    for value, number in sorted(optional):
        if count and value >= total / count:
            break
        total += value * number
        count += number
    return total / count if count else float("nan")


def crosstab(rows: Rows, one: str, other: str, cuts: Mapping[str, Sequence[float]]) -> Crosstab:
    """See `Release.crosstab`."""
    if one == other:
        raise ValueError("a cross table has two attributes")
    first, second = (_Counted(rows, name, cuts.get(name)) for name in (one, other))
    together = first.pool is not None and first.pool is second.pool
    if together:
        expected, lower, upper = _of_slots(first, second)
    else:
        expected = _expected(first, second)
        lower, upper = _frechet(first, second)
        back_lower, back_upper = _frechet(second, first)
        lower, upper = np.maximum(lower, back_lower.T), np.minimum(upper, back_upper.T)
    keep = [(i, j) for i in range(len(first.names)) for j in range(len(second.names)) if upper[i, j] > 0]
    table = pa.table(
        {
            one: pa.array([first.names[i] for i, _ in keep], pa.string()),
            other: pa.array([second.names[j] for _, j in keep], pa.string()),
            "estimate": pa.array([float(expected[cell]) for cell in keep], pa.float64()),
            "lower": pa.array([round(lower[cell]) for cell in keep], pa.int64()),
            "upper": pa.array([round(upper[cell]) for cell in keep], pa.int64()),
        }
    )
    note = "estimates take what a cell hides as uniform, and two hidden values of a row as independent"
    if first.hides or second.hides:
        note += ": an association looks weaker than it is; lower and upper hold for certain"
    return Crosstab(table, (note,))


class _Counted:
    """The categories of an attribute, counted row by row or bucket by bucket."""

    def __init__(self, rows: Rows, name: str, cuts: Sequence[float] | None) -> None:
        evidence = Evidence(rows, rows.attributes[name])
        self.name, self.pool = name, evidence.attribute.pool
        self.names, self.shares, self.possible = evidence.categories(cuts)
        # Certain is what nothing else is possible beside.
        self.certain = self.possible & (self.possible.sum(axis=1) == 1)[:, None]
        self.keys, mixes = evidence.keys
        mix = np.array(mixes)
        self.key_shares: Floats = mix @ self.shares
        self.key_possible = (mix > 0).astype(float) @ self.possible > 0
        self.key_certain = self.key_possible & (self.key_possible.sum(axis=1) == 1)[:, None]
        self.hides = bool(np.any((self.key_shares > 0) & (self.key_shares < 1)))


def _of_slots(first: _Counted, second: _Counted) -> tuple[Floats, Floats, Floats]:
    """Of two attributes in one pool: slots carry both."""
    pool = first.pool
    assert pool is not None  # noqa: S101 - the caller looked
    a, b = pool.codes[first.name], pool.codes[second.name]
    tables = (
        (first.shares, second.shares),
        (first.certain, second.certain),
        (first.possible, second.possible),
    )
    expected, lower, upper = (x[a].astype(float).T @ y[b].astype(float) for x, y in tables)
    return expected, lower, upper


def _expected(first: _Counted, second: _Counted) -> Floats:
    pairs, counts = np.unique(np.stack([first.keys, second.keys]), axis=1, return_counts=True)
    return np.asarray((first.key_shares[pairs[0]] * counts[:, None]).T @ second.key_shares[pairs[1]])


def _frechet(first: _Counted, second: _Counted) -> tuple[Floats, Floats]:
    """Bounds of counts, where a bucket of the second attribute says how often it has each value."""
    pool = second.pool
    certain, possible = first.key_certain[first.keys], first.key_possible[first.keys]
    if pool is None or pool.group_of is not None or _has_counterfeits(pool):
        return (
            certain.astype(float).T @ second.key_certain[second.keys].astype(float),
            possible.astype(float).T @ second.key_possible[second.keys].astype(float),
        )
    apart = pool.row_bucket < 0
    lower = certain[apart].astype(float).T @ second.key_certain[second.keys[apart]].astype(float)
    upper = possible[apart].astype(float).T @ second.key_possible[second.keys[apart]].astype(float)
    inside = ~apart
    used, bucket = np.unique(pool.row_bucket[inside], return_inverse=True)
    slot_at = np.searchsorted(used, pool.slot_bucket)
    slots = pool.codes[second.name]
    size = np.bincount(bucket, minlength=len(used)).astype(float)
    sure_a, may_a = (_sum(x[inside], bucket, len(used)) for x in (certain, possible))
    sure_b, may_b = (_sum(x[slots], slot_at, len(used)) for x in (second.certain, second.possible))
    for i in range(lower.shape[0]):
        for j in range(lower.shape[1]):
            lower[i, j] += np.maximum(sure_a[:, i] + sure_b[:, j] - size, 0).sum()
            upper[i, j] += np.minimum(may_a[:, i], may_b[:, j]).sum()
    return lower, upper


def _has_counterfeits(pool: Pool) -> bool:
    return len(pool.slot_bucket) != int(np.sum(pool.row_bucket >= 0))


def _sum(flags: np.ndarray, at: np.ndarray, size: int) -> Floats:
    out = np.zeros((size, flags.shape[1]))
    np.add.at(out, at, flags.astype(float))
    return out
