#!/usr/bin/env python3
"""Measures the terminal app in a real tmux: first frame, keys, search, a huge session, memory, and what it costs while nothing happens.

  app.py --bin target/release/recount M [--huge H]      # homes: a folder with .gemini in it; they are only read
  app.py --bin target/release/recount M --check         # exit 1 when a goal is missed

tmux runs in control mode: keys go in and frames come out through one pipe, so its own share is about a millisecond. A frame counts as
drawn at its last byte (the end of the synchronized update). See README.md.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

END = "\\033[?2026l"  # the end of a frame, as tmux prints it
# Goals: p50 and p99 in milliseconds, or one number.
GOALS = {
    "first frame with rows": (25, 50),
    "key, list": (4, 12),
    "key, search": (15, 40),
    "open a huge session": (150, 250),
    "memory, list, MB": 45,
    "memory, after searches, MB": 45,
    "memory with a huge session, MB": 80,
    "idle, bytes to the terminal": 0,
    "idle, wake-ups in 5 s": 1,
}


class Tmux:
    """A tmux server of its own, in control mode."""

    def __init__(self, folder, width, height):
        self.folder = folder
        self.socket = os.path.join(folder, "tmux")
        env = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/sh"}
        self.base = ["tmux", "-S", self.socket, "-f", "/dev/null"]
        self.env = env
        # The window has its size from the start: an app that is resized while it starts draws twice.
        subprocess.run([*self.base, "new-session", "-d", "-x", str(width), "-y", str(height), "tail -f /dev/null"], env=env, check=True)
        subprocess.run([*self.base, "set-option", "-g", "-w", "remain-on-exit", "on"], env=env, check=True)
        self.control = subprocess.Popen(
            [*self.base, "-C", "attach", "-f", "ignore-size"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.frames, self.bytes, self.text = [], 0, ""
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        time.sleep(0.3)

    def read(self):
        rest = b""
        while data := os.read(self.control.stdout.fileno(), 1 << 16):
            now = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            with self.changed:
                for line in lines:
                    if line.startswith(b"%output "):
                        text = line.split(b" ", 2)[2].decode("utf-8", "replace")
                        self.bytes += len(text)
                        self.text = (self.text + text)[-400_000:]
                        self.frames += [now] * text.count(END)
                self.changed.notify_all()

    def command(self, line):
        self.control.stdin.write(line.encode() + b"\n")

    def wait_frames(self, many, patience=10):
        """Waits until so many frames were drawn in all. Returns when the last of them was."""
        end = time.monotonic() + patience
        with self.changed:
            while len(self.frames) < many:
                if not self.changed.wait(max(0.0, end - time.monotonic())) and time.monotonic() >= end:
                    return None
            return self.frames[many - 1]

    def wait_text(self, wanted, patience=20):
        end = time.monotonic() + patience
        with self.changed:
            while not re.search(wanted, self.text):
                if time.monotonic() >= end:
                    raise SystemExit(f"the screen never showed {wanted}\n{self.screen()}")
                self.changed.wait(0.5)
            return self.frames[-1] if self.frames else time.monotonic()

    def screen(self):
        return subprocess.run([*self.base, "capture-pane", "-p"], env=self.env, capture_output=True, text=True).stdout

    def reset(self):
        with self.changed:
            self.frames, self.bytes, self.text = [], 0, ""

    def start(self, words, env):
        """Runs a program in the pane. Returns when that was asked for."""
        self.reset()
        assignments = " ".join(f"{name}='{value}'" for name, value in env.items())
        line = f"exec env -i {assignments} {' '.join(words)}"
        began = time.monotonic()
        self.command(f'respawn-pane -k "{line}"')
        return began

    def pid(self):
        out = subprocess.run([*self.base, "display-message", "-p", "#{pane_pid}"], env=self.env, capture_output=True, text=True).stdout
        return int(out)

    def stop(self):
        subprocess.run([*self.base, "kill-server"], env=self.env)


def percentiles(values):
    ordered = sorted(values)
    return statistics.median(ordered) * 1000, ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1000


def memory(pid, name="VmHWM"):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(name))


def wakeups(pid):
    """Context switches of all threads so far."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as status:
            total += sum(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt"))
    return total


def cpu(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def keys(tmux, sequence, pause=0.0):
    """Presses keys one by one; each waits for its frame. Returns the delays."""
    delays = []
    for key in sequence:
        # Frames that were already under way are not counted.
        time.sleep(pause)
        with tmux.changed:
            before = len(tmux.frames)
        began = time.monotonic()
        tmux.command(f"send-keys {key}")
        drawn = tmux.wait_frames(before + 1, patience=5)
        if drawn is not None:
            delays.append(drawn - began)
    return delays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home")
    parser.add_argument("--bin", default="target/release/recount")
    parser.add_argument("--huge", help="a home with a session of 300 MB")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--idle", type=float, default=30, help="seconds without a key")
    parser.add_argument("--check", action="store_true")
    opts = parser.parse_args()
    program = os.path.abspath(opts.bin)
    folder = tempfile.mkdtemp(prefix="recount-app-")
    results = {}
    tmux = Tmux(folder, 200, 60)
    try:
        measure(tmux, program, opts, folder, results)
    finally:
        tmux.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(report(results, opts.check))


def environment(folder, home):
    return {"PATH": os.environ["PATH"], "HOME": os.path.abspath(home), "TERM": "xterm-256color", "LANG": "C.UTF-8",
            "RECOUNT_DATA_DIR": os.path.join(folder, "data"), "CI": "true"}


def measure(tmux, program, opts, folder, results):
    env = environment(folder, opts.home)
    # Everything is remembered and indexed before.
    for words in (["list", "--all"], ["index"], ["list", "--all"]):
        subprocess.run([program, *words], env=env, stdout=subprocess.DEVNULL, check=True)
    starts, title = [], None
    for _ in range(opts.runs):
        began = tmux.start([program], env)
        tmux.wait_text("TITLE")
        with tmux.changed:
            text = tmux.text
        if END not in text.split("TITLE", 1)[1]:
            tmux.wait_frames(1)
        starts.append(tmux.frames[0] - began)
        time.sleep(0.15)
        tmux.command("send-keys Q")
        time.sleep(0.1)
    results["first frame with rows"] = percentiles(starts)
    tmux.start([program], env)
    tmux.wait_text("TITLE")
    time.sleep(2)
    delays = keys(tmux, ["j"] * 150 + ["C-d"] * 40 + ["G", "g"] * 20 + ["k"] * 20, pause=0.02)
    results["key, list"] = percentiles(delays)
    results["memory, list, MB"] = memory(tmux.pid())
    tmux.command("send-keys 2")
    time.sleep(0.5)
    found = []
    for word in ("session", "retry", "parser", "error timeout", "config"):
        found += search(tmux, word)
    results["key, search"] = percentiles(found)
    tmux.command("send-keys Escape Escape 1")
    time.sleep(1)
    pid = tmux.pid()
    results["memory, after searches, MB"] = memory(pid)
    idle(tmux, pid, opts.idle, results)
    tmux.command("send-keys Q")
    time.sleep(0.3)
    if opts.huge:
        huge(tmux, program, opts.huge, folder, results)


def search(tmux, word):
    """Types a word; each key waits for the frame with its hits (the last within 60 ms)."""
    delays = []
    tmux.command("send-keys C-u")
    time.sleep(0.3)
    for letter in word:
        with tmux.changed:
            before = len(tmux.frames)
        began = time.monotonic()
        tmux.command("send-keys Space" if letter == " " else f"send-keys -l {letter}")
        time.sleep(0.25)
        with tmux.changed:
            # The first frame shows the letter; the one with the hits has their number. A preview may follow.
            drawn = tmux.frames[before:]
        if drawn:
            delays.append(drawn[min(1, len(drawn) - 1)] - began)
    return delays


def idle(tmux, pid, seconds, results):
    time.sleep(3)
    with tmux.changed:
        before = tmux.bytes
    woken, used = wakeups(pid), cpu(pid)
    time.sleep(seconds)
    with tmux.changed:
        results["idle, bytes to the terminal"] = tmux.bytes - before
    results["idle, wake-ups in 5 s"] = (wakeups(pid) - woken) * 5 / seconds
    results["idle, % of a core"] = (cpu(pid) - used) / seconds * 100


def huge(tmux, program, home, folder, results):
    env = environment(os.path.join(folder, "huge"), home)
    os.makedirs(env["RECOUNT_DATA_DIR"], exist_ok=True)
    for _ in range(2):
        subprocess.run([program, "list", "--all"], env=env, stdout=subprocess.DEVNULL, check=True)
    opened = []
    for _ in range(8):
        tmux.start([program], env)
        tmux.wait_text("TITLE")
        time.sleep(2.5)
        with tmux.changed:
            tmux.text = ""
        began = time.monotonic()
        tmux.command("send-keys Enter")
        tmux.wait_text("prompts")
        opened.append(tmux.frames[-1] - began)
        tmux.command("send-keys G")
        time.sleep(1)
        results["memory with a huge session, MB"] = memory(tmux.pid())
        tmux.command("send-keys Q")
        time.sleep(0.2)
    results["open a huge session"] = percentiles(opened)


def report(results, check):
    missed = 0
    print(f"{'what':34} {'p50':>8} {'p99':>8}   goal")
    for name, value in results.items():
        goal = GOALS.get(name)
        pair = value if isinstance(value, tuple) else (value,)
        goals = goal if isinstance(goal, tuple) else (goal,)
        is_missed = goal is not None and any(one > most for one, most in zip(pair, goals))
        missed += is_missed
        cells = " ".join(f"{one:8.1f}" for one in pair)
        wanted = "" if goal is None else " / ".join(str(one) for one in goals)
        print(f"{name:34} {cells:17}   {wanted}{'   MISSED' if is_missed else ''}")
    print(f"load {os.getloadavg()[0]:.1f}")
    return 1 if check and missed else 0


if __name__ == "__main__":
    main()
