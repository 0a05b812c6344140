#!/usr/bin/env python3
"""Compares the answers of two recount binaries on recorded homes: equal except for added fields.

  compare.py --old OLD/recount --new target/release/recount
  compare.py --old OLD/recount --new target/release/recount --text     # terminal output, too
  compare.py --old A --new B --only 0.38.2/06 --verbose HOME...         # some homes only

Homes: all fixtures, every capture of the corpus (RECOUNT_CORPUS, else ../shared/corpus beside the repository), and
the demo home. Exit code 1: there is a difference; 2: nothing could be compared. See README.md.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
from json_diff import Number, compare  # noqa: E402

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOW = "2026-11-16T12:00:00Z"
# Long before now: a file that was written a moment ago is never cached.
WRITTEN = 1_793_491_200
TIMEOUT = 120
AGENT_FOLDERS = (".gemini", ".claude", ".codex")
QUERIES = ["the", "price cart", '"src/cart.js"', "tool:read_file", "in:prompt list", "in:output file", "pri*",
           "shoop~", "/pri[ck]e/", "is:undone", "is:error", "kind:answer -error", "测试", "readFile OR read_file",
           "nothingofthesort"]
STATS = [["--by", side] for side in
         ("day", "week", "month", "hour", "project", "model", "session", "source", "tool", "agent")]


class Failure(Exception):
    """An error that prevents the comparison."""


@dataclass
class Outcome:
    """The result of one home."""

    name: str
    questions: int = 0
    equal: int = 0
    sessions: int = 0
    differences: list = field(default_factory=list)
    added: Counter = field(default_factory=Counter)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    try:
        for binary in (opts.old, opts.new):
            if not shutil.which(binary):
                raise Failure(f"{binary} is not there or cannot be run")
        opts.old, opts.new = (os.path.abspath(shutil.which(path)) for path in (opts.old, opts.new))
        homes = [(name, path) for name, path in all_homes(opts) if opts.only in name]
        if not homes:
            raise Failure("no home to compare on")
        with ProcessPoolExecutor(opts.jobs) as pool:
            outcomes = list(pool.map(compare_home, homes, [opts] * len(homes)))
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    return report(outcomes)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", nargs="*", metavar="HOME", help="compare on these homes instead")
    parser.add_argument("--old", required=True, metavar="BIN", help="the binary that is right")
    parser.add_argument("--new", required=True, metavar="BIN", help="the binary to check")
    parser.add_argument("--text", action="store_true", help="compare the output for people, too: byte by byte")
    parser.add_argument("--only", default="", metavar="PART", help="only homes with this in their name")
    parser.add_argument("--others", action="store_true", help="captures of other agents (corpus-other), too")
    parser.add_argument("--without-corpus", action="store_true", help="fixtures and the demo home only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="homes at a time (one per core)")
    parser.add_argument("--verbose", action="store_true", help="print every home")
    return parser.parse_args()


# --------------------------------------------------------------------------
# Homes
# --------------------------------------------------------------------------

def all_homes(opts):
    """Pairs of name and folder, in a fixed order; a folder of None is the demo home."""
    if opts.homes:
        return [(path, os.path.abspath(path)) for path in opts.homes]
    found = [("demo", None), *below("fixtures", os.path.join(REPOSITORY, "fixtures"))]
    if opts.without_corpus:
        return found
    corpus = os.environ.get("RECOUNT_CORPUS") or os.path.join(os.path.dirname(REPOSITORY), "shared", "corpus")
    captures = below("corpus", corpus)
    if not captures:
        raise Failure(f"{corpus} holds no captures; name it by RECOUNT_CORPUS, or use --without-corpus")
    others = below("corpus-other", os.path.join(os.path.dirname(corpus), "corpus-other")) if opts.others else []
    return found + captures + others


def below(name, top):
    """Every home below a folder: every folder with an agent's folder in it."""
    found = []
    for folder, names, _ in os.walk(top):
        if any(agent in names for agent in AGENT_FOLDERS):
            found.append((os.path.join(name, os.path.relpath(folder, top)), folder))
            names.clear()
    return sorted(found)


def copy_home(source, binary, target, scratch):
    if source is None:
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": scratch, "RECOUNT_NOW": NOW, "TZ": "UTC"}
        done = subprocess.run([binary, "testbed", "--demo", target], env=environment, capture_output=True)
        if done.returncode:
            raise Failure(f"recount testbed --demo ended with {done.returncode}: {done.stderr.decode()}")
    else:
        shutil.copytree(source, target, symlinks=True)
    for folder, _, names in os.walk(target):
        for name in names:
            os.utime(os.path.join(folder, name), (WRITTEN, WRITTEN), follow_symlinks=False)


# --------------------------------------------------------------------------
# One home
# --------------------------------------------------------------------------

def compare_home(home, opts):
    """Runs all queries with both binaries, on the same path with an empty data folder each."""
    name, source = home
    outcome = Outcome(name)
    with tempfile.TemporaryDirectory(prefix="recount-compare-") as scratch:
        os.makedirs(os.path.join(scratch, "config", "recount"))
        with open(os.path.join(scratch, "config", "recount", "config.toml"), "w", encoding="utf-8") as file:
            # Otherwise folders of this machine are searched until the timeout.
            file.write('[projects]\nroots = ["~/code"]\n')
        copy_home(source, opts.old, os.path.join(scratch, "home"), scratch)
        old = ask_all(opts.old, scratch, opts.text)
        new = ask_all(opts.new, scratch, opts.text)
    outcome.sessions = sum(question.startswith("show ") and question.endswith(" --json") for question in old)
    for question in [*old, *(question for question in new if question not in old)]:
        judge(outcome, question, old.get(question), new.get(question))
    return outcome


def judge(outcome, question, old, new):
    outcome.questions += 1
    if old == new:
        outcome.equal += 1
        return
    where = f"{outcome.name}: {question}"
    if old is None or new is None:
        outcome.differences.append(f"{where}: asked of the {'new' if old is None else 'old'} binary only")
        return
    if old[0] != new[0]:
        outcome.differences.append(f"{where}: exit code {old[0]} became {new[0]}")
    if old[1] == new[1]:
        return
    documents = [parse(answer[1]) for answer in (old, new)]
    if None in documents:
        outcome.differences.append(f"{where}: {first_difference(old[1], new[1])}")
        return
    differences, added = compare(*documents)
    outcome.differences += [f"{where}: {line}" for line in differences]
    command = question.split()[0]
    outcome.added.update(f"{command} {path}" for path in added)
    if not differences and not added:
        outcome.differences.append(f"{where}: same values, other bytes: {first_difference(old[1], new[1])}")


def parse(output):
    try:
        return json.loads(output, parse_int=Number, parse_float=Number)
    except ValueError:
        return None


def first_difference(old, new):
    """Both outputs around the first byte that differs."""
    at = next((at for at, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    shown = [repr(text[max(0, at - 20):at + 50].decode(errors="replace")) for text in (old, new)]
    return f"byte {at}: {shown[0]} became {shown[1]}"


def ask_all(binary, scratch, with_text):
    """Answers by query, in the order they were run."""
    shutil.rmtree(os.path.join(scratch, "data"), ignore_errors=True)
    answers = {}

    def ask(*words, note=""):
        answers[" ".join(words) + note] = answer = run(binary, scratch, words)
        return answer

    listed = ask("list", "--all", "--empty", "--json")
    ask("list", "--all", "--empty", "--json", note=" (cached)")
    ask("list", "--all", "--json")
    ask("list", "--all", "--lost", "--json")
    ids = [session.get("id") for session in (parse(listed[1]) or {}).get("sessions", [])]
    for session in dict.fromkeys(ids):
        ask("show", session, "--json")
        ask("show", session, "--view", "strict", "--json")
    for query in QUERIES:
        ask("search", "--json", "--all-hits", "-n", "200", "--", query)
    ask("search", "--json", "--no-index", "--", QUERIES[1])
    ask("stats", "--all", "--json")
    for side in STATS:
        ask("stats", "--all", *side, "--json")
    ask("stats", "--all", "--context", "--json")
    ask("stats", "--all", "--explain", "--json")
    ask("projects", "--json")
    ask("projects", "--evidence", "--parts", "--json")
    ask("guard", "--json")
    ask("guard", "--release", "0.60.0", "--json")
    ask("guard", "--release", "0.43.0", "--json")
    if with_text:
        ask_for_text(ask, dict.fromkeys(ids))
    return answers


def ask_for_text(ask, ids):
    ask("list", "--all", "--empty")
    for session in ids:
        ask("show", session)
        ask("show", session, "--level", "all", "--thoughts", "--color", "always")
        ask("export", session, "--format", "html", "-o", "-")
        ask("export", session, "--format", "md", "-o", "-")
    ask("search", "--", QUERIES[0])
    ask("stats", "--all")
    ask("projects")
    ask("guard")


def run(binary, scratch, words):
    """Exit code and output of one query. The home is also the user's own, so that nothing else is read."""
    home = os.path.join(scratch, "home")
    environment = {"PATH": "/usr/bin:/bin", "HOME": home, "RECOUNT_DATA_DIR": os.path.join(scratch, "data"),
                   "XDG_CONFIG_HOME": os.path.join(scratch, "config"), "RECOUNT_NOW": NOW, "TZ": "UTC", "LANG": "C.UTF-8",
                   "RECOUNT_WIDTH": "100", "NO_COLOR": "" if "--color" in words else "1"}
    try:
        done = subprocess.run([binary, *words], env=environment, cwd=scratch, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Failure(f"{binary} {' '.join(words)}: no answer in {TIMEOUT} s") from None
    return done.returncode, done.stdout


def report(outcomes):
    differing = [outcome for outcome in outcomes if outcome.differences]
    for outcome in differing:
        for line in outcome.differences:
            print(f"DIFFERENT {line}")
    added = sum((outcome.added for outcome in outcomes), Counter())
    if added:
        print("\nadded fields:")
        for path, count in sorted(added.items()):
            print(f"  {path} ({count} times)")
    total = lambda name: sum(getattr(outcome, name) for outcome in outcomes)
    print(f"\n{len(outcomes)} homes, {total('sessions')} conversations, {total('questions')} questions: {total('equal')} byte-equal, "
          f"{sum(len(outcome.differences) for outcome in outcomes)} differences in {len(differing)} homes, "
          f"{len(added)} fields added")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
