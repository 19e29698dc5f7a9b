"""Runs programs and says what they cost: seconds, processor seconds, peak memory."""

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path


class Failed(Exception):
    """A program that did not do its work."""


class TookTooLong(Failed):
    """A program that was ended because it took too long."""


class TookTooMuch(Failed):
    """A program that was refused memory past what it may take."""


@dataclass
class Run:
    """One run of one program."""

    seconds: float
    processor_seconds: float
    peak_bytes: int
    output: str = ""
    timings: dict = field(default_factory=dict)


def run(command, most=None):
    """Runs `command` (a list) to its end; `most` are the seconds and the bytes of
    memory that it may take."""
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=most and (lambda: resource.setrlimit(resource.RLIMIT_DATA, (most[1],) * 2)),
        )
        # Not `wait`, which does not tell what the process used.
        alarm = threading.Timer(most[0] if most else 0, process.kill)
        if most:
            alarm.start()
        _, status, usage = os.wait4(process.pid, 0)
        alarm.cancel()
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if most and process.returncode == -signal.SIGKILL and seconds >= most[0]:
        raise TookTooLong(f"{command[0]} took more than {most[0]} s")
    if most and process.returncode != 0 and "memory allocation of" in text:
        raise TookTooMuch(f"{command[0]} took more than {most[1]} bytes")
    if process.returncode != 0:
        raise Failed(f"{command[0]} ended with {process.returncode}:\n{text[-2000:]}")
    timings = [line for line in text.splitlines() if line.startswith("{")]
    return Run(
        seconds,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
        text,
        json.loads(timings[-1]) if timings else {},
    )


def in_turn(*programs, times):
    """Runs each program `times` times, in turn, so that a busy minute is
    everybody's; the runs of each."""
    runs = [[] for _ in programs]
    for turn in range(times):
        order = range(len(programs)) if turn % 2 == 0 else reversed(range(len(programs)))
        for at in order:
            runs[at].append(programs[at]())
    return runs


def ratio(one, other, of):
    """Median over the turns of what `of` says of one run and the other's."""
    return statistics.median(of(a) / of(b) for a, b in zip(one, other))


def median(runs, of):
    """Median of what `of` says of each run."""
    return statistics.median(of(one) for one in runs)


def seconds(one):
    return one.seconds


def engine(one):
    return one.timings["engine_ms"]


@dataclass
class Vizard:
    """The program, and where its releases go."""

    program: Path
    out: Path
    seed: int = 7

    def anonymize(
        self, folder, file, *flags, job=None, parameters=None, roles=None, preferences=False, most=None
    ):
        """A function that runs one job of a folder of data, with another job,
        parameters and roles of attributes if they are given; `most` as in `run`."""
        spec = json.loads((folder / file).read_text())
        spec["job"] = job or spec["job"]
        spec["job"]["parameters"].update(parameters or {})
        for attribute in spec["schema"]["attributes"]:
            attribute["role"] = (roles or {}).get(attribute["name"], attribute["role"])
        self.out.mkdir(parents=True, exist_ok=True)
        written = self.out / "job.json"
        command = [self.program, "anonymize", "--spec", written]
        command += ["--records", folder / "records.csv", "--out", self.release, "--seed", self.seed]
        for path in sorted((folder / "hierarchies").glob("*.csv")):
            command += ["--hierarchy", f"{path.stem}={path}"]
        if preferences:
            command += ["--preferences", folder / "preferences.csv"]
        command += ["--timings", *flags]

        def once():
            written.write_text(json.dumps(spec))
            return run(command, most)

        return once

    @property
    def release(self):
        """The folder of the last release, which holds nothing else."""
        return self.out / "release"

    def report(self):
        """The report of the last run."""
        return json.loads((self.release / "report.json").read_text())

    def measure(self, name, part="mean"):
        """One figure of the last report."""
        return self.report()["measures"][name]["value"][part]


DUCKDB_SORT = """
import duckdb, sys
records, out, columns = sys.argv[1:]
duckdb.sql("SET threads = 2")
duckdb.sql(f"COPY (SELECT * FROM read_csv('{records}') ORDER BY {columns}) TO '{out}' (HEADER)")
"""


def duckdb_sort(folder, columns, out):
    """A function that sorts a folder's records by DuckDB, CSV to CSV."""
    command = [sys.executable, "-c", DUCKDB_SORT, folder / "records.csv", out / "sorted.csv"]
    out.mkdir(parents=True, exist_ok=True)
    return lambda: run([*command, ", ".join(columns)])
