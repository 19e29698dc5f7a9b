"""Requests to a server: the key, problems, and requests that are sent again.

A request is sent again where that cannot do anything twice: it only reads, or
it has an idempotency key and its body can be sent from the beginning. The
server says by `Retry-After` how long to wait; else the wait doubles.
"""

from __future__ import annotations

import json
import random
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from ._bodies import Body
from ._errors import ConnectionFailed, Problem

_AGAIN = frozenset([429, 502, 503, 504])
_TRIES = 5
_WAIT_MAX = 60.0
_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])


class _Key(httpx.Auth):
    """Puts the key into requests; nothing shows it."""

    def __init__(self, key: str) -> None:
        if not key.isascii() or not key.isprintable() or not key or " " in key:
            raise ValueError("the key has characters that no key has")
        self._put = _putter(key)

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        self._put(request)
        yield request

    def __repr__(self) -> str:
        return "<key>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a key is not pickled")


def _putter(key: str) -> Callable[[httpx.Request], None]:
    def put(request: httpx.Request) -> None:
        request.headers["Authorization"] = f"Bearer {key}"

    return put


def path(*segments: str) -> str:
    """A path under /v1 of these segments, whatever characters they have."""
    for segment in segments:
        if segment in ("", ".", ".."):
            raise ValueError("a name that is empty or of dots alone cannot stand in a path")
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


class Transport:
    """Sends requests with the key and understands the answers."""

    def __init__(
        self, url: str, key: str, timeout: float, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        base = httpx.URL(url)
        if base.scheme not in ("http", "https") or base.userinfo:
            raise ValueError("the address is http:// or https://, without a name and a password in it")
        if base.scheme == "http" and base.host not in _LOCAL:
            warnings.warn("the key goes over http, readable on its way", UserWarning, stacklevel=4)
        self.url = str(base).rstrip("/")
        self._sleep = sleep
        self._http = httpx.Client(
            base_url=self.url,
            auth=_Key(key),
            timeout=httpx.Timeout(timeout, read=max(timeout, 90.0)),
            follow_redirects=False,
        )

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    @contextmanager
    def send(
        self,
        method: str,
        where: str,
        *,
        body: Body | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        reads: bool = False,
    ) -> Iterator[httpx.Response]:
        """Give the answer with its body unread; a refusal becomes a `Problem`.

        `reads` says of a POST that it changes nothing, so needs no idempotency key.
        """
        head = dict(headers or {})
        if method in ("POST", "PUT") and not reads:
            head.setdefault("Idempotency-Key", str(uuid.uuid4()))
        if body is not None:
            head["Content-Type"] = body.media_type
            if body.length is not None:
                head["Content-Length"] = str(body.length)
        asked = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        response = self._answered(method, where, body, asked, head)
        try:
            yield response
        finally:
            response.close()

    def _answered(
        self, method: str, where: str, body: Body | None, query: dict[str, str], headers: dict[str, str]
    ) -> httpx.Response:
        for attempt in range(1, _TRIES + 1):
            again = attempt < _TRIES and (body is None or body.can_repeat)
            failed = ""
            try:
                content = body.chunks() if body is not None else None
                request = self._http.build_request(
                    method, where, params=query, content=content, headers=headers
                )
                response = self._http.send(request, stream=True)
                if response.status_code < 300:
                    return response
                problem = _problem(response)
            except httpx.TransportError as error:
                failed = type(error).__name__
            # Outside of the handler: the error of httpx holds the request with its key.
            if failed:
                if not again:
                    raise ConnectionFailed(f"{method} {where}: {failed}")
                self._sleep(self._wait(attempt, None))
                continue
            wait = self._wait(attempt, response.headers.get("retry-after"))
            busy = response.status_code in _AGAIN or problem.code == "idempotency-in-progress"
            if not busy or not again or wait > _WAIT_MAX:
                raise problem
            self._sleep(wait)
        raise AssertionError("unreachable")

    @staticmethod
    def _wait(attempt: int, told: str | None) -> float:
        if told is not None and told.isdigit():
            return float(told)
        return min(0.25 * 2.0**attempt, 8.0) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret

    def json(
        self,
        method: str,
        where: str,
        *,
        body: Body | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        reads: bool = False,
    ) -> Any:
        """Give the answer as JSON; None where there is none."""
        text = self.text(method, where, body=body, query=query, headers=headers, reads=reads)
        return json.loads(text) if text else None

    def text(
        self,
        method: str,
        where: str,
        *,
        body: Body | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        reads: bool = False,
    ) -> str:
        """Give the answer as text."""
        failed = ""
        with self.send(method, where, body=body, query=query, headers=headers, reads=reads) as response:
            try:
                return response.read().decode("utf-8")
            except httpx.TransportError as error:
                failed = type(error).__name__
        raise ConnectionFailed(f"{method} {where}: {failed}")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _problem(response: httpx.Response) -> Problem:
    """Read a refusal, also one that is no problem document."""
    try:
        document = json.loads(response.read())
    except ValueError:
        document = None
    finally:
        response.close()
    if not isinstance(document, dict):
        document = {"title": response.reason_phrase or "an answer that is no problem document"}
    return Problem(response.status_code, document)
