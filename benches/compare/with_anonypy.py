"""Runs anonypy's Mondrian: RECORDS OUT K QUASI-IDENTIFIERS NUMBERS SENSITIVE.

OUT has a line for each group and sensitive value: a number's range as
`low-high`, the numbers of a category's values with commas between them, and in
`count` how many records there are."""

import sys

import pandas as pd
from anonypy import Preserver

records, out, k, quasi_identifiers, numbers, sensitive = sys.argv[1:]
columns = quasi_identifiers.split(",")
table = pd.read_csv(records, dtype=str, usecols=[*columns, sensitive], keep_default_na=False)
for column in table.columns:
    if column in numbers.split(","):
        table[column] = table[column].astype("int64")
    else:
        # Numbers hold no comma, as values might.
        table[column] = table[column].astype("category").cat.codes.astype("category")
groups = Preserver(table, columns, sensitive).anonymize_k_anonymity(k=int(k))
# The text of each quasi-identifier comes in a list of its own.
told = pd.DataFrame(groups)
told[columns] = told[columns].map(lambda texts: texts[0])
told.to_csv(out, index=False)
