#!/usr/bin/env python3
"""Counts the instructions of a fixed set of questions under callgrind, and compares them with instructions.json.

  instructions.py --bin target/release/recount                # exit 1 when a question grew by more than 3 %
  instructions.py --bin target/release/recount --update       # write the new numbers
  instructions.py --bin target/release/recount --only list --profile DIR    # for callgrind_annotate
  instructions.py --bin target/release/recount --home HOME    # another home: counts only, nothing is compared

Needs valgrind (apt-get install valgrind). See README.md.
"""

import argparse
import hashlib
import json
import os
import platform
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
NUMBERS = os.path.join(HERE, "instructions.json")
TESTBED = ["--sessions", "60", "--megabytes", "4", "--projects", "8", "--seed", "5"]
NOW = "2026-11-16T12:00:00Z"
# Long before now: a file that was written a moment ago is never cached.
WRITTEN = 1_793_491_200
# A large index is committed periodically, by the clock: one that took longer has more segments to search.
QUICKLY, ATTEMPTS, IF_SLOWLY = 0.35, 6, 0.15
# How often a count above its limit is repeated before it is reported.
REPEATS = 2
COLLECTED = re.compile(r"Collected : (\d+)")
RARE, COMMON, PHRASE = "quota", "because", '"run some tests"'


@dataclass(frozen=True)
class Question:
    """A command line, and its data folder."""

    name: str
    words: tuple
    data: str = "indexed"
    codes: tuple = (0,)
    tolerance: float = 0.03


QUESTIONS = [
    Question("version", ("--version",), "empty"),
    Question("list, cold", ("list", "--all", "--json"), "empty"),
    Question("list, second", ("list", "--all", "--json"), "listed"),
    Question("list, warm", ("list", "--all", "--json")),
    Question("list, warm, text", ("list", "--all")),
    # Commits by the clock: there are more if the machine is busy.
    Question("index", ("index",), "empty", tolerance=0.15),
    Question("search, rare word", ("search", "--json", "--", RARE)),
    Question("search, common word", ("search", "--json", "--", COMMON)),
    Question("search, phrase", ("search", "--json", "--", PHRASE)),
    Question("show, json", ("show", "SESSION", "--json")),
    Question("show, text", ("show", "SESSION")),
    Question("stats, cold", ("stats", "--all", "--json"), "empty"),
    Question("stats, warm", ("stats", "--all", "--json")),
    Question("projects", ("projects", "--json")),
    Question("guard", ("guard", "--json"), codes=(0, 1)),
    Question("export, md", ("export", "--all", "--format", "md", "-o", "OUT")),
]


class Failure(Exception):
    """An error that prevents counting."""


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    try:
        for tool in ("valgrind", opts.bin):
            if not shutil.which(tool):
                hint = ": apt-get install valgrind" if tool == "valgrind" else ""
                raise Failure(f"{tool} is not there or cannot be run{hint}")
        asked = [question for question in QUESTIONS if opts.only in question.name]
        if not asked:
            raise Failure(f"--only {opts.only}: none of {', '.join(question.name for question in QUESTIONS)}")
        with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
            bench = Bench(opts, scratch)
            return judge(opts, bench, asked)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--update", action="store_true", help="write the counts to instructions.json")
    parser.add_argument("--only", default="", metavar="PART", help="only questions with this in their name")
    parser.add_argument("--home", help="count on this home, which is only read, and compare with nothing")
    parser.add_argument("--runs", "-n", type=int, default=1, help="number of runs; the lowest count is used, the spread printed (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="questions at a time (one per core)")
    parser.add_argument("--profile", metavar="DIR", help="keep callgrind's profiles there")
    opts = parser.parse_args()
    if opts.update and (opts.only or opts.home):
        parser.error("--update needs all questions, on the home of this script")
    return opts


# --------------------------------------------------------------------------
# Counting
# --------------------------------------------------------------------------

class Bench:
    """The home, the data folders of the queries, and how they are counted."""

    def __init__(self, opts, scratch):
        self.scratch, self.profile = scratch, opts.profile
        # Projects are also searched below the current folder, and in folders that differ between machines.
        self.cwd = os.path.join(scratch, "cwd")
        os.mkdir(self.cwd)
        os.makedirs(os.path.join(scratch, "config", "recount"))
        with open(os.path.join(scratch, "config", "recount", "config.toml"), "w", encoding="utf-8") as file:
            file.write('[projects]\nroots = ["~/code"]\n')
        self.cores = queue.SimpleQueue()
        for core in sorted(os.sched_getaffinity(0)):
            self.cores.put(core)
        self.bin = os.path.abspath(shutil.which(opts.bin))
        self.is_given = bool(opts.home)
        self.home = os.path.abspath(opts.home) if opts.home else self.make_home()
        if self.profile:
            os.makedirs(self.profile, exist_ok=True)
        self.prepare()

    def make_home(self):
        home = os.path.join(self.scratch, "home")
        self.run(["testbed", home, "--source", "gemini", *TESTBED], self.data("testbed"))
        for folder, _, names in os.walk(home):
            for name in names:
                os.utime(os.path.join(folder, name), (WRITTEN, WRITTEN))
        return home

    def prepare(self):
        """Creates the data folders by runs that are not counted, and picks the session to show."""
        os.mkdir(self.data("empty"))
        listing = ["list", "--all", "--json"]
        listed = json.loads(self.run(listing, self.data("listed")))["sessions"]
        by_size = sorted((sum(file["bytes"] for file in session["files"]), session["id"]) for session in listed
                         if session["kind"] == "main")
        self.session = by_size[len(by_size) // 2][1]
        self.is_one_segment = self.index_quickly(1 if self.is_given else ATTEMPTS)
        for _ in range(2):
            for words in (listing, ["index"], ["stats", "--all", "--json"], ["projects", "--json"]):
                self.run(words, self.data("indexed"))

    def index_quickly(self, attempts):
        """Indexes the home, and returns whether that took so little time that it was one commit."""
        for _ in range(attempts):
            shutil.rmtree(self.data("indexed"), ignore_errors=True)
            began = time.perf_counter()
            self.run(["index"], self.data("indexed"))
            if time.perf_counter() - began < QUICKLY:
                return True
        print(f"note: this machine is too busy to index in one commit; searches may take {IF_SLOWLY:.0%} more, and indexing twice "
              "what it may elsewhere", file=sys.stderr)
        return False

    def tolerance(self, question):
        if self.is_one_segment:
            return question.tolerance
        slowly = {"search": IF_SLOWLY, "index": 2 * question.tolerance}
        return slowly.get(question.words[0], question.tolerance)

    def data(self, name):
        return os.path.join(self.scratch, f"data-{name}")

    def run(self, words, data, before=(), codes=(0,)):
        """Runs recount on one core, so that the work is divided the same way on every machine."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.home_of_user(), "RECOUNT_DATA_DIR": data, "RECOUNT_NOW": NOW,
                       "XDG_CONFIG_HOME": os.path.join(self.scratch, "config"), "TZ": "UTC", "LANG": "C.UTF-8",
                       "NO_COLOR": "1", "RECOUNT_WIDTH": "100"}
        core = self.cores.get()
        try:
            done = subprocess.run([*before, self.bin, *words], env=environment, cwd=self.cwd, stdin=subprocess.DEVNULL,
                                  capture_output=True, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        finally:
            self.cores.put(core)
        if done.returncode not in codes:
            raise Failure(f"recount {' '.join(words)} ended with {done.returncode}\n{done.stderr.decode()}")
        return done.stderr.decode() if before else done.stdout

    def home_of_user(self):
        return getattr(self, "home", self.scratch)

    def count(self, question):
        """Instructions of one run in a copy of the data folder, after one that is not counted unless it must be cold."""
        with tempfile.TemporaryDirectory(prefix="run-", dir=self.scratch) as folder:
            data = os.path.join(folder, "data")
            shutil.copytree(self.data(question.data), data)
            out = os.path.join(folder, "out")
            words = [{"SESSION": self.session, "OUT": out}.get(word, word) for word in question.words]
            if question.data == "indexed":
                self.run(words, data, codes=question.codes)
                shutil.rmtree(out, ignore_errors=True)
            profile = os.path.join(self.profile or folder, f"callgrind.{re.sub('[^a-z]+', '-', question.name)}")
            output = self.run(words, data, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"], question.codes)
            found = COLLECTED.search(output)
            if not found:
                raise Failure(f"valgrind printed no count\n{output}")
            return int(found[1])


# --------------------------------------------------------------------------
# Judging
# --------------------------------------------------------------------------

def judge(opts, bench, asked):
    began = time.perf_counter()
    with ThreadPoolExecutor(opts.jobs) as pool:
        tasks = {question: [pool.submit(bench.count, question) for _ in range(opts.runs)] for question in asked}
        counts = {question: [task.result() for task in runs] for question, runs in tasks.items()}
    home = None if opts.home else digest(bench.home)
    known = None if opts.home else known_numbers()
    if known:
        for question, runs in counts.items():
            limit = known["questions"].get(question.name, 0) * (1 + bench.tolerance(question))
            while limit and min(runs) > limit and len(runs) < opts.runs + REPEATS:
                runs.append(bench.count(question))
    grown = table(counts, known["questions"] if known else {}, bench.tolerance)
    print(f"\n{len(asked)} questions in {time.perf_counter() - began:.0f} s")
    if opts.home:
        return 0
    if opts.update:
        update(counts, home)
        return 0
    if not known:
        raise Failure(f"{NUMBERS} is not there; write it with --update")
    notes(known, home)
    if grown:
        print(f"\nGREW too much: {'; '.join(grown)}\nhint: make it cheaper, or say in CHANGELOG.md what "
              "the cost buys and run with --update")
    return 1 if grown else 0


def table(counts, known, tolerance):
    """Prints all counts; names of those that grew too much."""
    grown = []
    with_spread = any(len(runs) > 1 for runs in counts.values())
    print(f"| question | instructions | checked in | change |{' spread |' if with_spread else ''}\n"
          f"|---|---:|---:|---:|{'---:|' if with_spread else ''}")
    for question, runs in counts.items():
        count, before = min(runs), known.get(question.name)
        change, word = (count / before - 1, "") if before else (None, "")
        if before and change > tolerance(question):
            grown.append(question.name)
            word = " GREW"
        elif before and change < -tolerance(question):
            word = " shrank: --update"
        shown = f"{change:+.1%}{word}" if before else "new"
        spread = f" {max(runs) / min(runs) - 1:.2%} |" if with_spread else ""
        print(f"| {question.name} | {count:,} | {before or 0:,} | {shown} |{spread}")
    return grown


def known_numbers():
    try:
        with open(NUMBERS, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def update(counts, home):
    document = {"profile": release_profile(), **tools(), "home": home,
                "questions": {question.name: min(runs) for question, runs in counts.items()}}
    with open(NUMBERS, "w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    print(f"wrote {os.path.relpath(NUMBERS)}")


def notes(known, home):
    """Prints what else may have changed the counts."""
    now = {"profile": release_profile(), **tools(), "home": home}
    for name, value in now.items():
        if known.get(name) != value:
            print(f"note: {name} differs from that of the numbers: {known.get(name)} became {value}")


def release_profile():
    with open(os.path.join(os.path.dirname(HERE), "Cargo.toml"), "rb") as file:
        return tomllib.load(file)["profile"]["release"]


def tools():
    said = lambda *command: subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return {"rustc": said("rustc", "--version"), "valgrind": said("valgrind", "--version"), "machine": platform.machine()}


def digest(home):
    """Size and hash of all files: another home has other counts."""
    total, names = 0, hashlib.sha256()
    for folder, below, files in os.walk(home):
        below.sort()
        for name in sorted(files):
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            total += len(content)
            names.update(f"{os.path.relpath(os.path.join(folder, name), home)}\0{len(content)}\0".encode() + content)
    return {"testbed": " ".join(TESTBED), "bytes": total, "sha256": names.hexdigest()}


if __name__ == "__main__":
    sys.exit(main())
