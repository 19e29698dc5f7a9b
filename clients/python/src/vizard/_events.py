"""Waiting for jobs and explorations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx

from ._bodies import Progress, bar
from ._transport import Transport, path

_ENDED = frozenset(["succeeded", "failed", "cancelled"])
_TRIES = 5
Json = dict[str, Any]


def wait(send: Transport, job: str, progress: Progress, timeout: float | None) -> Json:
    """The last view of a job."""
    end = None if timeout is None else time.monotonic() + timeout
    tell = bar(progress)
    # A long wait answers at the end alone, so who wants to see progress asks oftener.
    longest = 60 if not progress else 1
    while True:
        left = longest if end is None else min(longest, max(int(end - time.monotonic()), 0))
        view: Json = send.json("GET", path("jobs", job), query={"wait": left})
        if view["state"] in _ENDED:
            if view["state"] == "succeeded":
                tell(100, 100)
            return view
        seen = view["progress"]
        done = 100 * (seen["step"] - 1 + seen["fraction"]) / seen["steps"] if seen["steps"] else 0
        tell(min(max(int(done), 0), 99), 100)
        if end is not None and time.monotonic() >= end:
            raise TimeoutError(f"{job} has not ended; it goes on")


def follow(send: Transport, job: str) -> Iterator[tuple[str, Json]]:
    """Events of a job; a stream that broke off is taken up where it ended."""
    last: str | None = None
    for _ in range(_TRIES):
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        try:
            with send.send("GET", path("jobs", job, "events"), headers=headers) as response:
                if response.status_code == 204:
                    return
                for event in _parsed(response.iter_lines()):
                    last = event[0] or last
                    yield event[1], event[2]
                    if event[2].get("state") in _ENDED:
                        return
        except httpx.TransportError:
            continue


def _parsed(lines: Iterator[str]) -> Iterator[tuple[str | None, str, Json]]:
    identity, kind, data = None, "message", ""
    for line in lines:
        if line == "":
            if data:
                yield identity, kind, json.loads(data)
            identity, kind, data = None, "message", ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            identity = value
        elif name == "event":
            kind = value
        elif name == "data":
            data += value


def explored(send: Transport, exploration: str, timeout: float | None) -> Json:
    """The last view of an exploration."""
    end = None if timeout is None else time.monotonic() + timeout
    pause = 0.1
    while True:
        view: Json = send.json("GET", path("explorations", exploration))
        if view["state"] != "running":
            return view
        if end is not None and time.monotonic() >= end:
            raise TimeoutError(f"{exploration} has not ended; it goes on")
        time.sleep(pause)
        pause = min(pause * 1.5, 5.0)
