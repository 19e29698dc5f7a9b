"""The client of a server.

Answers are the JSON of the service, as openapi.yaml describes it; ids are
texts. Every refusal is a `Problem`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import _bodies, _events, _tables_of
from ._bodies import Body, Progress
from ._errors import JobFailed
from ._transport import Transport, path

Json = dict[str, Any]


class Client:
    """A connection to a server with a key. Use it in `with`, or `close` it.

    The key is shown nowhere: not in `repr`, not in errors.
    """

    def __init__(self, url: str, key: str, *, timeout: float = 60.0) -> None:
        self._send = Transport(url, key, timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._send.url!r})"

    def close(self) -> None:
        """End the connections."""
        self._send.close()

    def request(
        self, method: str, where: str, *, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        """Send JSON to any operation, `client.request("GET", "/v1/ledger")`, and give its answer."""
        sent = None if body is None else _bodies.of_json(body)
        return self._send.json(method, where, body=sent, query=query)

    def pages(self, where: str, **query: Any) -> Iterator[Json]:
        """Give all entries of a list, asked for page by page."""
        asked = {"limit": 200, **query}
        while True:
            page = self._send.json("GET", where, query=asked)
            yield from page["items"]
            if not page.get("next_cursor"):
                return
            asked["cursor"] = page["next_cursor"]

    # Datasets

    def engines(self) -> list[Json]:
        """Say which engines there are, with their parameters."""
        return list(self._send.json("GET", path("engines"))["items"])

    def inspect(self, data: Any, *, name: str | None = None, media_type: str | None = None) -> Json:
        """Say what a file or data frame is: a schema with reasons, hierarchies, a job for each purpose."""
        with _bodies.of_data(data, media_type) as body:
            answer: Json = self._send.json(
                "POST", path("inspections"), body=body, query={"name": name}, reads=True
            )
            return answer

    def create_dataset(self, schema: Mapping[str, Any], *, population: str | None = None) -> Json:
        """Create a dataset from its schema."""
        return self._object("POST", path("datasets"), _bodies.of_json(schema), population=population)

    def datasets(self) -> Iterator[Json]:
        """Give all datasets that the key sees."""
        return self.pages(path("datasets"))

    def dataset(self, dataset: str) -> Json:
        """Give a dataset with its versions."""
        return self._object("GET", path("datasets", dataset))

    def erase_dataset(self, dataset: str) -> Json:
        """Erase a dataset for good."""
        return self._object("DELETE", path("datasets", dataset))

    def put_schema(self, dataset: str, schema: Mapping[str, Any], *, hierarchies: str | None = None) -> Json:
        """Change a dataset's schema."""
        body = _bodies.of_json(schema)
        return self._object("PUT", path("datasets", dataset, "schema"), body, hierarchies=hierarchies)

    def put_hierarchy(
        self,
        name: str,
        content: str | Path | Mapping[str, Any],
        *,
        dataset: str | None = None,
        new_version: bool = False,
    ) -> Json:
        """Put a hierarchy into a dataset, or without one into the library.

        `content` is the path of a file of CSV (or of JSON, `.json`), or the
        document itself: a tree or a rule.
        """
        if isinstance(content, Mapping):
            body = _bodies.of_json(content)
        else:
            file = Path(content)
            kind = "application/json" if file.suffix == ".json" else _bodies.CSV
            body = _bodies.of_bytes(file.read_bytes(), kind)
        where = (
            path("hierarchies", name) if dataset is None else path("datasets", dataset, "hierarchies", name)
        )
        return self._object("PUT", where, body, new_version=new_version or None)

    def hierarchies(self, *, dataset: str | None = None) -> Iterator[Json]:
        """Give the hierarchies of a dataset, or of the library."""
        return self.pages(
            path("hierarchies") if dataset is None else path("datasets", dataset, "hierarchies")
        )

    def hierarchy(self, name: str, *, dataset: str | None = None) -> str:
        """Give a hierarchy as it was put: CSV, a line a leaf, or a tree of JSON."""
        where = (
            path("hierarchies", name) if dataset is None else path("datasets", dataset, "hierarchies", name)
        )
        return self._send.text("GET", where, query={"content": True})

    def upload(
        self,
        dataset: str,
        data: Any,
        *,
        mode: str = "append",
        dry_run: bool = False,
        media_type: str | None = None,
        progress: Progress = None,
        **options: Any,
    ) -> Json:
        """Upload records: a path, a file opened for bytes, or a table of pandas, polars or pyarrow.

        `progress` is True for a bar on standard error, or is called with the
        bytes done and their number. Of `options` there are `hierarchies` and
        `allow_loss`. A file is read piece by piece, whatever its size.
        """
        with _bodies.of_data(data, media_type, progress) as body:
            where = path("datasets", dataset, "records")
            query = {"mode": mode, "dry_run": dry_run or None, **options}
            answer: Json = self._send.json("POST", where, body=body, query=query, reads=dry_run)
            return answer

    def risk(self, dataset: str) -> Json:
        """Say who stands out in the records, before any job."""
        return self._object("GET", path("datasets", dataset, "risk"))

    # Preferences

    def set_preference(self, dataset: str, subject: str, terms: Mapping[str, Any]) -> Json:
        """Say what one person asks for."""
        body = _bodies.of_json(terms)
        return self._object("PUT", path("datasets", dataset, "preferences", subject), body)

    def preference(self, dataset: str, subject: str) -> Json:
        """Give what one person asks for."""
        return self._object("GET", path("datasets", dataset, "preferences", subject))

    def delete_preference(self, dataset: str, subject: str) -> None:
        """Forget what one person asked for."""
        self._send.text("DELETE", path("datasets", dataset, "preferences", subject))

    def preferences(self, dataset: str) -> Iterator[Json]:
        """Give all terms in force."""
        return self.pages(path("datasets", dataset, "preferences"))

    def import_preferences(self, dataset: str, data: Any, *, media_type: str | None = None) -> Json:
        """Import preferences of many, from a file of CSV or NDJSON."""
        with _bodies.of_data(data, media_type) as body:
            return self._object("POST", path("datasets", dataset, "preferences"), body)

    # Jobs

    def submit(self, dataset: str, engine: str, parameters: Mapping[str, Any], **options: Any) -> Json:
        """Post a job and do not wait; `options` are the other members of a job (`name`, `publish`, …)."""
        job = {"dataset": dataset, "engine": engine, "parameters": dict(parameters), **options}
        return self._object("POST", path("jobs"), _bodies.of_json(job))

    def run(
        self,
        dataset: str,
        engine: str,
        parameters: Mapping[str, Any],
        *,
        progress: Progress = None,
        timeout: float | None = None,
        **options: Any,
    ) -> Json:
        """Post a job and wait for its end; `["release"]` of the answer is its draft."""
        job = self.submit(dataset, engine, parameters, **options)
        return self.wait(str(job["id"]), progress=progress, timeout=timeout)

    def wait(self, job: str, *, progress: Progress = None, timeout: float | None = None) -> Json:
        """Wait for a job's end: its last view. A job without a release is a `JobFailed`.

        `progress` is True for a bar, or is called with per cent and 100. After
        `timeout` seconds it is a `TimeoutError`; the job goes on.
        """
        view = _events.wait(self._send, job, progress, timeout)
        if view["state"] != "succeeded":
            raise JobFailed(view)
        return view

    def events(self, job: str) -> Iterator[tuple[str, Json]]:
        """Follow a job: kind (`state`, `progress`) and content of each event, until it ends."""
        return _events.follow(self._send, job)

    def job(self, job: str) -> Json:
        """Give a job."""
        return self._object("GET", path("jobs", job))

    def jobs(self, **query: Any) -> Iterator[Json]:
        """Give all jobs, by `dataset` or `state`."""
        return self.pages(path("jobs"), **query)

    def cancel(self, job: str) -> Json:
        """Cancel a job."""
        return self._object("POST", path("jobs", job, "cancel"))

    def explore(
        self, dataset: str, engines: Sequence[Mapping[str, Any]], *, timeout: float | None = None, **grid: Any
    ) -> Json:
        """Try many settings and wait for the end; `grid` is `k`, `l`, `t`, `keep` and so on."""
        asked = {"dataset": dataset, "engines": list(engines), **grid}
        begun = self._object("POST", path("explorations"), _bodies.of_json(asked))
        return _events.explored(self._send, str(begun["id"]), timeout)

    # Releases

    def releases(self, **query: Any) -> Iterator[Json]:
        """Give all releases that the key sees, by `dataset` or `state`."""
        return self.pages(path("releases"), **query)

    def release(self, release: str) -> Json:
        """Give a release with its manifest."""
        return self._object("GET", path("releases", release))

    def manifest(self, release: str) -> Json:
        """Give the manifest of a release."""
        return dict(self.release(release)["manifest"])

    def report(self, release: str) -> Json:
        """Give the report of a release."""
        return self._object("GET", path("releases", release, "report"))

    def report_page(self, release: str) -> str:
        """Give the report of a release as a page of HTML."""
        where = path("releases", release, "report")
        return self._send.text("GET", where, headers={"Accept": "text/html"})

    def verification(self, release: str) -> Json:
        """Say what of the claims of a release was checked."""
        return self._object("GET", path("releases", release, "verification"))

    def publish(self, release: str, **grounds: Any) -> Json:
        """Publish a draft; `grounds` are `acknowledge_composition` and `reason`."""
        return self._object("POST", path("releases", release, "publish"), _bodies.of_json(grounds))

    def withdraw(self, release: str) -> Json:
        """Withdraw a release."""
        return self._object("POST", path("releases", release, "withdraw"))

    def download(
        self,
        release: str,
        table: str,
        to: str | Path,
        *,
        format: str = "csv",  # noqa: A002
        progress: Progress = None,
    ) -> Path:
        """Stream a table into a file, as `csv`, `ndjson`, `parquet`, `arrow` (a stream) or `arrow-file`.

        The file is there when it is whole; one of CSV was held against the
        digest of the manifest.
        """
        return _tables_of.download(self._send, release, table, Path(to), format, progress)

    def table(self, release: str, table: str) -> pa.Table:
        """Give a table as Arrow, as the service types it; `Release.open` knows more of it."""
        return _tables_of.arrow(self._send, release, table)

    def bundle(self, release: str, to: str | Path, *, progress: Progress = None) -> Path:
        """Stream all of a release into one `.zip`, which `Release.open` reads.

        Tables as Parquet, hierarchies, manifest, report, a data dictionary, how
        to read them, and digests; the file is there when it is whole.
        """
        return _tables_of.bundle(self._send, release, Path(to), progress)

    def save(self, release: str, folder: str | Path) -> Path:
        """Save a release as a folder that `Release.open` reads: manifest, tables as CSV, hierarchies.

        Hierarchies are there where the key may read them: an analyst may not.
        """
        return _tables_of.save(self, release, Path(folder))

    def query(self, release: str, **query: Any) -> Json:
        """Ask a published release: `count=True`, `sum=[…]`, `avg=[…]`, `where=[…]`, `group_by=[…]`."""
        return self._object("POST", path("releases", release, "query"), _bodies.of_json(query))

    def _object(self, method: str, where: str, body: Body | None = None, **query: Any) -> Json:
        answer: Json = self._send.json(method, where, body=body, query=query)
        return answer
