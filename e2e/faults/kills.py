#!/usr/bin/env python3
"""Kills recount while it changes sessions, and checks that nothing is lost.

  kills.py --bin target/release/recount                 # 300 kills: minutes
  kills.py --bin target/release/recount --smoke         # 25 kills

Random commands change the sessions of a synthetic home, one at a time or two at once; each is killed (SIGKILL) at a random
moment, half of them in the middle of the change. After the next run has ended what was cut short, all that was ever said must
be in a session or in the trash, word for word. In the end every change is undone, the last one first: every file must be what it
was, with its bytes, time and permissions. Exit code 1 when something is not right.
"""

import argparse
import collections
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

FULL = {"rounds": 300, "sessions": 40, "megabytes": 8}
SMOKE = {"rounds": 25, "sessions": 12, "megabytes": 2}
PATIENCE = 120  # seconds
AGENTS = (".gemini", ".claude", ".codex")
FIXTURES = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../fixtures"))
# Sessions of other agents, beside the synthetic ones.
OTHERS = ("claude/folder/subagent", "claude/folder/interactive", "claude/flat/resume", "codex/paginated/fork", "codex/paginated/reverted",
          "codex/paginated/archived", "codex/tagged/tools")
# Commands for sessions of the first agent only.
FIRST_ONLY = ("merge", "compact", "convert")

# `{}` is a session, `{to}` another project. None of them drops a message, except whole sessions that go to the trash.
COMMANDS = [
    ["delete", "{}"],
    ["delete", "{}", "{}", "{}"],
    ["restore"],
    ["undo"],
    ["rename", "{}", "Another title"],
    ["move", "{}", "--to", "{to}"],
    ["fork", "{}"],
    ["merge", "{}", "{}"],
    ["compact", "--all", "--min-saving", "0%"],
    ["compact", "{}", "--min-saving", "0%"],
    ["convert", "{}", "--to", "jsonl"],
    ["repair", "--all"],
    ["guard", "--fix"],
    ["prune", "--empty"],
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--rounds", type=int, help=f"how often it is killed ({FULL['rounds']})")
    parser.add_argument("--seed", type=int, default=1, help="other commands and moments (1)")
    parser.add_argument("--smoke", action="store_true", help=f"{SMOKE['rounds']} kills on a small home")
    opts = parser.parse_args()
    sizes = dict(SMOKE if opts.smoke else FULL)
    sizes["rounds"] = opts.rounds or sizes["rounds"]
    if not shutil.which(opts.bin):
        print(f"error: {opts.bin} is not there or cannot be run", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="recount-kills-") as scratch:
        trial = Trial(os.path.realpath(opts.bin), os.path.realpath(scratch), sizes, random.Random(opts.seed))
        for number in range(sizes["rounds"]):
            trial.round(number)
        trial.take_all_back()
    for name, ends in sorted(trial.ends.items()):
        print(f"{name:10} {', '.join(f'{count} {what}' for what, count in sorted(ends.items()))}")
    print(f"{sizes['rounds']} rounds, {trial.recovered} cut short and ended, {len(trial.faults)} not right")
    return 1 if trial.faults else 0


class Trial:
    def __init__(self, program, scratch, sizes, lot):
        self.program, self.lot, self.scratch = program, lot, scratch
        self.home, self.data = os.path.join(scratch, "home"), os.path.join(scratch, "data")
        self.faults, self.ends, self.recovered = [], collections.defaultdict(collections.Counter), 0
        self.run("testbed", self.home, "--sessions", str(sizes["sessions"]), "--megabytes", str(sizes["megabytes"]))
        for other in OTHERS:
            shutil.copytree(os.path.join(FIXTURES, other, "home"), self.home, dirs_exist_ok=True)
        self.projects = [self.project(name) for name in ("one", "two")]
        self.before, self.said = self.tree(), self.messages()
        sessions = json.loads(self.run("list", "--all", "--kind", "main,subagent", "--json").stdout)["sessions"]
        self.parents = {session["id"]: session["parent"] for session in sessions}
        began = time.monotonic()
        self.run("delete", *self.ids()[:2], "--yes")
        self.run("undo", "--yes")
        self.length = (time.monotonic() - began) / 2

    def project(self, name):
        folder = os.path.join(self.scratch, "code", name)
        os.makedirs(folder)
        return folder

    def command(self, *arguments):
        env = {"HOME": self.home, "RECOUNT_DATA_DIR": self.data, "TZ": "UTC", "PATH": os.environ.get("PATH", "")}
        return dict(args=[self.program, *arguments], env=env, cwd=self.scratch, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments):
        done = subprocess.run(**self.command(*arguments), timeout=PATIENCE)
        if done.returncode not in (0, 1, 3) or "panicked" in done.stderr:
            self.fault(f"{' '.join(arguments[:2])}: exit {done.returncode}: {done.stderr.strip()}")
        return done

    def fault(self, words):
        self.faults.append(words)
        print(f"not right: {words}", file=sys.stderr)

    def ids(self, is_first_only=False):
        sessions = json.loads(self.run("list", "--all", "--json").stdout or '{"sessions":[]}')["sessions"]
        is_wanted = lambda session: session["kind"] == "main" and (session["source"] == "gemini" or not is_first_only)
        return [session["id"] for session in sessions if is_wanted(session)]

    def tree(self):
        found = {}
        for folder, _, names in (walked for agent in AGENTS for walked in os.walk(os.path.join(self.home, agent))):
            for name in names:
                path = os.path.join(folder, name)
                stat = os.lstat(path)
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                found[path] = (digest, stat.st_mtime_ns, stat.st_mode)
        return found

    def messages(self):
        """The complete text of all messages, by session."""
        asked = "SELECT session, kind, text FROM messages WHERE kind IN ('prompt', 'answer') AND text <> ''"
        rows = json.loads(self.run("sql", "--json", asked).stdout or '{"rows":[]}')["rows"]
        said = collections.defaultdict(set)
        for session, kind, text in (row.values() if isinstance(row, dict) else row for row in rows):
            said[session].add((kind, text))
        return said

    def trash(self):
        text = self.run("trash", "--json").stdout
        return {item["session"]["id"] for item in json.loads(text)["sessions"]} if text else set()

    def round(self, number):
        """Starts one or two changes and kills them."""
        drawn = [self.draw() for _ in range(self.lot.choice((1, 1, 2)))]
        started = [subprocess.Popen(**self.command(*arguments)) for arguments in drawn]
        if self.lot.random() < 0.5:
            time.sleep(self.lot.random() * self.length)
        else:
            self.wait_for_a_change(started)
            time.sleep(self.lot.random() * self.length / 3)
        for process in started:
            process.kill()
        for process, arguments in zip(started, drawn):
            _, words = process.communicate()
            end = {-9: "killed", 0: "made", 1: "nothing to do", 3: "refused"}.get(process.returncode, "failed")
            self.ends[arguments[0]][end] += 1
            # The random session may be a document where only logs are supported, or may be deleted.
            if "panicked" in words or (end == "failed" and "cannot" in words):
                self.fault(f"round {number}: {' '.join(arguments)}: {words.strip()}")
        # Any change recovers interrupted ones; this one does nothing else.
        told = self.run("trash", "empty", "--before", "2000-01-01", "--yes").stderr
        self.recovered += told.count("was interrupted and is now")
        self.check(f"round {number} ({' | '.join(' '.join(arguments[:2]) for arguments in drawn)})")

    def draw(self):
        command = self.lot.choice(COMMANDS)
        ids = self.ids(command[0] in FIRST_ONLY) or ["none"]
        # Every second time a session of another agent, as there are few.
        if command[0] not in FIRST_ONLY and self.lot.random() < 0.5:
            first = set(self.ids(True))
            ids = [one for one in ids if one not in first] or ids
        to = self.lot.choice(self.projects)
        words = [self.lot.choice(ids) if word == "{}" else word.replace("{to}", to) for word in command]
        return [*words, "--yes"]

    def wait_for_a_change(self, started):
        journal = os.path.join(self.data, "journal")
        known, until = len(os.listdir(journal)), time.monotonic() + PATIENCE
        while time.monotonic() < until and any(process.poll() is None for process in started):
            if len(os.listdir(journal)) > known:
                return
            time.sleep(0.0005)

    def check(self, when):
        trash = self.trash()
        here = set().union(*self.messages().values(), set())
        for session, said in self.said.items():
            is_thrown_away = session in trash or self.parents.get(session) in trash
            # Merged or forked messages may be under another id.
            if not is_thrown_away and (lost := {one for one in said - here if not self.is_kept(one[1])}):
                self.fault(f"{when}: {len(lost)} messages of {session} are nowhere: {sorted(lost)[0][1][:60]!r}")

    def is_kept(self, text):
        """Whether a text is in the trash."""
        wanted = json.dumps(text, ensure_ascii=False)[1:-1].encode()
        for folder, _, names in os.walk(os.path.join(self.data, "trash")):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    if wanted in file.read():
                        return True
        return False

    def take_all_back(self):
        while (done := self.run("undo", "--yes")).returncode == 0:
            pass
        if done.returncode != 1:
            self.fault(f"not all can be undone: {done.stderr.strip()}")
        now = self.tree()
        for path in sorted(set(now) | set(self.before)):
            if now.get(path) != self.before.get(path):
                self.fault(f"in the end {path} is not what it was: {self.before.get(path)} -> {now.get(path)}")


if __name__ == "__main__":
    sys.exit(main())
