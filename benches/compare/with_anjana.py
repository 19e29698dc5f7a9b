"""Runs ANJANA's k-anonymity: RECORDS OUT K QUASI-IDENTIFIERS HIERARCHIES.

HIERARCHIES is a folder with `NAME.csv` for each quasi-identifier: a value and
its ancestors a line. Every column has one level of its hierarchy; nobody is
left out."""

import csv
import sys
from pathlib import Path

import pandas as pd
from anjana.anonymity import k_anonymity

records, out, k, quasi_identifiers, folder = sys.argv[1:]
columns = quasi_identifiers.split(",")
hierarchies = {}
for column in columns:
    with open(Path(folder) / f"{column}.csv", newline="") as source:
        levels = zip(*csv.reader(source, delimiter=";"), strict=True)
        hierarchies[column] = {level: list(labels) for level, labels in enumerate(levels)}
table = pd.read_csv(records, dtype=str, usecols=columns, keep_default_na=False)
k_anonymity(table, [], columns, int(k), 0, hierarchies).to_csv(out, index=False)
