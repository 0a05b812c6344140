#!/usr/bin/env python3
"""Measures how the cost of lists grows with the number of sessions: cold, second and third.

  growth.py --bin target/release/recount --make DIR             # 5,000 and 20,000 sessions, made once
  growth.py --bin target/release/recount --make DIR --check     # exit 1 when a goal is missed
  growth.py --bin target/release/recount --smoke                # 200 and 800 sessions, no goals

See README.md.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from search_figures import Goals, Result, settle  # noqa: E402
from ratios import Failure, run  # noqa: E402

FULL, SMOKE = (5_000, 20_000), (200, 800)
# Sessions of a few prompts each: this measures the cost of a session, not of its bytes.
MEGABYTES_PER_SESSION = 0.005
SESSIONS_PER_PROJECT = 100
STEPS = ("cold", "second", "third")
QUESTIONS = {"list": ["list", "--all", "--json"], "stats": ["stats", "--all", "--json"]}
# The cost per session may be this much higher in the larger home: fixed costs shrink, caches of the processor miss.
LINEAR = 1.15


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    try:
        if not shutil.which(opts.bin):
            raise Failure(f"{opts.bin} is not there or cannot be run")
        opts.bin = os.path.abspath(shutil.which(opts.bin))
        goals = Goals()
        with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
            homes = {count: made_home(opts, opts.make or scratch, count) for count in (SMOKE if opts.smoke else FULL)}
            for name in QUESTIONS:
                results = {count: measure(opts, home, name) for count, home in homes.items()}
                table(name, results)
                judge(name, results, goals)
        goals.report(has_goals=not opts.smoke)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    missed = any(value > most for _, value, most, _ in goals.lines)
    return 1 if missed and opts.check else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--make", metavar="DIR", help="make the homes there, unless they are there")
    parser.add_argument("--runs", "-n", type=int, default=3, help="number of runs; the best one counts (3)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--smoke", action="store_true", help="200 and 800 sessions, no goals")
    return parser.parse_args()


def made_home(opts, folder, count):
    home = os.path.abspath(os.path.join(folder, f"growth-{count}"))
    if not os.path.isdir(os.path.join(home, ".gemini")):
        print(f"making {home} …", file=sys.stderr)
        size = ["--sessions", str(count), "--megabytes", str(count * MEGABYTES_PER_SESSION)]
        projects = ["--projects", str(max(1, count // SESSIONS_PER_PROJECT)), "--seed", "4"]
        made = subprocess.run([opts.bin, "testbed", home, "--source", "gemini", *size, *projects], stdout=subprocess.DEVNULL)
        if made.returncode:
            raise Failure(f"recount testbed {home} ended with {made.returncode}")
        settle(home)
    return home


def measure(opts, home, name):
    """The best of several rounds, each in an empty data folder."""
    rounds = {step: [] for step in STEPS}
    for _ in range(opts.runs):
        with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
            for step in STEPS:
                result = run([opts.bin, "--home", home, *QUESTIONS[name]], home, data=os.path.join(scratch, "data"))
                if result.code:
                    raise Failure(f"recount {name} ended with {result.code}")
                rounds[step].append(result)
    return {step: Result(min(r.wall for r in runs), min(r.cpu for r in runs), max(r.rss_mb for r in runs))
            for step, runs in rounds.items()}


def table(name, results):
    print(f"\n| {name} | sessions | wall s | CPU s | CPU µs / session | peak MB | KB / session |\n|---|---:|---:|---:|---:|---:|---:|")
    for step in STEPS:
        for count, by_step in results.items():
            result = by_step[step]
            print(f"| {step} | {count:,} | {result.wall:.3f} | {result.cpu:.3f} | {result.cpu / count * 1e6:.0f} "
                  f"| {result.rss_mb:.1f} | {result.rss_mb * 1024 / count:.1f} |")


def judge(name, results, goals):
    """Linear means that the cost of a session does not grow with the number of sessions."""
    small, large = sorted(results)
    times = large / small
    print()
    for step in STEPS:
        one, other = results[small][step], results[large][step]
        growth = other.cpu / one.cpu
        memory = (other.rss_mb - one.rss_mb) * 1024 / (large - small)
        is_linear = growth <= times * LINEAR
        print(f"{name}, {step}: {times:g} times the sessions take {growth:.2f} times the CPU"
              f"{'' if is_linear else ', MORE THAN LINEAR'}; each further one takes {memory:.1f} KB")
        goals.add(f"{name}, {step}: CPU of {large:,} / CPU of {small:,}", growth, times * LINEAR)
    goals.add(f"{name}, {large:,}: second / third, CPU", results[large]["second"].cpu / results[large]["third"].cpu, 1.1)
    goals.add(f"{name}, {large:,}: memory, cold", results[large]["cold"].rss_mb, 90, " MB")


if __name__ == "__main__":
    sys.exit(main())
