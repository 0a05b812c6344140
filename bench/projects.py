#!/usr/bin/env python3
"""Measures how fast recount finds the folders of hashed project names, beside a walk in Python.

  projects.py --bin target/release/recount [--out DIR] [--check]
  projects.py --bin target/release/recount --smoke

A tree of folders and a home with projects in it are made once per --out and used again. See README.md.
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
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

FULL = {"folders": 100_000, "projects": 500}
SMOKE = {"folders": 2_000, "projects": 20}
LEAST_RATIO = 3.0
MOST_SECOND_MS = 30.0
TIME = shutil.which("time") or "/usr/bin/time"
# Raised whenever the same arguments would generate a different tree or home.
RECIPE = 1

# Of 1000 folders, how many are at depth 1, 2, … 8.
DEPTHS = [1, 8, 40, 120, 215, 255, 215, 146]
WORDS = """
    account admin alpha api apps archive article asset atlas audio auth backend basic billing blog board
    book bridge campaign canvas catalog chapter chart client cloud code command common compiler config
    contact content core course customer data demo design device docs domain draft editor email engine
    event example export feature field filter finance font form frontend game garden graph guide handler
    harbor helper history hook image import index input invoice journal kernel language layout ledger
    lesson letter license mailbox manual market media menu metric mobile model module monitor
    music network notes office order package page parser payment photo planner platform player plugin
    policy portal print product profile project query queue recipe record release report research review
    router sample schema school script search server service session shop sketch source stage static
    storage store style summary support survey syntax table team template theme thesis ticket
    timer tools travel tutorial unit upload user utility video view wallet weather web widget window
    worker workshop writer café año straße 東京
""".split()
# Folders that neither side reads: hidden ones, and these.
SKIPPED = ["node_modules", "target", "__pycache__", "cache", "caches"]
# Folders that tools create, with their contents: not counted, never a project.
LEFTOVERS = {
    ".git": ["hooks", "info", "logs/refs/heads", "objects/info", "objects/pack", "objects/{x}{y}",
             "objects/{y}{x}", "refs/heads", "refs/tags"],
    "node_modules": ["{a}/dist", "{a}/lib/{b}", "{b}/src/{c}", "{c}", "@{d}/{a}/dist", "@{d}/{b}/types",
                     "{a}-{b}/lib", "{b}-{c}/lib", "{c}-{d}/node_modules/{a}", "{d}-{a}/dist/{b}", ".bin"],
    "target": ["debug/build/{a}-{x}{y}", "debug/deps", "debug/incremental/{b}-{y}{x}", "debug/examples"],
    "__pycache__": [],
    ".cache": ["{a}/{x}", "{a}/{y}", "{b}"],
    "cache": ["{x}", "{y}"],
}
LEFTOVERS_PER_FOLDER = 0.25
FILE_IN_FOLDER = 0.05

BASELINE = """
import hashlib, json, os, sys, time
tree, tmp, skipped = sys.argv[1], sys.argv[2], frozenset(sys.argv[3:])
began = time.perf_counter()
wanted = set(os.listdir(tmp))
folders, found = 0, {}
for folder, names, _ in os.walk(tree):
    names[:] = [name for name in names if not name.startswith(".") and name not in skipped]
    folders += 1
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()
    if digest in wanted:
        found[digest] = folder
seconds = time.perf_counter() - began
print(json.dumps({"folders": folders, "found": found, "seconds": seconds}))
"""


@dataclass
class Place:
    """The generated tree and home: paths, and the folder of each hash."""

    out: str
    folders: int
    leftovers: int
    expected: dict

    @property
    def tree(self):
        return os.path.join(self.out, "tree")

    @property
    def home(self):
        return os.path.join(self.out, "home")

    @property
    def empty_home(self):
        return os.path.join(self.out, "empty-home")


@dataclass
class Result:
    """The best of several runs; memory is the worst of them."""

    wall: float
    cpu: float
    rss_mb: float


class Failure(Exception):
    """An error that prevents the measurement."""


class Wrong(Exception):
    """A wrong answer."""


def main():
    opts = arguments()
    try:
        if not shutil.which(opts.bin):
            raise Failure(f"{opts.bin} is not there or cannot be run")
        place = made_place(opts)
        print(f"\n## {place.folders} folders, {place.leftovers} more to skip, "
              f"{len(place.expected)} projects\n")
        is_fine = report(*measure(opts, place), has_goals=not opts.smoke)
    except Wrong as wrong:
        print(f"WRONG {wrong}", file=sys.stderr)
        return 1
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    return 1 if opts.check and not is_fine else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--runs", "-n", type=int, default=5, help="number of runs; the best one counts (5)")
    parser.add_argument("--out", metavar="DIR",
                        help="where tree and home are made, unless they are there (a folder among the "
                             "temporary ones)")
    parser.add_argument("--folders", type=int, help=f"folders in the tree ({FULL['folders']})")
    parser.add_argument("--projects", type=int, help=f"how many are projects ({FULL['projects']})")
    parser.add_argument("--seed", type=int, default=1, help="another seed makes another tree (1)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--smoke", action="store_true",
                        help=f"{SMOKE['folders']} folders, {SMOKE['projects']} projects, no goals")
    opts = parser.parse_args()
    sizes = SMOKE if opts.smoke else FULL
    opts.folders = sizes["folders"] if opts.folders is None else opts.folders
    opts.projects = sizes["projects"] if opts.projects is None else opts.projects
    if opts.runs < 1 or not 1 <= opts.projects <= opts.folders or opts.folders < len(DEPTHS):
        parser.error(f"at least one run, {len(DEPTHS)} folders and one project are needed, "
                     "and no more projects than folders")
    return opts


# --------------------------------------------------------------------------
# The tree and the home
# --------------------------------------------------------------------------

def made_place(opts):
    """Creates tree and home, unless they exist."""
    name = f"recount-bench-projects-{opts.folders}-{opts.projects}-{opts.seed}"
    # Gemini CLI hashes the real path, so no part of it may be a link.
    out = os.path.realpath(opts.out or os.path.join(tempfile.gettempdir(), name))
    # The absolute path is part of every hash: a tree that was moved is another one.
    recipe = {"recipe": RECIPE, "out": out, "folders": opts.folders, "projects": opts.projects,
              "seed": opts.seed}
    note = os.path.join(out, "made.json")
    try:
        with open(note, encoding="utf-8") as file:
            made = json.load(file)
        if made["recipe"] != recipe:
            raise Failure(f"{out} was made with other arguments, or elsewhere; "
                          "remove it or give another --out")
    except FileNotFoundError:
        if os.path.isdir(out) and os.listdir(out):
            raise Failure(f"{out} holds something that is not finished or not ours; "
                          "remove it or give another --out") from None
        print(f"making {out} …", file=sys.stderr)
        made = {"recipe": recipe, **make(opts, out)}
        with open(note, "w", encoding="utf-8") as file:
            json.dump(made, file, indent=1)
    return Place(out, opts.folders, made["leftovers"], made["expected"])


def make(opts, out):
    """Generates everything; the same arguments give the same result."""
    rng = random.Random(opts.seed)
    tree = os.path.join(out, "tree")
    os.makedirs(tree)
    os.makedirs(os.path.join(out, "empty-home"))
    folders = make_folders(rng, tree, opts.folders)
    leftovers = make_leftovers(rng, folders, round(opts.folders * LEFTOVERS_PER_FOLDER))
    # In the order of the paths, so that every n-th is evenly spread.
    folders.sort()
    step = len(folders) / opts.projects
    chosen = [folders[int((number + 0.5) * step)] for number in range(opts.projects)]
    expected = {hashlib.sha256(os.fsencode(path)).hexdigest(): path for path in chosen}
    for number, digest in enumerate(expected):
        make_session(rng, os.path.join(out, "home"), digest, number)
    return {"leftovers": leftovers, "expected": expected}


def make_folders(rng, tree, count):
    """Creates `count` folders level by level and returns their paths; some have a small file."""
    above, every, taken = [tree], [], {}
    for number in level_sizes(count):
        level = []
        for _ in range(number):
            # Few folders have many children, and many have none.
            parent = above[int(len(above) * rng.random() ** 1.7)]
            name = fresh_name(rng, taken.setdefault(parent, set()))
            path = os.path.join(parent, name)
            os.mkdir(path)
            level.append(path)
            if rng.random() < FILE_IN_FOLDER:
                make_file(rng, path)
        every += level
        rng.shuffle(level)
        above = level
    return every


def level_sizes(count):
    """The number of folders at each depth, at least one."""
    sizes = [max(1, count * share // sum(DEPTHS)) for share in DEPTHS]
    widest = sizes.index(max(sizes))
    sizes[widest] += count - sum(sizes)
    return sizes


def fresh_name(rng, taken):
    """A name that the parent does not have yet, ignoring case."""
    while True:
        name, kind = rng.choice(WORDS), rng.random()
        if kind < 0.45:
            name += rng.choice("--_. ") + rng.choice(WORDS)
        elif kind < 0.6:
            name += f"{rng.choice(['', '-', '-v'])}{rng.randint(1, 99)}"
        elif kind < 0.65:
            name = name.capitalize()
        if name.casefold() not in taken:
            taken.add(name.casefold())
            return name


def make_file(rng, folder):
    name = rng.choice(["README.md", "index.ts", "main.py", "notes.txt", "package.json", "Makefile"])
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(" ".join(rng.choices(WORDS, k=rng.randint(5, 60))) + "\n")


def make_leftovers(rng, folders, wanted):
    """Adds folders of tools to some folders, about `wanted` in total; returns their number."""
    made = 0
    while made < wanted:
        top = os.path.join(rng.choice(folders), rng.choice(list(LEFTOVERS)))
        if os.path.exists(top):
            continue
        a, b, c, d = rng.sample(WORDS, 4)
        x, y = rng.sample("0123456789abcdef", 2)
        os.mkdir(top)
        inside = set()
        for pattern in LEFTOVERS[os.path.basename(top)]:
            path = os.path.join(top, pattern.format(a=a, b=b, c=c, d=d, x=x, y=y))
            os.makedirs(path, exist_ok=True)
            while path != top:
                inside.add(path)
                path = os.path.dirname(path)
        made += 1 + len(inside)
    return made


def make_session(rng, home, digest, number):
    """One session of Gemini CLI, as 0.10 wrote it, with no path in its text."""
    new_id = lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4))
    began = datetime(2025, 9, 1, tzinfo=timezone.utc) + timedelta(
        minutes=37 * number, milliseconds=rng.randint(0, 59_999))
    ended = began + timedelta(milliseconds=rng.randint(900, 9_000))
    stamp = lambda moment: moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    session, thing, price = new_id(), rng.choice(WORDS), rng.randint(2, 90)
    prompt, answer = rng.randint(500, 9_000), rng.randint(5, 300)
    document = {
        "sessionId": session,
        "projectHash": digest,
        "startTime": stamp(began),
        "lastUpdated": stamp(ended),
        "messages": [
            {"id": new_id(), "timestamp": stamp(began), "type": "user",
             "content": f"What does one {thing} cost?"},
            {"id": new_id(), "timestamp": stamp(ended), "type": "gemini",
             "content": f"One {thing} costs {price} coins.", "thoughts": [],
             "tokens": {"input": prompt, "output": answer, "cached": 0, "thoughts": 0, "tool": 0,
                        "total": prompt + answer},
             "model": "gemini-2.5-pro"},
        ],
    }
    chats = os.path.join(home, ".gemini", "tmp", digest, "chats")
    os.makedirs(chats)
    name = f"session-{began:%Y-%m-%dT%H-%M}-{session[:8]}.json"
    with open(os.path.join(chats, name), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2, ensure_ascii=False)


# --------------------------------------------------------------------------
# The runs
# --------------------------------------------------------------------------

def measure(opts, place):
    """Runs Python, recount with --scan, and recount again with the cached result; each answer is checked."""
    recount = [os.path.abspath(shutil.which(opts.bin)), "--home", place.home, "projects", "--json"]
    python, scan, second = [], [], []
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
        walk(place, scratch)  # so that the first measured run finds warm caches, as all others do
        for number in range(opts.runs):
            python.append(walk(place, scratch))
            data = os.path.join(scratch, f"data-{number}")
            result, output = run([*recount, "--scan", place.tree], place, scratch, data)
            compare(place, output, "recount projects --scan")
            scan.append(result)
        for _ in range(opts.runs):
            result, output = run(recount, place, scratch, data)
            compare(place, output, "recount projects, second run")
            second.append(result)
    return best(python), best(scan), best(second)


def walk(place, scratch):
    """The baseline. Its time is that of the walk alone, without the start of the interpreter."""
    # -I -S: only explicit imports.
    command = [sys.executable, "-I", "-S", "-c", BASELINE, place.tree,
               os.path.join(place.home, ".gemini", "tmp"), *SKIPPED]
    result, output = run(command, place, scratch, os.path.join(scratch, "unused"))
    answer = json.loads(output)
    # The tree's own folder is walked, too.
    if answer["folders"] != place.folders + 1 or answer["found"] != place.expected:
        raise Failure(f"{place.out} is not as it was made: {answer['folders'] - 1} folders and "
                      f"{len(answer['found'])} projects found; remove it")
    return Result(answer["seconds"], result.cpu, result.rss_mb)


def run(command, place, scratch, data):
    """Runs the command once, with a clean environment; returns its cost and its output."""
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    env = {**keep, "HOME": place.empty_home, "NO_COLOR": "1", "RECOUNT_DATA_DIR": data}
    memory, printed, said = (os.path.join(scratch, name) for name in ("rss", "stdout", "stderr"))
    # Through time(1): a direct child would start with the peak memory of this interpreter.
    timed = [TIME, "-q", "-f", "%M", "-o", memory] if os.path.exists(TIME) else []
    with open(printed, "wb") as stdout, open(said, "wb") as stderr:
        began = time.perf_counter()
        # Not below the tree: recount treats the current folder as a candidate.
        child = subprocess.Popen([*timed, *command], env=env, cwd=place.empty_home,
                                 stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        with open(said, encoding="utf-8", errors="replace") as file:
            raise Failure(f"{' '.join(command)} ended with {child.returncode}\n{file.read().rstrip()}")
    kilobytes = usage.ru_maxrss
    if timed:
        with open(memory, encoding="ascii") as file:
            kilobytes = int(file.read().split()[-1])
    with open(printed, encoding="utf-8") as file:
        return Result(wall, usage.ru_utime + usage.ru_stime, kilobytes / 1024), file.read()


def compare(place, output, what):
    """Every project must be listed once, with the right path and a proof of it."""
    try:
        document = json.loads(output)
    except ValueError as error:
        raise Wrong(f"{what}: no JSON: {error}") from None
    if document.get("schema") != "recount.projects/1":
        raise Failure(f"{what}: printed schema {document.get('schema')!r}")
    rows = document["projects"]
    by_hash = {row["hash"]: row for row in rows}
    wrong = []
    for digest, path in place.expected.items():
        row = by_hash.get(digest)
        if row is None:
            wrong.append(f"{digest}: not listed")
        elif row["path"] != path:
            wrong.append(f"{digest}: path {row['path']!r} instead of {path!r}")
        elif not any(clue["proves"] for clue in row["evidence"]):
            wrong.append(f"{digest}: {path!r} is right, but not proven")
    if len(rows) != len(place.expected):
        wrong.append(f"{len(rows)} projects listed instead of {len(place.expected)}")
    if wrong:
        more = [f"… and {len(wrong) - 20} more"] if len(wrong) > 20 else []
        raise Wrong("\n  ".join([f"{what}: {len(wrong)} wrong", *wrong[:20], *more]))


def best(runs):
    return Result(min(r.wall for r in runs), min(r.cpu for r in runs), max(r.rss_mb for r in runs))


# --------------------------------------------------------------------------
# Results
# --------------------------------------------------------------------------

def report(python, scan, second, has_goals):
    """Prints the table and the goals; returns whether they are reached."""
    print("| command | wall s | CPU s | peak MB |")
    print("|---|---:|---:|---:|")
    for name, result in (("Python: `os.walk` and `sha256`", python),
                         ("`recount projects --scan`", scan),
                         ("`recount projects`, second run", second)):
        print(f"| {name} | {result.wall:.4f} | {result.cpu:.4f} | {result.rss_mb:.1f} |")
    ratio, milliseconds = python.wall / scan.wall, second.wall * 1e3
    print("\npaths: all right and proven, in every run")
    lines = [(f"ratio Python/scan: {ratio:.2f}", f"at least {LEAST_RATIO:g}", ratio >= LEAST_RATIO, "TOO LOW"),
             (f"second run: {milliseconds:.1f} ms", f"at most {MOST_SECOND_MS:g} ms",
              milliseconds <= MOST_SECOND_MS, "TOO HIGH")]
    for value, goal, is_right, verdict in lines:
        print(f"\n{value}" + (f", {goal} wanted{'' if is_right else f': {verdict}'}" if has_goals else ""))
    return not has_goals or all(is_right for _, _, is_right, _ in lines)


if __name__ == "__main__":
    sys.exit(main())
