"""B1 to B6, B8 and B10: time and memory of the command line."""

import tempfile
from pathlib import Path

from data import jittered
from work import duckdb_sort, engine, in_turn, median, ratio, seconds

PLAIN = ["--no-report", "--no-verify"]

# The program of the 1:M paper's authors on informs05 with the even tree, k 10,
# l 5: read once on the machine where the goals were set. It is not part of
# this project, so it cannot be run in turn.
AUTHORS_SECONDS = 1.8
AUTHORS_QID_NCP = 0.2008
AUTHORS_SA_NCP = 0.0769


def measure(goals, vizard, data, times):
    beside_duckdb(goals, vizard, data / "acs500k", times)
    among_engines(goals, vizard, data, times)
    if goals.wants("B5"):
        persons(goals, vizard, data / "informs05", times)
    if goals.wants("B10"):
        million(goals, vizard, data / "adult")


def beside_duckdb(goals, vizard, acs, times):
    quick = vizard.anonymize(acs, "mondrian.json", *PLAIN, "--threads", 2)
    if goals.wants("B1"):
        sort = duckdb_sort(acs, ["age", "occupation", "education", "race"], vizard.out)
        ours, yardstick = in_turn(quick, sort, times=times)
        phases = ", ".join(
            f"{name[:-3]} {median(ours, lambda one, name=name: one.timings.get(name, 0)):.0f} ms"
            for name in ("read_ms", "engine_ms", "write_ms")
        )
        found = ratio(ours, yardstick, seconds)
        goals.row("B1", "mondrian acs500k, CSV to CSV ÷ DuckDB sort", found, 0.7, more=phases)
    if goals.wants("B2"):
        whole = vizard.anonymize(acs, "mondrian.json", "--threads", 2)
        ours, less = in_turn(whole, quick, times=times)
        found = ratio(ours, less, seconds)
        goals.row("B2", "with verifier and report ÷ without", found, 1.5)
    if goals.wants("B6"):
        found = median([quick()], lambda one: one.peak_bytes)
        size = (acs / "records.csv").stat().st_size
        goals.row("B6", "peak memory, mondrian acs500k ÷ records.csv", found / size, 4.0, "{:.2f}")
    if goals.wants("B8"):
        one_thread = vizard.anonymize(acs, "mondrian.json", *PLAIN, "--threads", 1)
        two, one = in_turn(quick, one_thread, times=times)
        found = ratio(two, one, engine)
        goals.row("B8", "mondrian acs500k, engine, 2 threads ÷ 1", found, 0.6)


def among_engines(goals, vizard, data, times):
    acs = data / "acs500k"
    if goals.wants("B3"):
        quick = vizard.anonymize(acs, "mondrian.json", *PLAIN, "--threads", 2)
        lgb = vizard.anonymize(acs, "lgb-mdp.json", *PLAIN, "--threads", 2, preferences=True)
        ours, less = in_turn(lgb, quick, times=times)
        found = ratio(ours, less, engine)
        goals.row("B3", "lgb mdp with preferences ÷ mondrian, engine", found, 2.0)
    if goals.wants("B4"):
        folders = [acs, data / "acs100k"]
        ncp = [vizard.anonymize(folder, "lgb-ncp.json", *PLAIN) for folder in folders]
        large, small = in_turn(*ncp, times=times)
        told = " ÷ ".join(f"{median(runs, engine) / 1000:.2f} s" for runs in (large, small))
        found = ratio(large, small, engine)
        goals.row("B4", "lgb ncp, engine, 500k ÷ 100k", found, 6.5, "{:.2f}", told)


def persons(goals, vizard, informs, times):
    even = vizard.anonymize(informs, "one_to_many-even.json", *PLAIN, "--threads", 2)
    natural = vizard.anonymize(informs, "one_to_many-icd9.json", *PLAIN, "--threads", 2)
    ours, other = in_turn(even, natural, times=times)
    took = median(ours, engine) / 1000
    what = "one_to_many informs05, even tree, engine ÷ 1.8 s (a constant: the authors' program, read once)"
    goals.row("B5", what, took / AUTHORS_SECONDS, 0.02, more=f"{took * 1000:.0f} ms")
    vizard.anonymize(informs, "one_to_many-even.json")()
    losses = {"qid_ncp": AUTHORS_QID_NCP, "sa_ncp": AUTHORS_SA_NCP}
    for name, theirs in losses.items():
        what = f"same, {name} ÷ theirs ({theirs})"
        found = vizard.measure(name)
        goals.row("B5", what, found / theirs, 1.0, more=f"{found:.4f}")
    found = ratio(other, ours, engine)
    goals.row("B5", "same, natural tree ÷ even tree, engine", found, 3.0, "{:.2f}")


def million(goals, vizard, adult):
    with tempfile.TemporaryDirectory() as place:
        job = "mondrian-trees-k5-fast.json"
        folder = jittered(adult, job, 1_000_000, Path(place), zip_code=True)
        one = vizard.anonymize(folder, job)()
    what = "1M jittered adult with zip, k 5, fast, whole process"
    told = ", ".join(
        f"{name[:-3]} {one.timings.get(name, 0) / 1000:.1f} s"
        for name in ("read_ms", "engine_ms", "write_ms", "verify_ms", "report_ms")
    )
    goals.row("B10", f"{what}: processor seconds", one.processor_seconds, 10.0, "{:.1f}", told)
    goals.row("B10", "same: peak memory, GiB", one.peak_bytes / 2**30, 1.0, "{:.2f}")
    goals.row("B10", "same: NCP", vizard.measure("ncp"), 0.040)
