"""What pycanon says of a published table, as JSON on standard output.

Usage: check.py TABLE.csv QUESTION.json
The question: {"quasi": [name], "sensitive": {name: l}}; l is the rank from which
values count together in recursive (c, l)-diversity.

pycanon 1.3.6 sorts the counts of a group ascending before it takes the first as
r1 and sums from the l-th on, so its own c is that of the *rarest* value, and its
l is the table's number of distinct values. `recursive_as_printed` is that
figure; `recursive` is the same code with the counts descending, as Machanavajjhala
et al. number them, and with the l asked for.
"""

import json
import sys

import numpy
import pandas
from pycanon import anonymity
from pycanon.anonymity import _l_diversity


class Descending:
    """numpy, but for `sort`, which puts the largest first."""

    def __getattr__(self, name):
        return getattr(numpy, name)

    @staticmethod
    def sort(values):
        return numpy.sort(values)[::-1]


def recursive(table, quasi, name, l):
    own = _l_diversity.np, _l_diversity.l_diversity
    _l_diversity.np, _l_diversity.l_diversity = Descending(), lambda *_: l
    try:
        c, _ = _l_diversity.recursive_c_l_diversity(table, quasi, [name])
    finally:
        _l_diversity.np, _l_diversity.l_diversity = own
    return int(c)


def main(path, question):
    with open(question, encoding="utf-8") as file:
        question = json.load(file)
    quasi, sensitive = question["quasi"], question["sensitive"]
    table = pandas.read_csv(
        path, dtype={name: str for name in quasi}, keep_default_na=False
    )
    answer = {"k": int(anonymity.k_anonymity(table, quasi)), "values": {}}
    for name, l in sensitive.items():
        of = [name]
        c, distinct = anonymity.recursive_c_l_diversity(table, quasi, of)
        answer["values"][name] = {
            "distinct": int(anonymity.l_diversity(table, quasi, of)),
            "entropy": int(anonymity.entropy_l_diversity(table, quasi, of)),
            "recursive": recursive(table, quasi, name, l) if l > 1 else None,
            "recursive_as_printed": None if numpy.isnan(c) else [int(c), int(distinct)],
            "t": float(anonymity.t_closeness(table, quasi, of)),
        }
    json.dump(answer, sys.stdout)


main(sys.argv[1], sys.argv[2])
