"""The client against a real server: the story, problems, streams and hostile names."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import made_up
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from conftest import Server

from vizard import Client, ConnectionFailed, JobFailed, Problem, Release, ReleaseError

HOSTILE = [
    '<script>alert("1")</script>',
    "\u202eevil\u202c",
    "{a|b}",
    "*",
    "back\\slash",
    "=1+1",
    "it's; a, list",
]
MONDRIAN = {"k": 4, "l": 2}


@pytest.fixture(scope="module")
def dataset(steward: Client, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dataset with records and hierarchies."""
    found = str(steward.create_dataset(made_up.schema())["id"])
    place = tmp_path_factory.mktemp("dataset")
    for name, text in made_up.HIERARCHIES.items():
        (place / f"{name}.csv").write_text(text)
        assert steward.put_hierarchy(name, place / f"{name}.csv", dataset=found)["name"] == name
    steward.upload(found, made_up.write(place / "records.csv", made_up.people(400, 3)))
    return found


@pytest.fixture(scope="module")
def release(steward: Client, dataset: str) -> str:
    """A published release."""
    found = str(steward.run(dataset, "mondrian", MONDRIAN)["release"])
    assert steward.publish(found)["state"] == "published"
    return found


def test_a_release_of_the_server_is_the_one_of_its_tables(
    steward: Client, release: str, tmp_path: Path
) -> None:
    found = Release.open((steward, release))
    assert len(found) == 400
    assert set(found.hierarchies) == {"ward", "diagnosis"}
    assert found.hierarchies["ward"].under("Old building") == ("North", "East")
    steward.save(release, tmp_path / "saved")
    assert Release.open(tmp_path / "saved").to_arrow().equals(found.to_arrow())


def test_an_analyst_reads_what_is_published_and_no_hierarchy(
    server: Server, steward: Client, release: str
) -> None:
    with Client(server.url, server.key("analyst")) as analyst:
        assert Release.open((analyst, release)).hierarchies == {}
        assert release in [one["id"] for one in analyst.releases()]
        assert analyst.manifest(release)["engine"] == "mondrian"
        assert analyst.report(release)
        assert analyst.report_page(release).lstrip().lower().startswith("<!doctype html")
        assert analyst.verification(release)
        with pytest.raises(Problem) as refused:
            analyst.risk("dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70")
        assert (refused.value.status, refused.value.code) == (403, "forbidden")


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet", "arrow"])
def test_tables_are_streamed_to_a_file(steward: Client, release: str, tmp_path: Path, form: str) -> None:
    told: list[tuple[int, int | None]] = []
    to = tmp_path / f"table.{form}"
    steward.download(release, "microdata", to, format=form, progress=lambda *seen: told.append(seen))
    assert told[-1] == (to.stat().st_size,) * 2
    assert list(tmp_path.iterdir()) == [to]
    if form == "csv":
        digest = steward.manifest(release)["tables"][0]["sha256"]
        assert hashlib.sha256(to.read_bytes()).hexdigest() == digest
    elif form == "parquet":
        assert pq.read_table(to).num_rows == 400
    assert steward.table(release, "microdata").num_rows == 400


@pytest.mark.parametrize("form", ["path", "file", "pandas", "polars", "pyarrow", "parquet", "ndjson"])
def test_records_come_in_any_form_and_are_the_same(
    steward: Client, dataset: str, tmp_path: Path, form: str
) -> None:
    path = made_up.write(tmp_path / "records.csv", made_up.people(50, 9))
    expected = steward.upload(dataset, path, mode="replace", dry_run=True)["sha256"]
    data: Any = path
    kinds = {"age": pa.int64(), "admitted": pa.date32(), "cost": pa.int64(), "weight": pa.float64()}
    table = pcsv.read_csv(
        path, convert_options=pcsv.ConvertOptions(column_types=kinds, strings_can_be_null=True)
    )
    if form == "file":
        data = path.open("rb")
    elif form == "pandas":
        data = table.to_pandas().astype({"age": "Int64", "sex": "category"})
    elif form == "polars":
        data = pl.from_arrow(table)
    elif form == "pyarrow":
        data = table
    elif form == "parquet":
        data = tmp_path / "records.parquet"
        pq.write_table(table, data)
    elif form == "ndjson":
        data = tmp_path / "records.ndjson"
        rows = [json.dumps({**row, "admitted": str(row["admitted"])}) for row in table.to_pylist()]
        data.write_text("\n".join(rows))
    answer = steward.upload(dataset, data, mode="replace", dry_run=True)
    assert (answer["records"], answer["sha256"]) == (50, expected)


def test_an_upload_tells_how_far_it_is(
    steward: Client, dataset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made_up.write(tmp_path / "records.csv", made_up.people(10_000, 9))
    told: list[tuple[int, int | None]] = []
    steward.upload(dataset, path, mode="replace", dry_run=True, progress=lambda *seen: told.append(seen))
    assert told[0] == (0, path.stat().st_size)
    assert told[-1] == (path.stat().st_size,) * 2
    assert len(told) > 2
    steward.upload(dataset, path, mode="replace", dry_run=True, progress=True)
    assert capsys.readouterr().err.endswith("] 100 %\n")


class Endless(io.RawIOBase):
    """A file of CSV that is made while it is read, and remembers how much it ever held."""

    def __init__(self, rows: int) -> None:
        self.rows, self.given, self.largest = rows, 0, 0
        self._left = b"patient,age,sex,ward,admitted,weight,cost,diagnosis\n"

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        self.largest = max(self.largest, size)
        while len(self._left) < size and self.given < self.rows:
            self._left += b"P%07d,40,F,North,2026-03-01,70.5,1000,flu\n" % self.given
            self.given += 1
        piece, self._left = self._left[:size], self._left[size:]
        return piece


def test_a_stream_without_an_end_in_sight_is_sent_piece_by_piece(steward: Client, dataset: str) -> None:
    stream = Endless(200_000)
    answer = steward.upload(dataset, stream, mode="replace", dry_run=True)
    assert answer["records"] == stream.given == 200_000
    assert stream.largest <= 256 * 1024


def test_errors_of_lines_come_with_the_problem(steward: Client, dataset: str, tmp_path: Path) -> None:
    records = made_up.people(3, 1)
    for number, record in enumerate(records):
        record["patient"] = f"N{number}"
    records[1]["cost"] = "much"
    with pytest.raises(Problem) as refused:
        steward.upload(dataset, made_up.write(tmp_path / "r.csv", records))
    problem = refused.value
    assert (problem.status, problem.code) == (422, "invalid-data")
    assert problem.errors == [{"line": 3, "attribute": "cost", "code": "not_an_integer"}]
    assert "much" not in str(problem)
    again = pickle.loads(pickle.dumps(problem))
    assert (again.code, again.errors) == (problem.code, problem.errors)


def test_a_job_without_a_release_says_why(steward: Client, dataset: str) -> None:
    with pytest.raises(JobFailed) as failed:
        steward.run(dataset, "anatomy", {"l": 500})
    assert failed.value.code == "infeasible"
    assert failed.value.job["state"] == "failed"
    with pytest.raises(Problem) as refused:
        steward.run(dataset, "mondrian", {"k": 0})
    assert refused.value.code == "invalid-parameter"


def test_a_job_is_followed_to_its_end(steward: Client, dataset: str) -> None:
    told: list[tuple[int, int | None]] = []
    job = steward.submit(dataset, "mondrian", MONDRIAN)
    kinds = [kind for kind, _ in steward.events(job["id"])]
    assert "state" in kinds
    done = steward.wait(job["id"], progress=lambda *seen: told.append(seen), timeout=60)
    assert (done["state"], told[-1]) == ("succeeded", (100, 100))
    assert steward.job(job["id"])["release"] == done["release"]
    assert job["id"] in [one["id"] for one in steward.jobs(dataset=dataset)]
    assert steward.withdraw(done["release"])["state"] == "withdrawn"
    with pytest.raises(Problem) as refused:
        steward.cancel("job_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70")
    assert refused.value.code == "not-found"


@pytest.mark.filterwarnings("ignore::vizard.MidpointWarning")
def test_values_that_are_nobodys_are_dealt_to_nobody(steward: Client, tmp_path: Path) -> None:
    people = made_up.people(300, 1)
    dataset = str(steward.create_dataset(made_up.schema(unpublished=("cost",)))["id"])
    for name, text in made_up.HIERARCHIES.items():
        (tmp_path / f"{name}.csv").write_text(text)
        steward.put_hierarchy(name, tmp_path / f"{name}.csv", dataset=dataset)
    for gone in (0, 7):
        steward.upload(dataset, made_up.write(tmp_path / "r.csv", people[gone:]), mode="replace")
        release = str(steward.run(dataset, "arp", {"l": 3}, series={"mode": "invariant"})["release"])
        steward.publish(release)
    found = Release.open((steward, release))
    kept = found.manifest["kept"]["attributes"][0]
    assert kept["counterfeits"] > 0
    assert (
        len(found.sample(1)["diagnosis"].to_pylist()) == len(found) == kept["values"] - kept["counterfeits"]
    )
    truth: dict[tuple[str, str], int] = {}
    for one in people[7:]:
        truth[one["sex"], one["diagnosis"]] = truth.get((one["sex"], one["diagnosis"]), 0) + 1
    for row in found.crosstab("sex", "diagnosis").table.to_pylist():
        assert row["lower"] <= truth.get((row["sex"], row["diagnosis"]), 0) <= row["upper"]
    assert len(found.regress("age", ["sex", "diagnosis"], burn=2, thin=1, samples=3).terms) == 7


def test_settings_are_explored(steward: Client, dataset: str) -> None:
    found = steward.explore(dataset, [{"engine": "mondrian"}], k=[4, 8], l=[2], keep=1, timeout=120)
    assert found["state"] == "done"
    assert [one["parameters"]["k"] for one in found["settings"]] == [4, 8]
    assert found["best"]


def test_a_file_or_a_frame_is_inspected(steward: Client, tmp_path: Path) -> None:
    path = made_up.write(tmp_path / "export.csv", made_up.people(200, 5))
    for data in (path, pd.read_csv(path)):
        found = steward.inspect(data, name="export")
        assert found["records"] == 200
        assert found["schema"]["subject_key"] == "patient"


def test_risk_is_told_before_any_job(steward: Client, dataset: str) -> None:
    assert steward.risk(dataset)["attributes"]


def test_terms_are_set_read_imported_and_forgotten(steward: Client, dataset: str, tmp_path: Path) -> None:
    for subject in ("P00001", "a/b?c=d#e", "Zoë <script>", "%2e%2e"):
        steward.set_preference(dataset, subject, {"max_leakage": 0.25})
        assert steward.preference(dataset, subject)["terms"]["max_leakage"] == 0.25
        steward.delete_preference(dataset, subject)
        with pytest.raises(Problem) as gone:
            steward.preference(dataset, subject)
        assert gone.value.code == "not-found"
    with pytest.raises(ValueError, match="dots alone"):
        steward.delete_preference(dataset, "..")
    many = [{"subject": f"Q{number:03}", "max_leakage": "0.5"} for number in range(250)]
    assert steward.import_preferences(dataset, made_up.write(tmp_path / "p.csv", many))["accepted"] == 250
    # More than a page holds.
    listed = list(steward.preferences(dataset))
    assert len(listed) == 250


def test_lists_are_read_page_by_page(steward: Client) -> None:
    made = {steward.create_dataset({**made_up.schema(), "name": f"page {at}"})["id"] for at in range(3)}
    listed = [one["id"] for one in steward.pages("/v1/datasets", limit=1)]
    assert made <= set(listed)
    assert len(listed) == len(set(listed)) == len(list(steward.datasets()))


def test_hostile_categories_and_names_are_data(steward: Client, tmp_path: Path) -> None:
    name = '<script>"><img src=x> \u202e'
    schema = {
        "name": name,
        "subject_key": "p",
        "attributes": [
            {"name": "p", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "<b>ward</b>, \u202e", "role": "quasi_identifier", "type": "categorical"},
            {"name": "d", "role": "sensitive", "type": "categorical"},
        ],
    }
    dataset = steward.create_dataset(schema)
    assert dataset["name"] == name
    path = tmp_path / "<script> \u202e; rm -rf.csv"
    rows = [["p", "age", "<b>ward</b>, \u202e", "d"]]
    rows += [[f"P{at}", str(20 + at % 50), HOSTILE[at % 7], HOSTILE[(at // 7) % 7]] for at in range(350)]
    with path.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(rows)
    steward.upload(dataset["id"], path)
    release = Release.open((steward, steward.run(dataset["id"], "mondrian", MONDRIAN)["release"]))
    table = release.to_arrow()
    assert set(table["d"].to_pylist()) == set(HOSTILE)
    sets = table["<b>ward</b>, \u202e"].to_pylist()
    assert {label for one in sets for label in (one if isinstance(one, list) else [one])} == set(HOSTILE)
    assert set(release.sample(1)["<b>ward</b>, \u202e"].to_pylist()) <= set(HOSTILE)
    # A line break is no category: the server says so, and the client passes it on.
    rows[1][3] = "two\nlines"
    with path.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(rows)
    with pytest.raises(Problem) as refused:
        steward.upload(dataset["id"], path)
    assert refused.value.errors[0]["code"] == "control_character"


def test_hierarchies_are_put_listed_and_read(steward: Client, dataset: str) -> None:
    rule = {"rule": "flat", "values": ["F", "M"]}
    assert steward.put_hierarchy("sexes of <b>", rule, dataset=dataset)["leaves"] == 2
    assert {"ward", "diagnosis", "sexes of <b>"} <= {
        one["name"] for one in steward.hierarchies(dataset=dataset)
    }
    assert steward.hierarchy("ward", dataset=dataset) == made_up.HIERARCHIES["ward"]
    with pytest.raises(Problem) as refused:
        steward.put_hierarchy("ward", rule, dataset=dataset)
    assert refused.value.code == "hierarchy-exists"


def test_a_query_is_answered_from_the_release(steward: Client, release: str) -> None:
    where = [{"attribute": "age", "op": ">=", "value": 40}]
    found = steward.query(release, count=True, where=where)
    assert "estimate" in json.dumps(found)


def test_the_key_is_shown_nowhere(server: Server) -> None:
    key = "vz_0199d1f2_" + "s3cr3t" * 8
    with Client(server.url, key) as client:
        with pytest.raises(Problem) as refused:
            client.engines()
        shown = [repr(client), str(client), repr(refused.value), repr(refused.value.document)]
        shown += [repr(vars(client)), repr(vars(client._send)), repr(client._send._http._auth)]
        assert not any("s3cr3t" in one for one in shown)
        assert refused.value.code == "unauthenticated"
        with pytest.raises(TypeError):
            pickle.dumps(client._send._http._auth)
    with Client("http://127.0.0.1:9", key, timeout=0.2) as client:
        client._send._sleep = lambda seconds: None
        with pytest.raises(ConnectionFailed) as failed:
            client.engines()
    error: BaseException | None = failed.value
    while error is not None:
        assert not isinstance(error, httpx.HTTPError)
        assert "s3cr3t" not in repr(error)
        error = error.__cause__ or error.__context__
    with pytest.raises(ValueError, match="without a name and a password"):
        Client("https://me:secret@example.org", key)
    with pytest.warns(UserWarning, match="readable on its way"):
        Client("http://example.org", key).close()


class Script:
    """Answers of a server, one after the other, with what was asked."""

    def __init__(self, client: Client, answers: list[tuple[int, dict[str, str], Any]]) -> None:
        self.asked: list[tuple[str, str | None, bytes]] = []
        self.slept: list[float] = []
        self._answers: Iterator[tuple[int, dict[str, str], Any]] = iter(answers)
        transport = httpx.MockTransport(self.answer)
        client._send._http = httpx.Client(base_url="http://127.0.0.1", transport=transport)
        client._send._sleep = self.slept.append

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.method, request.headers.get("idempotency-key"), request.read()))
        status, headers, body = next(self._answers)
        if status == 0:
            raise httpx.ReadError("broken")
        return httpx.Response(status, headers=headers, json=body)


BUSY = {"type": "urn:vizard:problem:unavailable", "title": "busy", "status": 503}


def test_what_is_busy_is_asked_again_when_the_server_says() -> None:
    with Client("http://127.0.0.1", "k") as client:
        script = Script(
            client, [(503, {"retry-after": "7"}, BUSY), (0, {}, None), (200, {}, {"items": [{}]})]
        )
        assert client.engines() == [{}]
        assert script.slept[0] == 7
        assert 0 < script.slept[1] <= 8


def test_a_post_is_sent_again_under_the_same_key_with_the_same_body() -> None:
    with Client("http://127.0.0.1", "k") as client:
        script = Script(client, [(0, {}, None), (429, {"retry-after": "1"}, BUSY), (201, {}, {"id": "d"})])
        assert client.create_dataset({"name": "x"}) == {"id": "d"}
        assert len(set(script.asked)) == 1
        assert script.asked[0][1]
        first = script.asked[0][1]
        script = Script(client, [(201, {}, {"id": "e"})])
        client.create_dataset({"name": "x"})
        assert script.asked[0][1] not in (None, first)


def test_a_stream_that_cannot_be_read_again_is_sent_once() -> None:
    with Client("http://127.0.0.1", "k") as client:
        script = Script(client, [(503, {"retry-after": "0"}, BUSY)])
        with pytest.raises(Problem, match="busy"):
            client.upload("dataset_x", Endless(10))
        assert len(script.asked) == 1
        assert script.slept == []


def test_a_long_wait_is_left_to_the_caller_and_tries_end() -> None:
    with Client("http://127.0.0.1", "k") as client:
        script = Script(client, [(429, {"retry-after": "86400"}, BUSY)])
        with pytest.raises(Problem):
            client.engines()
        assert script.slept == []
        script = Script(client, [(503, {}, BUSY)] * 5)
        with pytest.raises(Problem):
            client.engines()
        assert len(script.asked) == 5


def test_an_answer_that_is_no_problem_document_is_one_all_the_same() -> None:
    with Client("http://127.0.0.1", "k") as client:
        Script(client, [(418, {}, ["odd"])])
        with pytest.raises(Problem) as refused:
            client.engines()
        assert (refused.value.status, refused.value.code) == (418, "unknown")


MANIFEST = {"format": "vizard-release/1", "engine": "mondrian", "records": 1}


@pytest.mark.parametrize("name", ["../../evil", "a/b", "", "microdata.csv"])
def test_a_table_that_is_called_like_another_file_is_not_saved(tmp_path: Path, name: str) -> None:
    with Client("http://127.0.0.1", "k") as client:
        manifest = {**MANIFEST, "tables": [{"name": name, "sha256": "0", "rows": 1, "columns": []}]}
        Script(client, [(200, {}, {"dataset": "dataset_x", "manifest": manifest})])
        with pytest.raises(ReleaseError, match="names a table in a way"):
            client.save("release_x", tmp_path / "out")
        assert not list((tmp_path / "out").iterdir())


def test_a_table_that_is_not_the_one_of_the_manifest_is_not_kept(tmp_path: Path) -> None:
    with Client("http://127.0.0.1", "k") as client:
        manifest = {**MANIFEST, "tables": [{"name": "microdata", "sha256": "0" * 64}]}
        Script(client, [(200, {}, {"manifest": manifest}), (200, {}, "other bytes")])
        with pytest.raises(ReleaseError, match="not the one that the manifest names"):
            client.download("release_x", "microdata", tmp_path / "microdata.csv")
        assert not list(tmp_path.iterdir())


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with Client("http://127.0.0.1", "k") as client:
        script = Script(client, [(307, {"location": "http://elsewhere.example/"}, {})])
        with pytest.raises(Problem):
            client.engines()
        assert len(script.asked) == 1
