"""What is left of the outcome beside the regression: how wide it is, and how skewed.

Which row of a bucket has which value is judged by how well it fits. Were
residuals taken for normal where they are skewed, or wider for large outcomes,
the judgement would be wrong. So the width is measured in bins of the fitted
value, and the density of what is left over is estimated from it.
"""

from __future__ import annotations

import numpy as np

from ._evidence import Floats

_BINS, _REACH, _STEPS = 8, 6.0, 240
_PRIOR = 20.0  # residuals that every bin has of the whole, so that small bins are not taken at their word


class Noise:
    """The distribution of residuals, given the fitted value."""

    def __init__(self, residual: Floats, fitted: Floats) -> None:
        whole = max(float(np.mean(residual**2)), 1e-300)
        edges = np.quantile(fitted, np.linspace(0, 1, _BINS + 1))
        at = np.clip(np.searchsorted(edges, fitted, "right") - 1, 0, _BINS - 1)
        counts = np.bincount(at, minlength=_BINS)
        squares = np.bincount(at, weights=residual**2, minlength=_BINS)
        centers = np.bincount(at, weights=fitted, minlength=_BINS) / np.maximum(counts, 1)
        used = np.flatnonzero(counts)
        self._centers = centers[used]
        self._width = np.sqrt((squares + _PRIOR * whole) / (counts + _PRIOR))[used]
        scaled = residual / self.width(fitted)
        grid = np.linspace(-_REACH, _REACH, _STEPS + 1)
        heights, _ = np.histogram(np.clip(scaled, -_REACH, _REACH), grid)
        step = grid[1] - grid[0]
        band = 1.06 * max(len(residual), 2) ** -0.2
        # Smoothing widens; the width is taken back.
        self._stretch = float(np.sqrt(1 + band**2))
        reach = np.arange(-int(4 * band / step) - 1, int(4 * band / step) + 2) * step
        kernel = np.exp(-0.5 * (reach / band) ** 2)
        density = np.convolve(heights, kernel / kernel.sum(), "same") / (len(residual) * step)
        middle = (grid[:-1] + grid[1:]) / 2
        # Far out, where nobody is, a wide normal stands in.
        tail = np.exp(-0.5 * (middle / 2) ** 2) / (2 * np.sqrt(2 * np.pi))
        self._grid, self._log = middle, np.log(0.99 * density + 0.01 * tail)

    def width(self, fitted: Floats) -> Floats:
        """The standard deviation of residuals at these fitted values."""
        return np.interp(fitted, self._centers, self._width)

    def log(self, residual: Floats, fitted: Floats) -> Floats:
        """How likely residuals are, as a logarithm."""
        width = self.width(fitted)
        scaled = residual / width * self._stretch
        beyond = np.maximum(np.abs(scaled) - _REACH, 0)
        return np.asarray(np.interp(scaled, self._grid, self._log) - np.log(width) - beyond)
