#!/usr/bin/env python3
"""Changes a session while another process appends to it, and checks that no line is lost.

  appends.py --bin target/release/recount [--seconds 20] [--smoke]

A process appends records to a session as the agent does (open, append, close, without a lock), as fast as it can or with pauses, while recount renames, compacts,
moves, deletes, restores and undoes that session. It does so for sessions of each agent. It is not taken for the agent, so nothing is refused for its sake. Every line that was appended must then be in one of
the agent's files, or, where the session was deleted, in the trash. Exit code 1 when one is lost.
"""

import argparse
import contextlib
import fcntl
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
TIME = "2026-11-15T18:17:00.000Z"
SHOP = "/home/dev/code/shop"
COMMANDS = [
    ["delete", ID], ["restore", ID], ["undo"], ["undo"], ["rename", ID, "Another title"], ["rename", ID, "A third one"],
    ["move", ID, "--to", "{to}"], ["fork", ID],
]


class Gemini:
    commands = [*COMMANDS, ["compact", ID, "--min-saving", "0%"], ["trim", ID, "--keep-last", "1"]]
    files = (".gemini/tmp/shop/chats/session-2026-11-15T18-16-7f07c6a1.jsonl",)
    others = {".gemini/tmp/shop/.project_root": SHOP, ".gemini/projects.json": json.dumps({"projects": {SHOP: "shop"}}, indent=2)}
    lock = None

    @staticmethod
    def head(_file):
        times = {"startTime": TIME, "lastUpdated": TIME}
        return [{"sessionId": ID, "projectHash": "0" * 64, **times, "kind": "main"}]

    @staticmethod
    def record(_file, number, words):
        return {"id": f"m{number}", "timestamp": TIME, "type": "gemini" if number % 2 else "user", "content": words}


class Claude:
    commands = COMMANDS
    files = (f".claude/projects/-home-dev-code-shop/{ID}.jsonl",)
    others = {f".claude/projects/-home-dev-code-shop/{ID}/custom-title.json": '{"customTitle":"First"}'}
    lock = None

    @staticmethod
    def head(_file):
        return []

    @staticmethod
    def record(_file, number, words):
        kind = "assistant" if number % 2 else "user"
        parent = f"u{number - 1}" if number else None
        message = {"role": kind, "content": words if kind == "user" else [{"type": "text", "text": words}], "id": f"m{number}"}
        return {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "sessionId": ID, "timestamp": TIME, "cwd": SHOP,
                "version": "2.1.112", "isSidechain": False, "message": message}


class Codex:
    """Half of the lines are names of other threads, which its processes write under a lock."""

    commands = COMMANDS
    files = (f".codex/sessions/2026/11/15/rollout-2026-11-15T18-17-00-{ID}.jsonl", ".codex/session_index.jsonl")
    others = {".codex/session_index.jsonl.lock": ""}
    lock = ".codex/session_index.jsonl.lock"

    @staticmethod
    def head(file):
        about = {"id": ID, "timestamp": TIME, "cwd": SHOP, "originator": "codex_cli_rs", "cli_version": "0.144.6", "source": "cli"}
        return [{"timestamp": TIME, "type": "session_meta", "payload": about}] if "rollout" in file else []

    @staticmethod
    def record(file, number, words):
        if "rollout" in file:
            return {"timestamp": TIME, "type": "event_msg", "payload": {"type": "user_message", "message": words}}
        return {"id": f"01a1e06d-9d83-79a1-b887-{number:012x}", "thread_name": words, "updated_at": TIME}


AGENTS = {"gemini": Gemini, "claude": Claude, "codex": Codex}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--agents", default=",".join(AGENTS), help="only sessions of these agents")
    parser.add_argument("--seconds", type=float, default=20, help="how long for each agent (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true", help="four seconds for each")
    opts = parser.parse_args()
    if not shutil.which(opts.bin):
        print(f"error: {opts.bin} is not there or cannot be run", file=sys.stderr)
        return 2
    code, appended = 0, 0
    for name in opts.agents.split(","):
        with tempfile.TemporaryDirectory(prefix="recount-appends-") as scratch:
            trial = Trial(AGENTS[name], os.path.realpath(opts.bin), scratch, random.Random(opts.seed))
            code |= trial.run(name, 4 if opts.smoke else opts.seconds)
            appended += trial.appended
    print(f"{appended} lines appended, {'some' if code else 'none'} lost")
    return code


class Trial:
    def __init__(self, agent, program, scratch, lot):
        self.agent, self.program, self.scratch, self.lot = agent, program, scratch, lot
        self.home, self.data = os.path.join(scratch, "home"), os.path.join(scratch, "data")
        self.other = os.path.join(scratch, "code", "other")
        os.makedirs(self.other)
        for name, text in agent.others.items():
            self.write(name, text)
        for name in agent.files:
            self.write(name, "".join(json.dumps(record) + "\n" for record in agent.head(name)))
        self.appended, self.stopping = 0, threading.Event()
        self.ends = {}

    def write(self, name, text):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def append(self, name, record):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        records = [record] if os.path.exists(path) else [*self.agent.head(name), record]
        # Like the agent: a missing file is created again.
        with open(path, "a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record) + "\n")

    def appender(self):
        while not self.stopping.is_set():
            number = self.appended
            name = self.agent.files[number % len(self.agent.files)]
            record = self.agent.record(name, number, f"line {number}.")
            with contextlib.ExitStack() as held:
                if self.agent.lock and "rollout" not in name:
                    lock = held.enter_context(open(os.path.join(self.home, self.agent.lock), "w", encoding="utf-8"))
                    fcntl.flock(lock, fcntl.LOCK_EX)
                self.append(name, record)
            self.appended += 1
            # It pauses occasionally, like an agent that waits for its model: then a change succeeds.
            time.sleep(0.3 if self.lot.random() < 0.03 else self.lot.choice((0, 0, 0.0005, 0.003, 0.03)))

    def recount(self, *arguments):
        env = {"HOME": self.home, "RECOUNT_DATA_DIR": self.data, "TZ": "UTC", "PATH": os.environ.get("PATH", "")}
        return subprocess.run([self.program, *arguments], env=env, cwd=self.scratch, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def run(self, agent, seconds):
        thread = threading.Thread(target=self.appender)
        thread.start()
        wrong, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            words = [word.replace("{to}", self.other) for word in self.lot.choice(self.agent.commands)]
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
            print(f"{agent:8} {command:10} {', '.join(f'{count} x exit {code}' for code, count in sorted(ends.items()))}")
        print(f"{agent:8} {self.appended} lines appended, {len(lost)} lost")
        return 1 if lost or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
