#!/usr/bin/env python3
"""Measures `recount stats` beside `recount list` and ccusage on the same home, and compares the sums.

  stats.py --bin target/release/recount HOME [--ccusage PATH]
  stats.py --bin target/release/recount --smoke         # a synthetic home; sums only

A home is a folder with .gemini in it. Prints a Markdown table; exit code 1 when our sums are not those of a slow
count of every line of every file, 2 when nothing could be measured. See README.md.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

KINDS = ["input", "output", "cached", "thoughts", "tool", "total"]
TIME = shutil.which("time") or "/usr/bin/time"
LONG_AGO = 3600  # seconds; a file that was written just now is not trusted by the catalog


def main():
    opts = arguments()
    with tempfile.TemporaryDirectory(prefix="recount-stats-") as scratch:
        home = opts.home
        if opts.smoke:
            home = os.path.join(scratch, "home")
            make = ["testbed", home, "--source", "gemini", "--sessions", "60", "--megabytes", "6", "--projects", "6"]
            subprocess.run([opts.bin, *make], check=True, stdout=subprocess.DEVNULL)
            age(home)
        if not home or not os.path.isdir(os.path.join(home, ".gemini")):
            print("error: give a HOME with .gemini in it, or --smoke", file=sys.stderr)
            return 2
        is_right = check(opts, home, os.path.join(scratch, "check"))
        if not opts.smoke:
            measure(opts, home, scratch)
        return 0 if is_right else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", nargs="?")
    parser.add_argument("--bin", required=True, help="the recount to measure")
    parser.add_argument("--ccusage", default=shutil.which("ccusage"), help="the ccusage to compare with")
    parser.add_argument("--runs", type=int, default=5, help="number of runs; the best one counts")
    parser.add_argument("--smoke", action="store_true", help="compare sums on a synthetic home, measure nothing")
    return parser.parse_args()


def age(folder):
    then = time.time() - LONG_AGO
    for path, _, names in os.walk(folder):
        for name in names:
            os.utime(os.path.join(path, name), (then, then))


def environment(data):
    return {**os.environ, "RECOUNT_DATA_DIR": data, "TZ": "UTC"}


def slow_count(home):
    """Every message of every line and list once, by id and time."""
    found = {}
    for path, _, names in os.walk(os.path.join(home, ".gemini", "tmp")):
        if "chats" not in path.split(os.sep):
            continue
        for name in names:
            with open(os.path.join(path, name), encoding="utf-8", errors="replace") as file:
                text = file.read()
            try:
                values = [json.loads(text)]
            except ValueError:
                values = list(lines(text))
            for value in values:
                collect(value, found)
    return found


def lines(text):
    for line in text.split("\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


def collect(value, found):
    if not isinstance(value, dict):
        return
    change = value.get("$set")
    lists = [value.get("messages"), change.get("messages") if isinstance(change, dict) else None]
    for message in [value, *(message for one in lists if isinstance(one, list) for message in one)]:
        if isinstance(message, dict) and isinstance(message.get("tokens"), dict) and "id" in message:
            tokens = message["tokens"]
            key = (message["id"], message.get("timestamp"))
            found[key] = [tokens.get(kind, 0) for kind in KINDS]


def check(opts, home, data):
    found = slow_count(home)
    expected = dict(zip(KINDS, map(sum, zip(*found.values())))) if found else dict.fromkeys(KINDS, 0)
    is_right = True
    for way in ["read", "remembered", "remembered as a whole"]:
        run = subprocess.run(
            [opts.bin, "--home", home, "stats", "--all", "--json", "-q"],
            env=environment(data), stdout=subprocess.PIPE, check=True,
        )
        total = json.loads(run.stdout)["total"]
        # Kinds that this agent does not record are zero.
        tokens = {kind: count for kind, count in total["tokens"].items() if kind in KINDS or count}
        same = tokens == expected and total["requests"] == len(found)
        is_right &= same
        if not same:
            print(f"{way}: {total['requests']} requests, {total['tokens']}; by hand {len(found)}, {expected}")
    if is_right:
        print(f"{len(found):,} requests, {expected['total']:,} tokens: the same as counted by hand, three ways")
    return is_right


def measure(opts, home, scratch):
    recount = [opts.bin, "--home", home]
    cold, warm = os.path.join(scratch, "cold"), os.path.join(scratch, "check")
    rows = {
        "list, cold": best(opts, [*recount, "list", "--all", "--json", "-q"], cold, fresh=True),
        "stats, cold": best(opts, [*recount, "stats", "--all", "-q"], cold, fresh=True),
        "list, warm": best(opts, [*recount, "list", "--all", "--json", "-q"], warm),
        "stats, warm": best(opts, [*recount, "stats", "--all", "-q"], warm),
        "line, warm": best(opts, [*recount, "stats", "--line", "-q"], warm),
    }
    if opts.ccusage:
        command = [opts.ccusage, "gemini", "daily", "--offline", "--json"]
        rows["ccusage"] = best(opts, command, cold, home=home)
    print("\n| | wall s | CPU s | RSS MB |\n|---|---|---|---|")
    for name, (wall, cpu, rss) in rows.items():
        print(f"| {name} | {wall:.3f} | {cpu:.3f} | {rss:.0f} |")
    ratio(rows, "stats, cold", "list, cold")
    ratio(rows, "ccusage", "stats, cold")
    ratio(rows, "ccusage", "stats, warm")


def ratio(rows, one, other):
    if one in rows and other in rows:
        wall, cpu = (rows[one][at] / max(rows[other][at], 1e-4) for at in (0, 1))
        print(f"{one} / {other}: {wall:.2f} wall, {cpu:.2f} CPU")


def best(opts, command, data, fresh=False, home=None):
    """The best wall and CPU time of several runs, and the worst memory."""
    results = []
    env = environment(data)
    if home:
        env["HOME"] = home
    for _ in range(opts.runs):
        if fresh:
            shutil.rmtree(data, ignore_errors=True)
        began = time.perf_counter()
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        results.append((time.perf_counter() - began, used.ru_utime + used.ru_stime, 0))
    if fresh:
        shutil.rmtree(data, ignore_errors=True)
    # A child of Python starts with the size of the interpreter; one of `time` does not.
    timed = subprocess.run([TIME, "-f", "%M", *command], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    results = [(wall, cpu, int(timed.stderr.split()[-1]) / 1000) for wall, cpu, _ in results]
    walls, cpus, sizes = zip(*results)
    return min(walls), min(cpus), max(sizes)


if __name__ == "__main__":
    sys.exit(main())
