"""The blocks of docs/CLIENTS.md and the notebook are run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import made_up
import nbformat
import pytest
from conftest import Server
from nbclient import NotebookClient

from vizard import Release

PAGE = (made_up.REPOSITORY / "docs" / "CLIENTS.md").read_text(encoding="utf-8")
NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "release.ipynb"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def asked(sql: str) -> list[Any]:
    return duckdb.connect().execute(sql).fetchall()


@pytest.fixture
def folders(tmp_path: Path, releases: dict[tuple[str, str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, engine in (("release", "mondrian"), ("blocks", "anatomy"), ("sets", "arp, generalized")):
        shutil.copytree(releases[engine, "parquet"], tmp_path / name)
        shutil.copytree(releases[engine, "csv"], tmp_path / f"{name}-csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::vizard.MidpointWarning")
def test_the_python_of_the_page_runs(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert blocks("python")
    for block in blocks("python"):
        exec(compile(block, "CLIENTS.md", "exec"), {})
    assert "bounds=(" in capsys.readouterr().out


def test_the_sql_of_the_page_gives_the_packages_figures(folders: Path) -> None:
    old, women, crossed, texts = (asked(block) for block in blocks("sql"))
    release, anatomy = Release.open("release"), Release.open("blocks")
    rows = release.crosstab("age", "sex", cuts={"age": [40]}).table.to_pylist()
    assert old[0][0] == pytest.approx(sum(one["estimate"] for one in rows if one["age"] == "40 and above"))
    assert old[0][1] <= sum(r["age"] != "" and r["age"] >= 40 for r in made_up.people(400, 1)) <= old[0][2]
    of_sets = Release.open("sets").crosstab("age", "sex", cuts={"age": [40]}).table.to_pylist()
    assert women[0][0] == pytest.approx(sum(one["estimate"] for one in of_sets if one["sex"] == "F"))
    assert women[0][1] <= sum(one["sex"] == "F" for one in made_up.people(400, 1)) <= women[0][2]
    expected = {
        (one["sex"], one["diagnosis"]): one["estimate"]
        for one in anatomy.crosstab("sex", "diagnosis").table.to_pylist()
    }
    assert {(sex, diagnosis): share for sex, diagnosis, share in crossed} == pytest.approx(expected)
    told = [
        age for age in release.to_arrow().select(["age_lower", "age_upper"]).to_pylist() if age["age_lower"]
    ]
    assert texts == [(age["age_lower"], age["age_upper"]) for age in told]


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no R here")
def test_the_base_r_of_the_page_runs(folders: Path) -> None:
    packages, *base = blocks("r")
    (folders / "packages.R").write_text(packages)
    parsed = subprocess.run(
        ["Rscript", "-e", "invisible(parse('packages.R'))"], capture_output=True, check=False
    )
    assert parsed.returncode == 0, parsed.stderr
    (folders / "page.R").write_text("\n".join(base))
    done = subprocess.run(["Rscript", "page.R"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    mean = Release.open("blocks").mean("cost").value
    assert float(done.stdout.split("mean cost:")[1]) == pytest.approx(mean)
    old = asked(blocks("sql")[0])[0]
    assert f"certainly 40 or older: {old[1]} " in done.stdout
    assert f"possibly 40 or older: {old[2]} " in done.stdout


def test_the_notebook_runs_and_is_kept_without_outputs(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIZARD_URL", server.url)
    monkeypatch.setenv("VIZARD_KEY", server.key("uploader", "consent", "steward", "analyst"))
    raw = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in raw["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    said = json.dumps([cell.get("outputs") for cell in notebook.cells])
    assert "length_of_stay" in said
    assert "vz_" not in said
