"""Prints how Vizard compares, goal by goal, as a table in Markdown.

    scripts/compare DATA                 every goal whose data is in DATA
    scripts/compare DATA --only B1 U6    these
    scripts/compare DATA --growth        time and memory of each engine instead,
                                         from 100,000 to 8,000,000 records

DATA holds folders with records.csv, preferences.csv, hierarchies/ and job
files. Every ratio is taken between runs in turn on one machine, the median of
`--times`; losses are counts and need one run. B7 and B9 start a PostgreSQL
server of their own, which must be installed.
"""

import argparse
import os
import platform
import signal
import sys
import tempfile
from datetime import date
from pathlib import Path

import growth
import losses
import peers
import service
import speed
from goals import Goals
from work import Failed, Vizard


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--figures", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[], metavar="GOAL or ENGINE")
    parser.add_argument("--times", type=int, help="runs of each: 5, for growth 1")
    parser.add_argument("--growth", nargs="*", type=int, metavar="RECORDS")
    parser.add_argument("--cap-s", type=float, default=300.0, help="longest run of growth")
    parser.add_argument("--memory-gib-max", type=float, default=24.0, help="of a run of growth")
    return parser.parse_args()


def main():
    given = options()
    print(f"{date.today()}, {os.cpu_count()} cores, {platform.machine()}\n")
    with tempfile.TemporaryDirectory() as out:
        vizard = Vizard(given.program, Path(out))
        if given.growth is not None:
            bounds = growth.Bounds(given.cap_s, int(given.memory_gib_max * 2**30), given.times or 1)
            growth.measure(vizard, given.data, given.growth or growth.SIZES, given.only, bounds)
            return
        goals = Goals(given.only)
        times = given.times or 5
        goals.begin()
        speed.measure(goals, vizard, given.data, times)
        service.measure(goals, given.program, given.data, times)
        losses.measure(goals, vizard, given.figures, given.data)
        peers.measure(goals, vizard, given.data / "adult")


if __name__ == "__main__":
    # Servers of ours and their folders go however this ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    try:
        main()
    except Failed as failed:
        sys.exit(str(failed))
