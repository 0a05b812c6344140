#!/usr/bin/env python3
"""Checks that the cost of unusual sessions is linear in their size, not quadratic.

  linear.py --bin target/release/recount              # n, 2n and 4n of each; exit 1 when one grows faster
  linear.py --bin target/release/recount calls files  # only some
  linear.py --bin target/debug/recount --scale 0.1    # smaller, for a slow build

Each case makes its own home. What is compared is the processor time of the program, less that of a tiny home, so that a busy machine
changes little. Memory is checked where a case has a limit. See README.md.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import linear_agents as agent

ID = "11111111-2222-4333-8444-555555555555"
# Four times the input may take this many times the time: linear is 4, the square is 16.
MOST = 8.0
# Less than this, in seconds of CPU, is not significant: pages, caches and the start of threads differ from run to run.
NOISE = 0.2
# A case that grew too fast is measured this often again; the best run counts, as load can only add time.
AGAIN = 2
# If it still did, four times the largest input decides, by its best run, too: load adds the same to any size, so it hardly
# matters there, while what is not linear grows even faster.
DECIDES = 4
TIMEOUT = 120


def head():
    return {"sessionId": ID, "projectHash": "a" * 64, "startTime": "2026-09-02T08:00:00.000Z",
            "lastUpdated": "2026-09-02T08:00:00.000Z", "kind": "main"}


def user(name, text="p"):
    return {"id": name, "timestamp": "2026-09-02T08:00:01.000Z", "type": "user", "content": text}


def model(name, text="a", **more):
    tokens = {"input": 10, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 15}
    return {"id": name, "timestamp": "2026-09-02T08:00:02.000Z", "type": "gemini", "content": text, "tokens": tokens,
            "model": "gemini-2.5-pro", **more}


def call(number, tool="read_file", output="x", **more):
    response = {"functionResponse": {"id": f"c{number}", "name": tool, "response": {"output": output}}}
    return {"id": f"c{number}", "name": tool, "args": {"path": f"f{number}"}, "result": [response], "status": "success",
            "timestamp": "2026-09-02T08:00:02.000Z", **more}


def calls(n):
    return [head(), user("u"), model("m", toolCalls=[call(i) for i in range(n)])]


def tools(n):
    return [head(), user("u"), model("m", toolCalls=[call(i, tool=f"tool_{i}") for i in range(n)])]


def agents(n):
    return [head(), user("u"), model("m", toolCalls=[call(i, tool="invoke_agent", agentId=f"a{i}") for i in range(n)])]


def cut(n):
    """Outputs that were masked later: the complete ones are in an earlier record."""
    masked = "<tool_output_masked>gone</tool_output_masked>"
    return [head(), user("u"), model("m", toolCalls=[call(i, output="whole") for i in range(n)]),
            model("m", toolCalls=[call(i, output=masked) for i in range(n)])]


def checkpoints(n):
    lines, messages = [head()], []
    for i in range(n):
        messages += [user(f"u{i}", f"prompt {i}"), model(f"m{i}", f"answer {i}")]
        lines += messages[-2:] + [{"$set": {"sessionId": ID, "messages": messages[:100]}}]
    return lines


def rewinds(n):
    lines = [head()] + [user(f"u{i}") for i in range(n // 2)]
    for i in range(n):
        lines += [user(f"x{i}"), {"$rewindTo": f"x{i}"}]
    return lines


def lost_rewinds(n):
    lines = [head()]
    for i in range(n):
        lines += [user(f"x{i}"), {"$rewindTo": f"nowhere{i}"}]
    return lines


def files(n):
    return {f"session-2026-09-02T{i // 60 % 24:02d}-{i % 60:02d}-{i:08x}.jsonl": [head(), user(f"u{i}"), model(f"m{i}")]
            for i in range(n)}


def keys(n):
    """Calls whose arguments have many names."""
    args = {f"name {i}": f"src/file{i}.rs" for i in range(n)}
    return [head(), user("u"), model("m", toolCalls=[{**call(0), "args": args}])]


def sessions(n):
    """Many sessions, each with its own output file."""
    made = {}
    for i in range(n):
        name = f"{i:08x}-2222-4333-8444-555555555555"
        made[f"session-2026-09-02T08-00-{i:08x}.jsonl"] = [{**head(), "sessionId": name}, user(f"u{i}"), model(f"m{i}", toolCalls=[call(i)])]
        made[f"../tool-outputs/session-{name}/read_file_{i}.txt"] = ["x"]
    return made


def paragraph(n):
    return [head(), user("u"), model("m", "word " * (n // 5))]


def word(n):
    return [head(), user("u"), model("m", "w" * n)]


SHOW, LIST = ["show", "11111111", "--json"], ["list", "--all", "--json"]
TEXT = ["show", "11111111"]
INDEX, DOCTOR, TOUCHED = ["index"], ["doctor"], ["list", "--all", "--touched", "f17"]
PRUNE, EXPORT = ["prune", "--older", "1d"], ["export", "11111111"]
STATS, DELETE = ["stats", "--all", "--json"], ["delete", "11111111", "--dry-run"]
READ, MANY = [LIST, SHOW, TEXT, EXPORT, STATS, DOCTOR], [LIST, STATS, DOCTOR, INDEX, ["projects"], ["guard"]]
# The case, its smallest size, the commands, and the maximum memory per byte of input.
CASES = {
    "calls": (calls, 5_000, [LIST, SHOW, TEXT, INDEX, DOCTOR, TOUCHED, EXPORT], None),
    "tools": (tools, 5_000, [LIST, SHOW, INDEX], None),
    "agents": (agents, 5_000, [LIST, SHOW], None),
    "cut": (cut, 2_500, [SHOW], None),
    "checkpoints": (checkpoints, 250, [LIST, ["compact", "11111111", "--dry-run"], DOCTOR], None),
    "rewinds": (rewinds, 10_000, [LIST, SHOW, DOCTOR], None),
    "lost-rewinds": (lost_rewinds, 10_000, [LIST, SHOW, DOCTOR], None),
    "files": (files, 1_000, [LIST, SHOW, DOCTOR], None),
    "sessions": (sessions, 1_000, [LIST, DOCTOR, TOUCHED, PRUNE, ["projects"], ["guard"]], None),
    "keys": (keys, 20_000, [LIST, SHOW, INDEX, TOUCHED], None),
    "paragraph": (paragraph, 2_000_000, [TEXT], 6),
    "word": (word, 2_000_000, [TEXT], 6),
    # Claude Code
    "same-parent": (agent.same_parent, 25_000, READ, None),
    "deep-chain": (agent.deep_chain, 12_500, READ, None),
    "backwards": (agent.backwards, 12_500, READ, None),
    "branches": (agent.branches, 10_000, READ, None),
    "blocks": (agent.blocks, 5_000, READ, None),
    "parallel": (agent.parallel, 5_000, READ, None),
    "claude-tools": (agent.claude_tools, 5_000, READ, None),
    "segments": (agent.segments, 2_500, READ, None),
    "lost-parents": (agent.lost_parents, 10_000, READ, None),
    "boundaries": (agent.boundaries, 5_000, READ, None),
    "copies": (agent.copies, 500, MANY, None),
    "subagents": (agent.subagents, 500, MANY + [SHOW, DELETE], None),
    # Codex
    "turns": (agent.turns, 5_000, READ, None),
    "rollbacks": (agent.rollbacks, 25_000, READ, None),
    "deep-rollbacks": (agent.deep_rollbacks, 25_000, READ, None),
    "outputs": (agent.outputs, 10_000, READ, None),
    "same-call": (agent.same_call, 10_000, READ, None),
    "codex-tools": (agent.codex_tools, 5_000, READ, None),
    "spawns": (agent.spawns, 5_000, READ, None),
    "compactions": (agent.compactions, 2_500, READ, None),
    "bases": (agent.bases, 250, MANY, None),
    "reverts": (agent.reverts, 500, MANY + [SHOW, EXPORT, DELETE], None),
    "same-thread": (agent.same_thread, 2_000, MANY + [SHOW], None),
    "threads": (agent.threads, 1_000, MANY, None),
    "names": (agent.names, 25_000, [LIST, SHOW], None),
}


def main():
    opts = arguments()
    program = shutil.which(opts.bin)
    if not program:
        print(f"error: {opts.bin} is not there or cannot be run", file=sys.stderr)
        return 2
    program, failed = os.path.abspath(program), []
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as scratch:
        tiny = make(scratch, "idle", calls, 1)[0]
        idle = min(measure(program, tiny, LIST)[0] for _ in range(5))
        for name in opts.cases or CASES:
            make_lines, least, commands, per_byte = CASES[name]
            sizes = [max(1, int(least * opts.scale)) * times for times in (1, 2, 4)]
            homes = [make(scratch, name, make_lines, size) for size in sizes]
            def larger(size=sizes[-1] * DECIDES, name=name, make_lines=make_lines):
                return make(scratch, name, make_lines, size)

            for command in commands:
                failed += check(name, command, sizes, homes, larger, program, idle, per_byte)
            for home, _ in homes:
                shutil.rmtree(home)
    for words in failed:
        print(f"error: {words}", file=sys.stderr)
    return 1 if failed else 0


def check(name, command, sizes, homes, larger, program, idle, per_byte):
    measured = [measure(program, home, command) for home, _ in homes]
    for again in range(AGAIN + 1):
        times = [max(0.0, seconds - idle) for seconds, _ in measured]
        growth = times[2] / max(times[0], NOISE / 4)
        if times[2] <= NOISE or growth <= MOST or again == AGAIN:
            break
        measured = [min(known, measure(program, home, command)) for known, (home, _) in zip(measured, homes)]
    told = " ".join(command)
    memory = measured[2][1]
    print(f"{name:13} {told:32} {sizes[0]:>9,} ×1 {times[0]:7.3f} s  ×2 {times[1]:7.3f} s  ×4 {times[2]:7.3f} s  "
          f"growth {growth:5.1f}  {memory / 1e6:6.0f} MB", flush=True)
    failed = []
    if times[2] > NOISE and growth > MOST:
        home = larger()[0]
        least = min(measure(program, home, command)[0] for _ in range(AGAIN + 1))
        growth = max(0.0, least - idle) / times[2]
        shutil.rmtree(home)
        print(f"{name:13} {told:32} {sizes[2] * DECIDES:>9,}: growth {growth:.1f}", flush=True)
        if growth > MOST:
            failed.append(f"{name}, {told}: four times the input takes {growth:.1f} times the time")
    # The base memory of the program is subtracted.
    if per_byte and memory > per_byte * homes[2][1] + 64e6:
        failed.append(f"{name}, {told}: {memory / 1e6:.0f} MB for {homes[2][1] / 1e6:.0f} MB of input")
    return failed


def make(scratch, name, lines, size):
    """Returns a home, and the size of its sessions.

    A child makes it: the peak memory of a program includes that of its parent when it was started, so this process stays small."""
    home = os.path.join(scratch, f"{name}-{size}")
    child = os.fork()
    if child == 0:
        write(home, lines(size))
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit(f"error: cannot make {name}")
    files = (os.path.join(folder, file) for folder, _, names in os.walk(home) for file in names)
    return home, sum(map(os.path.getsize, files))


def write(home, made):
    if not isinstance(made, dict):
        made = {"session-2026-09-02T08-00-11111111.jsonl": made}
    for file, records in made.items():
        path = os.path.join(home, file if file.startswith(".c") else f".gemini/tmp/shop/chats/{file}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(record) + "\n" for record in records)


def measure(program, home, command):
    """Returns the CPU time of a command in seconds, and its peak memory in bytes."""
    with tempfile.TemporaryDirectory(prefix="recount-bench-") as data:
        env = {"HOME": home, "PATH": os.environ["PATH"], "RECOUNT_DATA_DIR": data, "XDG_CACHE_HOME": data}
        child = subprocess.Popen([program, "--home", home, *command], env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        soft = (TIMEOUT, TIMEOUT)
        resource.prlimit(child.pid, resource.RLIMIT_CPU, soft)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        raise SystemExit(f"error: recount {' '.join(command)} ended with {child.returncode}: {said.decode()[:300]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], metavar="CASE", help="only these")
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--scale", type=float, default=1.0, help="sizes times this (1)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
