"""A release, read: its tables, what each cell may be, and figures that know it."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa

from . import _estimate, _frames, _regress, _rows, _weighted
from ._ends import have_ends, with_ends
from ._errors import ReleaseError
from ._estimate import Crosstab, Estimate
from ._hierarchy import Hierarchy
from ._regress import Regression
from ._tables import Table, read_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ._client import Client

_TABLES = frozenset(
    ["microdata", "buckets", "group_buckets", "persons", "quasi", "sensitive", "sliced", "columns"]
)


def _unpack(bundle: Path, folder: Path) -> None:
    """Unpack a bundle whose files are those that its `SHA256SUMS` names."""
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(folder)
        names = set(packed.namelist())
    sums = folder / "SHA256SUMS"
    if not sums.is_file():
        raise ReleaseError("the bundle has no SHA256SUMS")
    lines = (line.split("  ", 1) for line in sums.read_text(encoding="utf-8").splitlines())
    told: dict[str, str] = {name: digest for digest, name in lines}
    if names != {*told, "SHA256SUMS"}:
        raise ReleaseError("the bundle has other files than its SHA256SUMS")
    for name, digest in told.items():
        found = hashlib.sha256()
        with (folder / name).open("rb") as file:
            while piece := file.read(1 << 20):
                found.update(piece)
        if found.hexdigest() != digest:
            raise ReleaseError(f"{name} is not the file that SHA256SUMS names")


class Release:
    """A published table with what is known of each value.

    Open it with `Release.open`, from a folder (`vizard anonymize --out`, CSV
    or Parquet) or from a server.
    """

    def __init__(
        self, manifest: dict[str, Any], tables: dict[str, Table], hierarchies: dict[str, Hierarchy]
    ) -> None:
        self.manifest = manifest
        self.hierarchies = hierarchies
        self._tables = tables
        self._rows = _rows.assemble(tables, hierarchies)
        # For draws and bounds; probabilities of single cells are those of the service's queries.
        self._tight = with_ends(self._rows) if have_ends(manifest) else self._rows

    @classmethod
    def open(
        cls,
        source: str | Path | tuple[Client, str],
        hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
    ) -> Release:
        """Read a release from a folder, a bundle (`.zip`), or a server by `(client, release id)`.

        `hierarchies` says which hierarchy an attribute has, as the service's
        CSV; without it those are taken that the folder has in `hierarchies/`,
        or that the server gives to this key. Tables of a server are checked
        against the digests of the manifest, files of a bundle against its
        `SHA256SUMS`.
        """
        if isinstance(source, tuple):
            client, release = source
            with tempfile.TemporaryDirectory(prefix="vizard-") as folder:
                client.save(release, folder)
                return cls._read(Path(folder), hierarchies or {})
        if Path(source).suffix == ".zip":
            with tempfile.TemporaryDirectory(prefix="vizard-") as folder:
                _unpack(Path(source), Path(folder))
                return cls._read(Path(folder), hierarchies or {})
        return cls._read(Path(source), hierarchies or {})

    @classmethod
    def _read(cls, folder: Path, given: Mapping[str, str | Path | Hierarchy]) -> Release:
        path = folder / "manifest.json"
        if not path.is_file():
            raise ReleaseError("the folder has no manifest.json")
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if not str(manifest.get("format", "")).startswith("vizard-release/1"):
            raise ReleaseError("the manifest is of no format that this package knows")
        tables = {}
        for description in manifest["tables"]:
            name = description["name"]
            if name not in _TABLES:
                raise ReleaseError("the manifest names a table that this package does not know")
            files = [folder / f"{name}.{form}" for form in ("csv", "parquet", "arrow")]
            found = next((file for file in files if file.is_file()), None)
            if found is None:
                raise ReleaseError(f"the folder lacks the table {name}")
            tables[name] = read_table(description, found)
        trees = {
            unquote(file.stem): Hierarchy.read(file)
            for file in sorted((folder / "hierarchies").glob("*.csv"))
        }
        for name, tree in given.items():
            trees[name] = tree if isinstance(tree, Hierarchy) else Hierarchy.read(tree)
        return cls(manifest, tables, trees)

    def __repr__(self) -> str:
        return f"<Release by {self.engine}: {len(self)} rows, {len(self.attributes)} attributes>"

    def __len__(self) -> int:
        return self._rows.count

    @property
    def engine(self) -> str:
        """The engine that made it."""
        return str(self.manifest["engine"])

    @property
    def attributes(self) -> dict[str, str]:
        """Each published attribute with its type: integer, decimal, date or categorical."""
        return {name: attribute.kind for name, attribute in self._rows.attributes.items()}

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How this release is read, in sentences, with what it does not protect left to the manifest."""
        notes = []
        pooled = [name for name, attribute in self._rows.attributes.items() if attribute.pool]
        if "sliced" in self._tables:
            notes.append(
                "Columns are permuted inside buckets: a row shows the first column, and of the others "
                f"({', '.join(pooled)}) what its bucket has, as weights."
            )
        elif pooled:
            notes.append(f"Values of {', '.join(pooled)} stand in buckets: a row has them as weights.")
        if self.manifest.get("parameters", {}).get("publish") == "randomization":
            kept = self.manifest["parameters"].get("retention")
            notes.append(
                f"Sensitive values are drawn: each is kept with probability {kept}, else it is any of its "
                "block. Associations with other attributes look weaker; no helper corrects that."
            )
        if self.engine == "ng":
            notes.append("A sensitive value is not of the person whose ranges stand beside it, but near.")
        return tuple(notes)

    def to_arrow(self, *, expand: bool = False) -> pa.Table:
        """All rows as Arrow.

        A range becomes two columns, `NAME_lower` and `NAME_upper`, with
        `NAME_missing` where the value may be missing; a set of categories a
        list; a value of a bucket a list of `{value, weight}`; a masked or
        missing value null. `expand` puts the leaves of a hierarchy in the
        place of their node.
        """
        return _frames.to_arrow(self._rows, expand)

    def to_pandas(
        self,
        *,
        intervals: _frames.Intervals = "interval",
        sets: _frames.Sets = "list",
        expand: bool = False,
    ) -> pd.DataFrame:
        """All rows for pandas.

        A range is an `Interval`, or two columns (`intervals="columns"`); sets
        are lists or frozensets; values of buckets are dictionaries from value
        to weight. `intervals="midpoint"` takes middles, with a warning.
        """
        return _frames.to_pandas(self._rows, intervals, sets, expand)

    def to_polars(self, *, expand: bool = False) -> pl.DataFrame:
        """All rows for polars, in the form of `to_arrow`."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow(expand=expand))
        if not isinstance(frame, pl.DataFrame):
            raise ReleaseError("polars made no data frame of the table")
        return frame

    def weighted(self, *names: str, parts: int = 10, max_rows: int = 5_000_000) -> pa.Table:
        """One row for each possible value of these attributes, with its probability in `weight`.

        What a cell hides is uniform over what is public, as the service's
        queries take it. A range of decimals stands by the middles of `parts`
        parts. `row` is the published row, whose weights sum to 1; attributes
        that are published exactly come along.
        """
        self._known(*names)
        if not names:
            raise ValueError("name the attributes whose values are to be spread out")
        return _weighted.weighted(self._rows, names, parts, max_rows)

    def sample(self, seed: int) -> pa.Table:
        """One possible table: each value drawn from its own cell, those of buckets dealt out among its rows.

        Several seeds give several tables. Values are drawn without looking at
        other attributes, so associations are weaker than in the records:
        `regress` draws them together.
        """
        return _weighted.sample(self._tight, seed)

    def mean(self, name: str, *, samples: int = 20, seed: int = 0) -> Estimate:
        """The mean of a number, of multiple imputation, with bounds that hold for certain."""
        self._known(name)
        return _estimate.mean(self._tight, name, samples, seed)

    def crosstab(
        self, one: str, other: str, *, cuts: Mapping[str, Sequence[float]] | None = None
    ) -> Crosstab:
        """Expected counts of two attributes with certain bounds; `cuts` says where numbers are cut."""
        self._known(one, other)
        return _estimate.crosstab(self._rows, one, other, cuts or {})

    def regress(
        self,
        outcome: str,
        on: Sequence[str],
        *,
        samples: int = 20,
        burn: int = 200,
        thin: int = 10,
        seed: int = 0,
    ) -> Regression:
        """A linear regression of a number on other attributes, by multiple imputation.

        Hidden values are drawn given the regression (see the module
        `vizard._regress`), in `samples` tables, one every `thin` draws after
        the first `burn`. It supposes that residuals are normal and that
        values are spread evenly inside a range.
        """
        on = [on] if isinstance(on, str) else list(on)
        self._known(outcome, *on)
        return _regress.regress(self._tight, outcome, on, samples, burn, thin, seed)

    def _known(self, *names: str) -> None:
        for name in names:
            if name not in self._rows.attributes:
                raise KeyError(f"no attribute {name!r} is published")
