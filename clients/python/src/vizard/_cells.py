"""One published cell, and how its text is read.

A cell says what is known of one value: a number from 33 to 39 (`33..39`), one
of several categories (`{F|M}`), anything (`*`), that there is no value
(`(missing)`), or nothing, because the value stands in a bucket. Numbers of
dates are days since 1970-01-01.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ._errors import ReleaseError

MISSING = "(missing)"
_ESCAPED = "\\{|}"
_EPOCH = datetime.date(1970, 1, 1).toordinal()

NUMBERS = ("integer", "decimal", "date")


class Kind(Enum):
    """What a cell tells."""

    EMPTY = "empty"
    MASKED = "masked"
    MISSING = "missing"
    RANGE = "range"
    LABELS = "labels"
    ITEMS = "items"


@dataclass(frozen=True)
class Cell:
    """What is known of one value."""

    kind: Kind
    lo: float = 0
    hi: float = 0
    labels: tuple[str, ...] = ()
    items: tuple[tuple[str, ...], ...] = ()
    or_missing: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether the cell names one value and no other."""
        if self.or_missing:
            return False
        if self.kind is Kind.RANGE:
            return self.lo == self.hi
        return self.kind is Kind.LABELS and len(self.labels) == 1


EMPTY = Cell(Kind.EMPTY)
MASKED = Cell(Kind.MASKED)
NONE = Cell(Kind.MISSING)


def parse(text: str, kind: str) -> Cell:
    """Read a cell of an attribute of the type `kind`."""
    if text == "":
        return EMPTY
    if text == "*":
        return MASKED
    if text == MISSING:
        return NONE
    if kind in NUMBERS:
        return _numbers(text, kind)
    if text.startswith("{"):
        labels = _members(text)
        known = tuple(label for label in labels if label != MISSING)
        return Cell(Kind.LABELS, labels=known, or_missing=len(known) < len(labels))
    return Cell(Kind.LABELS, labels=(plain(text),))


def parse_items(text: str) -> Cell:
    """Read a fingerprint in the text form of CSV."""
    if text == "":
        return EMPTY
    if text == "*":
        return MASKED
    if text == "\\*":
        return Cell(Kind.ITEMS, items=(("*",),))
    items, union = [], None
    for part in _split(text, braces=True):
        union = _members(part) if part.startswith("{") else (_unescaped(part),)
        items.append(union)
    return Cell(Kind.ITEMS, items=tuple(items))


def parse_item_list(texts: list[str] | None, masked: bool) -> Cell:
    """Read a fingerprint from a list of its members, as Parquet and NDJSON have it."""
    if texts is None:
        return MASKED if masked else EMPTY
    return Cell(Kind.ITEMS, items=tuple(_members(t) if t.startswith("{") else (plain(t),) for t in texts))


def parse_set_list(labels: list[str] | None, masked: bool) -> Cell:
    """Read a category from the list of those that it may be, as Parquet has it."""
    if labels is None:
        return MASKED if masked else EMPTY
    if labels == [MISSING]:
        return NONE
    known = tuple(label for label in labels if label != MISSING)
    return Cell(Kind.LABELS, labels=known, or_missing=len(known) < len(labels))


def day(text: str) -> int:
    """Days since 1970-01-01 of `YYYY-MM-DD`."""
    return datetime.date.fromisoformat(text).toordinal() - _EPOCH


def date(days: float) -> datetime.date:
    """The day that is so many days after 1970-01-01."""
    return datetime.date.fromordinal(int(days) + _EPOCH)


def _numbers(text: str, kind: str) -> Cell:
    or_missing = text.startswith("{")
    if or_missing:
        parts = _members(text)
        if len(parts) != 2 or parts[0] != MISSING:
            raise ReleaseError("a set in a column of numbers is none of a missing value and a range")
        text = parts[1]
    lo, dots, hi = text.partition("..")
    read: Callable[[str], float] = _READ[kind]
    try:
        low = read(lo)
        high = read(hi) if dots else low
    except ValueError:
        raise ReleaseError(f"a cell of type {kind} cannot be read") from None
    if high < low:
        raise ReleaseError("a range ends before it begins")
    return Cell(Kind.RANGE, lo=low, hi=high, or_missing=or_missing)


_READ: dict[str, Callable[[str], float]] = {"integer": int, "decimal": float, "date": day}


def plain(text: str) -> str:
    """Take the backslash away that stands before a label which looks like something else."""
    return text[1:] if text.startswith("\\") else text


def _members(text: str) -> tuple[str, ...]:
    if not text.endswith("}") or len(text) < 3:
        raise ReleaseError("a set of categories is not closed")
    return tuple(_unescaped(part) for part in _split(text[1:-1], braces=False))


def _split(text: str, braces: bool) -> list[str]:
    """Split at each `|` that neither a backslash nor (if asked) braces protect."""
    parts, part, depth, escaped = [], "", 0, False
    for sign in text:
        if not escaped and sign == "|" and depth == 0:
            parts.append(part)
            part = ""
            continue
        if braces and not escaped:
            depth += (sign == "{") - (sign == "}")
        escaped = sign == "\\" and not escaped
        part += sign
    return [*parts, part]


def _unescaped(text: str) -> str:
    out, escaped = "", False
    for sign in text:
        if sign == "\\" and not escaped:
            escaped = True
            continue
        if escaped and sign not in _ESCAPED:
            raise ReleaseError("a backslash stands before a character that needs none")
        escaped = False
        out += sign
    return out
