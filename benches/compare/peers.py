"""Anonymizers that PyPI has, on the work of U2 and U6 in the same minute.

ANJANA gives a whole column one level of its hierarchy and leaves nobody out;
anonypy cuts the records into groups as Mondrian does. Both run once, in
processes of their own, so that what they take is counted as it is for Vizard.
Rows beside what is not installed are left out."""

import json
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from data import arx_loss, tight_ncp
from losses import TREES
from work import run

FLAT = "mondrian-flat-fast.json"
HERE = Path(__file__).parent


def measure(goals, vizard, adult):
    if goals.wants("U2") and find_spec("anonypy"):
        anonypy(goals, vizard, adult)
    if goals.wants("U6") and find_spec("anjana"):
        anjana(goals, vizard, adult)


def anonypy(goals, vizard, adult):
    schema = Schema(adult, FLAT)
    k = schema.job["parameters"]["k"]
    out = vizard.out / "anonypy.csv"
    command = [sys.executable, HERE / "with_anonypy.py", adult / "records.csv", out, k]
    theirs = run([*command, ",".join(schema.columns), ",".join(schema.numbers), schema.sensitive[0]])
    ours = vizard.anonymize(adult, FLAT)()
    what = f"mondrian adult, no trees, k {k}, fast ÷ anonypy {version('anonypy')}"
    losses = vizard.measure("ncp"), tight_ncp(out, adult, schema.columns, schema.numbers)
    rows(goals, "U2", f"{what}: tight NCP", losses, (ours, theirs))


def anjana(goals, vizard, adult):
    for k, job in TREES.items():
        columns = Schema(adult, job).columns
        out = vizard.out / "anjana.csv"
        command = [sys.executable, HERE / "with_anjana.py", adult / "records.csv", out, k]
        theirs = run([*command, ",".join(columns), adult / "hierarchies"])
        ours = vizard.anonymize(adult, job, parameters={"effort": "fast"})()
        what = f"mondrian adult, trees, k {k}, fast ÷ ANJANA {version('anjana')}"
        tables = vizard.release / "microdata.csv", out
        losses = [arx_loss(table, adult, job) for table in tables]
        rows(goals, "U6", f"{what}: loss as ARX counts it", losses, (ours, theirs))


def rows(goals, goal, what, losses, runs):
    """What is lost and what it takes, ours by theirs."""
    told = "{:.4f} ÷ {:.4f}".format(*losses)
    goals.row(goal, what, losses[0] / losses[1], 1.0, more=told)
    took = [one.processor_seconds for one in runs]
    told = "{:.1f} s ÷ {:.1f} s".format(*took)
    goals.row(goal, "same, one run each: processor seconds of the whole process", took[0] / took[1], 1.0, more=told)


class Schema:
    """What a job file says of the attributes."""

    def __init__(self, folder, file):
        spec = json.loads((folder / file).read_text())
        attributes = spec["schema"]["attributes"]
        named = [one for one in attributes if one["role"] == "quasi_identifier"]
        self.job = spec["job"]
        self.columns = [one["name"] for one in named]
        self.numbers = [one["name"] for one in named if one["type"] == "integer"]
        self.sensitive = [one["name"] for one in attributes if one["role"] == "sensitive"]
