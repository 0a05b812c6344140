#!/usr/bin/env python3
"""Measures `recount mcp`: first answer, answers per tool, their tokens, and memory.

  mcp.py --bin target/release/recount HOME           # a home with sessions; it is only read
  mcp.py --bin target/release/recount HOME --check   # exit 1 when a goal is missed
  mcp.py --bin target/release/recount --smoke        # a small synthetic home, no goals

The index is built first, in a scratch folder. Milliseconds are wall time; with other work on the machine compare the CPU time of the server, which is
printed beside it. Tokens are estimated: four bytes, or one CJK character. See README.md.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

GOALS = {"first": 50, "search": 20, "search tokens": 300, "search most": 1500, "memory": 60}
TICKS = os.sysconf("SC_CLK_TCK")


def tokens(text):
    wide = len(re.findall("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]", text))
    rest = len(re.sub("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]", "", text).encode())
    return wide + -(-rest // 4)


class Server:
    """A running server."""

    def __init__(self, opts, home, data):
        env = {"PATH": os.environ["PATH"], "HOME": home, "RECOUNT_DATA_DIR": data, "TZ": "UTC"}
        self.number = 0
        begun = time.perf_counter()
        self.child = subprocess.Popen([opts.bin, "--home", home, "mcp"], env=env, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "bench"}})
        self.first = (time.perf_counter() - begun) * 1000

    def ask(self, method, params):
        self.number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()
        while True:
            answer = json.loads(self.child.stdout.readline())
            if answer.get("id") == self.number:
                return answer

    def cpu(self):
        with open(f"/proc/{self.child.pid}/stat", encoding="utf8") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / TICKS

    def call(self, tool, arguments):
        """Calls a tool; returns its text and the milliseconds it took."""
        begun = time.perf_counter()
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        took = (time.perf_counter() - begun) * 1000
        return answer["result"]["content"][0]["text"], took

    def memory(self, name):
        with open(f"/proc/{self.child.pid}/status", encoding="utf8") as file:
            return next(int(line.split()[1]) / 1000 for line in file if line.startswith(name))

    def end(self):
        self.child.stdin.close()
        self.child.wait()


def queries(server, count):
    """Makes queries of words that are in the history: from titles and prompts, one to six words, and natural questions."""
    words = []
    cursor = None
    while len(words) < 3000:
        arguments = {"project": "*", "limit": 30} | ({"cursor": cursor} if cursor else {})
        text, _ = server.call("list_sessions", arguments)
        words += re.findall(r"[^\W\d_]{4,}", "\n".join(line for line in text.splitlines() if "you," in line or " · " in line))
        more = re.search(r'"cursor":"(\d+)"', text)
        if not more:
            break
        cursor = more.group(1)
    chance = random.Random(4)
    made = []
    for number in range(count):
        some = [chance.choice(words) for _ in range(1 + number % 4)]
        made.append(" ".join(some) if number % 3 else f"how did we handle the {' '.join(some)}?")
    return made


def figures(name, values, unit):
    values = sorted(values)
    middle, high = statistics.median(values), values[int(len(values) * 0.95) - 1 if len(values) > 20 else -1]
    print(f"{name:34} p50 {middle:8.1f} {unit}   p95 {high:8.1f}   max {values[-1]:8.1f}   ({len(values)})")
    return middle, values[-1]


def measure(opts, home, data):
    subprocess.run([opts.bin, "--home", home, "index", "--quiet"], env={**os.environ, "RECOUNT_DATA_DIR": data, "HOME": home}, check=True, stdout=subprocess.DEVNULL)
    firsts = []
    for _ in range(opts.runs):
        server = Server(opts, home, data)
        firsts.append(server.first)
        server.end()
    with tempfile.TemporaryDirectory() as cold:
        server = Server(opts, home, cold)
        firsts.append(server.first)
        server.child.kill()
        server.child.wait()
    missed = [] if max(firsts) <= GOALS["first"] else ["first answer"]
    figures("first answer", firsts, "ms")
    server = Server(opts, home, data)
    _, took = server.call("search_sessions", {"query": "test"})
    print(f"{'first search':34}     {took:8.1f} ms")
    took, sizes, before = [], [], server.cpu()
    asked = queries(server, opts.queries)
    before = server.cpu()
    for query in asked:
        text, one = server.call("search_sessions", {"query": query})
        took.append(one)
        sizes.append(tokens(text))
    cpu = (server.cpu() - before) / len(asked)
    middle, _ = figures("search_sessions", took, "ms")
    print(f"{'search_sessions, CPU':34} mean {cpu:7.1f} ms")
    if middle > GOALS["search"]:
        missed.append("search_sessions")
    middle, most = figures("search_sessions, tokens", sizes, "tk")
    if middle > GOALS["search tokens"] or most > GOALS["search most"]:
        missed.append("tokens of search_sessions")
    others(server, opts)
    peak = server.memory("VmHWM")
    print(f"{'memory':34} now {server.memory('VmRSS'):8.1f} MB   peak {peak:7.1f}")
    if peak > GOALS["memory"]:
        missed.append("memory")
    server.end()
    return missed


def others(server, opts):
    listed, _ = server.call("list_sessions", {"project": "*", "limit": 30})
    ids = re.findall(r"^\d+ (\S+) · ", listed, re.M)
    calls = {
        "list_sessions": [{"project": "*"}, {"project": "*", "since": "30d"}, {"project": "*", "cursor": "10"}],
        "read_session, story": [{"session": one} for one in ids],
        "read_session, around a message": [{"session": f"{one}:3"} for one in ids],
        "verify_quote": [{"cite": f"{one}:3", "quote": "these words are not there"} for one in ids],
        "usage": [{"by": by, "since": "3650d"} for by in ("day", "project", "model", "session")],
    }
    for name, arguments in calls.items():
        took, sizes = [], []
        for one in arguments[: opts.queries]:
            text, spent = server.call(name.split(",")[0], one)
            took.append(spent)
            sizes.append(tokens(text))
        figures(name, took, "ms")
        figures(f"{name}, tokens", sizes, "tk")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", nargs="?")
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--data", help="keep the index here")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    opts = parser.parse_args()
    opts.bin = os.path.abspath(opts.bin)
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
        home = opts.home and os.path.abspath(opts.home)
        if opts.smoke or not home:
            home = os.path.join(scratch, "home")
            subprocess.run([opts.bin, "testbed", home, "--sessions", "60", "--megabytes", "8", "--quiet"], check=True, stdout=subprocess.DEVNULL)
            opts.queries, opts.runs = min(opts.queries, 30), 2
        missed = measure(opts, home, opts.data or os.path.join(scratch, "data"))
    if missed and not opts.smoke:
        print(f"missed: {', '.join(missed)}")
    return 1 if missed and opts.check else 0


if __name__ == "__main__":
    sys.exit(main())
