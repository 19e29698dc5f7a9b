"""Made-up people, of whom the originals are known: the same for the same seed."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("VIZARD_BINARY", REPOSITORY / "target" / "debug" / "vizard"))

WARDS = {"North": "Old building", "East": "Old building", "South": "New building", "West": "New building"}
LUNG, HEART = ["asthma", "cold", "flu"], ["angina", "infarct", "stroke"]
HIERARCHIES = {
    "ward": "".join(f"{ward};{building};*\n" for ward, building in WARDS.items()),
    "diagnosis": "".join(
        f"{leaf};{node};*\n" for node, leaves in (("lung", LUNG), ("heart", HEART)) for leaf in leaves
    ),
}
Record = dict[str, Any]


def people(count: int, seed: int) -> list[Record]:
    """People of one record: the cost follows age and sex, with a skewed noise that grows with age."""
    random = np.random.default_rng(seed)
    out = []
    for number in range(count):
        age = int(18 + 72 * random.beta(1.2, 2.0))
        sex = str(random.choice(["F", "M"]))
        cost = 1000 + 40 * age + 300 * (sex == "M") + (random.gamma(2.0, 1.0) - 2.0) * (150 + 3 * age)
        out.append(
            {
                "patient": f"P{number:05}",
                "age": "" if random.random() < 0.02 else age,
                "sex": sex,
                "ward": str(random.choice(list(WARDS))),
                "admitted": f"2026-03-{random.integers(1, 29):02}",
                "weight": round(float(random.normal(70, 12)), 1),
                "cost": round(cost),
                "diagnosis": str(random.choice(LUNG + HEART)),
            }
        )
    return out


def visits(count: int, seed: int) -> list[Record]:
    """People of several records, a diagnosis each."""
    random = np.random.default_rng(seed)
    out = []
    for number in range(count):
        person = {
            "patient": f"P{number:05}",
            "age": int(random.integers(18, 90)),
            "sex": str(random.choice(["F", "M"])),
        }
        for _ in range(random.integers(1, 4)):
            out.append({**person, "diagnosis": str(random.choice(LUNG + HEART))})
    return out


def schema(*, many: bool = False, semi: bool = False, unpublished: tuple[str, ...] = ()) -> dict[str, Any]:
    """Of these people."""
    kinds = {"age": "integer", "sex": "categorical", "ward": "categorical", "admitted": "date"}
    kinds |= {"weight": "decimal", "cost": "integer", "diagnosis": "categorical"}
    attributes: list[dict[str, Any]] = [{"name": "patient", "role": "identifier"}]
    for name, kind in kinds.items():
        if many and name not in ("age", "sex", "diagnosis"):
            continue
        role = "sensitive" if name in ("cost", "diagnosis") else "quasi_identifier"
        role = "semi_sensitive" if semi and name == "sex" else role
        role = "identifier" if name in unpublished else role
        attributes.append({"name": name, "role": role, "type": kind})
        if name in HIERARCHIES:
            attributes[-1]["hierarchy"] = name
    return {
        "name": "visits" if many else "people",
        "subject_key": "patient",
        "multiplicity": "many" if many else "one",
        "missing": "category",
        "attributes": attributes,
    }


def write(path: Path, records: list[Record]) -> Path:
    """A file of CSV."""
    with path.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    return path


def anonymize(folder: Path, records: list[Record], job: dict[str, Any], **more: Any) -> Path:
    """Run `vizard anonymize`; the folder of the release, with its hierarchies."""
    folder.mkdir(parents=True)
    if not more.get("hierarchies", True):
        job = {**job, "hierarchies": "withhold"}
    spec = {"schema": more.get("schema") or schema(), "job": job}
    (folder / "spec.json").write_text(json.dumps(spec))
    command = [str(BINARY), "anonymize", "--records", str(write(folder / "records.csv", records))]
    command += ["--spec", str(folder / "spec.json"), "--out", str(folder / "release"), "--seed", "1"]
    command += ["--no-report", "--no-verify", "--format", more.get("format", "csv")]
    for name, text in HIERARCHIES.items():
        (folder / f"{name}.csv").write_text(text)
        command += ["--hierarchy", f"{name}={folder / name}.csv"]
    if "preferences" in more:
        command += ["--preferences", str(write(folder / "preferences.csv", more["preferences"]))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "release"


ASKED = [{"subject": f"P{number:05}", "sensitive": "sex"} for number in range(0, 400, 4)]
ENGINES: dict[str, dict[str, Any]] = {
    "lgb": {
        "job": {"engine": "lgb", "parameters": {"k": 4, "l": 3, "attributes": {"sex": {"t_closeness": 0.3}}}},
        "schema": schema(semi=True),
        "preferences": ASKED,
    },
    "lgb, linked by groups": {
        "job": {
            "engine": "lgb",
            "parameters": {
                "k": 4,
                "l": 3,
                "attributes": {"sex": {"t_closeness": 0.3}},
                "bucket_link": "group",
            },
        },
        "schema": schema(semi=True),
        "preferences": ASKED,
    },
    "mondrian": {"job": {"engine": "mondrian", "parameters": {"k": 4, "l": 2}}},
    "anatomy": {"job": {"engine": "anatomy", "parameters": {"l": 3}}},
    "anatomy, of one attribute": {
        "job": {"engine": "anatomy", "parameters": {"l": 3}},
        "schema": schema(unpublished=("cost",)),
    },
    "aip": {"job": {"engine": "aip", "parameters": {"l": 3}}},
    "arp": {"job": {"engine": "arp", "parameters": {"l": 3}}},
    "arp, generalized": {
        "job": {"engine": "arp", "parameters": {"l": 3, "publish": "generalization"}},
        "schema": schema(unpublished=("cost",)),
    },
    "arp, randomized": {
        "job": {"engine": "arp", "parameters": {"l": 3, "publish": "randomization", "retention": 0.3}},
        "schema": schema(unpublished=("cost",)),
    },
    "arp, sliced": {
        "job": {"engine": "arp", "parameters": {"l": 3, "publish": "slicing"}},
        "schema": schema(unpublished=("cost",)),
    },
    "ng": {"job": {"engine": "ng", "parameters": {"l": 3}}, "schema": schema(unpublished=("cost",))},
    "slicing": {
        "job": {
            "engine": "slicing",
            "parameters": {
                "l": 2,
                "k": 2,
                "columns": [["age", "weight"], ["sex", "ward"], ["admitted"], ["cost", "diagnosis"]],
            },
        }
    },
    "slicing, generalized": {
        "job": {
            "engine": "slicing",
            "parameters": {
                "variant": "generalized",
                "l": 2,
                "k": 2,
                "clusters": 3,
                "generalize": ["age"],
                "drop": ["weight"],
            },
        }
    },
    "slicing, overlapping": {
        "job": {
            "engine": "slicing",
            "parameters": {
                "variant": "overlap",
                "l": 2,
                "k": 40,
                "columns": [["age", "weight"], ["sex", "diagnosis"], ["ward", "sex"], ["admitted"]],
            },
        },
        "schema": schema(unpublished=("cost",)),
    },
    "personalized": {
        "job": {
            "engine": "personalized",
            "parameters": {"k": 3, "sensitive": "diagnosis", "max_leakage": 0.6},
        },
        "schema": schema(unpublished=("cost",)),
    },
    "one_to_many": {
        "job": {"engine": "one_to_many", "parameters": {"k": 3, "l": 2, "max_excluded": 0.5}},
        "schema": schema(many=True),
    },
    "rmr": {
        "job": {"engine": "rmr", "parameters": {"k": 4, "m": 2, "delta": 0.65}},
        "schema": schema(many=True),
    },
}
