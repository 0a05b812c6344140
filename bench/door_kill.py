#!/usr/bin/env python3
"""Kills recount while it changes sessions, and checks that nothing is lost.

  door_kill.py --bin target/release/recount                 # 300 kills: minutes
  door_kill.py --bin target/release/recount --smoke         # 25 kills

Sessions of a made-up home are deleted, restored and undone, by one run or two at once; each is killed (SIGKILL) at a
random moment, half of them in the middle of the change. After the next run has ended what was cut short, every session
must be there whole or be in the trash whole. In the end all is brought back: every file with its bytes, time and
permissions, and the same sessions with the same counts. Exit code 1 when something is not right.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

FULL = {"rounds": 300, "sessions": 60, "megabytes": 12}
SMOKE = {"rounds": 25, "sessions": 16, "megabytes": 2}
PATIENCE = 60  # seconds


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--rounds", type=int, help=f"how often it is killed ({FULL['rounds']})")
    parser.add_argument("--seed", type=int, default=1, help="other moments (1)")
    parser.add_argument("--smoke", action="store_true", help=f"{SMOKE['rounds']} kills on a small home")
    opts = parser.parse_args()
    sizes = dict(SMOKE if opts.smoke else FULL)
    sizes["rounds"] = opts.rounds or sizes["rounds"]
    if not shutil.which(opts.bin):
        print(f"error: {opts.bin} is not there or cannot be run", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="recount-door-") as scratch:
        trial = Trial(os.path.realpath(opts.bin), os.path.realpath(scratch), sizes, random.Random(opts.seed))
        for number in range(sizes["rounds"]):
            trial.round(number)
        trial.bring_all_back()
    ends = ", ".join(f"{count} {what}" for what, count in sorted(trial.ends.items()))
    print(f"{sizes['rounds']} rounds: {ends}; {trial.recovered} recoveries told; {len(trial.faults)} faults")
    return 1 if trial.faults else 0


class Trial:
    def __init__(self, program, scratch, sizes, lot):
        self.program, self.lot = program, lot
        self.home, self.data = os.path.join(scratch, "home"), os.path.join(scratch, "data")
        self.faults, self.ends, self.recovered, self.gone = [], {}, 0, set()
        self.run("testbed", self.home, "--sessions", str(sizes["sessions"]), "--megabytes", str(sizes["megabytes"]))
        self.before, self.listed = self.tree(), self.list()
        self.ids = [session["id"] for session in self.listed if session["kind"] == "main"]
        planned = json.loads(self.run("delete", *self.ids, "--dry-run", "--json").stdout)
        self.files = {}
        for file in planned["files"]:
            self.files.setdefault(file["session"], set()).add(file["path"])
        began = time.monotonic()
        self.run("delete", *self.ids[:4], "--yes")
        self.run("undo", "--yes")
        self.length = (time.monotonic() - began) / 2

    def command(self, *arguments):
        env = {"HOME": self.home, "RECOUNT_DATA_DIR": self.data, "TZ": "UTC", "PATH": os.environ.get("PATH", "")}
        return dict(args=[self.program, *arguments], env=env, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments):
        done = subprocess.run(**self.command(*arguments), timeout=PATIENCE)
        if done.returncode not in (0, 1, 3) or "panicked" in done.stderr:
            self.fault(f"{' '.join(arguments[:2])}: exit {done.returncode}: {done.stderr.strip()}")
        return done

    def fault(self, words):
        self.faults.append(words)
        print(f"not right: {words}", file=sys.stderr)

    def list(self):
        sessions = json.loads(self.run("list", "--all", "--json").stdout)["sessions"]
        return sorted(sessions, key=lambda session: session["id"])

    def tree(self):
        found = {}
        for folder, _, names in os.walk(os.path.join(self.home, ".gemini")):
            for name in names:
                path = os.path.join(folder, name)
                stat = os.lstat(path)
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                found[path] = (digest, stat.st_mtime_ns, stat.st_mode)
        return found

    def trash(self):
        text = self.run("trash", "--json").stdout
        return [item["session"]["id"] for item in json.loads(text)["sessions"]] if text else []

    def round(self, number):
        """Starts one or two changes and kills them."""
        started = [subprocess.Popen(**self.command(*self.change())) for _ in range(self.lot.choice((1, 1, 2)))]
        if self.lot.random() < 0.5:
            time.sleep(self.lot.random() * self.length)
        else:
            self.wait_for_a_change(started)
            time.sleep(self.lot.random() * self.length / 3)
        for process in started:
            process.kill()
        for process in started:
            _, words = process.communicate()
            end = {-9: "killed", 0: "made", 1: "without anything to do", 3: "refused"}.get(process.returncode, "failed")
            self.ends[end] = self.ends.get(end, 0) + 1
            if "panicked" in words or end == "failed" and "cannot" in words:
                self.fault(f"round {number}: {words.strip()}")
        # Any change ends what was cut short; this one does nothing else.
        told = self.run("trash", "empty", "--before", "2000-01-01", "--yes").stderr
        self.recovered += told.count("was cut short")
        self.check(f"round {number}")

    def change(self):
        kind = self.lot.choice(("delete", "delete", "restore", "undo"))
        # Some are in the trash already: then there is nothing to delete.
        there = [id for id in self.ids if id not in self.gone] or self.ids
        some = self.lot.sample(there, min(len(there), self.lot.randint(1, 4)))
        return [kind, *(some if kind == "delete" else []), "--yes"]

    def wait_for_a_change(self, started):
        journal = os.path.join(self.data, "journal")
        known, until = len(os.listdir(journal)), time.monotonic() + PATIENCE
        while time.monotonic() < until and any(process.poll() is None for process in started):
            if len(os.listdir(journal)) > known:
                return
            time.sleep(0.0005)

    def check(self, when):
        now, trash = self.tree(), set(self.trash())
        self.gone = trash
        for path, found in now.items():
            if self.before.get(path) != found:
                self.fault(f"{when}: {path} is not what it was")
        for id, files in self.files.items():
            there = sum(path in now for path in files)
            if there not in (0, len(files)):
                self.fault(f"{when}: {there} of {len(files)} files of {id} are there")
            if (there == 0) != (id in trash):
                self.fault(f"{when}: {id} is {'not ' if there else ''}gone, and {'' if id in trash else 'not '}in the trash")
        others = set(self.before) - set().union(*self.files.values())
        if lost := others - set(now):
            self.fault(f"{when}: lost {sorted(lost)[:3]}")

    def bring_all_back(self):
        for _ in range(len(self.ids) + 1):
            if not self.trash():
                break
            self.run("restore", "--yes")
        if self.tree() != self.before:
            self.fault("in the end not every file is what it was")
        if self.list() != self.listed:
            self.fault("in the end not every session is what it was")


if __name__ == "__main__":
    sys.exit(main())
