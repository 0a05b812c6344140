#!/usr/bin/env python3
"""Injects a disk fault at every operation of every command that changes something, and checks that nothing is lost.

  run.py --bin target/release/recount              # every operation of every command
  run.py --bin target/release/recount --smoke      # some operations of each
  run.py --bin target/release/recount --only move  # one command

The program runs with fault.c preloaded, which kills it before an operation, tears a write, fails one operation or all
from there on, fills the disk, or fails a read. Then it runs once more without faults. The agents' folders must then be as
before or as after the change, byte for byte (or changed otherwise, where a file could not be read while the change was planned); what was said to be made
must be made; and an undo must bring back what was. Exit code 1 when something is not right, 2 when it could not be tried. Linux, with a C compiler.
"""

import argparse
import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

from commands import CASES  # noqa: E402
from home import Home  # noqa: E402

KINDS = ("kill", "torn", "eio", "gone", "full", "rot")
SMOKE = 5  # operations of each kind


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--only", help="only commands with this in their name")
    parser.add_argument("--kinds", default=",".join(KINDS), help="only these faults")
    parser.add_argument("--smoke", action="store_true", help="only some operations of each command")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    opts = parser.parse_args()
    if not shutil.which(opts.bin) or not shutil.which("cc"):
        print(f"error: {opts.bin} or a C compiler is missing", file=sys.stderr)
        return 2
    cases = [case for case in CASES if opts.only in case.name] if opts.only else CASES
    if opts.smoke and not opts.only:
        cases = [case for case in cases if case.is_quick]
    with tempfile.TemporaryDirectory(prefix="recount-faults-") as scratch:
        library = os.path.join(scratch, "fault.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, os.path.join(HERE, "fault.c"), "-ldl"], check=True)
        trials = [Trial(case, os.path.realpath(opts.bin), scratch, library, opts) for case in cases]
        width = max((len(trial.case.name) for trial in trials), default=0)
        with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
            # In the order of the list, each as soon as it is done: the whole sweep takes long.
            for trial in pool.map(Trial.run, trials):
                ends = ", ".join(f"{count} {what}" for what, count in sorted(trial.ends.items()))
                print(f"{trial.case.name:{width}}  {sum(trial.ends.values()):5} faults: {ends}", flush=True)
    faults = sum(len(trial.wrong) for trial in trials)
    runs = sum(sum(trial.ends.values()) for trial in trials)
    print(f"{len(trials)} commands, {runs} faults of the disk, {faults} not right")
    return 1 if faults or not runs else 0


class Trial:
    """One command, with every fault."""

    def __init__(self, case, program, scratch, library, opts):
        self.case, self.opts, self.library = case, opts, library
        self.home = Home(program, os.path.join(scratch, case.name.replace(" ", "-")))
        self.ends, self.wrong = collections.Counter(), []

    def run(self):
        try:
            self.case.prepare(self.home)
            self.home.keep()
            self.try_all()
        except Exception as error:  # a case that cannot be run has not passed
            self.tell(f"cannot be tried: {error!r}")
        return self

    def try_all(self):
        self.before = self.home.tree()
        self.arguments = self.case.arguments(self.home)
        # Caches that reading writes to our own folder are not tested here.
        self.home.run("list", "--all", "--json")
        self.home.keep()
        length = self.measure("none")
        if self.home.tree() == self.before and not self.case.is_ours:
            self.tell("changes nothing, so nothing is tried")
        self.after = self.home.tree()
        self.settled = self.case.look(self.home)
        for kind in self.opts.kinds.split(","):
            last = self.measure("rot") if kind == "rot" else length
            for number in self.chosen(last):
                self.disturb(kind, number)

    def measure(self, kind):
        """Runs the command without a fault and counts its operations."""
        self.home.put_back()
        done, count = self.home.run_with(self.library, kind, 0, *self.arguments)
        if done.returncode not in self.case.codes:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()}")
        return count

    def chosen(self, last):
        if not self.opts.smoke or last <= SMOKE:
            return range(1, last + 1)
        # The last ones rename files.
        return sorted({1 + (last - 1) * step // (SMOKE - 1) for step in range(SMOKE)})

    def disturb(self, kind, number):
        self.home.put_back()
        told = f"{kind} at {number}"
        done, _ = self.home.run_with(self.library, kind, number, *self.arguments)
        if "panicked" in done.stderr:
            self.tell(f"{told}: {done.stderr.strip()}")
        # Any change first recovers interrupted ones; this one does nothing else.
        ended = self.home.run("trash", "empty", "--before", "2000-01-01", "--yes")
        if ended.returncode != 0:
            self.tell(f"{told}: not ended afterwards: {ended.stderr.strip()}")
        now = self.home.tree()
        is_made = done.returncode in self.case.codes
        end = "made" if now == self.after else "not made" if now == self.before else "neither"
        if kind == "rot":
            # A file that cannot be read while a plan is made may be skipped, or treated as damaged. The result
            # is a different change, which must still be complete.
            end = "otherwise" if end == "neither" else end
            is_made = False
        self.ends[end] += 1
        if end == "neither":
            self.tell(f"{told}: neither before nor after: {differences(self.before, self.after, now)}")
        elif is_made and end != "made" and done.returncode >= 0:
            self.tell(f"{told}: said to be made, and is not")
        if self.case.is_ours:
            self.again(told, is_same=kind != "rot")
        elif end in ("made", "otherwise") and self.before != self.after:
            self.undo(told)

    def again(self, told, is_same):
        """Our own data is intact after the next run."""
        done = self.home.run(*self.arguments)
        if done.returncode not in self.case.codes:
            self.tell(f"{told}: not possible afterwards: {done.stderr.strip()}")
        if is_same and (found := self.case.look(self.home)) != self.settled:
            self.tell(f"{told}: then {found!r} instead of {self.settled!r}")

    def undo(self, told):
        done = self.home.run("undo", self.home.last_change(), "--yes")
        if done.returncode != 0 or self.home.tree() != self.before:
            self.tell(f"{told}: undo does not bring back what was: {done.stderr.strip()}")

    def tell(self, words):
        self.wrong.append(words)
        print(f"not right: {self.case.name}: {words}", file=sys.stderr)


def differences(before, after, now):
    names = sorted(set(before) | set(after) | set(now))
    odd = [name for name in names if now.get(name) not in (before.get(name), after.get(name))]
    return odd[:4] or [name for name in names if before.get(name) != now.get(name)][:4]


if __name__ == "__main__":
    sys.exit(main())
