#!/usr/bin/env python3
"""Plants facts in a large home of several agents, asks for them in sentences, and counts how often the right session is found.

  retrieval.py --bin target/release/recount
  retrieval.py --bin target/release/recount --smoke              # a small home, fewer questions
  retrieval.py --bin target/release/recount --base HOME  # among the sessions of a home that exists; it is not changed

Prints hit@1 and hit@5 by kind of fact, and the tokens of an answer (a quarter of its bytes). Exit code 1 when a goal is missed.
The facts are in retrieval_facts.py. See README.md.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import uuid

sys.dont_write_bytecode = True
from retrieval_facts import WRITTEN, grid  # noqa: E402

GOALS = {1: 0.85, 5: 0.95}
SAMPLE = 4  # tokens are counted for every fourth question
SMALL_TALK = [("Thanks, that looks good.", "You are welcome."), ("Run the tests again", "All tests pass."),
              ("What changed in the last commit?", "Three files: the parser, its tests and the changelog."),
              ("Show me the open issues", "There are four open issues; the oldest is about the documentation.")]


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    with tempfile.TemporaryDirectory(prefix="recount-retrieval-", dir=opts.out) as scratch:
        return 0 if check(opts, os.path.realpath(scratch)) else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--base", metavar="HOME", help="a home whose sessions are around the facts (else a synthetic one)")
    parser.add_argument("--out", metavar="DIR", help="where homes are made (among the temporary folders)")
    parser.add_argument("--smoke", action="store_true", help="a small home and a third of the facts")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--misses", action="store_true", help="print every question that was not answered first")
    return parser.parse_args()


def check(opts, scratch):
    home, rng = os.path.join(scratch, "home"), random.Random(opts.seed)
    if opts.base:
        # Directories are made, files are links: nothing is written into them.
        shutil.copytree(opts.base, home, copy_function=os.link if same_disk(opts.base, scratch) else shutil.copy2)
    else:
        sessions, megabytes = (60, 6) if opts.smoke else (900, 120)
        run([opts.bin, "testbed", home, "--sessions", str(sessions), "--megabytes", str(megabytes), "--seed", "3"])
        for number, source in enumerate(("claude", "codex")):
            more = os.path.join(scratch, source)
            run([opts.bin, "testbed", more, "--source", source, "--sessions", str(sessions // 3), "--megabytes",
                 str(megabytes // 3), "--seed", str(number)])
            shutil.copytree(os.path.join(more, f".{source}"), os.path.join(home, f".{source}"), dirs_exist_ok=True)
    facts = [*WRITTEN, *grid(40 if opts.smoke else 160, rng)]
    planted = [(plant(home, number, fact, rng), fact) for number, fact in enumerate(facts)]
    env = {"PATH": os.environ["PATH"], "HOME": home, "NO_COLOR": "1", "TZ": "UTC",
           "RECOUNT_DATA_DIR": os.path.join(scratch, "data"), "RECOUNT_BACKGROUND": "0"}
    run([opts.bin, "--home", home, "index"], env=env)
    ranks, tokens = {}, []
    for session, fact in planted:
        for question in fact.questions:
            rank = ask(opts, home, env, question, session)
            ranks.setdefault(fact.kind, []).append(rank)
            if sum(map(len, ranks.values())) % SAMPLE == 1:
                tokens.append(printed(opts, home, env, question))
            if opts.misses and rank != 1:
                print(f"{rank or '-':>2}  [{fact.kind}] {question}")
    return report(facts, ranks, tokens)


def same_disk(one, other):
    return os.stat(one).st_dev == os.stat(other).st_dev


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")


def ask(opts, home, env, question, session):
    """The place of the session among the first five."""
    done = subprocess.run([opts.bin, "--home", home, "search", "-n", "5", "--json", "--", question], env=env, capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(f"error: search for {question!r} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    hits = [hit["session"]["id"] for hit in json.loads(done.stdout)["hits"]]
    return hits.index(session) + 1 if session in hits else None


def printed(opts, home, env, question):
    """The tokens of what is printed for the first five."""
    done = subprocess.run([opts.bin, "--home", home, "search", "-n", "5", "--", question], env=env, capture_output=True)
    return (len(done.stdout) + len(done.stderr)) / 4


def report(facts, ranks, tokens):
    print(f"{len(facts)} facts, {sum(map(len, ranks.values()))} questions\n\n| questions | number | hit@1 | hit@5 |\n|---|---:|---:|---:|")
    share = lambda found, most: sum(1 for rank in found if rank and rank <= most) / len(found)
    everything = sum(ranks.values(), [])
    for kind, found in [*ranks.items(), ("all", everything)]:
        print(f"| {kind} | {len(found)} | {share(found, 1):.1%} | {share(found, 5):.1%} |")
    tokens.sort()
    print(f"\ntokens of an answer with five hits: median {statistics.median(tokens):.0f}, most {tokens[-1]:.0f}")
    return all(share(everything, most) >= goal for most, goal in GOALS.items())


# --------------------------------------------------------------------------
# Sessions
# --------------------------------------------------------------------------

def plant(home, number, fact, rng):
    """Writes a session of one of the agents around a fact; returns its id."""
    turns = [*rng.sample(SMALL_TALK, rng.randrange(3)), None, *rng.sample(SMALL_TALK, rng.randrange(3))]
    turns = [(fact.prompt, fact.answer, fact.output) if turn is None else (*turn, "") for turn in turns]
    session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    when = f"2026-{1 + number % 9:02}-{1 + number % 27:02}T{number % 24:02}"
    [gemini, claude, codex][number % 3](home, session, when, turns)
    return session


def write(path, records):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    os.utime(path, (1_780_000_000, 1_780_000_000))


def gemini(home, session, when, turns):
    records = [{"sessionId": session, "projectHash": "0" * 64, "startTime": f"{when}:00:00.000Z", "lastUpdated": f"{when}:59:00.000Z", "kind": "main"}]
    for number, (prompt, answer, output) in enumerate(turns):
        stamp = lambda second: f"{when}:{number:02}:{second:02}.000Z"
        records.append({"id": f"{session}.{number}p", "timestamp": stamp(1), "type": "user", "content": [{"text": prompt}]})
        message = {"id": f"{session}.{number}a", "timestamp": stamp(9), "type": "gemini", "content": answer, "thoughts": [], "model": "gemini-2.5-pro"}
        if output:
            message["toolCalls"] = [{"id": f"run-{number}", "name": "run_shell_command", "args": {"command": "make"}, "status": "success",
                                     "result": [{"functionResponse": {"id": f"run-{number}", "name": "run_shell_command", "response": {"output": output}}}],
                                     "resultDisplay": output, "timestamp": stamp(5)}]
        records.append(message)
    folder = os.path.join(home, ".gemini", "tmp", "retrieval")
    write(os.path.join(folder, "chats", f"session-{when}-00-{session[:8]}.jsonl"), records)
    with open(os.path.join(folder, ".project_root"), "w", encoding="utf-8") as file:
        file.write("/home/dev/retrieval")


def claude(home, session, when, turns):
    records, parent = [], None

    def add(kind, number, second, message):
        nonlocal parent
        own = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{session}.{len(records)}"))
        records.append({"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/dev/retrieval", "sessionId": session,
                        "version": "2.0.30", "gitBranch": "main", "type": kind, "message": message, "uuid": own,
                        "timestamp": f"{when}:{number:02}:{second:02}.000Z"})
        parent = own

    def answer(number, second, content):
        add("assistant", number, second, {"id": f"msg_{session[:8]}{len(records)}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                                          "content": content, "usage": {"input_tokens": 3, "output_tokens": 9}})

    for number, (prompt, text, output) in enumerate(turns):
        add("user", number, 1, {"role": "user", "content": prompt})
        if output:
            call = f"toolu_{session[:8]}{number}"
            answer(number, 3, [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make"}}])
            add("user", number, 5, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": output}]})
        answer(number, 9, [{"type": "text", "text": text}])
    write(os.path.join(home, ".claude", "projects", "-home-dev-retrieval", f"{session}.jsonl"), records)


def codex(home, session, when, turns):
    records = [{"timestamp": f"{when}:00:00.000Z", "type": "session_meta", "payload": {
        "id": session, "timestamp": f"{when}:00:00.000Z", "cwd": "/home/dev/retrieval", "originator": "codex_cli_rs", "cli_version": "0.104.0",
        "source": "cli", "model_provider": "openai"}}]

    def add(number, second, kind, payload):
        records.append({"timestamp": f"{when}:{number:02}:{second:02}.000Z", "type": kind, "payload": payload})

    for number, (prompt, text, output) in enumerate(turns):
        add(number, 1, "response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]})
        add(number, 1, "event_msg", {"type": "user_message", "message": prompt, "images": []})
        if output:
            call = f"call_{session[:8]}{number}"
            add(number, 3, "response_item", {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": ["make"]}), "call_id": call})
            add(number, 5, "response_item", {"type": "function_call_output", "call_id": call, "output": output})
        add(number, 9, "response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        add(number, 9, "event_msg", {"type": "agent_message", "message": text})
    day = when.split("T")[0].replace("-", "/")
    write(os.path.join(home, ".codex", "sessions", day, f"rollout-{when}-00-00-{session}.jsonl"), records)


if __name__ == "__main__":
    sys.exit(main())
