"""A linear regression that knows what a release hides.

Values in ranges and buckets are drawn *given the regression* and each other
(data augmentation, Tanner and Wong 1987): a range proposes its values
uniformly, rows of a bucket propose to exchange theirs, and a proposal is taken
by how well it fits (Metropolis). Parameters are drawn in turn. So a draw keeps
what the release says, and does not wash the association out as independent
draws would. Completed tables are joined by Rubin's rules.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ._cells import Kind
from ._draw import Column, Draw, Random, generator
from ._errors import MidpointWarning
from ._evidence import Evidence, Floats
from ._noise import Noise
from ._rows import Rows
from ._rubin import Pooled
from ._rubin import pool as pooled
from ._tables import Ints

ROUNDS = 3  # of exchanges and draws for each draw of the parameters


@dataclass(frozen=True)
class Term:
    """One coefficient.

    `bounds` hold for certain where the release tells them: the coefficient
    that the records themselves give lies between. `naive` is what midpoints
    and bucket means give, and `hidden` the share of the information that the
    release hides.
    """

    name: str
    estimate: float
    se: float
    low: float
    high: float
    bounds: tuple[float, float] | None
    naive: float
    hidden: float


@dataclass(frozen=True)
class Regression:
    """Coefficients of a linear regression; `regression["age"]` is one of them."""

    terms: tuple[Term, ...]
    rows: int
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> Term:
        return next(term for term in self.terms if term.name == name)


class _Design:
    """Columns of the regression, and how they come from drawn values."""

    def __init__(self, y: str, x: list[str], columns: dict[str, Column], draw: Draw) -> None:
        self.y, self.x, self.columns = y, x, columns
        self.names = ["(intercept)"]
        self.used: dict[str, list[int]] = {}
        self.first: dict[str, int] = {}  # position of the first coefficient of a category
        for name in x:
            if columns[name].is_number:
                self.names.append(name)
                continue
            values = draw.values[name]
            used = sorted(int(code) for code in np.unique(values[~np.isnan(values)]))
            self.used[name], self.first[name] = used[1:], len(self.names)
            self.names += [f"{name}={columns[name].labels[code]}" for code in used[1:]]
        center = {name: np.nanmean(draw.values[name]) for name in x if columns[name].is_number}
        scale = {name: np.nanstd(draw.values[name]) or 1.0 for name in center}
        self.center, self.scale = center, scale

    def matrix(self, values: dict[str, Floats]) -> Floats:
        parts = [np.ones(len(values[self.y]))]
        for name in self.x:
            if name in self.center:
                parts.append((values[name] - self.center[name]) / self.scale[name])
            else:
                gone = np.isnan(values[name])
                parts += [np.where(gone, np.nan, values[name] == code) for code in self.used[name]]
        return np.stack(parts, axis=1)

    def effect(self, name: str, values: Floats, beta: Floats) -> Floats:
        """What an attribute adds to the outcome; NaN where it has no value."""
        if name in self.center:
            return np.asarray((values - self.center[name]) / self.scale[name] * beta[self.names.index(name)])
        first = self.first[name]
        levels = np.zeros(len(self.columns[name].labels) + 1)
        levels[self.used[name]] = beta[first : first + len(self.used[name])]
        levels[-1] = np.nan
        gone = np.isnan(values)
        return np.asarray(levels[np.where(gone, len(levels) - 1, values).astype(np.int64)])

    def original(self) -> Floats:
        """The matrix that brings coefficients back to the units of the attributes."""
        size = len(self.names)
        back = np.eye(size)
        for at, name in enumerate(self.names):
            if name in self.center:
                back[at, at] = 1 / self.scale[name]
                back[0, at] = -self.center[name] / self.scale[name]
        return back


def regress(rows: Rows, y: str, x: list[str], samples: int, burn: int, thin: int, seed: int) -> Regression:
    """See `Release.regress`."""
    names = [y, *x]
    if len(set(names)) != len(names) or not x:
        raise ValueError("name an outcome and other attributes that explain it, each once")
    evidence = {name: Evidence(rows, rows.attributes[name]) for name in names}
    if not evidence[y].is_number:
        raise ValueError(f"{y!r} has categories: a linear regression explains a number")
    random = generator(seed)
    columns = {name: Column(evidence[name]) for name in names}
    draw = Draw(rows, names, columns, random)
    for name in names:
        columns[name].learn(draw.codes(name))
    design = _Design(y, x, columns, draw)
    estimates, variances, counts = [], [], []
    hides = bool(draw.pools) or any(not columns[n].exact[rows.attributes[n].codes].all() for n in names)
    chain = range(burn + samples * thin) if hides else range(1)
    for step in chain:
        fit = _Fit(design, draw.values)
        if not hides or (step >= burn and (step - burn) % thin == thin - 1):
            estimates.append(fit.beta @ design.original().T)
            variances.append(np.diag(design.original() @ fit.covariance() @ design.original().T))
            counts.append(fit.rows)
        if hides:
            beta, noise = fit.drawn(random)
            sweep = _Sweep(draw, design, beta, noise)
            for _ in range(ROUNDS):
                sweep.run(random)
    if not hides:
        estimates, variances = estimates * 2, variances * 2
    found = pooled(np.array(estimates), np.array(variances), float(np.mean(counts)) - len(design.names))
    naive = _naive(design, evidence)
    bounds = _bounds(design, evidence, draw)
    terms = tuple(
        Term(name, *_figures(found, at), bounds[at], float(naive[at]), float(found.missing_information[at]))
        for at, name in enumerate(design.names)
    )
    notes = [
        f"{len(estimates)} completed tables of {len(chain)} draws" if hides else "all values are published"
    ]
    notes += _warn(terms) if hides else []
    return Regression(terms, round(float(np.mean(counts))), tuple(notes))


def _figures(found: Pooled, at: int) -> tuple[float, float, float, float]:
    return float(found.value[at]), float(found.se[at]), float(found.low[at]), float(found.high[at])


def _warn(terms: tuple[Term, ...]) -> list[str]:
    off = [t for t in terms[1:] if abs(t.naive - t.estimate) > max(0.05 * abs(t.estimate), t.se)]
    if not off:
        return []
    text = "; ".join(f"{term.name}: {term.naive:.4g} in place of {term.estimate:.4g}" for term in off)
    text = f"A regression on midpoints and bucket means would be biased here ({text})."
    warnings.warn(text, MidpointWarning, stacklevel=4)
    return [text]


class _Fit:
    """Least squares on a completed table."""

    def __init__(self, design: _Design, values: dict[str, Floats]) -> None:
        matrix, y = design.matrix(values), values[design.y]
        told = ~(np.isnan(y) | np.isnan(matrix).any(axis=1))
        matrix, y = matrix[told], y[told]
        self.rows = len(y)
        self.df = self.rows - matrix.shape[1]
        if self.df < 1:
            raise ValueError("there are fewer complete rows than coefficients")
        self.matrix, self.inverse = matrix, np.linalg.pinv(matrix.T @ matrix)
        self.beta: Floats = self.inverse @ (matrix.T @ y)
        self.residual = y - matrix @ self.beta

    def covariance(self) -> Floats:
        """The covariance of the coefficients, whatever the widths of the residuals (HC1)."""
        meat = (self.matrix * self.residual[:, None] ** 2).T @ self.matrix
        return np.asarray(self.inverse @ meat @ self.inverse * (self.rows / self.df))

    def drawn(self, random: Random) -> tuple[Floats, Noise]:
        """Coefficients, drawn from what the table says of them, and the noise beside them."""
        noise = Noise(self.residual, self.matrix @ self.beta)
        beta = random.multivariate_normal(self.beta, self.covariance(), method="eigh")
        return beta, noise


def _log(noise: Noise, y: Floats, fitted: Floats) -> Floats:
    """How well each row fits, as a logarithm; what is missing fits as the average."""
    residual = y - fitted
    gone = np.isnan(residual)
    if not gone.any():
        return noise.log(residual, fitted)
    fits = noise.log(np.where(gone, 0.0, residual), np.where(gone, 0.0, fitted))
    return np.where(gone, float(np.mean(fits[~gone])) if not gone.all() else 0.0, fits)


class _Sweep:
    """One round of proposals, for all rows at once: rows are independent given the coefficients."""

    def __init__(self, draw: Draw, design: _Design, beta: Floats, noise: Noise) -> None:
        self.draw, self.design, self.beta, self.noise = draw, design, beta, noise
        self.effects = {name: design.effect(name, draw.values[name], beta) for name in design.x}
        self.fitted = beta[0] + sum(self.effects.values(), np.zeros(draw.rows.count))
        self.now = _log(noise, draw.values[design.y], self.fitted)

    def tried(self, changed: dict[str, Floats]) -> tuple[Floats, Floats]:
        """How well rows would fit with these values, and their fitted values."""
        fitted = self.fitted
        if self.effects.keys() & changed.keys():
            # Summed anew: a difference from an effect that was missing would stay missing.
            effect, beta = self.design.effect, self.beta
            parts = [effect(n, changed[n], beta) if n in changed else old for n, old in self.effects.items()]
            fitted = beta[0] + sum(parts, np.zeros(self.draw.rows.count))
        return _log(self.noise, changed.get(self.design.y, self.draw.values[self.design.y]), fitted), fitted

    def take(self, changed: dict[str, Floats], rows: Ints, then: Floats, fitted: Floats) -> None:
        """Let these rows have their new values."""
        for name, values in changed.items():
            self.draw.values[name][rows] = values[rows]
            if name in self.effects:
                self.effects[name][rows] = self.design.effect(name, values[rows], self.beta)
        self.now[rows], self.fitted[rows] = then[rows], fitted[rows]

    def run(self, random: Random) -> None:
        """Propose exchanges inside pools, then other values inside cells."""
        for pool, one, other in self.draw.pairs():
            changed = self.draw.exchanged(pool, one, other)
            then, fitted = self.tried(changed)
            gain = then[one] + then[other] - self.now[one] - self.now[other]
            taken = np.log(random.random(len(one))) < gain
            self.draw.exchange(pool, one[taken], other[taken])
            self.take(changed, np.concatenate([one[taken], other[taken]]), then, fitted)
        for name in self.draw.names:
            codes = self.draw.codes(name)
            rows = np.flatnonzero(~self.draw.columns[name].exact[codes])
            if not len(rows):
                continue
            values = self.draw.values[name].copy()
            values[rows] = self.draw.columns[name].draw(codes[rows], random)
            then, fitted = self.tried({name: values})
            chosen = rows[np.log(random.random(len(rows))) < then[rows] - self.now[rows]]
            self.take({name: values}, chosen, then, fitted)


def _middles(evidence: Evidence) -> Floats:
    """The middle of each cell; of a bucket the mean."""
    keys, known = evidence.of_keys()
    out = []
    for shares in known:
        told = [(float(value), share) for value, share in shares.items() if value is not None]
        total = sum(share for _, share in told)
        out.append(sum(value * share for value, share in told) / total if total else np.nan)
    return np.array(out)[keys]


def _naive(design: _Design, evidence: dict[str, Evidence]) -> Floats:
    """What somebody gets who takes middles of ranges, means of buckets, and shares of categories."""
    parts = [np.ones(evidence[design.y].rows.count)]
    for name in design.x:
        if name in design.center:
            parts.append(_middles(evidence[name]))
            continue
        keys, known = evidence[name].of_keys()
        for code in design.used[name]:
            label = design.columns[name].labels[code]
            parts.append(np.array([shares.get(label, 0.0) for shares in known])[keys])
    matrix, y = np.stack(parts, axis=1), _middles(evidence[design.y])
    told = ~(np.isnan(y) | np.isnan(matrix).any(axis=1))
    return np.asarray(np.linalg.lstsq(matrix[told], y[told], rcond=None)[0])


def _bounds(design: _Design, evidence: dict[str, Evidence], draw: Draw) -> list[tuple[float, float] | None]:
    """Certain bounds where all that explains is published exactly: coefficients are linear in the outcome."""
    nothing: list[tuple[float, float] | None] = [None] * len(design.names)
    y = evidence[design.y]
    pool = y.attribute.pool
    told = all(
        evidence[n].attribute.pool is None and draw.columns[n].exact[evidence[n].attribute.codes].all()
        for n in design.x
    )
    unknown = {Kind.MASKED, Kind.EMPTY, Kind.MISSING}
    matrix = design.matrix(draw.values) @ np.linalg.inv(design.original())
    apart = np.ones(len(matrix), bool) if pool is None else pool.row_bucket < 0
    codes = [y.attribute.codes[apart]] if pool is None else [y.attribute.codes[apart], pool.codes[design.y]]
    cells = [y.cells[code] for code in np.unique(np.concatenate(codes))]
    if not told or any(c.kind in unknown or c.or_missing for c in cells):
        return nothing
    if pool is not None and (pool.group_of is not None or len(pool.slot_bucket) != int((~apart).sum())):
        return nothing
    lo, hi = (
        np.array([end if c.kind is Kind.RANGE else np.nan for c, end in zip(y.cells, ends, strict=True)])
        for ends in zip(*((c.lo, c.hi) for c in y.cells), strict=True)
    )
    # Rows that lack an explaining value count nothing, but one of them may have any value of the bucket.
    known = ~np.isnan(matrix).any(axis=1)
    weights = np.zeros((matrix.shape[1], len(matrix)))
    weights[:, known] = np.linalg.pinv(matrix[known])
    return [_extremes(weight, apart, y, lo, hi) for weight in weights]


def _extremes(weight: Floats, apart: np.ndarray, y: Evidence, lo: Floats, hi: Floats) -> tuple[float, float]:
    """Least and largest sum of weight times outcome; in a bucket by the rearrangement inequality."""
    pool, codes = y.attribute.pool, y.attribute.codes
    down = np.where(weight >= 0, lo[codes], hi[codes])[apart] @ weight[apart]
    up = np.where(weight >= 0, hi[codes], lo[codes])[apart] @ weight[apart]
    if pool is not None:
        members: Ints = np.flatnonzero(~apart)
        order = members[np.lexsort((weight[members], pool.row_bucket[members]))]
        slots = pool.codes[y.attribute.name]
        rising = np.lexsort((lo[slots], pool.slot_bucket))
        falling = np.lexsort((-lo[slots], pool.slot_bucket))
        up += lo[slots[rising]] @ weight[order]
        down += lo[slots[falling]] @ weight[order]
    return float(down), float(up)
