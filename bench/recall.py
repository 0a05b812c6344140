#!/usr/bin/env python3
"""Plants known facts in sessions of every era, and checks that search finds each of them and nothing else.

  recall.py --bin target/release/recount
  recall.py --bin target/release/recount --smoke        # from scratch only, without the round of growth

Prints recall and false hits; exit code 1 when there is a miss, a false hit, or a hit that points to the wrong
place. The facts are in recall_facts.py. See README.md.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
from recall_facts import FACTS, FATES, PLACES, ROTATION  # noqa: E402
from recall_sessions import ERAS, Book  # noqa: E402

# How a query is run: every hit, or the best of each session; all that can be shown must be found.
WAYS = {
    "all": ["--all-hits", "--limit", "1000"],
    "best": ["--limit", "40"],
    "newest": ["--limit", "40", "--sort", "time"],
    "few": ["--all-hits", "--limit", "5"],
    "few, newest": ["--all-hits", "--limit", "5", "--sort", "time"],
}
LONG_AGO = 3600  # seconds; the catalog does not trust a file that was written just now


class Failure(Exception):
    """An error that prevents the check."""


@dataclass
class Wanted:
    """What one query must find: messages, or any message of some sessions."""

    fact: str
    query: str
    messages: set = field(default_factory=set)
    sessions: set = field(default_factory=set)
    fate: str = "kept"
    shows: bool = True
    way: str = "all"


@dataclass
class Score:
    """The results of all queries."""

    wanted: int = 0
    found: int = 0
    queries: int = 0
    faults: list = field(default_factory=list)
    false_hits: int = 0
    failed: set = field(default_factory=set)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    try:
        if not shutil.which(opts.bin):
            raise Failure(f"{opts.bin} is not there or cannot be run")
        with tempfile.TemporaryDirectory(prefix="recount-recall-", dir=opts.out) as scratch:
            is_fine = check(opts, os.path.realpath(scratch))
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    return 0 if is_fine else 1


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--out", metavar="DIR", help="where homes are made (among the temporary folders)")
    parser.add_argument("--smoke", action="store_true", help="from scratch only, without the round of growth")
    parser.add_argument("--only", default="", metavar="FACT", help="only facts whose name has this in it")
    parser.add_argument("--verbose", action="store_true", help="print every query")
    return parser.parse_args()


def check(opts, scratch):
    """Both rounds: everything at once, and logs that grew after they were indexed."""
    is_fine = True
    for name in ["from scratch"] + ([] if opts.smoke else ["grown"]):
        home = os.path.join(scratch, name.replace(" ", "-"))
        made = subprocess.run([opts.bin, "testbed", home, "--demo"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        if made.returncode:
            raise Failure(f"recount testbed {home} ended with {made.returncode}")
        book, wanted = planted(home)
        run = Runner(opts, home, os.path.join(scratch, "data-" + name.replace(" ", "-")))
        if name == "grown":
            for part in (0.34, 0.67):
                book.write(part)
                set_back(home)
                run.index()
        book.write()
        set_back(home)
        run.index()
        score = Score()
        for want in wanted:
            # One way is enough for grown logs, and for failures of the first.
            is_needed = want.way == "all" or name != "grown" and (want.fact, want.query) not in score.failed
            if is_needed and opts.only in want.fact:
                before = len(score.faults)
                judge(run, want, score)
                if want.way == "all" and len(score.faults) > before:
                    score.failed.add((want.fact, want.query))
        is_fine &= report(name, score)
    return is_fine


def set_back(home):
    """Sets the modification times of all files to a while ago, in order."""
    when = time.time() - LONG_AGO + time.monotonic() % 600
    for folder, _, names in os.walk(os.path.join(home, ".gemini")):
        for name in names:
            os.utime(os.path.join(folder, name), (when, when))


# --------------------------------------------------------------------------
# Planting
# --------------------------------------------------------------------------

def planted(home):
    """Adds every fact to its sessions; returns the sessions, and the expected results."""
    book, wanted = Book(home), []
    for number, fact in enumerate(FACTS):
        messages = set()
        for turn, place in enumerate(fact.places or ROTATION):
            era = ERAS[(number + turn) % len(ERAS)]
            messages.add(book.add(era, number // 12, place, fact.text))
        wanted += wants(fact, messages=messages)
    for place in PLACES:
        for era in ERAS:
            fact = place.fact(era)
            if place.name == "title":
                wanted += wants(fact, sessions={book.titled(era, fact.text)})
            else:
                wanted += wants(fact, messages={book.add(era, 90, place.name, fact.text)})
    for fate in FATES:
        messages = {book.add_undone(fate.name, fate.fact.text)}
        wanted += wants(fate.fact, messages=messages, fate=fate.fate)
    return book, wanted


def wants(fact, **where):
    """Every query is run for all hits; the first one of a fact, and phrases, also in the other ways."""
    found = [Wanted(fact.name, query, shows=not query.startswith("/"), way=way, **where)
             for number, query in enumerate(fact.finds)
             for way in WAYS if way == "all" or number == 0 or query.startswith('"')]
    return found + [Wanted(fact.name, query) for query in fact.misses]


# --------------------------------------------------------------------------
# Searching
# --------------------------------------------------------------------------

class Runner:
    """Runs recount on one home with a separate data folder."""

    def __init__(self, opts, home, data):
        self.opts, self.home = opts, home
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.env = {**keep, "HOME": home, "NO_COLOR": "1", "TZ": "UTC", "RECOUNT_DATA_DIR": data}

    def run(self, *arguments):
        done = subprocess.run([self.opts.bin, "--home", self.home, *arguments], env=self.env,
                              capture_output=True, timeout=600)
        said = done.stderr.decode("utf-8", "replace")
        if "panicked" in said:
            raise Failure(f"recount {' '.join(arguments)} panicked:\n{said}")
        return done.returncode, done.stdout, said

    def index(self):
        code, _, said = self.run("index")
        if code:
            raise Failure(f"recount index ended with {code}: {said}")

    def search(self, query, way):
        code, printed, said = self.run("search", "--json", *WAYS[way], "--", query)
        if code not in (0, 1):
            return None, f"ended with {code}: {said.strip()}"
        return json.loads(printed), None


def judge(run, want, score):
    """Runs one query and compares its hits with the planted facts."""
    score.queries += 1
    shown = want.query if len(want.query) < 80 else want.query[:79] + "…"
    fault = lambda text: score.faults.append(f"{want.fact}: {shown} ({want.way}): {text}")
    answer, error = run.search(want.query, want.way)
    if error:
        score.wanted += len(want.messages) + len(want.sessions)
        return fault(error)
    hits = answer["hits"]
    if answer["relaxed"] and (want.messages or want.sessions):
        fault("found only some of the words")
    is_ours = lambda hit: hit["message_id"] in want.messages or hit["session"]["id"] in want.sessions
    found = {hit["message_id"] for hit in hits} & want.messages
    if want.way != "all" and len(found) >= most(want):
        found = set(want.messages)  # as many as can be
    found |= {hit["session"]["id"] for hit in hits} & want.sessions
    score.wanted += len(want.messages) + len(want.sessions)
    score.found += len(found)
    for lost in sorted((want.messages | want.sessions) - found):
        fault(f"MISSED {lost}")
    for hit in hits:
        if not is_ours(hit) and not answer["relaxed"]:
            score.false_hits += 1
            fault(f"FALSE HIT {hit['message_id']} [{hit['field']}] {hit['snippet']!r}")
        elif is_ours(hit):
            for wrong in faults_of(run, hit, want):
                fault(f"{hit['message_id']} [{hit['field']}]: {wrong}")
    if len({(h["session"]["id"], h["message_id"]) for h in hits}) != len(hits):
        fault("the same message twice")
    if answer["is_exact"] and answer["total"] != len(hits) and want.way == "all":
        fault(f"total {answer['total']} for {len(hits)} hits")
    if run.opts.verbose:
        print(f"{len(hits):4} {want.fact}: {want.query}")


def most(want):
    """The number of messages that can be shown: one of each session, or as many as requested."""
    if want.way in ("best", "newest"):
        return len({session_of(message) for message in want.messages})
    return min(5, len(want.messages))


def faults_of(run, hit, want):
    """The faults of a hit of the right message: location, snippet, highlights, fate."""
    try:
        with open(hit["where"]["file"], "rb") as file:
            file.seek(hit["where"]["offset"])
            record = json.loads(file.read(hit["where"]["bytes"]))
        if record.get("id") != hit["message_id"]:
            yield f"`where` holds {record.get('id')}"
    except (OSError, ValueError) as error:
        yield f"`where` cannot be read: {error}"
    if not want.sessions and not session_of(hit["message_id"]) == hit["session"]["id"]:
        yield f"session {hit['session']['id']}"
    if hit["fate"] != want.fate:
        yield f"fate {hit['fate']} instead of {want.fate}"
    snippet = (hit["snippet"] or "").encode()
    end = -1
    for start, stop in hit["highlights"]:
        if not end < start < stop <= len(snippet):
            yield f"highlights {hit['highlights']} of {len(snippet)} bytes"
        end = stop
    try:
        marked = [snippet[start:stop].decode() for start, stop in hit["highlights"]]
    except UnicodeDecodeError:
        yield f"highlights {hit['highlights']} cut characters"
        return
    if not marked:
        yield f"nothing is highlighted in {hit['snippet']!r}"
    elif want.shows and not any(folded(word) and folded(word) in folded("".join(marked))
                                for word in words(want.query)):
        yield f"highlighted is {marked!r}"


def session_of(message):
    """Names planted messages by their session."""
    return message.rsplit(".", 1)[0]


def words(query):
    """The words of a query without its operators, or their first letters for prefixes and fuzzy words."""
    for word in query.replace("(", " ").replace(")", " ").split():
        if word in ("AND", "OR", "NOT") or word.startswith(("in:", "kind:", "fate:", "is:", "tool:", "-")):
            if not word.startswith("--"):
                continue
        if ":" in word and word.split(":")[0] in ("file", "model"):
            word = word.split(":", 1)[1]
        yield word.rstrip("*") if "~" not in word else word[:4]


def folded(text):
    """Only letters and digits, without case, accents and variant forms."""
    text = unicodedata.normalize("NFKD", text.replace("ß", "ss")).casefold()
    plain = (c for c in text if c.isalnum() or unicodedata.category(c) == "Mc")
    return unicodedata.normalize("NFC", "".join(plain))


def report(name, score):
    print(f"\n## {name}: {len(FACTS)} facts in text, {len(PLACES)} places, {len(FATES)} fates\n")
    for fault in score.faults[:80]:
        print(f"WRONG {fault}")
    if len(score.faults) > 80:
        print(f"… and {len(score.faults) - 80} more")
    recall = score.found / score.wanted if score.wanted else 1
    print(f"{score.queries} queries, recall {recall:.4f} ({score.found} of {score.wanted}), "
          f"{score.false_hits} false hits, {len(score.faults)} faults")
    return not score.faults


if __name__ == "__main__":
    sys.exit(main())
