"""Figures of releases against those of the originals, which are made up and so known."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import made_up
import numpy as np
import numpy.typing as npt
import pytest

from vizard import MidpointWarning, Regression, Release
from vizard._rubin import pool, quantile

JOBS: dict[str, dict[str, Any]] = {
    "lgb": {"engine": "lgb", "parameters": {"k": 5, "l": 5}},
    "anatomy": {"engine": "anatomy", "parameters": {"l": 5}},
    "arp": {"engine": "arp", "parameters": {"l": 5}},
    "mondrian": {"engine": "mondrian", "parameters": {"k": 10, "l": 5}},
    "slicing": {
        "engine": "slicing",
        "parameters": {
            "l": 4,
            "k": 4,
            "columns": [["age", "weight"], ["sex", "ward"], ["admitted"], ["cost"], ["diagnosis"]],
        },
    },
}
every_job = pytest.mark.parametrize("name", JOBS)


class Known:
    """The originals, and a release of them by each engine."""

    def __init__(self, place: Path) -> None:
        self.records = made_up.people(2000, 2)
        self._regressions: dict[str, Regression] = {}
        self.releases = {
            name: Release.open(made_up.anonymize(place / name, self.records, job))
            for name, job in JOBS.items()
        }

    def regression(self, name: str) -> Regression:
        """Of the cost on age and sex."""
        if name not in self._regressions:
            self._regressions[name] = quietly(self.releases[name], "age", "sex", seed=1)
        return self._regressions[name]

    def coefficients(self) -> npt.NDArray[np.float64]:
        """Intercept, age and sex of the cost, by least squares on the originals."""
        told = [r for r in self.records if r["age"] != ""]
        matrix = np.array([[1.0, r["age"], r["sex"] == "M"] for r in told], dtype=np.float64)
        return np.asarray(np.linalg.lstsq(matrix, np.array([float(r["cost"]) for r in told]), rcond=None)[0])


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    return Known(tmp_path_factory.mktemp("known"))


def quietly(release: Release, *on: str, **how: int) -> Regression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MidpointWarning)
        return release.regress("cost", on, **how)


@every_job
def test_a_regression_comes_near_the_truth_and_its_interval_covers_it(known: Known, name: str) -> None:
    _, age, sex = known.coefficients()
    found = known.regression(name)
    assert found["age"].estimate == pytest.approx(age, rel=0.06)
    if name == "slicing":
        # Skewed noise is smoothed, which costs some per cent where four values are exchanged without a range.
        return
    assert found["age"].low <= age <= found["age"].high
    assert found["sex=M"].low <= sex <= found["sex=M"].high


def test_midpoints_and_bucket_means_are_off_by_more_than_fifteen_per_cent(known: Known) -> None:
    _, age, sex = known.coefficients()
    for name in ("anatomy", "slicing"):
        found = known.regression(name)
        assert abs(found["age"].naive / age - 1) > 0.15, name
        assert not found["age"].low <= found["age"].naive <= found["age"].high
    assert abs(known.regression("arp")["sex=M"].naive / sex - 1) > 0.15


def test_a_biased_regression_is_warned_of(known: Known) -> None:
    with pytest.warns(MidpointWarning, match="midpoints and bucket means would be biased here"):
        found = known.releases["anatomy"].regress("cost", ["age", "sex"], burn=50, thin=5)
    assert "age:" in found.notes[-1]


def test_certain_bounds_of_a_regression_hold_the_truth(known: Known) -> None:
    # Nobody is left out, so the published records are the originals.
    for name in ("anatomy", "arp"):
        found = quietly(known.releases[name], "sex", burn=20, thin=2)
        told = np.array([[1.0, r["sex"] == "M"] for r in known.records], dtype=np.float64)
        truth = np.linalg.lstsq(told, np.array([float(r["cost"]) for r in known.records]), rcond=None)[0]
        for term, value in zip(found.terms, truth, strict=True):
            assert term.bounds is not None
            assert term.bounds[0] <= value <= term.bounds[1]
            assert term.bounds[1] - term.bounds[0] < 20 * abs(truth[0])
    assert quietly(known.releases["lgb"], "age", burn=20, thin=2)["age"].bounds is None


def test_a_regression_of_published_values_is_that_of_least_squares(tmp_path: Path, known: Known) -> None:
    schema = made_up.schema()
    for attribute in schema["attributes"]:
        if attribute["name"] in ("age", "sex", "cost"):
            attribute["role"] = "insensitive"
    accepted = [{"attribute": name, "reason": "made up"} for name in ("age", "sex", "cost")]
    job = {"engine": "mondrian", "parameters": {"k": 2, "l": 2}, "accept_exact": accepted}
    release = Release.open(made_up.anonymize(tmp_path / "x", known.records, job, schema=schema))
    found = release.regress("cost", ["age", "sex"])
    assert [term.estimate for term in found.terms] == pytest.approx(list(known.coefficients()))
    assert [term.naive for term in found.terms] == pytest.approx(list(known.coefficients()))
    assert found["age"].hidden == 0
    assert found.notes == ("all values are published",)
    bounds = found["age"].bounds
    assert bounds is not None
    assert bounds == pytest.approx((found["age"].estimate,) * 2)


@every_job
def test_bounds_of_a_mean_hold_the_truth_for_certain(known: Known, name: str) -> None:
    ages = [r["age"] for r in known.records if r["age"] != ""]
    costs = [r["cost"] for r in known.records]
    for attribute, values in (("age", ages), ("cost", costs)):
        found = known.releases[name].mean(attribute)
        assert found.bounds is not None
        low, high = found.bounds
        assert low - 1e-9 <= float(np.mean(values)) <= high + 1e-9
        assert low - 1e-9 <= found.value <= high + 1e-9
        # Values of buckets are all somebody's: their sum is known.
        if attribute == "cost":
            assert high - low < 1e-6
    assert found.low < float(np.mean(costs)) < found.high


def test_bounds_of_a_mean_take_a_value_that_may_be_missing_both_ways(known: Known) -> None:
    release = known.releases["mondrian"]
    assert any(release.to_arrow()["age_missing"].to_pylist())
    found = release.mean("age")
    assert found.bounds is not None
    assert found.bounds[1] - found.bounds[0] > 1
    assert "missing values are left out" in found.notes


@every_job
def test_bounds_of_a_cross_table_hold_every_true_count(known: Known, name: str) -> None:
    found = known.releases[name].crosstab("age", "diagnosis", cuts={"age": [40, 60]})
    truth: dict[tuple[str, str], int] = {}
    for r in known.records:
        age = "(missing)" if r["age"] == "" else "below 40" if r["age"] < 40 else None
        age = age or ("40 to below 60" if r["age"] < 60 else "60 and above")
        truth[age, r["diagnosis"]] = truth.get((age, r["diagnosis"]), 0) + 1
    rows = {(one["age"], one["diagnosis"]): one for one in found.table.to_pylist()}
    for cell, count in truth.items():
        assert rows[cell]["lower"] <= count <= rows[cell]["upper"], cell
        assert rows[cell]["lower"] - 1e-6 <= rows[cell]["estimate"] <= rows[cell]["upper"] + 1e-6
    assert sum(one["estimate"] for one in rows.values()) == pytest.approx(len(known.records))
    assert sum(abs(rows[cell]["estimate"] - count) for cell, count in truth.items()) < 0.2 * len(
        known.records
    )


def test_what_cannot_be_asked_is_said_in_words(known: Known) -> None:
    release = known.releases["lgb"]
    with pytest.raises(ValueError, match="has categories: crosstab"):
        release.mean("sex")
    with pytest.raises(ValueError, match="say where to cut them"):
        release.crosstab("age", "sex")
    with pytest.raises(ValueError, match="explains a number"):
        release.regress("sex", ["age"])
    with pytest.raises(ValueError, match="max_rows"):
        release.weighted("age", "weight", "admitted", max_rows=1000)


def test_rubins_rules_are_those_of_the_book() -> None:
    values, variances = np.array([[1.0], [2.0], [3.0]]), np.array([[0.5], [0.5], [0.5]])
    found = pool(values, variances, 1e9)
    assert found.value[0] == 2
    assert found.se[0] == pytest.approx(np.sqrt(0.5 + 4 / 3))
    assert found.missing_information[0] == pytest.approx((4 / 3) / (0.5 + 4 / 3))
    # 2 / 0.727² = 3.78 degrees of freedom, whose quantile is 2.838.
    assert found.high[0] - 2 == pytest.approx(2.838 * found.se[0], rel=2e-3)


@pytest.mark.parametrize(
    ("df", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1e9, 1.96)],
)
def test_quantiles_of_students_t_are_those_of_the_tables(df: float, expected: float) -> None:
    assert quantile(0.975, df) == pytest.approx(expected, rel=2e-4)
