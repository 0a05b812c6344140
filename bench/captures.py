#!/usr/bin/env python3
"""Checks recount against every recorded home of Claude Code and Codex CLI, with a reader of its own.

For each capture of `corpus-other` in the shared folder (RECOUNT_SHARED, or ../shared beside the repository): which sessions there are,
each once; what was typed, each prompt once; the folder, the title and the parent of each; the tokens of the home; and that no
record is unknown. The reader here is small and slow on purpose, and shares nothing with recount: it follows the format documents.

  bench/captures.py [--program PATH] [--only PART] [--corpus DIR]

Prints what differs; exit code 1 when something does.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("RECOUNT_SHARED") or os.path.join(HERE, "..", "..", "shared")


def rows_of(path):
    if path.endswith(".zst"):
        data = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    else:
        with open(path, "rb") as file:
            data = file.read()
    rows = []
    for line in data.decode("utf-8", "replace").split("\n"):
        try:
            rows.append(json.loads(line.lstrip("\0")))
        except ValueError:
            continue
    return [row for row in rows if isinstance(row, dict)]


def count(tokens, **more):
    for key, value in more.items():
        tokens[key] = tokens.get(key, 0) + (value or 0)


# --- Claude Code


def claude_sessions(home):
    """Per session: its file, parent, folder and prompts. Agents that only warm up are left out."""
    found = {}
    root = os.path.join(home, ".claude", "projects")
    for path in glob.glob(os.path.join(root, "**", "*.jsonl"), recursive=True):
        name = os.path.basename(path)[: -len(".jsonl")]
        rows = rows_of(path)
        tree = [row for row in rows if row.get("uuid")]
        agent = name.startswith("agent-")
        own = tree if agent else [row for row in tree if not row.get("isSidechain")]
        prompts = [text for row in own for text in [claude_prompt(row)] if text is not None]
        if agent and prompts[:1] == ["Warmup"]:
            continue
        moved = [row["relocatedCwd"] for row in rows if row.get("type") == "relocated"]
        cwds = [row["cwd"] for row in tree if row.get("cwd")]
        parent = next((row["sessionId"] for row in tree if row.get("sessionId")), None) if agent else None
        if os.path.basename(os.path.dirname(path)) == "subagents":
            parent = os.path.basename(os.path.dirname(os.path.dirname(path)))
        if tree:
            found[name.removeprefix("agent-")] = {
                "parent": parent, "cwd": (moved or cwds or [None])[-1 if moved else 0], "prompts": prompts,
                "title": claude_title(rows), "file": path,
            }
        if not agent:
            for root_row in (row for row in tree if row.get("isSidechain") and not row.get("parentUuid")):
                found[root_row["uuid"]] = {"parent": name, "cwd": (cwds or [None])[0], "prompts": [claude_prompt(root_row)],
                                           "title": None, "file": path}
    return found


def claude_title(rows):
    last = {row["type"]: row for row in rows if row.get("type") in ("agent-name", "custom-title", "ai-title")}
    keys = (("agent-name", "agentName"), ("custom-title", "customTitle"), ("ai-title", "aiTitle"))
    return next((last[kind][key] for kind, key in keys if last.get(kind, {}).get(key)), None)


MACHINE = re.compile(r"\s*(<(command-name|local-command|bash-|system-reminder|task-notification|user-memory)|Caveat: The messages below|\[Request interrupted)")


def claude_prompt(row):
    """Returns what was typed, if the row is a prompt."""
    if row.get("type") == "attachment" and row["attachment"].get("type") == "queued_command":
        prompt = row["attachment"].get("prompt")
        return prompt if isinstance(prompt, str) else " ".join(part.get("text", "") for part in prompt)
    if row.get("type") != "user" or row.get("isMeta") or row.get("isCompactSummary"):
        return None
    content = row["message"]["content"]
    if isinstance(content, str):
        return None if MACHINE.match(content) else content
    texts = [part["text"] for part in content if part.get("type") == "text" and not MACHINE.match(part["text"])]
    if any(part.get("type") == "tool_result" for part in content) and not texts:
        return None
    media = any(part.get("type") in ("image", "document") for part in content)
    return "\n\n".join(texts) if texts else ("" if media else None)


def claude_tokens(home):
    """Each request once: by message id and request id; without a request id it is the first one with the message id."""
    answers, first = {}, {}
    for path in sorted(glob.glob(os.path.join(home, ".claude", "projects", "**", "*.jsonl"), recursive=True)):
        for row in rows_of(path):
            message = row.get("message") or {}
            if row.get("type") != "assistant" or message.get("model") == "<synthetic>" or row.get("isApiErrorMessage"):
                continue
            ident = message.get("id") or row.get("uuid")
            request = row.get("requestId") or first.get(ident)
            if first.setdefault(ident, request) is None and request:
                answers[ident, request] = answers.pop((ident, None))
                first[ident] = request
            most = answers.setdefault((ident, request), {})
            for key, value in (message.get("usage") or {}).items():
                if isinstance(value, int):
                    most[key] = max(most.get(key, 0), value)
    tokens = {"input": 0, "cached": 0, "cache_write": 0, "out": 0}
    for usage in answers.values():
        read, write = usage.get("cache_read_input_tokens", 0), usage.get("cache_creation_input_tokens", 0)
        count(tokens, input=usage.get("input_tokens", 0) + read + write, cached=read, cache_write=write, out=usage.get("output_tokens", 0))
    return tokens


# --- Codex

INJECTED = re.compile(r"\s*(<(environment_context|user_instructions|INSTRUCTIONS|turn_aborted|skill|user_shell_command|subagent_notification|"
                      r"permissions|collaboration_mode|user_action|multi_agent)|# AGENTS\.md instructions for |Another language model started)")


def codex_files(home):
    root = os.path.join(home, ".codex")
    files = glob.glob(os.path.join(root, "sessions", "**", "rollout-*"), recursive=True)
    files += glob.glob(os.path.join(root, "archived_sessions", "rollout-*"))
    plain = {path for path in files if not path.endswith(".zst")}
    return sorted(plain | {path for path in files if path.endswith(".zst") and path[:-4] not in plain})


def codex_document(path):
    if not path.endswith(".json"):
        return rows_of(path)
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    return [{"id": whole["session"]["id"], "timestamp": whole["session"]["timestamp"]}, *whole["items"]]


def payload(row):
    return row.get("payload", row)


def codex_threads(home):
    threads = {}
    for path in codex_files(home):
        rows = codex_document(path)
        if not rows:
            continue
        meta = payload(next((row for row in rows if row.get("type") == "session_meta"), rows[0]))
        source = meta.get("source")
        spawn = source.get("subagent") if isinstance(source, dict) else None
        parent = meta.get("parent_thread_id")
        if isinstance(spawn, dict):
            parent = parent or spawn.get("thread_spawn", {}).get("parent_thread_id")
        thread = threads.setdefault(meta["id"], {"files": [], "parent": parent, "cwd": None, "title": None})
        thread["files"].append((path, rows, meta))
        thread["cwd"] = thread["cwd"] or meta.get("cwd") or codex_folder(rows)
    index = os.path.join(home, ".codex", "session_index.jsonl")
    for row in rows_of(index) if os.path.exists(index) else []:
        if row["id"] in threads:
            threads[row["id"]]["title"] = row["thread_name"]
    return threads


def codex_folder(rows):
    found = re.search(r"<cwd>(.*?)</cwd>", json.dumps(rows, ensure_ascii=False))
    return found.group(1) if found else None


def codex_prompts(rows):
    """All that was typed in a file, whatever became of it."""
    told = []
    for row in rows:
        event = payload(row)
        if row.get("type") == "event_msg" and event.get("type") == "user_message":
            told.append(event["message"])
        item = event.get("item") or {}
        if row.get("type") == "event_msg" and event.get("type") == "item_completed" and item.get("type") == "UserMessage":
            told.append("\n".join(part.get("text", "") for part in item["content"] if part.get("type") == "text"))
    if told:
        return told
    for row in rows:
        item = payload(row)
        if item.get("type") == "message" and item.get("role") == "user":
            told += [part["text"] for part in item["content"] if part.get("text") and not INJECTED.match(part["text"])]
    return told


def uuid_start(text):
    return (text or "")[:13]


def codex_own_from(rows, meta):
    """Where a file's own part begins: behind what a fork or a sub-agent copied."""
    start = meta.get("subagent_history_start_ordinal")
    if start is not None:
        return next((at for at, row in enumerate(rows) if row.get("ordinal", 0) >= start and at > 0), len(rows))
    if sum(row.get("type") == "session_meta" for row in rows) < 2:
        return 0
    is_own = lambda row: uuid_start(payload(row).get("turn_id")) >= uuid_start(meta["id"])
    return next((at for at, row in enumerate(rows) if at and payload(row).get("turn_id") and is_own(row)), len(rows))


def codex_tokens(threads):
    tokens = {"input": 0, "cached": 0, "cache_write": 0, "out": 0}
    for ident, thread in threads.items():
        seen = set()
        for _, rows, meta in thread["files"]:
            codex_file_tokens(tokens, rows, meta, ident, seen)
    return tokens


def codex_file_tokens(tokens, rows, meta, ident, seen):
    keys = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    parts = lambda usage: [usage.get(key) or 0 for key in keys]
    book = lambda used: count(tokens, **dict(zip(("input", "cached", "cache_write", "out"), used)))
    records = [payload(row) for row in rows if row.get("type") == "token_usage_record"]
    for record in records:
        if record["thread_id"] == ident and record["response_id"] not in seen:
            seen.add(record["response_id"])
            book(parts(record["usage"]))
    own_from, before = codex_own_from(rows, meta), None
    for at, row in enumerate(rows):
        if row.get("type") == "token_usage_record":
            break
        info = payload(row).get("info")
        if payload(row).get("type") != "token_count" or not info:
            continue
        total, last = info["total_token_usage"], info["last_token_usage"]
        if before == total:
            continue
        if before is None:
            used = parts(last)
        elif total == last or total["total_tokens"] < before["total_tokens"]:
            used = parts(total)
        else:
            used = [max(0, one - other) for one, other in zip(parts(total), parts(before))]
        before = total
        if at >= own_from:
            book(used)


# --- Comparing


class Checked:
    def __init__(self, program, home, scratch):
        self.program, self.home, self.bad = program, home, []
        self.env = {"PATH": os.environ["PATH"], "HOME": scratch, "RECOUNT_DATA_DIR": scratch, "LANG": "C.UTF-8"}

    def run(self, *args):
        made = subprocess.run([self.program, "--home", self.home, "--json", *args], env=self.env, capture_output=True, check=False)
        if made.returncode not in (0, 1):
            self.bad.append(f"recount {' '.join(args)}: exit {made.returncode}: {made.stderr.decode()[:300]}")
        return json.loads(made.stdout) if made.stdout else {}

    def same(self, what, got, want):
        if got != want:
            self.bad.append(f"{what}\n     got  {got}\n     want {want}")


def check(program, path, scratch):
    with open(os.path.join(path, "meta.json"), encoding="utf-8") as file:
        meta = json.load(file)
    is_claude = meta["agent"].startswith("claude")
    home = os.path.join(path, "home")
    checked = Checked(program, home, scratch)
    listed = checked.run("list", "--all", "--kind", "main,subagent", "--limit", "100000").get("sessions", [])
    ids = [session["id"] for session in listed]
    checked.same("each session once", len(ids), len(set(ids)))
    checked.same("records that are not understood", sum(session["not_understood"] for session in listed), 0)
    torn = meta["scenario"] == "killed"
    checked.same("problems", 0 if torn else sum(session["problems"] for session in listed), 0)
    by_id = {session["id"]: session for session in listed}
    if is_claude:
        want, tokens = claude_sessions(home), claude_tokens(home)
    else:
        want = codex_threads(home)
        tokens = codex_tokens(want)
    said = {ident for ident, session in by_id.items() if session["prompts"] or session["answers"]}
    checked.same("sessions", sorted(said - set(want)), [])
    checked.same("sessions that are missing", sorted(set(want) - set(by_id)), [])
    for ident in sorted(set(want) & set(by_id)):
        one(checked, by_id[ident], want[ident], is_claude)
    expected(checked, meta, listed)
    sums(checked, tokens)
    return checked.bad


def one(checked, got, want, is_claude):
    ident = got["id"]
    checked.same(f"{ident}: parent", got["parent"], want["parent"])
    checked.same(f"{ident}: kind", got["kind"], "subagent" if want["parent"] else "main")
    checked.same(f"{ident}: folder", got["project"]["path"], want["cwd"])
    if want["title"]:
        checked.same(f"{ident}: title", got["title"], want["title"])
    shown = checked.run("show", ident, "--view", "full").get("messages", [])
    prompts = [message["display_text"].strip() for message in shown if message["kind"] == "prompt"]
    if is_claude:
        flat = lambda text: re.sub(r"\s+", " ", text or "").strip()
        is_command = lambda text: "<command-name>" in text or text.startswith("/")
        checked.same(f"{ident}: prompts", [flat(text) for text in prompts if not is_command(text)],
                     [flat(text) for text in want["prompts"] if not is_command(text)])
    elif len(want["files"]) == 1 and not want["files"][0][2].get("history_base"):
        _, rows, meta = want["files"][0]
        start = codex_own_from(rows, meta) if meta.get("subagent_history_start_ordinal") is not None else 0
        checked.same(f"{ident}: prompts", prompts, [text.strip() for text in codex_prompts(rows[start:])])
    if want["parent"] and ident in {want["parent"]}:
        checked.same(f"{ident}: its own parent", True, False)
    if want["parent"]:
        checked.same(f"{ident}: linked to its call", bool(got.get("parent_call")), True)
        parent = checked.run("show", want["parent"], "--view", "full").get("messages", [])
        calls = [call for message in parent for call in message["tool_calls"]]
        checked.same(f"{ident}: the call names it", [call["agent_id"] for call in calls if call["id"] == got.get("parent_call")], [ident])


def expected(checked, meta, listed):
    """What the notes of a recording say of its sessions."""
    if not meta.get("expected_sessions"):
        return
    got = []
    for session in (session for session in listed if session["kind"] == "main"):
        shown = checked.run("show", session["id"], "--view", "full").get("messages", [])
        typed = [message for message in shown if message["kind"] == "prompt" and not message["display_text"].startswith("/")]
        undone = ("rewound", "cancelled", "replaced")
        if typed:
            got.append(([message["display_text"] for message in typed if message["fate"] not in undone],
                        [message["display_text"] for message in typed if message["fate"] in undone]))
    want = [(one["prompts"], one.get("abandoned", [])) for one in meta["expected_sessions"]]
    checked.same("what the notes say was typed", sorted(got), sorted(want))
    titles = sorted(one["title"] for one in meta["expected_sessions"] if one.get("title"))
    checked.same("titles of the notes", sorted(s["title"] for s in listed if s["title"] in titles), titles)


def sums(checked, want):
    total = checked.run("stats", "--by", "source").get("total", {}).get("tokens", {})
    got = {"input": total.get("input", 0), "cached": total.get("cached", 0), "cache_write": total.get("cache_write", 0),
           "out": total.get("output", 0) + total.get("thoughts", 0)}
    checked.same("tokens", got, want)
    table = checked.run("sql", "SELECT sum(input), sum(cached), sum(cache_write), sum(output + thoughts) FROM requests").get("rows")
    row = [value or 0 for value in table[0]] if table else []
    checked.same("tokens by sql", dict(zip(("input", "cached", "cache_write", "out"), row)), want)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("--program", default=os.path.join(HERE, "..", "target", "release", "recount"))
    ap.add_argument("--corpus", default=os.path.join(SHARED, "corpus-other"))
    ap.add_argument("--only", default="", help="part of a capture's path")
    opts = ap.parse_args()
    captures = sorted(os.path.dirname(path) for path in glob.glob(os.path.join(opts.corpus, "*", "*", "*", "meta.json")))
    captures = [path for path in captures if opts.only in path]
    if not captures:
        sys.exit(f"no captures in {opts.corpus}")
    wrong = 0
    for path in captures:
        with tempfile.TemporaryDirectory(prefix="recount-captures-") as scratch:
            bad = check(os.path.abspath(opts.program), path, scratch)
        wrong += bool(bad)
        for what in bad:
            print(f"DIFFERS {os.path.relpath(path, opts.corpus)}: {what}")
    print(f"{len(captures)} captures, {wrong} with differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
