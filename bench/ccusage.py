#!/usr/bin/env python3
"""Compares the token sums of recount with those of ccusage on a home of Claude Code and Codex CLI, and explains every difference.

  bench/ccusage.py [--program PATH] [--ccusage PATH] HOME

Per agent: our sum, theirs, what `stats --compare` says, and the same difference by the rules of ccusage 20.0.24, counted here from the
files. Exit code 1 when something is left that no rule explains.
"""

import argparse
import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile

FIGURES = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/recount")
    parser.add_argument("--ccusage", default="ccusage")
    parser.add_argument("home")
    opts = parser.parse_args()
    left = 0
    for agent, rules in (("claude", claude_rules), ("codex", codex_rules)):
        compared = compare(opts, agent)
        ours, theirs = compared["tokens"], compared["their_tokens"]
        print(f"{agent}: {ours:,} here, {theirs:,} theirs, {theirs - ours:+,}")
        print(f"  stats --compare: {'; '.join(compared['why']) or 'the same'}")
        rest = theirs - ours
        for name, count, tokens in rules(opts.home):
            print(f"  {tokens:+,}: {name} ({count:,})")
            rest -= tokens
        print(f"  not explained: {rest:+,}")
        left += abs(rest)
    return 1 if left else 0


def compare(opts, agent):
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
        env = {"PATH": os.environ["PATH"], "HOME": os.path.abspath(opts.home), "TZ": "UTC", "RECOUNT_DATA_DIR": scratch}
        report = subprocess.run([opts.ccusage, agent, "daily", "--json", "--offline"], env=env, check=True,
                                stdout=subprocess.PIPE).stdout
        asked = [opts.program, "--home", opts.home, "stats", "--all", "--utc", "--json", "--source", agent, "--compare", "-"]
        answer = subprocess.run(asked, env=env, input=report, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(answer)["total"]


def rows(path, word):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if word in line:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue


def claude_rules(home):
    """Answers without a request id are counted once per file, not once."""
    copies = {}
    for path in glob.iglob(os.path.join(home, ".claude/projects/**/*.jsonl"), recursive=True):
        for row in rows(path, '"usage"'):
            message = row.get("message")
            if isinstance(message, dict) and isinstance(message.get("usage"), dict) and not row.get("requestId"):
                used = [message["usage"].get(name) or 0 for name in FIGURES]
                key = path, message.get("id")
                copies[key] = [max(pair) for pair in zip(copies.get(key, used), used)]
    used = [sum(figures) for figures in copies.values() if any(figures)]
    yield "copied answers that lost their request id, counted again in each file", len(used), sum(used)


def codex_rules(home):
    """Compressed threads are not read; a sub-agent whose first counts come within a second is taken for a copy."""
    with open(os.path.join(home, "manifest.json"), encoding="utf-8") as file:
        sessions = [s for s in json.load(file)["sessions"] if s["agent"] == "codex"]
    total = lambda some: -sum(session["own"]["tokens"]["total"] for session in some)
    packed = [s for s in sessions if all(file["path"].endswith(".zst") for file in s["files"])]
    yield "compressed threads, not read", len(packed), total(packed)
    quick = [s for s in sessions if s["kind"] == "subagent" and s not in packed and is_quick(home, s)]
    yield "sub-agents whose counts all come within a second, taken for copies", len(quick), total(quick)


def is_quick(home, session):
    times = []
    for row in rows(os.path.join(home, session["files"][0]["path"]), '"token_count"'):
        if row.get("payload", {}).get("type") == "token_count" and row["payload"].get("info"):
            times.append(datetime.datetime.fromisoformat(row["timestamp"].replace("Z", "+00:00")))
    return len(times) > 1 and (times[-1] - times[0]).total_seconds() < 1


if __name__ == "__main__":
    sys.exit(main())
