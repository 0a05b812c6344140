#!/usr/bin/env python3
"""Kills recount while it indexes, damages its files, and checks that every later answer is correct.

  kill.py --bin target/release/recount                      # 50 kills on 80 MB, every file damaged: minutes
  kill.py --bin target/release/recount --smoke              # 6 kills on 8 MB, some damage

An answer is right when it equals that of an index which was made in one go. A clear error (exit code 2, the
place named, a hint) is right too where the data folder is damaged or cannot be written. Never right: a panic,
five minutes without an answer, a changed byte in the agent's files. Exit code 1 when something is not right.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import words  # noqa: E402
from kill_damage import WAYS, difference, hashes, is_clear, reduced  # noqa: E402

FULL = {"rounds": 50, "sessions": 300, "megabytes": 80, "queries": 25}
SMOKE = {"rounds": 6, "sessions": 40, "megabytes": 8, "queries": 10}
PATIENCE = 300  # seconds
MOST_SHOWN = 40  # faults of one part
NOBODY = 65534


class Failure(Exception):
    """An error that prevents the check."""


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    try:
        if not shutil.which(opts.bin):
            raise Failure(f"{opts.bin} is not there or cannot be run")
        with tempfile.TemporaryDirectory(prefix="recount-kill-", dir=opts.out) as scratch:
            os.chmod(scratch, 0o755)
            trial = Trial(opts, os.path.realpath(scratch))
            for part in (kills, halfway, damage, writing_denied, disk_full, at_once, other_homes):
                if opts.only in part.__name__:
                    trial.section(part)
            trial.section(untouched)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    print(f"\n{trial.checked} runs checked, {len(trial.faults)} not right")
    return 1 if trial.faults else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--rounds", type=int, help=f"how often it is killed ({FULL['rounds']})")
    parser.add_argument("--megabytes", type=int, help=f"size of the home ({FULL['megabytes']})")
    parser.add_argument("--out", metavar="DIR", help="where homes are made (among the temporary folders)")
    parser.add_argument("--seed", type=int, default=1, help="other moments, other spots (1)")
    parser.add_argument("--only", default="", metavar="PART", help="kills, halfway, damage, writing_denied, disk_full, at_once or other_homes")
    parser.add_argument("--smoke", action="store_true", help=f"{SMOKE['rounds']} kills on {SMOKE['megabytes']} MB")
    opts = parser.parse_args()
    opts.sizes = dict(SMOKE if opts.smoke else FULL)
    opts.sizes.update((k, v) for k, v in (("rounds", opts.rounds), ("megabytes", opts.megabytes)) if v)
    return opts


# --------------------------------------------------------------------------
# The home, and the correct answers
# --------------------------------------------------------------------------

class Trial:
    """A home, the correct answers, and the faults found."""

    def __init__(self, opts, scratch):
        self.opts, self.scratch, self.rng = opts, scratch, random.Random(opts.seed)
        self.bin = os.path.abspath(shutil.which(opts.bin))
        self.home, self.reference = os.path.join(scratch, "home"), os.path.join(scratch, "reference")
        self.faults, self.checked, self.number, self.where = [], 0, 0, ""
        sizes = opts.sizes
        made = subprocess.run([self.bin, "testbed", self.home, "--source", "gemini", "--sessions", str(sizes["sessions"]), "--megabytes",
                               str(sizes["megabytes"]), "--projects", "8", "--seed", str(opts.seed)],
                              capture_output=True)
        if made.returncode:
            raise Failure(f"recount testbed ended with {made.returncode}: {made.stderr.decode()}")
        self.age(3600)
        self.hashes = hashes(self.home)
        self.queries = [query for _, query in words.queries(self.home, sizes["queries"], opts.seed)]
        began = time.perf_counter()
        done = self.run(self.reference, "index")
        self.seconds = time.perf_counter() - began
        if done.returncode:
            raise Failure(f"recount index ended with {done.returncode}: {done.stderr.decode()}")
        self.right = {what: self.asked(self.reference, what)[1] for what in self.questions()}
        hits = sum(len(self.right[query]["times"]) for query in self.queries)
        print(f"home: {sizes['megabytes']} MB, indexed in {self.seconds:.2f} s; {len(self.queries)} queries, {hits} hits")
        if not hits:
            raise Failure("the queries find nothing")

    def age(self, seconds):
        """Sets the modification time of every file to this long ago."""
        when = time.time() - seconds
        for folder, _, names in os.walk(os.path.join(self.home, ".gemini")):
            for name in names:
                os.utime(os.path.join(folder, name), (when, when))

    def questions(self):
        return [*self.queries, "list", "status"]

    def section(self, part):
        before, began, self.shown = len(self.faults), time.perf_counter(), 0
        self.where = part.__name__
        told = part(self)
        if self.shown > MOST_SHOWN:
            print(f"… and {self.shown - MOST_SHOWN} more")
        print(f"{part.__name__.replace('_', ' ')}: {told}; {len(self.faults) - before} not right, "
              f"{time.perf_counter() - began:.0f} s")

    def fault(self, text):
        self.faults.append(text)
        self.shown += 1
        if self.shown <= MOST_SHOWN:
            print(f"WRONG {self.where}: {' '.join(text.split())[:300]}")

    def fresh(self, filled=False):
        """A separate data folder: empty, or a copy of the correct one."""
        self.number += 1
        data = os.path.join(self.scratch, f"data-{self.number}")
        if filled:
            shutil.copytree(self.reference, data)
        return data

    # Runs.

    def start(self, data, *arguments, home=None, cwd=None, **more):
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        env = {**keep, "HOME": self.home, "NO_COLOR": "1", "RECOUNT_DATA_DIR": data}
        return subprocess.Popen([self.bin, "--home", home or self.home, *arguments], env=env, cwd=cwd or self.scratch,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run(self, data, *arguments, **more):
        child = self.start(data, *arguments, **more)
        return self.ended(child, arguments)

    def ended(self, child, arguments):
        """Waits for a run; a hang or a panic is always a fault."""
        self.checked += 1
        try:
            out, err = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            self.fault(f"`{' '.join(arguments)}` gave no answer in {PATIENCE} s")
        if b"panicked" in err or child.returncode in (101, 134) or child.returncode < 0:
            self.fault(f"`{' '.join(arguments)}` ended with {child.returncode}: {err.decode(errors='replace')[:300]}")
        return subprocess.CompletedProcess(arguments, child.returncode, out, err)

    def asked(self, data, what, **more):
        """Runs one query; returns the run, and the part of its answer that must always be the same."""
        arguments = {"list": ["list", "--all", "--json"], "status": ["index", "status", "--json"]}.get(
            what, ["search", "--json", "--all-hits", "--limit", "1000", "--sort", "time", "--", what])
        done = self.run(data, *arguments, **more)
        return done, (reduced(what, json.loads(done.stdout)) if done.stdout and done.returncode in (0, 1) else None)

    def compare(self, data, label, questions=None, may_fail=False, **more):
        """Whether all answers are correct; with `may_fail` a clear error is, too."""
        for what in questions or self.questions():
            done, answer = self.asked(data, what, **more)
            if may_fail and done.returncode == 2 and is_clear(done.stderr.decode(errors="replace"), data):
                continue
            if answer != self.right[what]:
                said = done.stderr.decode(errors="replace").strip()[:200]
                self.fault(f"{label}: {what}: exit {done.returncode}: {difference(self.right[what], answer)} | {said}")
                return


# --------------------------------------------------------------------------
# Disturbances
# --------------------------------------------------------------------------

def kills(trial):
    """Kills at times spread over the whole run, in every way of indexing; half of the runs twice."""
    rounds, query = trial.opts.sizes["rounds"], trial.queries[0]
    ways = {"index": (["index"], False), "search": (["search", "--json", "--", query], False),
            "rebuild": (["index", "rebuild"], True), "touched": (["index"], True)}
    for number in range(rounds):
        way = list(ways)[number % len(ways)]
        arguments, is_filled = ways[way]
        data, moments = trial.fresh(is_filled), []
        if way == "touched":
            trial.age(3600 + number + 1)
        for _ in range(1 + number // len(ways) % 2):
            moment = (number + trial.rng.random()) / rounds * trial.seconds * 1.1
            child = trial.start(data, *arguments)
            time.sleep(moment)
            child.kill()
            child.communicate()
            moments.append(f"{moment * 1e3:.0f}")
        # The next command is as often a search as `recount index`.
        if trial.rng.random() < 0.5:
            done = trial.run(data, "index")
            if done.returncode:
                trial.fault(f"index after {way}: exit {done.returncode}: {done.stderr.decode()[:200]}")
        trial.compare(data, f"{way} killed after {' and '.join(moments)} ms", trial.queries + ["list"])
        trial.run(data, "index")
        trial.compare(data, f"{way} killed after {' and '.join(moments)} ms, status", ["status"])
        shutil.rmtree(data)
    trial.age(3600)
    shutil.rmtree(trial.reference)
    trial.run(trial.reference, "index")
    return f"{rounds} rounds"


def halfway(trial):
    """The two states that a kill rarely hits: the index is written and the catalog is not, and the reverse."""
    data = trial.fresh()
    trial.run(data, "list", "--all", "--json")
    shutil.copytree(os.path.join(trial.reference, "search"), os.path.join(data, "search"))
    trial.compare(data, "words in the index that the catalog does not know of")
    other = trial.fresh(filled=True)
    for folder, _, names in os.walk(os.path.join(other, "search")):
        for name in names:
            os.remove(os.path.join(folder, name))
    trial.compare(other, "sessions in the catalog that the index does not know of")
    third = trial.fresh(filled=True)
    shutil.rmtree(os.path.join(third, "search"))
    trial.compare(third, "no index, as after deleting it")
    return "3 states"


def damage(trial):
    """Every kind of stored file: truncated, overwritten, deleted."""
    kinds = {}
    for folder, _, names in os.walk(trial.reference):
        for name in sorted(names):
            stem, ending = os.path.splitext(name)
            kinds.setdefault(ending if len(stem) == 32 else name,
                             os.path.relpath(os.path.join(folder, name), trial.reference))
    cases = [(name, way) for name in kinds.values() if not name.endswith(".lock") for way in WAYS]
    if trial.opts.smoke:
        cases = trial.rng.sample(cases, min(14, len(cases)))
    for name, way in cases:
        data = trial.fresh(filled=True)
        WAYS[way](os.path.join(data, name), trial.rng)
        some = trial.rng.sample(trial.queries, 6) + ["list"]
        stem, ending = os.path.splitext(os.path.basename(name))
        short = f"search/*{ending}" if len(stem) == 32 else os.path.basename(name)
        trial.compare(data, f"{short} {way}", some, may_fail=True)
        shutil.rmtree(data)
    return f"{len(cases)} cases"


def writing_denied(trial):
    """A read-only data folder: full, and empty."""
    as_other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    for is_filled in (True, False):
        data = trial.fresh(is_filled)
        os.makedirs(data, exist_ok=True)
        for folder, _, names in os.walk(data):
            os.chmod(folder, 0o555)
            for name in names:
                os.chmod(os.path.join(folder, name), 0o444)
        label = "full and read-only" if is_filled else "empty and read-only"
        # A list needs none of the stored files.
        trial.compare(data, label, ["list"], **as_other)
        trial.compare(data, label, trial.queries[:4], may_fail=True, **as_other)
        for folder, _, _ in os.walk(data):
            os.chmod(folder, 0o755)
    return "2 folders" + ("" if as_other else ", own user")


def disk_full(trial):
    """No file may grow past a limit, as on a full disk; then the limit is removed."""
    limits = [0, 4096, 65_536, 262_144] if trial.opts.smoke else [0, 1, 4096, 20_000, 65_536, 150_000, 400_000, 1_000_000]
    for limit in limits:
        data = trial.fresh()
        # The signal is ignored by Python and stays ignored: writing fails.
        full = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)), "restore_signals": False}
        for arguments in (["index"], ["search", "--json", "--", trial.queries[0]]):
            done = trial.run(data, *arguments, **full)
            said = done.stderr.decode(errors="replace")
            if done.returncode == 2 and not is_clear(said, data):
                trial.fault(f"{limit} bytes: {arguments[0]}: not a clear error: {said.strip()[:300]}")
            elif done.returncode not in (0, 1, 2):
                trial.fault(f"{limit} bytes: {arguments[0]}: exit {done.returncode}: {said[:200]}")
        trial.compare(data, f"{limit} bytes, then room again")
        shutil.rmtree(data, ignore_errors=True)
    return f"{len(limits)} limits"


def at_once(trial):
    """Two runs that index, and searches while another run indexes."""
    for number in range(2 if trial.opts.smoke else 6):
        data = trial.fresh()
        children = [trial.start(data, "index") for _ in range(2)]
        if number % 2:
            time.sleep(trial.seconds / 4)
            busy_searches(trial, data, children[0])
        for child in children:
            done = trial.ended(child, ["index"])
            if done.returncode and not (done.returncode == 2 and is_clear(done.stderr.decode(), data)):
                trial.fault(f"one of two `index`: exit {done.returncode}: {done.stderr.decode().strip()[:300]}")
        trial.compare(data, "after two `index` at once")
        shutil.rmtree(data)
    return "done"


def busy_searches(trial, data, child):
    """While another run indexes, hits may be missing if this is reported; no false hits are found."""
    while child.poll() is None:
        query = trial.rng.choice(trial.queries)
        done, answer = trial.asked(data, query)
        said = done.stderr.decode(errors="replace")
        if done.returncode == 2 and is_clear(said, data):
            continue
        if answer is None:
            trial.fault(f"search during index: exit {done.returncode}: {said.strip()[:300]}")
        elif answer != trial.right[query] and "indexing" not in said:
            trial.fault(f"search during index: {query}: {difference(trial.right[query], answer)}, and not a word of it")
        elif not answer["relaxed"] and not trial.right[query]["relaxed"] and answer["total"] > trial.right[query]["total"]:
            trial.fault(f"search during index: {query}: {difference(trial.right[query], answer)}")


def other_homes(trial):
    """Sessions whose files were removed, and two homes of the same name in different folders."""
    one, two = (os.path.join(trial.scratch, name) for name in ("one", "two"))
    for folder in (one, two):
        shutil.copytree(trial.home, os.path.join(folder, "home"))
    for path in words.session_files(os.path.join(two, "home"))[::3]:
        os.remove(path)
    data, fresh = trial.fresh(), trial.fresh()
    for what in trial.queries[:6] + ["list"]:
        right = [trial.asked(fresh, what, home=os.path.join(folder, "home"))[1] for folder in (one, two)]
        for folder, wanted in zip((one, two), right):
            told(trial, f"--home home in {os.path.basename(folder)}", what, wanted,
                 trial.asked(data, what, home="home", cwd=folder)[1])
    for path in words.session_files(os.path.join(one, "home"))[::3]:
        os.remove(path)
    # Deleted sessions are still found, marked as deleted, until they are forgotten.
    home = os.path.join(one, "home")
    found = (trial.run(fresh, "search", "--json", "--limit", "1000", "--", query, home=home) for query in trial.queries)
    if not any(hit["session"]["gone"] for done in found for hit in json.loads(done.stdout)["hits"]):
        trial.fault("files removed: no hit is marked as gone")
    trial.run(fresh, "index", "--forget", home=home)
    for what in trial.queries[:6] + ["list"]:
        wanted = trial.asked(trial.scratch + "/after", what, home=home)[1]
        told(trial, "files removed", what, wanted, trial.asked(fresh, what, home=home)[1])
    return "2 homes"


def told(trial, label, what, wanted, answer):
    """Whether a home gives the same numbers as one that was never indexed; paths may differ in spelling."""
    numbers = lambda one: one and {k: len(v) if isinstance(v, list) else v for k, v in one.items()}
    if numbers(answer) != numbers(wanted):
        trial.fault(f"{label}: {what}: {difference(numbers(wanted), numbers(answer) or {})}")


def untouched(trial):
    """Checks that the agent's files are unchanged."""
    now = hashes(trial.home)
    for path in sorted(now.keys() ^ trial.hashes.keys()):
        trial.fault(f"{path} came or went")
    for path in trial.hashes.keys() & now.keys():
        if now[path] != trial.hashes[path]:
            trial.fault(f"{path} was changed")
    return f"{len(now)} files"


if __name__ == "__main__":
    sys.exit(main())
