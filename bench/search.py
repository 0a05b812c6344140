#!/usr/bin/env python3
"""Measures catalog, index and search of recount beside find, cat and rg in the same run, by turns.

  search.py --bin target/release/recount HOME               # a folder with .gemini in it; it is only read
  search.py --bin target/release/recount --make DIR         # makes 3,000 sessions in 1 GB there, and a log of 300 MB
  search.py --bin target/release/recount --make DIR --check # exit 1 when a goal is missed
  search.py --bin target/release/recount --smoke            # 10 MB, no goals

Seconds are only valid for one machine: compare the ratios. See README.md.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

sys.dont_write_bytecode = True
import words  # noqa: E402
from search_figures import Goals, Result, best, bytes_read, settle, share  # noqa: E402

FULL = {"home": ["--sessions", "3000", "--megabytes", "1000", "--projects", "40", "--seed", "2"], "log": 300,
        "queries": 200, "rounds": 30, "runs": 5}
SMOKE = {"home": ["--sessions", "50", "--megabytes", "10", "--projects", "6", "--seed", "2"], "log": 8, "queries": 40,
         "rounds": 5, "runs": 2}
TIME = shutil.which("time") or "/usr/bin/time"
PATIENCE = 600


class Failure(Exception):
    """An error that prevents the measurement."""


class Wrong(Exception):
    """A wrong answer."""


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    try:
        if not shutil.which(opts.bin):
            raise Failure(f"{opts.bin} is not there or cannot be run")
        with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
            goals = Goals()
            bench = Bench(opts, scratch)
            measure_index(bench, goals)
            measure_list(bench, goals)
            measure_search(bench, goals)
            measure_append(bench, goals)
    except Wrong as wrong:
        print(f"WRONG {wrong}", file=sys.stderr)
        return 1
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    return 1 if goals.report(has_goals=not opts.smoke) and opts.check else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", nargs="?", metavar="HOME", help="the home to measure on")
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--make", metavar="DIR", help="make home and log there, unless they are there")
    parser.add_argument("--runs", "-n", type=int, help=f"number of runs; the best one counts ({FULL['runs']})")
    parser.add_argument("--queries", type=int, help=f"how many queries ({FULL['queries']})")
    parser.add_argument("--seed", type=int, default=1, help="another seed asks other queries (1)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--smoke", action="store_true", help="10 MB, 40 queries, no goals")
    opts = parser.parse_args()
    opts.sizes = dict(SMOKE if opts.smoke else FULL)
    opts.sizes.update((k, v) for k, v in (("runs", opts.runs), ("queries", opts.queries)) if v)
    if not (opts.home or opts.make or opts.smoke):
        parser.error("give a HOME, --make DIR or --smoke")
    return opts


# --------------------------------------------------------------------------
# Homes and runs
# --------------------------------------------------------------------------

class Bench:
    """The measured home, and how commands are run on it."""

    def __init__(self, opts, scratch):
        self.opts, self.scratch, self.sizes = opts, scratch, opts.sizes
        self.bin = os.path.abspath(shutil.which(opts.bin))
        self.make = opts.make or scratch
        self.home = os.path.abspath(opts.home) if opts.home else self.made(
            "search-small" if opts.smoke else "M", self.sizes["home"])
        self.files = words.session_files(self.home)
        if not self.files:
            raise Failure(f"{self.home} has no session files")
        self.size = sum(os.path.getsize(path) for path in self.files)
        self.data = os.path.join(scratch, "data")
        self.paths = os.path.join(scratch, "paths")
        with open(self.paths, "w", encoding="utf-8") as file:
            file.write("\0".join(self.files))
        print(f"\n## {len(self.files)} session files, {self.size / 1e6:.1f} MB\n")
        if os.getloadavg()[0] > os.cpu_count() / 2:
            print(f"note: others keep this machine busy (load {os.getloadavg()[0]:.1f}): look at CPU, not at wall time\n")

    def made(self, name, options):
        home = os.path.abspath(os.path.join(self.make, name))
        if not os.path.isdir(os.path.join(home, ".gemini")):
            print(f"making {home} …", file=sys.stderr)
            made = subprocess.run([self.bin, "testbed", home, "--source", "gemini", *options], capture_output=True)
            if made.returncode:
                raise Failure(f"recount testbed {home} ended with {made.returncode}")
            settle(home)
        return home

    def recount(self, *arguments, home=None):
        return [self.bin, "--home", home or self.home, *arguments]

    def environment(self, data):
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**keep, "HOME": self.home, "NO_COLOR": "1", "RECOUNT_DATA_DIR": data}

    def run(self, command, data=None, with_memory=False, with_output=True):
        """Runs the command once. Memory needs time(1): a direct child would start with our own peak."""
        memory = os.path.join(self.scratch, "rss")
        timed = [TIME, "-q", "-f", "%M", "-o", memory] if with_memory and os.path.exists(TIME) else []
        with open(os.path.join(self.scratch, "out"), "w+b") as out, open(os.path.join(self.scratch, "err"), "w+b") as err:
            began = time.perf_counter()
            child = subprocess.Popen([*timed, *command], env=self.environment(data or self.data), cwd=self.scratch,
                                     stdin=subprocess.DEVNULL, stdout=out if with_output else subprocess.DEVNULL, stderr=err)
            # The process has ended but is not reaped yet, so that its I/O counters can be read.
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - began
            read = bytes_read(child.pid)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            result = Result(wall, usage.ru_utime + usage.ru_stime, 0.0, read, child.returncode, out.read(),
                            err.read().decode("utf-8", "replace"))
        if timed:
            with open(memory, encoding="ascii") as file:
                result.rss_mb = int(file.read().split()[-1]) / 1024
        return result

    def fine(self, command, codes=(0,), **more):
        result = self.run(command, **more)
        if result.code not in codes:
            raise Wrong(f"{' '.join(command)} ended with {result.code}\n{result.err.rstrip()}")
        return result


# --------------------------------------------------------------------------
# Measurements
# --------------------------------------------------------------------------

def measure_index(bench, goals):
    """Builds the index: time, memory, size; and how soon the newest session can be found."""
    cat, runs = [], []
    for number in range(max(1, bench.sizes["runs"] // 2)):
        cat.append(bench.fine(["xargs", "-0", "-a", bench.paths, "cat"], with_output=False))
        bench.data = os.path.join(bench.scratch, f"data-{number}")
        runs.append(bench.fine(bench.recount("index"), with_memory=True))
    index, cat = best(runs), best(cat)
    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(bench.data) for name in names)
    print(f"index: {index.wall:.2f} s, CPU {index.cpu:.2f} s, {index.rss_mb:.0f} MB; `cat` {cat.wall:.3f} s, "
          f"ratio {index.wall / cat.wall:.1f} (CPU {index.cpu / cat.cpu:.1f}); {size / 1e6:.1f} MB")
    goals.add("index: wall", index.wall, 10, " s")
    goals.add("index: memory", index.rss_mb, 350, " MB")
    goals.add("index: size / size of the files", size / bench.size, 0.17)
    first = newest_found(bench)
    print(f"newest session found by another process: {'not before the end' if first is None else f'{first:.2f} s'}")
    goals.add("index: until the newest session is found", first, 2, " s")


def newest_found(bench):
    """Seconds until a second process finds the newest session while the first one indexes."""
    data = os.path.join(bench.scratch, "data-first")
    listed = json.loads(bench.fine(bench.recount("list", "--all", "--json")).out)["sessions"]
    newest = max((s for s in listed if s["kind"] == "main"), key=lambda s: s["updated"] or "")
    texts = [text for text in words.said(newest["files"][0]["path"]) if len(words.WORD.findall(text)) > 2]
    if not texts:
        raise Failure(f"session {newest['id']}, the newest, has no words to look for")
    query = " ".join(words.WORD.findall(texts[0])[:3])
    began = time.perf_counter()
    child = subprocess.Popen(bench.recount("index"), env=bench.environment(data), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    found = None
    try:
        # Not before the first one holds the lock: otherwise the second one indexes.
        while child.poll() is None and not has_lock(data):
            time.sleep(0.005)
        while found is None and time.perf_counter() - began < PATIENCE:
            is_last = child.poll() is not None
            done = bench.run(bench.recount("search", "--json", "--sort", "time", "--limit", "200", "--", query), data)
            hits = json.loads(done.out)["hits"] if done.out else []
            if any(hit["session"]["id"] == newest["id"] for hit in hits):
                found = time.perf_counter() - began
            elif is_last:
                raise Wrong(f"session {newest['id']} is not found by {query!r}, which it holds\n{done.err}")
    finally:
        child.wait()
    return found


def has_lock(data):
    return any(name == ".tantivy-writer.lock" for _, _, names in os.walk(data) for name in names)


def measure_list(bench, goals):
    """A list without changes, beside reading the stamps of all files."""
    find = ["find", os.path.join(bench.home, ".gemini"), "-type", "f", "-printf", "%s %T@ %p\n"]
    listing = bench.recount("list", "--all", "--json")
    memory = bench.fine(listing, with_memory=True).rss_mb
    finds, lists = [], []
    for _ in range(bench.sizes["runs"] * 3):
        finds.append(bench.fine(find))
        lists.append(bench.fine(listing))
    one, other = best(lists), best(finds)
    print(f"list, unchanged: {one.wall * 1e3:.1f} ms, CPU {one.cpu * 1e3:.1f} ms, {memory:.0f} MB; "
          f"`find` {other.wall * 1e3:.1f} ms, CPU {other.cpu * 1e3:.1f} ms")
    goals.add("list, unchanged / find", one.wall / other.wall, 2.5)
    goals.add("list, unchanged: memory", memory, 40, " MB")


def measure_search(bench, goals):
    """Many queries, whole processes, beside the start alone and rg."""
    asked = words.queries(bench.home, bench.sizes["queries"], bench.opts.seed)
    rows, starts = {}, []
    searching = lambda query: bench.recount("search", "--json", "--", query)
    memory = max(bench.fine(searching(query), (0, 1), with_memory=True).rss_mb for _, query in asked[:20])
    for kind, query in asked:
        runs = []
        for _ in range(min(3, bench.sizes["runs"])):
            starts.append(bench.fine([bench.bin, "--version"]))
            runs.append(bench.fine(searching(query), (0, 1)))
        rows.setdefault(kind, []).append((best(runs), query))
    start = best(starts)
    print(f"\n`recount --version`: {start.wall * 1e3:.1f} ms\n\n| search | queries | p50 ms | p99 ms | max ms | p50 CPU ms "
          "| max CPU ms | p50 / start | slowest |\n|---|---:|---:|---:|---:|---:|---:|---:|---|")
    rows = {kind: rows[kind] for kind in words.CLASSES if kind in rows}
    for kind, results in [*rows.items(), ("all", sum(rows.values(), []))]:
        walls, cpus = [r.wall * 1e3 for r, _ in results], [r.cpu * 1e3 for r, _ in results]
        slowest = max(results, key=lambda item: item[0].wall)[1]
        print(f"| {kind} | {len(results)} | {share(walls, 0.5):.1f} | {share(walls, 0.99):.1f} | {max(walls):.1f} "
              f"| {share(cpus, 0.5):.1f} | {max(cpus):.1f} | {share(walls, 0.5) / (start.wall * 1e3):.1f} | `{slowest}` |")
    print(f"\nsearch: {memory:.0f} MB")
    beside_rg(bench, [query for kind, query in asked if kind == "rare"][:5], share(walls, 0.5))
    goals.add("search: p50", share(walls, 0.5), 15, " ms")
    goals.add("search: p99", share(walls, 0.99), 60, " ms")
    goals.add("search: memory", memory, 60, " MB")


def beside_rg(bench, rare, middle):
    if not shutil.which("rg"):
        print("note: rg is not installed; left out")
        return
    runs = [bench.fine(["xargs", "-0", "-a", bench.paths, "rg", "-l", "--no-messages", word], (0, 1, 123)) for word in rare]
    print(f"`rg -l` for a rare word: {best(runs).wall * 1e3:.1f} ms, {best(runs).wall * 1e3 / middle:.1f} times our p50")


def measure_append(bench, goals):
    """Appends a line to a large log, and searches for it in the next process: in a single log, and in one
    that was resumed, which leaves a second, empty file of the same session beside it."""
    megabytes = bench.sizes["log"]
    made = bench.made(f"log-{megabytes}", ["--sessions", "1", "--megabytes", str(megabytes), "--projects", "1", "--era",
                                          "lines", "--seed", "7"])
    for name, rounds in (("append", bench.sizes["rounds"]), ("append, resumed", max(3, bench.sizes["rounds"] // 5))):
        home = os.path.join(bench.scratch, "grown")
        shutil.copytree(made, home)
        log = lone_log(home)
        if name != "append":
            leave_stub(log)
        settle(home)
        append(bench, goals, name, home, log, rounds)
        shutil.rmtree(home)


def lone_log(home):
    """The largest log, without the other files of its session."""
    log = max((path for path in words.session_files(home) if path.endswith(".jsonl")), key=os.path.getsize)
    short = os.path.basename(log).split("-")[-1]
    for path in words.session_files(home):
        if path != log and path.endswith(short):
            os.remove(path)
    return log


def leave_stub(log):
    """What a resume leaves: the same session, begun a day later, without messages."""
    with open(log, encoding="utf-8") as file:
        head = json.loads(file.readline())
    head["startTime"] = head["lastUpdated"] = "2026-10-30T10:00:00.000Z"
    name = f"session-2026-10-30T10-00-{os.path.basename(log).split('-')[-1]}"
    with open(os.path.join(os.path.dirname(log), name), "w", encoding="utf-8") as file:
        file.write(json.dumps(head) + "\n")


def append(bench, goals, name, home, log, rounds):
    data, rng = os.path.join(bench.scratch, f"data-{name}"), random.Random(bench.opts.seed)
    bench.fine(bench.recount("index", home=home), data=data)
    runs, starts = [], []
    for number in range(rounds):
        word = f"appendix{number}zz"
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps({"id": str(uuid.UUID(int=rng.getrandbits(128), version=4)), "type": "user", "timestamp":
                                   f"2026-11-01T10:{number:02}:00.000Z", "content": [{"text": f"find the {word} here"}]}) + "\n")
        starts.append(bench.fine([bench.bin, "--version"]))
        runs.append(bench.fine(bench.recount("search", "--json", "--", word, home=home), (0, 1), data=data))
        hits = json.loads(runs[-1].out)["hits"]
        if len(hits) != 1 or word not in (hits[0]["snippet"] or ""):
            raise Wrong(f"{word} was appended to {log}; found {len(hits)} times")
    walls, start = [r.wall * 1e3 for r in runs], best(starts).wall * 1e3
    read = max(r.read for r in runs) / 1e6
    print(f"{name}: to {os.path.getsize(log) / 1e6:.0f} MB, then search: p50 {share(walls, 0.5):.1f} ms, p99 "
          f"{share(walls, 0.99):.1f} ms, {share(walls, 0.5) / start:.1f} times the start alone; CPU p50 "
          f"{share([r.cpu * 1e3 for r in runs], 0.5):.1f} ms; {read:.2f} MB read by calls")
    goals.add(f"{name}: p50", share(walls, 0.5), 60, " ms")
    goals.add(f"{name}: p99", share(walls, 0.99), 120, " ms")
    goals.add(f"{name}: read", read, 1, " MB")


if __name__ == "__main__":
    sys.exit(main())
