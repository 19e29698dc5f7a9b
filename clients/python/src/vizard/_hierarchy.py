"""A hierarchy of categories: which leaves lie under which node."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def _of_json(text: str) -> list[list[str]] | None:
    """The lines of a tree `{"label": …, "children": […]}`; none of another text."""
    try:
        tree = json.loads(text)
    except ValueError:
        return None
    if not isinstance(tree, dict) or "label" not in tree:
        return None
    lines: list[list[str]] = []
    open_nodes: list[tuple[dict[str, Any], list[str]]] = [(tree, [])]
    while open_nodes:
        node, above = open_nodes.pop()
        line = [str(node["label"]), *above]
        children = node.get("children") or []
        if not children:
            lines.append(line)
        open_nodes += [(child, line) for child in reversed(children)]
    return lines


class Hierarchy:
    """Leaves in their order, and of each node the leaves under it.

    It is read from the service's CSV (one line a leaf, from the leaf to the
    root, with semicolons between), or from a tree of JSON.
    """

    def __init__(self, text: str) -> None:
        lines = _of_json(text) or [line for line in csv.reader(io.StringIO(text), delimiter=";") if line]
        self.leaves: tuple[str, ...] = tuple(dict.fromkeys(line[0] for line in lines))
        under: dict[str, dict[str, None]] = {}
        for line in lines:
            for node in line:
                under.setdefault(node, {})[line[0]] = None
        self._under: Mapping[str, tuple[str, ...]] = {node: tuple(leaves) for node, leaves in under.items()}

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """Read a file."""
        return cls(Path(path).read_text(encoding="utf-8"))

    def under(self, label: str) -> tuple[str, ...]:
        """The leaves under a node; the label itself if it is none of the hierarchy's."""
        return self._under.get(label, (label,))

    def __len__(self) -> int:
        return len(self.leaves)

    def __repr__(self) -> str:
        return f"<Hierarchy of {len(self.leaves)} leaves>"
