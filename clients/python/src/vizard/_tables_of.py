"""Tables of a server's release, streamed."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

import httpx
import pyarrow as pa

from ._bodies import Progress, bar
from ._errors import ConnectionFailed, Problem, ReleaseError
from ._transport import Transport, path

if TYPE_CHECKING:
    from ._client import Client

_TRIES = 3
_IN_MEMORY = 64 * 1024 * 1024
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz_")


def _pieces(response: httpx.Response) -> Iterator[bytes]:
    yield from response.iter_bytes(256 * 1024)


def _fetch(
    send: Transport, where: str, query: dict[str, str] | None, out: BinaryIO, progress: Progress
) -> str:
    """Write a body into `out`; the SHA-256 of its bytes. What breaks off begins anew."""
    tell = bar(progress)
    for _ in range(_TRIES):
        out.seek(0)
        out.truncate()
        digest, done = hashlib.sha256(), 0
        try:
            with send.send("GET", where, query=query) as response:
                for piece in _pieces(response):
                    out.write(piece)
                    digest.update(piece)
                    done += len(piece)
                    tell(done, None)
            tell(done, done)
            return digest.hexdigest()
        except httpx.TransportError:
            continue
    raise ConnectionFailed(f"the download was broken off {_TRIES} times")


def _whole(
    send: Transport,
    where: str,
    query: dict[str, str] | None,
    to: Path,
    progress: Progress,
    expected: str | None = None,
) -> Path:
    """Write a body into a file that is there when it is whole."""
    handle, partial = tempfile.mkstemp(dir=to.parent, prefix=".vizard-")
    try:
        with os.fdopen(handle, "w+b") as out:
            found = _fetch(send, where, query, out, progress)
        if expected is not None and found != expected:
            raise ReleaseError(f"the table in {to.name} is not the one that the manifest names")
        os.replace(partial, to)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return to


def bundle(send: Transport, release: str, to: Path, progress: Progress) -> Path:
    """See `Client.bundle`."""
    return _whole(send, path("releases", release, "bundle.zip"), None, to, progress)


def download(send: Transport, release: str, table: str, to: Path, form: str, progress: Progress) -> Path:
    """See `Client.download`."""
    expected = None
    if form == "csv":
        manifest = send.json("GET", path("releases", release))["manifest"]
        expected = next((t["sha256"] for t in manifest["tables"] if t["name"] == table), None)
    where = path("releases", release, "tables", table)
    return _whole(send, where, {"format": form}, to, progress, expected)


def arrow(send: Transport, release: str, table: str) -> pa.Table:
    """See `Client.table`."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        where = path("releases", release, "tables", table)
        _fetch(send, where, {"format": "arrow"}, file, None)  # type: ignore[arg-type]
        file.seek(0)
        return pa.ipc.open_stream(file).read_all()


def save(client: Client, release: str, folder: Path) -> Path:
    """See `Client.save`."""
    folder.mkdir(parents=True, exist_ok=True)
    view = client.release(release)
    manifest = view["manifest"]
    for table in manifest["tables"]:
        name = table["name"]
        # The name becomes that of a file.
        if not name or not _SAFE.issuperset(name):
            raise ReleaseError("the manifest names a table in a way that no release does")
        client.download(release, name, folder / f"{name}.csv")
    for attribute, text in _hierarchies(client, view["dataset"]):
        trees = folder / "hierarchies"
        trees.mkdir(exist_ok=True)
        # An attribute may be called by any text; the file is called so that every system takes it.
        (trees / f"{quote(attribute, safe=' ')}.csv").write_bytes(text.encode())
    (folder / "manifest.json").write_text(
        json.dumps(manifest, ensure_ascii=False, indent=2), encoding="utf-8"
    )
    return folder


def _hierarchies(client: Client, dataset: str) -> Iterator[tuple[str, str]]:
    """Of each attribute its hierarchy, where the key may read it: analysts may not."""
    try:
        for attribute in client.dataset(dataset)["schema"]["attributes"]:
            if attribute.get("hierarchy"):
                yield attribute["name"], client.hierarchy(attribute["hierarchy"], dataset=dataset)
    except Problem as problem:
        if problem.status not in (403, 404):
            raise
