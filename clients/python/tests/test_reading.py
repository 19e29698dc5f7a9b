"""Releases of every engine are read, and what is read agrees with the tables."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import made_up
import pandas as pd
import polars as pl
import pytest

from vizard import Hierarchy, MidpointWarning, Release, ReleaseError
from vizard._cells import MISSING

Releases = dict[tuple[str, str], Path]
every_engine = pytest.mark.parametrize("name", made_up.ENGINES)


def names_of(release: Release) -> list[str]:
    sets = [name for name, a in release._rows.attributes.items() if a.content == "fingerprint"]
    return [name for name in release.attributes if name not in sets]


@every_engine
def test_csv_and_parquet_are_read_alike(releases: Releases, name: str) -> None:
    csv, parquet = Release.open(releases[name, "csv"]), Release.open(releases[name, "parquet"])
    assert csv.to_arrow().equals(parquet.to_arrow())
    assert len(csv) == csv.manifest["records"]


@every_engine
def test_weights_of_each_row_sum_to_one(releases: Releases, name: str) -> None:
    release = Release.open(releases[name, "csv"])
    for attribute in names_of(release):
        sums = release.weighted(attribute, parts=3).group_by("row").aggregate([("weight", "sum")])
        assert sums.num_rows == len(release)
        assert all(abs(one - 1) < 1e-9 for one in sums["weight_sum"].to_pylist())


@every_engine
def test_a_sample_has_values_that_the_cells_allow(releases: Releases, name: str) -> None:
    release = Release.open(releases[name, "csv"])
    drawn = release.sample(7)
    assert drawn.equals(release.sample(7))
    if name != "arp, randomized":  # Its cells are points.
        assert not drawn.equals(release.sample(8))
    assert drawn.column_names == list(release.attributes)
    for attribute in names_of(release):
        if release.attributes[attribute] == "decimal":
            continue
        known = release.weighted(attribute).select(["row", attribute]).to_pylist()
        allowed = {(one["row"], one[attribute]) for one in known}
        assert allowed.issuperset(enumerate(drawn[attribute].to_pylist()))


@every_engine
def test_pandas_and_polars_have_all_rows(releases: Releases, name: str) -> None:
    release = Release.open(releases[name, "parquet"])
    frame, columns = release.to_pandas(), release.to_pandas(intervals="columns", sets="frozenset")
    assert len(frame) == len(columns) == len(release)
    assert isinstance(release.to_polars(), pl.DataFrame)
    for attribute, kind in release.attributes.items():
        if f"{attribute}_lower" in columns:
            assert isinstance(frame[attribute].dtype, pd.IntervalDtype), (attribute, kind)
            left, right = frame[attribute].array.left, frame[attribute].array.right
            assert (left[~pd.isna(left)] <= right[~pd.isna(right)]).all()


def published(folder: Path, table: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{table}.csv", dtype=str, keep_default_na=False)


def test_ranges_sets_and_missing_values_are_what_they_are(releases: Releases) -> None:
    folder = releases["mondrian", "csv"]
    release, text = Release.open(folder), published(folder, "microdata")
    frame = release.to_pandas()
    wide = text.index[text["age"].str.match(r"^\d+\.\.\d+$")][0]
    low, high = text["age"][wide].split("..")
    assert frame["age"][wide] == pd.Interval(int(low), int(high), closed="both")
    absent = text.index[text["age"].str.startswith("{(missing)|")]
    assert len(absent)
    assert frame["age_missing"][absent].all()
    day = text.index[text["admitted"].str.contains("..", regex=False)][0]
    assert frame["admitted"][day].left == pd.Timestamp(text["admitted"][day].split("..")[0])
    table = release.to_arrow()
    assert table["cost"].to_pylist() == [int(cost) for cost in text["cost"]]
    assert isinstance(table["admitted_lower"][int(day)].as_py(), datetime.date)


def test_nodes_become_their_leaves_where_that_is_asked(releases: Releases) -> None:
    folder = releases["personalized", "csv"]
    release, text = Release.open(folder), published(folder, "microdata")
    row = int(text.index[text["diagnosis"] == "heart"][0])
    assert release.to_arrow()["diagnosis"][row].as_py() == "heart"
    assert release.to_arrow(expand=True)["diagnosis"][row].as_py() == made_up.HEART
    assert release.to_pandas(sets="frozenset", expand=True)["diagnosis"][row] == frozenset(made_up.HEART)
    of_row = [one for one in release.weighted("diagnosis").to_pylist() if one["row"] == row]
    assert {one["diagnosis"]: one["weight"] for one in of_row} == pytest.approx(
        dict.fromkeys(made_up.HEART, 1 / 3)
    )


def test_a_masked_value_is_missing_in_frames_and_anything_in_draws(releases: Releases) -> None:
    folder = releases["ng", "csv"]
    release, text = Release.open(folder), published(folder, "microdata")
    row = int(text.index[text["ward"] == "*"][0])
    assert release.to_arrow()["ward"][row].as_py() is None
    wards = {one["ward"] for one in release.weighted("ward").to_pylist() if one["row"] == row}
    # Its hierarchy has a leaf for what is missing.
    assert wards == {*made_up.WARDS, "(missing)"}


def test_a_block_column_without_an_attributes_name_is_of_the_only_one(releases: Releases) -> None:
    release = Release.open(releases["anatomy, of one attribute", "csv"])
    assert set(release.sample(1)["diagnosis"].to_pylist()) == set(made_up.LUNG + made_up.HEART)
    assert "diagnosis" in release.notes[0]


@pytest.mark.parametrize("name", ["lgb", "lgb, linked by groups", "anatomy", "aip", "arp"])
def test_each_value_of_a_bucket_is_dealt_out_once(releases: Releases, name: str) -> None:
    folder = releases[name, "csv"]
    release = Release.open(folder)
    buckets = published(folder, "sensitive" if (folder / "sensitive.csv").exists() else "buckets")
    costs = buckets[buckets["attribute"] == "cost"]
    expected = sorted(
        int(v) for v, n in zip(costs["value"], costs["count"], strict=True) for _ in range(int(n))
    )
    assert sorted(release.sample(3)["cost"].to_pylist()) == expected


def test_weights_of_a_bucket_are_its_counts(releases: Releases) -> None:
    folder = releases["aip", "csv"]
    release, text = Release.open(folder), published(folder, "quasi")
    values = published(folder, "sensitive")
    block = values[(values["attribute"] == "diagnosis") & (values["block"] == text["diagnosis_block"][0])]
    counts = {v: int(n) for v, n in zip(block["value"], block["count"], strict=True)}
    shares = {value: count / sum(counts.values()) for value, count in counts.items()}
    assert release.to_pandas()["diagnosis"][0] == pytest.approx(shares)


def test_what_stands_in_one_column_of_a_slice_stays_together(releases: Releases) -> None:
    folder = releases["slicing", "csv"]
    release, text = Release.open(folder), published(folder, "sliced")
    columns = published(folder, "columns")
    last = list(columns[columns["column"] == columns["column"].max()]["attribute"])
    assert len(last) > 1
    drawn = release.sample(1).select(last).to_pylist()
    shown = {tuple(row) for row in text[last].itertuples(index=False)}
    assert {tuple(str(value) for value in row.values()) for row in drawn} <= shown
    joint = release.weighted(*last).select(last).to_pylist()
    assert {tuple(str(value) for value in row.values()) for row in joint} <= shown


def test_sets_of_a_person_are_lists(releases: Releases) -> None:
    folder = releases["one_to_many", "csv"]
    release, text = Release.open(folder), published(folder, "persons")
    row = int(text.index[text["diagnosis"].str.contains("|", regex=False)][0])
    assert release.to_pandas()["diagnosis"][row] == text["diagnosis"][row].split("|")
    assert release.to_pandas(sets="frozenset")["diagnosis"][row] == frozenset(
        text["diagnosis"][row].split("|")
    )
    with pytest.raises(ReleaseError, match="set of values a person"):
        release.weighted("diagnosis")


def test_midpoints_come_with_a_warning(releases: Releases) -> None:
    release = Release.open(releases["mondrian", "csv"])
    with pytest.warns(MidpointWarning, match="biased"):
        frame = release.to_pandas(intervals="midpoint")
    assert frame["age"].dtype == float


def test_releases_whose_rows_mislead_say_so(releases: Releases) -> None:
    assert "permuted" in Release.open(releases["slicing", "csv"]).notes[0]
    assert "kept with probability 0.3" in Release.open(releases["arp, randomized", "csv"]).notes[0]
    assert Release.open(releases["mondrian", "csv"]).notes == ()


def test_hierarchies_are_taken_by_attribute(tmp_path: Path) -> None:
    job = {"engine": "mondrian", "parameters": {"k": 4, "l": 2}}
    folder = made_up.anonymize(tmp_path / "x", made_up.people(200, 2), job, hierarchies=False)
    assert Release.open(folder).hierarchies == {}
    tree = Hierarchy(made_up.HIERARCHIES["ward"])
    release = Release.open(folder, hierarchies={"ward": tree})
    assert release.hierarchies["ward"].under("Old building") == ("North", "East")
    children = [{"label": "Old", "children": [{"label": "North"}, {"label": "East"}]}, {"label": "South"}]
    grown = Hierarchy(json.dumps({"label": "*", "children": children}))
    assert (grown.leaves, grown.under("Old")) == (("North", "East", "South"), ("North", "East"))


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path, releases: Releases) -> None:
    with pytest.raises(ReleaseError, match=r"manifest\.json"):
        Release.open(tmp_path)
    source = releases["anatomy", "csv"]
    for file in ("manifest.json", "quasi.csv"):
        (tmp_path / file).write_bytes((source / file).read_bytes())
    with pytest.raises(ReleaseError, match="lacks the table sensitive"):
        Release.open(tmp_path)
    (tmp_path / "sensitive.csv").write_text("block,attribute,value,count\n")
    with pytest.raises(ReleaseError, match="0 rows"):
        Release.open(tmp_path)


def test_an_attribute_that_is_not_published_is_named(releases: Releases) -> None:
    release = Release.open(releases["arp, sliced", "csv"])
    for ask in (release.mean, release.weighted):
        with pytest.raises(KeyError, match="cost"):
            ask("cost")
    rows: Any = MISSING
    assert rows not in release.attributes
