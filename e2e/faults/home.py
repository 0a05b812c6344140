"""A home for testing commands, which can be reset."""

import hashlib
import json
import os
import shutil
import subprocess

FIXTURES = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../fixtures"))
# The folders of agents, and the prefixes and suffixes of their session files.
AGENTS = {".gemini": ("session-", ""), ".claude": ("", ".jsonl"), ".codex": ("rollout-", "")}
NOW = "2026-11-16T09:30:00Z"
PATIENCE = 120  # seconds
# Rebuilt if lost: it may fail or not.
CACHES = "catalog:/index:/facts:last-list:folders.json"


class Home:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.work, self.kept = os.path.join(folder, "work"), os.path.join(folder, "kept")
        self.home, self.data = os.path.join(self.work, "home"), os.path.join(self.work, "data")
        os.makedirs(self.home)
        # Agents that run beside this, in other homes, may have sessions with the same id.
        self.processes = os.path.join(folder, "processes.json")
        with open(self.processes, "w", encoding="utf-8") as file:
            file.write("[]")

    def copy(self, fixture):
        """Copies a recorded home into this one."""
        shutil.copytree(os.path.join(FIXTURES, fixture, "home"), self.home, dirs_exist_ok=True)

    def write(self, name, text):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.home, name), encoding="utf-8") as file:
            return file.read()

    def session_files(self):
        """Logs and documents of sessions, relative to the home."""
        found = []
        for agent, (begin, end) in AGENTS.items():
            for folder, _, names in os.walk(os.path.join(self.home, agent)):
                names = [name for name in names if name.startswith(begin) and name.endswith(end) and name != "history.jsonl"]
                found += [os.path.relpath(os.path.join(folder, name), self.home) for name in names]
        return sorted(found)

    def lose(self):
        """Deletes every session, as the agent does."""
        for path in self.session_files():
            os.remove(os.path.join(self.home, path))

    def make(self, *options):
        """Fills it with synthetic sessions, the same each time."""
        self.run("testbed", self.home, *options)

    def keep(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.work, self.kept, symlinks=True)

    def put_back(self):
        shutil.rmtree(self.work)
        shutil.copytree(self.kept, self.work, symlinks=True)

    def command(self, arguments, **more):
        env = {"HOME": self.home, "RECOUNT_DATA_DIR": self.data, "RECOUNT_NOW": NOW, "TZ": "UTC", "NO_COLOR": "1",
               "RECOUNT_PROCESS_TABLE": self.processes,
               "XDG_CONFIG_HOME": os.path.join(self.work, "config"), "PATH": os.environ.get("PATH", ""), **more}
        return dict(args=[self.program, *arguments], env=env, cwd=self.work, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)

    def run(self, *arguments):
        return subprocess.run(**self.command(arguments))

    def run_with(self, library, kind, number, *arguments):
        """Runs it with a fault; returns its exit code and the number of operations."""
        log = os.path.join(self.folder, "operations")
        done = subprocess.run(**self.command(
            arguments, LD_PRELOAD=library, FAULT_PLACES=self.work, FAULT_SKIP=CACHES, FAULT_KIND=kind,
            FAULT_AT=str(number), FAULT_LOG=log))
        count = 0
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                count = int(file.read())
            os.remove(log)
        return done, count

    def sessions(self):
        done = self.run("list", "--all", "--json", "--kind", "main,subagent")
        return json.loads(done.stdout)["sessions"] if done.stdout else []

    def last_change(self):
        """The receipt of the last change in force, including undos."""
        changes = json.loads(self.run("history", "--json").stdout or '{"changes":[]}')["changes"]
        return next((change["receipt"] for change in changes if change["undoable"]), "none")

    def tree(self):
        """Every file of the agents: bytes and permissions."""
        found = {}
        for folder, _, names in (walked for agent in AGENTS for walked in os.walk(os.path.join(self.home, agent))):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                found[os.path.relpath(path, self.home)] = (digest, os.lstat(path).st_mode)
        return found
