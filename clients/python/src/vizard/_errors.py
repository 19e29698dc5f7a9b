"""What can go wrong, and what is warned of. No message ever holds a key."""

from __future__ import annotations

from typing import Any


class VizardError(Exception):
    """The root of all errors of this package."""


class ConnectionFailed(VizardError):
    """The server could not be reached, or broke off its answer."""


class ReleaseError(VizardError):
    """The files are no release that this package can read."""


class Problem(VizardError):
    """A refusal of the server, as its problem document (RFC 9457) tells it.

    `code` never changes its meaning (docs/PROBLEMS.md lists all of them);
    `detail` is for people. `errors` are the single errors in lines of an
    upload. `document` is the whole of it.
    """

    def __init__(self, status: int, document: dict[str, Any]) -> None:
        self.status = status
        self.document = document
        kind = document.get("type")
        self.code: str = str(kind).rpartition(":")[2] if kind else "unknown"
        self.detail: str = str(document.get("detail") or document.get("title") or "")
        self.errors: list[dict[str, Any]] = list(document.get("errors") or [])
        super().__init__(f"{status} {self.code}: {self.detail}")

    def __reduce__(self) -> tuple[type[Problem], tuple[int, dict[str, Any]]]:
        return type(self), (self.status, self.document)


class JobFailed(Problem):
    """A job ended without a release; `job` is its last view."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        document = dict(job.get("problem") or {})
        document.setdefault("type", f"urn:vizard:job:{job.get('state')}")
        document.setdefault("detail", f"the job ended as {job.get('state')}")
        super().__init__(int(document.get("status") or 0), document)

    def __reduce__(self) -> tuple[type[JobFailed], tuple[dict[str, Any]]]:  # type: ignore[override]
        return type(self), (self.job,)


class MidpointWarning(UserWarning):
    """A figure that takes the middle of a range for its value is biased."""
