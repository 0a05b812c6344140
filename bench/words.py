"""Words of a home to search for, for search.py and kill.py: the same home and seed give the same queries."""

import json
import os
import random
import re
from collections import Counter

# The maximum number of files that are read, and their maximum size.
FILES, BYTES = 150, 2_000_000
WORD = re.compile(r"\b[a-z]{4,14}\b")
NAME = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z]+)+)\b")
DENSE = re.compile("[\u4e00-\u9fff]{2,}")
ROW = re.compile(r"[A-Za-z]{2,} [A-Za-z]{3,} [A-Za-z]{2,}")
FIELDS = ["in:prompt {}", "in:answer {}", "in:output {}", "kind:answer {}", "{} -is:error", "{} after:2020-01-01",
          "tool:read_file {}", "{} fate:kept"]
CLASSES = ["rare", "common", "phrase", "prefix", "Chinese", "name whole", "name in parts", "field", "two words",
           "fuzzy"]


def session_files(home):
    """Every session file of the home, in a fixed order."""
    found = []
    for folder, _, names in os.walk(os.path.join(home, ".gemini", "tmp")):
        if "chats" in folder.split(os.sep):
            found += [os.path.join(folder, name) for name in names if name.endswith((".json", ".jsonl"))]
    return sorted(found)


def said(path):
    """The texts of prompts and answers, and the arguments of tools, of one file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        content = file.read()
    if path.endswith(".json"):
        records = json.loads(content).get("messages", [])
    else:
        records = [json.loads(line) for line in content.splitlines() if line.startswith('{"id"')]
    for record in records:
        body = record.get("content") or ""
        yield body if isinstance(body, str) else " ".join(part.get("text", "") for part in body)
        for call in record.get("toolCalls") or []:
            yield " ".join(value for value in call.get("args", {}).values() if isinstance(value, str))


def vocabulary(home, rng):
    """The number of messages with each word, name, run of Chinese and sequence of three words."""
    files = [path for path in session_files(home) if os.path.getsize(path) <= BYTES] or session_files(home)[:1]
    counts = {kind: Counter() for kind in ("word", "name", "dense", "row")}
    for path in rng.sample(files, min(FILES, len(files))):
        for text in said(path):
            counts["word"].update(set(WORD.findall(text)))
            counts["name"].update(set(NAME.findall(text)))
            counts["dense"].update({run[at:at + 2] for run in DENSE.findall(text) for at in range(len(run) - 1)})
            counts["row"].update(set(ROW.findall(text)))
    return {kind: [word for word, _ in sorted(count.items(), key=lambda item: (-item[1], item[0]))]
            for kind, count in counts.items()}


def queries(home, count, seed=1):
    """Pairs of class and query, in a mixed order; classes for which the home has no words are skipped."""
    rng = random.Random(seed)
    known = vocabulary(home, rng)
    common, rare = known["word"][:60], known["word"][len(known["word"]) // 2:]
    made = []
    for number in range(count):
        kind = CLASSES[number % len(CLASSES)]
        query = one(rng, kind, known, common, rare)
        if query:
            made.append((kind, query))
    rng.shuffle(made)
    return made


def one(rng, kind, known, common, rare):
    """One query of a class, or none."""
    pick = lambda words: rng.choice(words) if words else None
    name, row = pick(known["name"]), pick(known["row"])
    split = name and re.sub(r"([A-Z])", r"_\1", name).lower().split("_")
    return {
        "rare": pick(rare),
        "common": pick(common),
        "phrase": row and f'"{row}"',
        "prefix": rare and pick(rare)[:rng.randint(3, 4)] + "*",
        "Chinese": pick(known["dense"]),
        "name whole": name,
        "name in parts": split and " ".join(split),
        "field": rng.choice(FIELDS).format(pick(common)),
        "two words": f"{pick(common)} {pick(common if rng.random() < 0.5 else rare)}",
        "fuzzy": rare and swapped(rng, pick(rare)) + "~",
    }[kind]


def swapped(rng, word):
    """The word with two neighbours swapped."""
    at = rng.randrange(1, len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2:]
