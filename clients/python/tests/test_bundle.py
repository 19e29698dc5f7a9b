"""All of a release as one zip: whole, read as the release is, with a page whose blocks run."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import duckdb
import made_up
import pytest
from conftest import Server

from vizard import Client, Release, ReleaseError

ENGINES = ("mondrian", "anatomy", "lgb", "slicing")
Bundles = dict[str, tuple[str, Path]]


@pytest.fixture(scope="module")
def bundles(steward: Client, tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    """Of each engine a release and its bundle."""
    place, out = tmp_path_factory.mktemp("bundles"), {}
    for engine in ENGINES:
        how = made_up.ENGINES[engine]
        dataset = str(steward.create_dataset(how.get("schema") or made_up.schema())["id"])
        for name, text in made_up.HIERARCHIES.items():
            (place / f"{name}.csv").write_text(text)
            steward.put_hierarchy(name, place / f"{name}.csv", dataset=dataset)
        steward.upload(dataset, made_up.write(place / "records.csv", made_up.people(400, 3)))
        job = how["job"]
        made = steward.run(dataset, job["engine"], job["parameters"], name=f"By {engine}")
        assert made["name"] == f"By {engine}"
        to = place / f"{engine}.zip"
        assert steward.bundle(str(made["release"]), to) == to
        out[engine] = (str(made["release"]), to)
    return out


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bundle_is_whole_and_read_as_its_release_is(steward: Client, bundles: Bundles, engine: str) -> None:
    release, path = bundles[engine]
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        sums = packed.read("SHA256SUMS").decode().splitlines()
        names = packed.namelist()
        assert [line[66:] for line in sums] == names[:-1]
        for line in sums:
            assert hashlib.sha256(packed.read(line[66:])).hexdigest() == line[:64]
    assert {"HOWTO.md", "manifest.json", "data_dictionary.csv", "report.html", "utility.json"} < set(names)
    read = Release.open(path)
    assert read.to_arrow().equals(Release.open((steward, release)).to_arrow())
    assert set(read.hierarchies) == {"ward", "diagnosis"}


def test_a_bundle_with_another_file_in_it_is_not_read(bundles: Bundles, tmp_path: Path) -> None:
    _, path = bundles["mondrian"]
    for change in ("hierarchies/ward.csv", "another.csv"):
        changed = tmp_path / "changed.zip"
        with zipfile.ZipFile(path) as packed, zipfile.ZipFile(changed, "w") as written:
            for name in packed.namelist():
                text = b"North;*\n" if name == change else packed.read(name)
                written.writestr(name, text)
            if change not in packed.namelist():
                written.writestr(change, b"")
        with pytest.raises(ReleaseError, match="SHA256SUMS"):
            Release.open(changed)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_blocks_of_the_page_run(
    bundles: Bundles,
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with zipfile.ZipFile(bundles[engine][1]) as packed:
        packed.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = Path("HOWTO.md").read_text(encoding="utf-8")
    assert f"By {engine}: " in page

    def blocks(language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)

    assert (len(blocks("python")), len(blocks("sql")), len(blocks("r"))) == (2, 1, 1)
    for block in blocks("python"):
        exec(compile(block, "HOWTO.md", "exec"), {})
    assert capsys.readouterr().out.count("the mean lies between") == 2
    answers = [
        duckdb.connect().execute(one).fetchall() for one in blocks("sql")[0].split(";\n") if one.strip()
    ]
    assert answers[0] == [(400,)]
    assert len(answers) == 3
    if shutil.which("Rscript"):
        Path("page.R").write_text(blocks("r")[0])
        parsed = subprocess.run(["Rscript", "-e", "invisible(parse('page.R'))"], check=False)
        assert parsed.returncode == 0


def test_an_analyst_takes_a_published_release_away(
    server: Server, steward: Client, bundles: Bundles, tmp_path: Path
) -> None:
    release, _ = bundles["mondrian"]
    steward.publish(release)
    with Client(server.url, server.key("analyst")) as analyst:
        read = Release.open(analyst.bundle(release, tmp_path / "release.zip"))
    assert set(read.hierarchies) == {"ward", "diagnosis"}
    assert "excluded" not in read.manifest


def test_an_arrow_file_is_a_table_of_a_release(steward: Client, bundles: Bundles, tmp_path: Path) -> None:
    release, path = bundles["anatomy"]
    with zipfile.ZipFile(path) as packed:
        packed.extractall(tmp_path)
    expected = Release.open(tmp_path).to_arrow()
    for table in ("quasi", "sensitive"):
        steward.download(release, table, tmp_path / f"{table}.arrow", format="arrow-file")
        (tmp_path / f"{table}.parquet").unlink()
    assert Release.open(tmp_path).to_arrow().equals(expected)
