"""Answers and damage of kill.py: the invariant part of an answer, and the damage to files."""

import hashlib
import json
import os


def reduced(what, document):
    """The parts of an answer that do not depend on how the index was built; hits of the same time in any order."""
    if what == "list":
        return {"sessions": document["sessions"]}
    if what == "status":
        return {name: document["status"][name] for name in ("sessions", "indexed", "stale", "gone", "messages")}
    keys = ("message_id", "kind", "fate", "time", "field", "snippet", "highlights", "where")
    hits = [json.dumps([hit["session"]["id"], *(hit[key] for key in keys)]) for hit in document["hits"]]
    return {"times": [hit["time"] for hit in document["hits"]], "hits": sorted(hits),
            **{name: document[name] for name in ("total", "sessions", "is_exact", "relaxed")}}


def difference(right, answer):
    if answer is None:
        return "no answer"
    names = [name for name in right if right[name] != answer.get(name)]
    size = lambda value: f"{len(value)} items" if isinstance(value, list) else value
    return ", ".join(f"{name} {size(answer.get(name))} instead of {size(right[name])}" for name in names)


def is_clear(said, data):
    """Whether an error names the path and the next step."""
    return "error:" in said and "hint:" in said and (data in said or "catalog.db" in said)


def hashes(home):
    found = {}
    for folder, _, names in os.walk(home):
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.join(folder, name)] = hashlib.sha256(file.read()).hexdigest()
    return found


def rewrite(change):
    """Damage that keeps the file: its bytes are changed by `change`."""
    def apply(path, rng):
        with open(path, "rb") as file:
            content = bytearray(file.read())
        with open(path, "wb") as file:
            file.write(change(content, rng))
    return apply


def flip(share):
    def apply(content, _):
        at = min(int(len(content) * share), max(0, len(content) - 16))
        content[at:at + 16] = bytes(byte ^ 0xA5 for byte in content[at:at + 16])
        return content
    return rewrite(apply)


WAYS = {
    "emptied": rewrite(lambda content, _: b""),
    "cut in half": rewrite(lambda content, _: content[:len(content) // 2]),
    "without its last byte": rewrite(lambda content, _: content[:-1]),
    "flipped at the start": flip(0),
    "flipped at a third": flip(0.33),
    "flipped at the end": flip(1),
    "zeroed in the middle": rewrite(lambda content, _: content[:len(content) // 3] + bytes(
        len(content) // 3) + content[len(content) // 3 * 2:]),
    "deleted": lambda path, _: os.remove(path),
}
