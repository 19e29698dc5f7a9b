"""Larger data from what there is, and what tables have lost."""

import csv
import json
import random
import re
import shutil

from work import Failed


def jittered(folder, job, records, out, zip_code=False):
    """A folder with as many records: those of `folder` again and again, whole
    numbers shifted by a seeded -2 to 2 from the second time on; with a zip code
    drawn from 100,000, if asked for, and its hierarchy of prefixes."""
    spec = json.loads((folder / job).read_text())
    out.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder / "hierarchies", out / "hierarchies", dirs_exist_ok=True)
    attributes = spec["schema"]["attributes"]
    drawn = random.Random(7)
    with open(folder / "records.csv", newline="") as source:
        lines = csv.reader(source)
        header = next(lines)
        base = list(lines)
    key = header.index(spec["schema"]["subject_key"])
    numbers = {name: header.index(name) for name in header if is_shifted(name, attributes, out)}
    bounds = {}
    for name, at in numbers.items():
        values = [int(line[at]) for line in base]
        bounds[at] = (min(values), max(values))
    with open(out / "records.csv", "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(header + ["zip"] * zip_code)
        for record in range(records):
            line = list(base[record % len(base)])
            line[key] = f"p{record + 1:08}"
            if record >= len(base):
                for at, (low, high) in bounds.items():
                    line[at] = min(high, max(low, int(line[at]) + drawn.randint(-2, 2)))
            if zip_code:
                line.append(f"{drawn.randrange(100_000):05}")
            writer.writerow(line)
    if zip_code:
        attributes.append(
            {"name": "zip", "role": "quasi_identifier", "type": "categorical", "hierarchy": "zip"}
        )
        with open(out / "hierarchies" / "zip.csv", "w") as target:
            for code in range(100_000):
                text = f"{code:05}"
                levels = [text] + [text[:kept] + "*" * (5 - kept) for kept in range(4, 0, -1)]
                target.write(";".join([*levels, "*"]) + "\n")
    (out / job).write_text(json.dumps(spec))
    return out


def is_shifted(name, attributes, folder):
    """Whether an attribute's values are whole numbers that may be shifted."""
    for attribute in attributes:
        if attribute["name"] == name and attribute["role"] != "identifier":
            return attribute.get("type") == "integer" or name == "age"
    return False


def arx_loss(table, folder, job):
    """Mean over all cells of (leaves - 1) / (all leaves - 1), as ARX counts it.

    Every quasi-identifier has a hierarchy."""
    attributes = json.loads((folder / job).read_text())["schema"]["attributes"]
    shares = {}
    for attribute in attributes:
        if attribute["role"] == "quasi_identifier":
            name = attribute["name"]
            shares[name] = leaf_shares(folder / "hierarchies" / f"{attribute['hierarchy']}.csv")
    total = count = 0
    with open(table, newline="") as source:
        for line in csv.DictReader(source):
            for name, share in shares.items():
                total += share[line[name]]
                count += 1
    if count == 0:
        raise Failed(f"{table} has no record")
    return total / count


def tight_ncp(groups, folder, columns, numbers):
    """Mean over all cells of (max - min) / range, or of distinct / domain for a
    category of more than one value.

    `groups` has lines that stand for `count` records each: a number as `low-high`
    or as it is, a category as its values with commas between them. All records
    must be there."""
    with open(folder / "records.csv", newline="") as source:
        records = list(csv.DictReader(source))
    domains = {name: {record[name] for record in records} for name in columns}
    ranges = {}
    for name in numbers:
        values = [int(text) for text in domains[name]]
        ranges[name] = max(values) - min(values)
    total = people = 0
    with open(groups, newline="") as source:
        for line in csv.DictReader(source):
            people += int(line["count"])
            for name in columns:
                if name in ranges:
                    low, high = re.fullmatch(r"(-?\d+)(?:-(-?\d+))?", line[name]).groups()
                    lost = (int(high or low) - int(low)) / (ranges[name] or 1)
                else:
                    values = len(line[name].split(","))
                    lost = values / len(domains[name]) if values > 1 else 0
                total += int(line["count"]) * lost
    if people != len(records):
        raise Failed(f"{groups} has {people} of {len(records)} records")
    return total / (people * len(columns))


def leaf_shares(hierarchy):
    """For each label of a hierarchy the share of the other leaves under it."""
    under = {}
    leaves = set()
    with open(hierarchy, newline="") as source:
        for path in csv.reader(source, delimiter=";"):
            leaves.add(path[0])
            for label in path:
                under.setdefault(label, set()).add(path[0])
    return {label: (len(below) - 1) / (len(leaves) - 1) for label, below in under.items()}
