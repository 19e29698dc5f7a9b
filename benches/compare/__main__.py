"""Prints how Vizard compares, goal by goal, as a table in Markdown.

    scripts/compare DATA                 every goal whose data is in DATA
    scripts/compare DATA --only B1 U6    these

DATA holds folders with records.csv, preferences.csv, hierarchies/ and job
files. Every ratio is taken between runs in turn on one machine, the median of
`--times`; losses are counts and need one run.
"""

import argparse
import os
import platform
import sys
import tempfile
from datetime import date
from pathlib import Path

from data import arx_loss, jittered
from work import Failed, Vizard, duckdb_sort, engine, in_turn, median, ratio, seconds

TREES = {5: "mondrian-trees-k5-best.json", 10: "mondrian-trees-k10-best.json"}


class Table:
    """Rows as they are found; each is printed at once."""

    def __init__(self, only):
        self.only = only
        print("| goal | measure | found | wanted | reached |")
        print("|---|---|---|---|---|", flush=True)

    def wants(self, goal):
        return not self.only or goal in self.only

    def row(self, goal, measure, found, most, form="{:.3f}", more=""):
        reached = "yes" if found <= most else "**no**"
        told = form.format(found) + (f" ({more})" if more else "")
        print(f"| {goal} | {measure} | {told} | ≤ {form.format(most)} | {reached} |", flush=True)


def speed(table, vizard, data, times):
    """B1 to B8: time and memory of the command line."""
    acs = data / "acs500k"
    plain = ["--no-report", "--no-verify"]
    quick = vizard.anonymize(acs, "mondrian.json", *plain, "--threads", 2)
    if table.wants("B1"):
        sort = duckdb_sort(acs, ["age", "occupation", "education", "race"], vizard.out)
        ours, yardstick = in_turn(quick, sort, times=times)
        phases = ", ".join(
            f"{name[:-3]} {median(ours, lambda one, name=name: one.timings.get(name, 0)):.0f} ms"
            for name in ("read_ms", "engine_ms", "write_ms")
        )
        found = ratio(ours, yardstick, seconds)
        table.row("B1", "mondrian acs500k, CSV to CSV ÷ DuckDB sort", found, 0.7, more=phases)
    if table.wants("B2"):
        whole = vizard.anonymize(acs, "mondrian.json", "--threads", 2)
        ours, less = in_turn(whole, quick, times=times)
        found = ratio(ours, less, seconds)
        table.row("B2", "with verifier and report ÷ without", found, 1.5)
    if table.wants("B3"):
        lgb = vizard.anonymize(acs, "lgb-mdp.json", *plain, "--threads", 2, preferences=True)
        ours, less = in_turn(lgb, quick, times=times)
        found = ratio(ours, less, engine)
        table.row("B3", "lgb mdp with preferences ÷ mondrian, engine", found, 2.0)
    if table.wants("B4"):
        folders = [acs, data / "acs100k"]
        ncp = [vizard.anonymize(folder, "lgb-ncp.json", *plain) for folder in folders]
        large, small = in_turn(*ncp, times=times)
        found = ratio(large, small, engine)
        table.row("B4", "lgb ncp, engine, 500k ÷ 100k", found, 6.5, "{:.2f}")
    if table.wants("B6"):
        found = median([quick()], lambda one: one.peak_bytes)
        size = (acs / "records.csv").stat().st_size
        table.row("B6", "peak memory, mondrian acs500k ÷ records.csv", found / size, 4.0, "{:.2f}")
    if table.wants("B8"):
        one_thread = vizard.anonymize(acs, "mondrian.json", *plain, "--threads", 1)
        two, one = in_turn(quick, one_thread, times=times)
        found = ratio(two, one, engine)
        table.row("B8", "mondrian acs500k, engine, 2 threads ÷ 1", found, 0.6)
    if table.wants("B10"):
        with tempfile.TemporaryDirectory() as place:
            job = "mondrian-trees-k5-fast.json"
            folder = jittered(data / "adult", job, 1_000_000, Path(place), zip_code=True)
            one = vizard.anonymize(folder, job)()
            what = "1M jittered adult with zip, k 5, fast, whole process"
            table.row("B10", f"{what}: processor seconds", one.processor_seconds, 10.0, "{:.1f}")
            table.row("B10", "same: peak memory, GiB", one.peak_bytes / 2**30, 1.0, "{:.2f}")
            table.row("B10", "same: NCP", vizard.measure("ncp"), 0.040)


def usefulness(table, vizard, data):
    """U1 to U7: what is lost."""
    adult = data / "adult"
    if table.wants("U1"):
        acs = data / "acs100k"
        losses = []
        for job in ("lgb-ncp.json", "lgb-mdp.json"):
            vizard.anonymize(acs, job)()
            losses.append(vizard.measure("ncp"))
        told = f"{losses[0]:.3f} ÷ {losses[1]:.3f}"
        table.row("U1", "NCP, lgb ncp (fast) ÷ lgb mdp, acs100k", losses[0] / losses[1], 0.6, more=told)
    if table.wants("U2"):
        for effort, most in (("fast", 0.078), ("best", 0.066)):
            one = vizard.anonymize(adult, f"mondrian-flat-{effort}.json")()
            told = f"engine {one.timings['engine_ms'] / 1000:.2f} s"
            found = vizard.measure("ncp")
            table.row("U2", f"mondrian adult, no trees, k 10, {effort}: tight NCP", found, most, "{:.4f}", told)
    if table.wants("U6"):
        for k, most in ((5, 0.0524), (10, 0.0770)):
            for effort in ("fast", "best"):
                job = vizard.anonymize(adult, TREES[k], parameters={"effort": effort})
                one = job()
                told = f"whole process {one.processor_seconds:.1f} processor seconds"
                found = arx_loss(vizard.out / "microdata.csv", adult, TREES[k])
                what = f"mondrian adult, trees, k {k}, {effort}: loss as ARX counts it"
                table.row("U6", what, found, most, "{:.4f}", told)
    if table.wants("U7"):
        for effort in ("none", "fast"):
            parameters = {"effort": effort, "t_closeness": 0.2}
            roles = {"occupation": "sensitive"}
            one = vizard.anonymize(adult, TREES[5], parameters=parameters, roles=roles)()
            told = f"whole process {one.processor_seconds:.1f} processor seconds"
            what = f"mondrian adult, 8 trees, k 5, t 0.2 on occupation, {effort}: NCP"
            table.row("U7", what, vizard.measure("ncp"), 0.4, more=told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    print(f"{date.today()}, {os.cpu_count()} cores, {platform.machine()}\n")
    table = Table(options.only)
    with tempfile.TemporaryDirectory() as out:
        vizard = Vizard(options.program, Path(out))
        speed(table, vizard, options.data, options.times)
        usefulness(table, vizard, options.data)


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(str(failed))
