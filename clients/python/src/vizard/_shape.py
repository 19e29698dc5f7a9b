"""How an attribute's numbers are spread over all rows, estimated from ranges.

Inside a range small numbers may be more frequent than large ones. Turnbull's
self-consistent estimate (1976) says how, from all ranges and exact values
together, here stopped early so that it stays smooth.
"""

from __future__ import annotations

import numpy as np

from ._evidence import Floats
from ._tables import Ints

_BINS, _ROUNDS = 200, 30


class Shape:
    """A distribution with a constant density in each bin."""

    def __init__(self, lo: Floats, hi: Floats, counts: Ints) -> None:
        """Estimate from ranges `[lo, hi)` that `counts` rows have."""
        ends = np.unique(np.concatenate([lo, hi]))
        if len(ends) > _BINS + 1:
            ends = np.unique(np.quantile(ends, np.linspace(0, 1, _BINS + 1)))
        self.edges: Floats = ends
        first = np.clip(np.searchsorted(ends, lo, "right") - 1, 0, len(ends) - 2)
        last = np.maximum(np.searchsorted(ends, hi, "left"), first + 1)
        mass = np.diff(ends) / (ends[-1] - ends[0])
        for _ in range(_ROUNDS):
            total = np.concatenate([[0.0], np.cumsum(mass)])
            rate = counts / np.maximum(total[last] - total[first], 1e-300)
            covered = np.zeros(len(mass) + 1)
            np.add.at(covered, first, rate)
            np.add.at(covered, last, -rate)
            mass = mass * np.cumsum(covered)[:-1] / counts.sum()
        self.below: Floats = np.concatenate([[0.0], np.cumsum(mass)])

    def draw(self, lo: Floats, hi: Floats, chance: Floats) -> Floats:
        """A number of each range `[lo, hi)`; `chance` lies between 0 and 1."""
        start, end = np.interp(lo, self.edges, self.below), np.interp(hi, self.edges, self.below)
        flat = end - start < 1e-12
        found = np.interp(start + chance * (end - start), self.below, self.edges)
        return np.clip(np.where(flat, lo + chance * (hi - lo), found), lo, hi)
