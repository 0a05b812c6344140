#!/usr/bin/env python3
"""Measures recount beside cat, rg, jq and ccusage on the same homes, and prints the ratios.

  ratios.py --bin target/release/recount HOME...
  ratios.py --bin target/release/recount --make DIR [--sizes S,M,H]
  ratios.py --bin target/release/recount --check M H      # exit 1 when a goal is missed
  ratios.py --bin target/release/recount --check OTHER --append HUGE/.claude/projects/…/….jsonl

A home is a folder with .gemini, .claude or .codex in it. If `recount testbed` left a manifest.json beside it, the counts that
recount lists are compared with it. --append adds a line to a file, and measures until a new process has seen it. See README.md.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

# Homes like those that the goals were set on; created with `recount testbed`.
SIZES = {
    "S": ["--sessions", "200", "--megabytes", "40", "--projects", "12", "--seed", "1"],
    "M": ["--sessions", "3000", "--megabytes", "1000", "--projects", "40", "--seed", "2"],
    "H": ["--sessions", "2", "--megabytes", "600", "--projects", "2", "--seed", "3"],
}
# The goals for homes of these names, on two idle cores.
GOALS = {
    "M": {"list/cat:wall": 1.4, "list/cat": 2.4, "warm/find:wall": 2.5, "list:rss_mb": 40, "warm:rss_mb": 40,
          "stats:rss_mb": 40, "version:wall": 0.002},
    "H": {"list/cat:wall": 3},
    # 1 GB each of Claude Code and Codex, made with gen_other.py.
    "OTHER": {"list/cat:wall": 1.8, "warm/find:wall": 2.5, "list:rss_mb": 60, "warm:rss_mb": 60, "stats:rss_mb": 60,
              "stats/ccusage:wall": 1 / 3},
}
MOST_SECONDS_FOR_A_LINE = 0.06
AGENTS = (".gemini", ".claude", ".codex")
MOST_MEGABYTES = 20  # of the binary
SCREEN_LINES = 24
TIME = shutil.which("time") or "/usr/bin/time"


@dataclass
class Result:
    """The best of several runs; memory is the worst of them."""

    wall: float
    cpu: float
    rss_mb: float
    code: int


class Failure(Exception):
    """An error that prevents the measurement."""


def main():
    opts = arguments()
    try:
        homes = opts.homes + (made_homes(opts) if opts.make else [])
        limits = dict(parse_limit(text) for text in opts.max_ratio)
        if not homes and not opts.append:
            raise Failure("give at least one HOME, or --make DIR")
        is_fine = binary_size(opts.bin) <= MOST_MEGABYTES or not opts.check
        for home in homes:
            goals = GOALS.get(os.path.basename(os.path.abspath(home)), {}) if opts.check else {}
            is_fine &= report(opts, home, {**goals, **limits})
        for path in opts.append:
            is_fine &= append(opts, path) or not opts.check
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    return 0 if is_fine else 1


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", nargs="*", metavar="HOME")
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--runs", "-n", type=int, default=5, help="number of runs; the best one counts (5)")
    parser.add_argument("--make", metavar="DIR", help="make homes there first, unless they are there")
    parser.add_argument("--sizes", default="S", help="which homes --make makes: S, M, H (S)")
    parser.add_argument("--max-ratio", action="append", default=[], metavar="NAME=X",
                        help="exit 1 when a ratio such as list/cat (CPU) or list/cat:wall is above X "
                             "(can be repeated)")
    parser.add_argument("--append", action="append", default=[], metavar="FILE",
                        help="how long until a line that is added to this session file is seen (can be repeated)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal for a home called M or H is missed")
    parser.add_argument("--without", default="", help="commands to leave out, such as jq,ccusage")
    return parser.parse_args()


def parse_limit(text):
    name, _, most = text.partition("=")
    try:
        if "/" not in name and ":" not in name:
            raise ValueError
        return name, float(most)
    except ValueError:
        raise Failure(f"--max-ratio {text}: expected NAME/NAME=number, such as list/cat=2.5, or NAME:FIGURE=number, "
                      "such as list:rss_mb=40") from None


def binary_size(binary):
    path = shutil.which(binary)
    if not path:
        raise Failure(f"{binary} is not there or cannot be run")
    size = os.path.getsize(path) / 1e6
    print(f"binary: {size:.1f} MB, at most {MOST_MEGABYTES} wanted")
    return size


def made_homes(opts):
    homes = []
    for size in opts.sizes.split(","):
        if size not in SIZES:
            raise Failure(f"--sizes: {size} is none of {', '.join(SIZES)}")
        home = os.path.join(opts.make, size)
        homes.append(home)
        if os.path.isdir(os.path.join(home, ".gemini")):
            continue
        print(f"making {home} …", file=sys.stderr)
        made = subprocess.run([opts.bin, "testbed", home, "--source", "gemini", *SIZES[size]], stdout=subprocess.DEVNULL)
        if made.returncode:
            raise Failure(f"recount testbed {home} ended with {made.returncode}")
    return homes


# --------------------------------------------------------------------------
# One home
# --------------------------------------------------------------------------

def report(opts, home, limits):
    """Measures one home and prints its table; returns whether counts and ratios are within limits."""
    files = session_files(home)
    listed = listing(opts.bin, home)
    results, notes = measure_all(opts, home, files, largest(listed))
    size = sum(os.path.getsize(file) for file in files)
    print(f"\n## {os.path.basename(os.path.abspath(home))}: {len(files)} session files, "
          f"{size / 1e6:.1f} MB\n")
    print_table(results)
    for note in notes:
        print(f"\nnote: {note}")
    is_fine = verify(home, listed)
    return check_limits(results, limits) and is_fine


def session_files(home):
    """Every session file of the home, in a fixed order."""
    found = []
    for folder, _, names in os.walk(os.path.join(home, ".gemini", "tmp")):
        if "chats" in folder.split(os.sep):
            found += [os.path.join(folder, name) for name in names if name.endswith((".json", ".jsonl"))]
    for root in (".claude/projects", ".codex/sessions", ".codex/archived_sessions"):
        for folder, _, names in os.walk(os.path.join(home, root)):
            found += [os.path.join(folder, name) for name in names if name.endswith((".jsonl", ".jsonl.zst"))]
    if not found:
        raise Failure(f"{home} has no session files")
    return sorted(found)


def listing(binary, home):
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
        done = subprocess.run([binary, "--home", home, "list", "--all", "--json"],
                              stdout=subprocess.PIPE, env=clean_environment(home, scratch))
    if done.returncode:
        raise Failure(f"recount list ended with {done.returncode}")
    document = json.loads(done.stdout)
    if document.get("schema") != "recount.list/1":
        raise Failure(f"recount list printed schema {document.get('schema')!r}")
    return document["sessions"]


def largest(sessions):
    """The id of the session with the largest files."""
    weigh = lambda session: sum(file["bytes"] for file in session["files"])
    return max((s for s in sessions if s["kind"] == "main"), key=weigh)["id"]


def measure_all(opts, home, files, session):
    recount = [opts.bin, "--home", home]
    with tempfile.NamedTemporaryFile("w", prefix="recount-bench-") as paths, \
            tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
        paths.write("\0".join(files))
        paths.flush()
        each = ["xargs", "-0", "-a", paths.name]
        roots = [os.path.join(home, name) for name in AGENTS if os.path.isdir(os.path.join(home, name))]
        only = ["gemini"] if os.path.isdir(os.path.join(home, ".gemini")) else []
        commands = {
            "version": [opts.bin, "--version"],
            "list": [*recount, "list", "--all", "--json"],
            "warm": [*recount, "list", "--all", "--json"],
            "stats": [*recount, "stats", "--all", "--json"],
            "screen": [*recount, "show", session],
            "show-json": [*recount, "show", session, "--json"],
            "cat": [*each, "cat"],
            "find": ["find", *roots, "-type", "f", "-printf", "%s %T@ %p\n"],
            "rg": [*each, "rg", "-l", "--no-messages", "xylograph"],
            "jq": [*each, "jq", "-c", '.. | objects | select(.type? == "user") | .content'],
            "ccusage": ["ccusage", *only, "session", "--offline", "--json"],
        }
        results, notes = {}, busy()
        warm = os.path.join(scratch, "warm")
        for _ in range(2):
            run(commands["warm"], home, data=warm)
        for name, command in commands.items():
            tool = command[4] if command[0] == "xargs" else command[0]
            if name in opts.without.split(","):
                continue
            if not shutil.which(tool):
                if tool == opts.bin:
                    raise Failure(f"{tool} is not there or cannot be run")
                notes.append(f"{tool} is not installed; left out")
                continue
            lines = SCREEN_LINES if name == "screen" else None
            # Long runs vary less, and need fewer repetitions.
            runs = opts.runs if name not in ("jq", "ccusage") else min(opts.runs, 2)
            data = warm if name == "warm" else None
            result = best([run(command, home, lines, data) for _ in range(runs)])
            results[name] = result
            # rg exits with 1 if it finds nothing, which xargs turns into 123.
            if result.code not in ((0, 1, 123) if name == "rg" else (0,)):
                notes.append(f"{name} ended with {result.code}")
        return results, notes


# --------------------------------------------------------------------------
# One run
# --------------------------------------------------------------------------

def busy():
    load = os.getloadavg()[0]
    if load <= os.cpu_count() / 2:
        return []
    return [f"others keep this machine busy (load {load:.1f}): look at CPU, not at wall time"]


def clean_environment(home, scratch, data=None):
    """A clean environment: the home is the measured one, and the data folder is temporary unless one is given."""
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**keep, "HOME": os.path.abspath(home), "NO_COLOR": "1",
            "RECOUNT_DATA_DIR": data or os.path.join(scratch, "data")}


def run(command, home, lines=None, data=None):
    """Runs the command once; with `lines`, until this number has arrived and the pipe was closed."""
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
        memory = os.path.join(scratch, "rss")
        # Through time(1): a direct child would start with the peak memory of this interpreter.
        timed = [TIME, "-f", "%M", "-o", memory] if os.path.exists(TIME) else []
        began = time.perf_counter()
        child = subprocess.Popen(
            [*timed, *command], env=clean_environment(home, scratch, data),
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if lines is None else subprocess.PIPE)
        wall = None
        if lines is not None:
            for _ in range(lines):
                if not child.stdout.readline():
                    break
            wall = time.perf_counter() - began
            child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        wall = wall or time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        kilobytes = usage.ru_maxrss
        if timed:
            with open(memory, encoding="ascii") as file:
                kilobytes = int(file.read().split()[-1])
        return Result(wall, usage.ru_utime + usage.ru_stime, kilobytes / 1024, child.returncode)


def best(runs):
    return Result(min(r.wall for r in runs), min(r.cpu for r in runs),
                  max(r.rss_mb for r in runs), runs[-1].code)


def append(opts, path):
    """Measures how long a new process takes to see an appended line of a session file."""
    path = os.path.abspath(path)
    home = next((path[:path.index(name)] for name in AGENTS if name in path), None)
    if home is None:
        raise Failure(f"{path} is not below {', '.join(AGENTS)}")
    command = [opts.bin, "--home", home, "list", "--all", "--json"]
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        file.seek(max(0, size - (1 << 20)))
        line = file.read().rstrip(b"\n").rpartition(b"\n")[2] + b"\n"
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as data:
        for _ in range(2):
            run(command, home, data=data)
        idle = best([run(command, home, data=data) for _ in range(opts.runs)])
        seen = []
        try:
            for _ in range(opts.runs):
                with open(path, "ab") as file:
                    file.write(line)
                seen.append(run(command, home, data=data))
        finally:
            os.truncate(path, size)
    result = best(seen)
    print(f"\n## a line more in {size / 1e6:.0f} MB: {result.wall * 1000:.0f} ms wall, {result.cpu * 1000:.0f} ms CPU; "
          f"without it {idle.wall * 1000:.0f} ms, {idle.cpu * 1000:.0f} ms; peak {result.rss_mb:.0f} MB; "
          f"at most {MOST_SECONDS_FOR_A_LINE * 1000:.0f} ms wanted")
    for note in busy():
        print(f"note: {note}")
    return result.wall <= MOST_SECONDS_FOR_A_LINE


# --------------------------------------------------------------------------
# Results
# --------------------------------------------------------------------------

NAMES = {
    "version": "`recount --version`",
    "list": "`recount list --all --json`",
    "warm": "the same, nothing changed since the last",
    "stats": "`recount stats --all --json`, nothing cached",
    "screen": f"`recount show`, first {SCREEN_LINES} lines",
    "show-json": "`recount show --json`",
    "cat": "`cat` of all session files",
    "find": "`find -printf` of all files",
    "rg": "`rg -l` for a rare word",
    "jq": "`jq`, texts of the user",
    "ccusage": "`ccusage session`",
}


def print_table(results):
    cat = results.get("cat")
    print("| command | wall s | CPU s | × cat wall | × cat CPU | peak MB |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, result in results.items():
        ratios = [show_ratio(result.wall, cat.wall), show_ratio(result.cpu, cat.cpu)] if cat else ["", ""]
        print(f"| {NAMES[name]} | {result.wall:.4f} | {result.cpu:.4f} | {ratios[0]} | {ratios[1]} "
              f"| {result.rss_mb:.1f} |")


def show_ratio(value, base):
    return f"{value / base:.2f}" if base else ""


def verify(home, listed):
    """Compares the listed counts with the manifest beside the home, if there is one."""
    try:
        with open(os.path.join(home, "manifest.json"), encoding="utf-8") as file:
            expected = json.load(file)["files"]
    except (FileNotFoundError, KeyError):
        print("\ncounts: no manifest.json beside the home, nothing to compare with")
        return True
    gemini = os.path.join(os.path.abspath(home), ".gemini", "tmp")
    by_file = {os.path.abspath(file["path"]): session for session in listed for file in session["files"]}
    wrong = []
    for entry in expected:
        root = gemini if entry.get("source", "gemini") == "gemini" else os.path.abspath(home)
        session = by_file.get(os.path.join(root, entry["file"]))
        if session is None:
            wrong.append(f"{entry['file']}: not listed")
            continue
        kept = session.get("kept") or {}
        found = {"messages": kept.get("messages"), "toolCalls": kept.get("tool_calls"),
                 "tokens": (kept.get("tokens") or {}).get("total")}
        wrong += [f"{entry['file']}: {key} {value} instead of {entry[key]}"
                  for key, value in found.items() if value != entry[key]]
    for line in wrong[:20]:
        print(f"\nWRONG {line}")
    files = len({line.split(':')[0] for line in wrong})
    print(f"\ncounts: {len(expected) - files} of {len(expected)} files right")
    return not wrong


def check_limits(results, limits):
    """Prints all ratios and figures that have a limit; returns whether none exceeds it."""
    is_fine = True
    for name, most in limits.items():
        pair, _, what = name.partition(":")
        ours, _, theirs = pair.partition("/")
        what = what or "cpu"
        for part in filter(None, (ours, theirs)):
            if part not in NAMES:
                raise Failure(f"--max-ratio {name}: {part} is none of {', '.join(NAMES)}")
        if what not in ("wall", "cpu", "rss_mb"):
            raise Failure(f"--max-ratio {name}: {what} is none of wall, cpu, rss_mb")
        if ours not in results or (theirs and theirs not in results):
            print(f"\nlimit {name}: not measured")
            continue
        base = getattr(results[theirs], what) if theirs else 1
        value = getattr(results[ours], what) / base if base else float("inf")
        is_right = value <= most
        is_fine &= is_right
        print(f"\n{'ratio' if theirs else 'limit'} {name}: {value:.3g}, at most {most:g} wanted{'' if is_right else ': TOO HIGH'}")
    return is_fine


if __name__ == "__main__":
    sys.exit(main())
