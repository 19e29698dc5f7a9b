"""How engine time and memory grow with the number of records.

Every engine publishes the same records, without local search; verifier and
report are left out. Preferences are read where an engine is about them. A run
that takes longer than the cap, or more memory, is ended; the engine's larger
sizes are then left out, and the table says so.
"""

import json
import math
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from repeated import repeated, repeated_persons
from work import TookTooLong, TookTooMuch, engine, median

SIZES = [100_000, 500_000, 2_000_000, 8_000_000]
PLAIN = ["--no-report", "--no-verify", "--threads", 2]
ONE_SENSITIVE = {"occupation": "sensitive", "salary": "identifier"}


@dataclass
class Bounds:
    """What one run may take, and how many runs there are of each."""

    seconds: float
    bytes: int
    times: int


@dataclass
class Engine:
    """An engine with the job that it does on the records."""

    name: str
    base: str
    job: dict
    roles: dict | None = None
    preferences: bool = False


def job(engine_name, **parameters):
    return {"engine": engine_name, "parameters": parameters}


def engines(acs):
    """All of them; `acs` has the job files of lgb and mondrian."""
    given = lambda file: json.loads((acs / file).read_text())["job"]["parameters"]
    lgb_ncp = {**given("lgb-ncp.json"), "effort": "none"}
    mondrian = {**given("mondrian.json"), "effort": "none"}
    arp = {"l": 5, "publish": "anatomy"}
    slicing = {"variant": "slicing", "l": 2, "clusters": 3}
    personalized = {"k": 4, "sensitive": "occupation", "max_leakage": 0.5}
    return [
        Engine("lgb mdp", "lgb-mdp.json", job("lgb", **given("lgb-mdp.json")), None, True),
        Engine("lgb ncp", "lgb-ncp.json", job("lgb", **lgb_ncp), None, True),
        Engine("mondrian", "mondrian.json", job("mondrian", **mondrian)),
        Engine("arp", "mondrian.json", job("arp", **arp), ONE_SENSITIVE),
        Engine("personalized", "mondrian.json", job("personalized", **personalized), ONE_SENSITIVE),
        Engine("slicing", "mondrian.json", job("slicing", **slicing), ONE_SENSITIVE),
    ]


def measure(vizard, data, sizes, only, bounds):
    """Prints a row a run, then a row an engine with the fitted exponent."""
    acs, informs = data / "acs500k", data / "informs05"
    of_records = [one for one in engines(acs) if not only or one.name in only]
    of_persons = Engine("one_to_many", "one_to_many-even.json", job("one_to_many"))
    print("| engine | records | engine | µs a record | peak memory | KiB a record |")
    print("|---|---|---|---|---|---|", flush=True)
    rows = Rows(bounds)
    for records in sorted(sizes):
        with tempfile.TemporaryDirectory() as place:
            if any(rows.goes_on(one) for one in of_records):
                folder = repeated(acs, records, Path(place))
                for one in of_records:
                    rows.add(one, records, vizard, folder)
        with tempfile.TemporaryDirectory() as place:
            if (not only or of_persons.name in only) and rows.goes_on(of_persons):
                base = json.loads((informs / of_persons.base).read_text())
                parameters = {**base["job"]["parameters"], "effort": "none"}
                of_persons.job = job("one_to_many", **parameters)
                folder, found = repeated_persons(informs, base["schema"], records, Path(place))
                rows.add(of_persons, found, vizard, folder)
    rows.finish()


class Rows:
    """What was found so far."""

    def __init__(self, bounds):
        self.bounds = bounds
        self.found = {}
        self.stopped = {}

    def goes_on(self, one):
        return one.name not in self.stopped

    def add(self, one, records, vizard, folder):
        if not self.goes_on(one):
            return
        program = vizard.anonymize(
            folder,
            one.base,
            *PLAIN,
            job=one.job,
            roles=one.roles,
            preferences=one.preferences,
            most=(self.bounds.seconds, self.bounds.bytes),
        )
        try:
            runs = [program() for _ in range(self.bounds.times)]
        except TookTooLong:
            return self.stop(one, records, f"ended after {self.bounds.seconds:.0f} s")
        except TookTooMuch:
            return self.stop(one, records, f"ended past {self.bounds.bytes / 2**30:g} GiB")
        took_ms = median(runs, engine)
        peak = median(runs, lambda run: run.peak_bytes)
        self.found.setdefault(one.name, []).append((records, took_ms, peak))
        print(
            f"| {one.name} | {records:,} | {took_ms / 1000:.2f} s | {took_ms * 1000 / records:.2f} "
            f"| {peak / 2**20:,.0f} MiB | {peak / 1024 / records:.3f} |",
            flush=True,
        )

    def stop(self, one, records, why):
        self.stopped[one.name] = records
        print(f"| {one.name} | {records:,} | {why} | – | – | – |", flush=True)

    def finish(self):
        print("\n| engine | engine time ∝ records to the | memory ∝ records to the | to |")
        print("|---|---|---|---|")
        for name, rows in self.found.items():
            most = f"{rows[-1][0]:,}"
            if name in self.stopped:
                most += f" ({self.stopped[name]:,} was too much)"
            time, memory = (slope([(row[0], row[at]) for row in rows]) for at in (1, 2))
            print(f"| {name} | {time} | {memory} | {most} |", flush=True)


def slope(points):
    """Exponent of the power of the first that fits the second best."""
    if len(points) < 2:
        return "–"
    logs = [(math.log(x), math.log(y)) for x, y in points]
    fitted = statistics.linear_regression(*zip(*logs))
    return f"{fitted.slope:.2f}"
