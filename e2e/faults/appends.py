#!/usr/bin/env python3
"""Changes a session while somebody appends to it, and checks that every line is still there.

  appends.py --bin target/release/recount [--seconds 20] [--smoke]

A process appends records to a session as the agent does (open, append, close, without a lock), as fast as it can or with pauses, while recount renames, compacts,
moves, deletes, restores and undoes that session. It is not taken for the agent, so nothing is refused for its sake. Every line that was appended must then be in one of
the agent's files, or, where the session was deleted, in the trash. Exit code 1 when one is lost.
"""

import argparse
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ID = "7f07c6a1-6f7c-42ab-a2a9-83bf92bf4865"
COMMANDS = [
    ["delete", ID], ["restore", ID], ["undo"], ["undo"], ["rename", ID, "Another title"], ["rename", ID, "A third one"],
    ["compact", ID, "--min-saving", "0%"], ["move", ID, "--to", "{to}"], ["fork", ID], ["trim", ID, "--keep-last", "1"],
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--seconds", type=float, default=20, help="how long (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true", help="five seconds")
    opts = parser.parse_args()
    if not shutil.which(opts.bin):
        print(f"error: {opts.bin} is not there or cannot be run", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="recount-appends-") as scratch:
        return Trial(os.path.realpath(opts.bin), scratch, random.Random(opts.seed)).run(5 if opts.smoke else opts.seconds)


class Trial:
    def __init__(self, program, scratch, lot):
        self.program, self.scratch, self.lot = program, scratch, lot
        self.home, self.data = os.path.join(scratch, "home"), os.path.join(scratch, "data")
        self.other = os.path.join(scratch, "code", "other")
        os.makedirs(self.other)
        self.file = os.path.join(self.home, ".gemini/tmp/shop/chats/session-2026-11-15T18-16-7f07c6a1.jsonl")
        os.makedirs(os.path.dirname(self.file))
        self.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop")
        self.write(".gemini/projects.json", json.dumps({"projects": {"/home/dev/code/shop": "shop"}}, indent=2))
        times = {"startTime": "2026-11-15T18:16:00.000Z", "lastUpdated": "2026-11-15T18:16:00.000Z"}
        self.head = {"sessionId": ID, "projectHash": "0" * 64, **times, "kind": "main"}
        self.append(self.head)
        self.appended, self.stopping = 0, threading.Event()
        self.ends = {}

    def write(self, name, text):
        with open(os.path.join(self.home, name), "w", encoding="utf-8") as file:
            file.write(text)

    def append(self, record):
        records = [record] if os.path.exists(self.file) or record is self.head else [self.head, record]
        # What the agent does: a file that is gone is made again.
        with open(self.file, "a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record) + "\n")

    def appender(self):
        while not self.stopping.is_set():
            number = self.appended
            kind = "user" if number % 2 == 0 else "gemini"
            self.append({"id": f"m{number}", "timestamp": "2026-11-15T18:17:00.000Z", "type": kind, "content": f"line {number}."})
            self.appended += 1
            time.sleep(self.lot.choice((0, 0, 0.0005, 0.003, 0.03)))

    def recount(self, *arguments):
        env = {"HOME": self.home, "RECOUNT_DATA_DIR": self.data, "TZ": "UTC", "PATH": os.environ.get("PATH", "")}
        return subprocess.run([self.program, *arguments], env=env, cwd=self.scratch, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def run(self, seconds):
        thread = threading.Thread(target=self.appender)
        thread.start()
        wrong, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            words = [word.replace("{to}", self.other) for word in self.lot.choice(COMMANDS)]
            done = self.recount(*words, "--yes")
            ends = self.ends.setdefault(words[0], {})
            ends[done.returncode] = ends.get(done.returncode, 0) + 1
            if done.returncode not in (0, 1, 2, 3) or "panicked" in done.stderr:
                wrong.append(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        self.stopping.set()
        thread.join()
        self.recount("trash", "empty", "--before", "2000-01-01", "--yes")
        found = set()
        for path in glob.glob(os.path.join(self.scratch, "**"), recursive=True, include_hidden=True):
            if os.path.isfile(path) and "catalog" not in path and "/index/" not in path and "/journal/" not in path:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read()
                for number in range(self.appended):
                    if number not in found and f'"line {number}."' in text:
                        found.add(number)
        lost = [number for number in range(self.appended) if number not in found]
        for words in wrong:
            print(f"not right: {words}", file=sys.stderr)
        if lost:
            print(f"not right: lost {len(lost)} lines, the first is {lost[0]}", file=sys.stderr)
        for command, ends in sorted(self.ends.items()):
            print(f"{command:10} {', '.join(f'{count} x exit {code}' for code, count in sorted(ends.items()))}")
        print(f"{self.appended} lines appended, {len(lost)} lost")
        return 1 if lost or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
