#!/usr/bin/env python3
"""Measures export of recount beside cat and a plain export in Python of the same files, by turns.

  export.py --bin target/release/recount HOME               # a folder with .gemini in it; it is only read
  export.py --bin target/release/recount --make DIR         # makes 3,000 sessions in 1 GB there, and two of 300 MB each
  export.py --bin target/release/recount --make DIR --check # exit 1 when a goal is missed
  export.py --bin target/release/recount --smoke            # 10 MB, no goals

Seconds are only valid for one machine: compare the ratios. See README.md.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
from search import Bench, Failure, Wrong  # noqa: E402
from search_figures import Goals, best  # noqa: E402

FULL = {"home": ["--sessions", "3000", "--megabytes", "1000", "--projects", "40", "--seed", "2"],
        "large": ["--sessions", "2", "--megabytes", "600", "--projects", "2", "--seed", "3"], "runs": 3}
SMOKE = {"home": ["--sessions", "50", "--megabytes", "10", "--projects", "6", "--seed", "2"],
         "large": ["--sessions", "2", "--megabytes", "8", "--projects", "2", "--seed", "3"], "runs": 1}
FORMATS = ("md", "html", "txt", "jsonl", "csv", "parquet")
PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "export_peer.py")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    try:
        if not shutil.which(opts.bin):
            raise Failure(f"{opts.bin} is not there or cannot be run")
        with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
            goals = Goals()
            bench = Bench(opts, scratch)
            measure_many(bench, goals)
            measure_large(bench, goals)
    except Wrong as wrong:
        print(f"WRONG {wrong}", file=sys.stderr)
        return 1
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    return 1 if goals.report(has_goals=not opts.smoke) and opts.check else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", nargs="?", metavar="HOME", help="the home to measure on")
    parser.add_argument("--large", metavar="HOME", help="a home whose sessions are exported one by one")
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--make", metavar="DIR", help="make homes there, unless they are there")
    parser.add_argument("--runs", "-n", type=int, help=f"number of runs; the best one counts ({FULL['runs']})")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--smoke", action="store_true", help="10 MB, no goals")
    opts = parser.parse_args()
    opts.sizes = dict(SMOKE if opts.smoke else FULL)
    opts.sizes["runs"] = opts.runs or opts.sizes["runs"]
    if not (opts.home or opts.make or opts.smoke):
        parser.error("give a HOME, --make DIR or --smoke")
    return opts


def told(name, run, cat):
    print(f"| {name} | {run.wall:.3f} | {run.cpu:.3f} | {run.rss_mb:.0f} | {run.wall / cat.wall:.1f} | {run.cpu / cat.cpu:.1f} |")


def heading(what):
    print(f"\n### {what}\n\n| | wall s | CPU s | MB | wall / cat | CPU / cat |\n|---|---:|---:|---:|---:|---:|")


def by_turns(bench, commands):
    """The best run of each command, interleaved, so that load affects all of them. Each begins with an empty folder."""
    runs = {name: [] for name in commands}
    for _ in range(bench.sizes["runs"]):
        for name, command in commands.items():
            shutil.rmtree(os.path.join(bench.scratch, "exported"), ignore_errors=True)
            os.mkdir(os.path.join(bench.scratch, "exported"))
            runs[name].append(bench.fine(command, with_memory=True))
            runs[name][-1].out = b""
    return {name: best(all_runs) for name, all_runs in runs.items()}


def measure_many(bench, goals):
    """Exports everything into a folder; then again, without changes."""
    bench.fine(bench.recount("list", "--all"))
    commands = {"cat": ["xargs", "-0", "-a", bench.paths, "cat"],
                "python": [sys.executable, PEER, "--list", bench.paths, "exported"]}
    commands.update((name, bench.recount("export", "--all", "--format", name, "-o", "exported/")) for name in FORMATS)
    found = by_turns(bench, commands)
    heading("everything into a folder")
    for name, run in found.items():
        told(name, run, found["cat"])
    goals.add("all to md: memory", found["md"].rss_mb, 100, " MB")
    goals.add("all to md: CPU / plain Python", found["md"].cpu / found["python"].cpu, 0.25)

    export = bench.recount("export", "--all", "--format", "md", "-o", "again/")
    first = json.loads(bench.fine([*export, "--json"]).out)["export"]
    again, listed = [], []
    for _ in range(3 * bench.sizes["runs"]):
        listed.append(bench.fine(bench.recount("list", "--all"), with_memory=True))
        again.append(bench.fine([*export, "--json"], with_memory=True))
        done = json.loads(again[-1].out)["export"]
        if done["written"] or done["unchanged"] != first["written"] + first["unchanged"]:
            raise Wrong(f"exported again though nothing had changed: {done}")
    again, listed = best(again), best(listed)
    print(f"\nnothing changed: {again.wall * 1000:.1f} ms, warm list {listed.wall * 1000:.1f} ms")
    goals.add("nothing changed: wall / warm list", again.wall / listed.wall, 2)


def measure_large(bench, goals):
    """Exports large sessions one by one."""
    home = bench.opts.large and os.path.abspath(bench.opts.large)
    home = home or bench.made("export-small" if bench.opts.smoke else "H", bench.sizes["large"])
    listing = json.loads(bench.fine(bench.recount("list", "--all", "--json", home=home)).out)
    largest = {}
    for session in sorted(listing["sessions"], key=lambda session: sum(file["bytes"] for file in session["files"])):
        largest[session["files"][0]["path"].rsplit(".", 1)[1]] = session
    for ending, session in largest.items():
        path = session["files"][0]["path"]
        export = lambda form: bench.recount("export", session["id"], "-o", f"exported/one.{form}", home=home)  # noqa: E731
        found = by_turns(bench, {"cat": ["cat", path], "python": [sys.executable, PEER, path, "exported"],
                                 **{name: export(name) for name in ("md", "html", "jsonl")}})
        heading(f"one session of {os.path.getsize(path) / 1e6:.0f} MB in .{ending}")
        for name, run in found.items():
            told(name, run, found["cat"])
        md, html = found["md"], found["html"]
        goals.add(f".{ending} to md: memory", md.rss_mb, 64 if ending == "jsonl" else 96, " MB")
        goals.add(f".{ending} to html: memory", html.rss_mb, 128 if ending == "jsonl" else 192, " MB")
        goals.add(f".{ending} to md: wall / plain Python", md.wall / found["python"].wall, 0.25)
        goals.add(f".{ending} to html: wall / md", html.wall / md.wall, 2)


if __name__ == "__main__":
    sys.exit(main())
