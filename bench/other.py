#!/usr/bin/env python3
"""Checks recount against generated homes of Claude Code and Codex CLI, whose manifest is the truth.

Runs `gen_other.py` of the shared folder (RECOUNT_SHARED, or ../shared beside the repository) and compares: which sessions there are and
which session ran which sub-agent, prompts, answers and tool calls of each, what was undone, titles, the tokens of the home, and in
which sessions planted words are found.

  bench/other.py [--agent claude|codex|both] [--sessions N] [--total-mb N] [--seed S] [--hard] [--program PATH] [--keep DIR]

Exit code 1 when something differs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("RECOUNT_SHARED") or os.path.join(HERE, "..", "..", "shared")
KEYS = ("input", "cached", "cache_write", "output", "thoughts", "total")


def run(program, home, *args):
    env = {"PATH": os.environ["PATH"], "HOME": home, "RECOUNT_DATA_DIR": home + "-data", "LANG": "C.UTF-8"}
    made = subprocess.run([program, "--home", home, "--json", *args], env=env, capture_output=True, check=False)
    if made.returncode not in (0, 1):
        sys.exit(f"recount {' '.join(args)}: {made.stderr.decode()}")
    return json.loads(made.stdout) if made.stdout else {}


class Differences:
    def __init__(self):
        self.count, self.by = 0, {}

    def same(self, what, got, want):
        if got != want:
            self.count += 1
            kind = what.split(":")[0]
            self.by[kind] = self.by.get(kind, 0) + 1
            if self.by[kind] <= 5:
                print(f"DIFFERS {what}\n   got  {got}\n   want {want}")


def listed(program, home):
    got = run(program, home, "list", "--all", "--kind", "main,subagent", "--limit", "1000000")["sessions"]
    return {(s["source"], s["id"]): s for s in got}


def with_words(program, home):
    """The number of answers with text in each Codex session. A response that only calls tools has no message of its own there, and
    the manifest counts messages; for recount it is an answer like those of other agents."""
    table = run(program, home, "sql", "SELECT source, session, count(*) FROM messages WHERE source = 'codex' AND kind = 'answer' "
                "AND text <> '' GROUP BY 1, 2")
    return {(source, ident): count for source, ident, count in table["rows"]}


def check_requests(program, home, manifest, bad):
    """The number of requests per session. Copies count in the session that made them."""
    table = run(program, home, "sql", "SELECT source, session, count(*) FROM requests GROUP BY 1, 2")
    got = {(source, ident): count for source, ident, count in table["rows"]}
    for m in manifest["sessions"]:
        if m.get("tokensRecorded", True) and m["era"] != "0.29.0" and m["kind"] != "warmup":
            key = (m["agent"], m["id"])
            bad.same(f"requests: {key[0]} {key[1]} ({m['era']})", got.get(key, 0), m["own"]["requests"])


def check_sessions(program, home, manifest, bad):
    got = listed(program, home)
    want = {(m["agent"], m["id"]): m for m in manifest["sessions"] if m["kind"] != "warmup"}
    corrupt = {(c["agent"], c["id"]) for c in manifest["summary"]["corrupt"]}
    said = {k for k, s in got.items() if s["prompts"] or s["answers"]} - corrupt
    said_in = with_words(program, home)
    bad.same("sessions: missing", sorted(set(want) - set(got)), [])
    bad.same("sessions: too many", sorted(said - set(want)), [])
    for key, m in want.items():
        s = got.get(key)
        if not s:
            continue
        name = f"{key[0]} {key[1]} ({m['era']})"
        inherited = m["inherited"] or {"prompts": 0, "answers": 0, "toolCalls": {"total": 0, "failed": 0}}
        bad.same(f"prompts: {name}", s["prompts"], m["own"]["prompts"] + inherited["prompts"])
        if key in said_in:
            # Messages from its base are only in the session of the base.
            copied = inherited["answers"] if inherited.get("how") != "base" else 0
            bad.same(f"answers: {name}", said_in[key], m["own"]["answers"] + copied)
        elif key[0] != "codex":
            bad.same(f"answers: {name}", s["answers"], m["own"]["answers"] + inherited["answers"])
        if not (inherited.get("how") == "base"):
            calls = [m["own"]["toolCalls"][k] + inherited["toolCalls"][k] for k in ("total", "failed")]
            bad.same(f"calls: {name}", [s["tool_calls"]["total"], s["tool_calls"]["failed"]], calls)
        bad.same(f"parent: {name}", s["parent"], m["parent"] if m["kind"] == "subagent" else None)
        bad.same(f"kind: {name}", s["kind"], m["kind"])
        bad.same(f"project: {name}", s["project"]["path"], m["project"])
        bad.same(f"last prompt: {name}", (s["last_prompt"] or "").strip(), m["lastPrompt"].strip())
        if m["kind"] == "main":
            bad.same(f"title: {name}", " ".join((s["title"] or "").split())[:200].strip(), m["title"].strip())
            bad.same(f"title from: {name}", s["title_from"], m["titleFrom"])


def check_fates(program, home, manifest, bad, most):
    """Rewound messages and those replaced by a compaction, of the sessions that have any."""
    seen = 0
    for m in manifest["sessions"]:
        past = (m["inherited"] or {}).get("undone") or {"prompts": 0, "answers": 0}
        undone = {k: m["undone"][k] + past[k] for k in ("prompts", "answers")}
        if m["kind"] != "main" or not any([*undone.values(), *m["compressed"].values()]) or seen >= most:
            continue
        seen += 1
        shown = run(program, home, "show", f"{m['agent']}:{m['id']}", "--view", "full")["messages"]
        # See with_words.
        counts = lambda x: x["kind"] == "prompt" or m["agent"] != "codex" or x["text"]
        count = lambda kind, fates: sum(x["kind"] == kind and x["fate"] in fates and bool(counts(x)) for x in shown)
        name = f"{m['agent']} {m['id']} ({m['era']})"
        got = {k: count(k[:-1], ("rewound", "cancelled", "replaced")) for k in undone}
        bad.same(f"undone: {name}", got, undone)
        # Codex still shows messages from before a compaction.
        got = {k: count(k[:-1], ("compressed",)) for k in undone} if m["agent"] != "codex" else m["compressed"]
        bad.same(f"compressed: {name}", got, m["compressed"])
    return seen


def check_tokens(program, home, manifest, bad):
    for agent, want in manifest["summary"]["agents"].items():
        total = run(program, home, "--source", agent, "stats", "--by", "source")["total"]
        bad.same(f"tokens: {agent}", {k: total["tokens"][k] for k in KEYS}, {k: want["tokens"][k] for k in KEYS})
        sums = ", ".join(f"sum({k})" for k in KEYS)
        rows = run(program, home, "sql", f"SELECT {sums} FROM requests WHERE source = '{agent}'")["rows"]
        bad.same(f"sql: {agent}", dict(zip(KEYS, [n or 0 for n in rows[0]])), {k: want["tokens"][k] for k in KEYS})


def check_needles(program, home, manifest, bad):
    for word, ids in manifest["summary"]["needles"].items():
        found = run(program, home, "search", f'"{word}"', "--limit", "1000000")
        got = {hit["session"]["id"] for hit in found.get("hits", [])}
        mains = {m["id"] for m in manifest["sessions"] if m["kind"] == "main"}
        # A fork has the title of its first prompt, which may be in the file it borrows from: found, but not planted there.
        titled = {s["id"] for s in manifest["sessions"] if word in (s.get("title") or "")}
        bad.same(f"needle: {word}", sorted((got & mains) - (titled - set(ids))), sorted(ids))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("--agent", default="both", choices=("claude", "codex", "both"))
    ap.add_argument("--sessions", type=int, default=120)
    ap.add_argument("--total-mb", type=float, default=30)
    ap.add_argument("--seed", default="1")
    ap.add_argument("--hard", action="store_true")
    ap.add_argument("--fates", type=int, default=40, help="sessions whose fates are compared message by message")
    ap.add_argument("--program", default=os.path.join(HERE, "..", "target", "release", "recount"))
    ap.add_argument("--keep", help="folder of the home, made if it is not there, and left there")
    opts = ap.parse_args()
    generator = os.path.join(SHARED, "bench", "gen_other.py")
    if not os.path.exists(generator):
        print("other.py: no generator; set RECOUNT_SHARED")
        return 0
    with tempfile.TemporaryDirectory(prefix="recount-other-") as scratch:
        home = os.path.abspath(opts.keep) if opts.keep else os.path.join(scratch, "home")
        if not os.path.exists(os.path.join(home, "manifest.json")):
            options = ["--out", home, "--agent", opts.agent, "--sessions", str(opts.sessions),
                       "--total-mb", str(opts.total_mb), "--seed", opts.seed]
            subprocess.run([sys.executable, generator, *options, *(["--hard"] if opts.hard else [])], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(home, "manifest.json"), encoding="utf-8") as f:
            manifest = json.load(f)
        bad = Differences()
        check_sessions(opts.program, home, manifest, bad)
        check_tokens(opts.program, home, manifest, bad)
        check_requests(opts.program, home, manifest, bad)
        fates = check_fates(opts.program, home, manifest, bad, opts.fates)
        check_needles(opts.program, home, manifest, bad)
        print(f"{len(manifest['sessions'])} sessions, {fates} with fates: {bad.count} differences {bad.by or ''}")
        return 1 if bad.count else 0


if __name__ == "__main__":
    sys.exit(main())
