"""Rubin's rules: one estimate out of several completed tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ._evidence import Floats


@dataclass(frozen=True)
class Pooled:
    """Estimates, standard errors and 95 % intervals, one entry a parameter."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats
    missing_information: Floats


def pool(values: Floats, variances: Floats, complete_df: float) -> Pooled:
    """Put `values` (table by parameter) with their variances together.

    The spread between tables is what the release hides, the variance within a
    table is what a sample of people leaves open. Degrees of freedom are those
    of Barnard and Rubin (1999).
    """
    tables = len(values)
    mean = values.mean(axis=0)
    within = variances.mean(axis=0)
    between = values.var(axis=0, ddof=1) * (1 + 1 / tables)
    total = within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, between / total, 0.0)
        old = np.where(share > 0, (tables - 1) / np.maximum(share, 1e-12) ** 2, np.inf)
    observed = (complete_df + 1) / (complete_df + 3) * complete_df * (1 - share)
    df = 1 / (1 / old + 1 / np.maximum(observed, 1e-9))
    se = np.sqrt(total)
    width = np.array([quantile(0.975, float(one)) for one in df]) * se
    return Pooled(mean, se, mean - width, mean + width, share)


def quantile(p: float, df: float) -> float:
    """A quantile of Student's t, for p above one half (Hill 1970, exact for 1 and 2)."""
    if df >= 1e6:
        return NormalDist().inv_cdf(p)
    df = max(df, 1.0)
    tail = 2 * (1 - p)
    if df == 1:
        return 1 / math.tan(tail * math.pi / 2)
    if df == 2:
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    a = 1 / (df - 0.5)
    b = (48 / a) / a
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * df
    y = (d * tail) ** (2 / df)
    if y <= 0.05 + a:
        y = ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y - 1) * (
            df + 1
        ) / (df + 2) + 1 / y
        return math.sqrt(df * y)
    x = -NormalDist().inv_cdf(1 - tail / 2)
    y = x * x
    if df < 5:
        c += 0.3 * (df - 4.5) * (x + 0.6)
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    return math.sqrt(df * math.expm1(a * y * y))
