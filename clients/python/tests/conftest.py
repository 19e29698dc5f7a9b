"""A real server, releases of every engine, and keys."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_up
import pytest

from vizard import Client


class Server:
    """A server on a port of its own, with its admin's key."""

    def __init__(self, url: str, admin: str) -> None:
        self.url, self.admin = url, admin

    def key(self, *roles: str, datasets: list[str] | None = None) -> str:
        """A key with these roles."""
        with Client(self.url, self.admin) as admin:
            wanted = {"name": "test", "roles": list(roles), "datasets": datasets}
            made: dict[str, Any] = admin.request("POST", "/v1/keys", body=wanted)
        return str(made["token"])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("server")
    admin, log = secrets.token_hex(24), place / "log"
    command = [str(made_up.BINARY), "serve", "--listen", "127.0.0.1:0", "--data", str(place / "data")]
    with log.open("wb") as out:
        started = subprocess.Popen(
            [*command, "--workers", "1"],
            stderr=out,
            stdout=out,
            env={**os.environ, "VIZARD_ADMIN_KEY": admin},
        )
        try:
            yield Server(_address(log, started), admin)
        finally:
            started.terminate()
            started.wait(30)


def _address(log: Path, started: subprocess.Popen[bytes]) -> str:
    for _ in range(400):
        for line in log.read_text().splitlines():
            if line.startswith("listening on "):
                return line.removeprefix("listening on ").strip()
        assert started.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.fixture(scope="session")
def steward(server: Server) -> Iterator[Client]:
    """A client that may do all but the admin's work."""
    with Client(server.url, server.key("uploader", "consent", "steward", "analyst")) as client:
        yield client


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """A release of every engine, as CSV and as Parquet."""
    place, out = tmp_path_factory.mktemp("releases"), {}
    people, visits = made_up.people(400, 1), made_up.visits(300, 1)
    for number, (name, how) in enumerate(made_up.ENGINES.items()):
        records = visits if how.get("schema", {}).get("multiplicity") == "many" else people
        for form in ("csv", "parquet"):
            folder = place / f"{number}-{form}"
            out[name, form] = made_up.anonymize(folder, records, **how, format=form)
    return out
