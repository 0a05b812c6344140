"""Unusual sessions of Claude Code and Codex, for linear.py. Each function returns the records of a home, by file."""

CLAUDE = "11111111-2222-4333-8444-555555555555"
CODEX = "11111111-2222-7333-8444-555555555555"
PROJECT = ".claude/projects/-home-dev-code-shop/"
DAY = ".codex/sessions/2026/09/02/"
TIME = "2026-09-02T08:00:01.000Z"
CWD = "/home/dev/code/shop"


def row(kind, name, parent, **more):
    return {"type": kind, "uuid": name, "parentUuid": parent, "isSidechain": False, "sessionId": CLAUDE, "cwd": CWD,
            "version": "2.1.112", "timestamp": TIME, **more}


def prompt(name, parent, text="p", **more):
    return row("user", name, parent, message={"role": "user", "content": text}, **more)


def answer(name, parent, blocks=None, message=None, **more):
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return row("assistant", name, parent, requestId=f"req-{name}",
               message={"id": message or f"msg-{name}", "type": "message", "role": "assistant", "model": "claude-opus-4-7",
                        "content": blocks or [{"type": "text", "text": "a"}], "stop_reason": "end_turn", "usage": usage}, **more)


def claude(lines):
    return {f"{PROJECT}{CLAUDE}.jsonl": lines}


def same_parent(n):
    """Every answer follows the first prompt: as many branches as rows."""
    return claude([prompt("root", None)] + [answer(f"a{i}", "root") for i in range(n)])


def deep_chain(n):
    lines, parent = [], None
    for i in range(n):
        lines += [prompt(f"u{i}", parent), answer(f"a{i}", f"u{i}")]
        parent = f"a{i}"
    return claude(lines)


def backwards(n):
    """A chain whose last row comes first."""
    return claude(deep_chain(n)[f"{PROJECT}{CLAUDE}.jsonl"][::-1])


def branches(n):
    """Each prompt is rewound to the one before the last."""
    lines = [prompt("u0", None), answer("a0", "u0")]
    for i in range(1, n):
        lines += [prompt(f"u{i}", f"a{max(0, i - 2)}"), answer(f"a{i}", f"u{i}")]
    return claude(lines)


def blocks(n):
    """One answer, a row per block."""
    lines, parent = [prompt("u", None)], "u"
    for i in range(n):
        lines.append(answer(f"b{i}", parent, [{"type": "text", "text": f"block {i}"}], message="msg"))
        parent = f"b{i}"
    return claude(lines)


def parallel(n):
    """One answer with many calls, each with its result."""
    lines, parent = [prompt("u", None)], "u"
    for i in range(n):
        lines.append(answer(f"b{i}", parent, [{"type": "tool_use", "id": f"t{i}", "name": "Read", "input": {"file_path": f"f{i}"}}], message="msg"))
        parent = f"b{i}"
    for i in range(n):
        result = [{"type": "tool_result", "tool_use_id": f"t{i}", "content": "x"}]
        lines.append(row("user", f"r{i}", f"b{i}", message={"role": "user", "content": result}))
    return claude(lines)


def claude_tools(n):
    """Calls of as many tools, by as many models."""
    lines, parent = [prompt("u", None)], "u"
    for i in range(n):
        call = answer(f"b{i}", parent, [{"type": "tool_use", "id": f"t{i}", "name": f"mcp__server__tool_{i}", "input": {}}])
        call["message"]["model"] = f"model-{i}"
        lines.append(call)
        parent = f"b{i}"
    return claude(lines)


def lost_parents(n):
    return claude([prompt(f"u{i}", f"nowhere{i}") for i in range(n)])


def copies(n):
    """Forks: every file has the same rows."""
    rows = [prompt("u", None), answer("a", "u")]
    return {f"{PROJECT}{i:08x}-2222-4333-8444-555555555555.jsonl": rows for i in range(n)} | claude(rows)


def boundaries(n):
    lines, parent = [prompt("u", None)], "u"
    for i in range(n):
        cut = row("system", f"c{i}", None, subtype="compact_boundary", logicalParentUuid=parent, content="Conversation compacted",
                  compactMetadata={"trigger": "auto", "preTokens": 1})
        lines += [cut, prompt(f"s{i}", f"c{i}", "summary", isCompactSummary=True), answer(f"a{i}", f"s{i}")]
        parent = f"a{i}"
    return claude(lines)


def segments(n):
    """Compactions that keep some of the rows before."""
    lines, parent = [prompt("u", None)], "u"
    for i in range(n):
        kept = {"headUuid": "u", "anchorUuid": parent, "tailUuid": parent}
        cut = row("system", f"c{i}", None, subtype="compact_boundary", logicalParentUuid=parent, content="Conversation compacted",
                  compactMetadata={"trigger": "auto", "preTokens": 1, "preservedSegment": kept})
        lines += [cut, prompt(f"s{i}", f"c{i}", "summary", isCompactSummary=True), answer(f"a{i}", f"s{i}")]
        parent = f"a{i}"
    return claude(lines)


def subagents(n):
    lines = [prompt("u", None)]
    made = claude(lines)
    for i in range(n):
        call = [{"type": "tool_use", "id": f"t{i}", "name": "Task", "input": {"prompt": f"look {i}"}}]
        result = [{"type": "tool_result", "tool_use_id": f"t{i}", "content": "done"}]
        lines += [answer(f"a{i}", "u" if i == 0 else f"r{i - 1}", call),
                  row("user", f"r{i}", f"a{i}", message={"role": "user", "content": result}, toolUseResult={"agentId": f"{i:08x}", "status": "completed"})]
        side = {"isSidechain": True, "agentId": f"{i:08x}"}
        made[f"{PROJECT}{CLAUDE}/subagents/agent-{i:08x}.jsonl"] = [prompt(f"su{i}", None, f"look {i}", **side), answer(f"sa{i}", f"su{i}", **side)]
    return made


def line(tag, **payload):
    return {"timestamp": TIME, "type": tag, "payload": payload}


def meta(name=CODEX, **more):
    return line("session_meta", id=name, timestamp=TIME, cwd=CWD, originator="codex_cli_rs", cli_version="0.144.6", source="cli", **more)


def rollout(name=CODEX, at="08-00-00"):
    return f"{DAY}rollout-2026-09-02T{at}-{name}.jsonl"


def turn(i):
    text = [{"type": "input_text", "text": f"p{i}"}]
    said = [{"type": "output_text", "text": f"a{i}"}]
    return [line("event_msg", type="task_started", turn_id=f"t{i}"),
            line("response_item", type="message", role="user", content=text),
            line("event_msg", type="user_message", message=f"p{i}"),
            line("response_item", type="message", role="assistant", content=said),
            line("event_msg", type="agent_message", message=f"a{i}"),
            line("event_msg", type="task_complete", turn_id=f"t{i}")]


def turns(n):
    return {rollout(): [meta()] + [record for i in range(n) for record in turn(i)]}


def rollbacks(n):
    """Half as many turns as rollbacks of one, then of all."""
    lines = [meta()] + [record for i in range(n // 2) for record in turn(i)]
    for i in range(n):
        lines += [line("event_msg", type="user_message", message=f"x{i}"), line("event_msg", type="thread_rolled_back", num_turns=1)]
    return {rollout(): lines + [line("event_msg", type="thread_rolled_back", num_turns=n)]}


def deep_rollbacks(n):
    """Rollbacks of more turns than there are."""
    lines = [meta()] + turn(0)
    return {rollout(): lines + [line("event_msg", type="thread_rolled_back", num_turns=1_000_000_000)] * n}


def outputs(n):
    lines = [meta()] + turn(0)
    for i in range(n):
        lines.append(line("response_item", type="function_call", name="shell", arguments=f'{{"command":["cat","f{i}"]}}', call_id=f"c{i}"))
    for i in range(n):
        lines.append(line("response_item", type="function_call_output", call_id=f"c{i}", output="x"))
    return {rollout(): lines}


def codex_tools(n):
    """Calls of as many tools, by as many models."""
    lines = [meta()] + turn(0)
    for i in range(n):
        lines += [line("turn_context", cwd=CWD, model=f"model-{i}", turn_id=f"t{i}"),
                  line("response_item", type="function_call", name=f"tool_{i}", arguments="{}", call_id=f"c{i}"),
                  line("response_item", type="function_call_output", call_id=f"c{i}", output="x")]
    return {rollout(): lines}


def spawns(n):
    """Calls that start agents; events name them afterwards."""
    lines = [meta()] + turn(0)
    for i in range(n):
        lines.append(line("response_item", type="function_call", name="spawn_agent", arguments="{}", call_id=f"c{i}"))
    for i in range(n):
        lines += [line("event_msg", type="sub_agent_activity", agent_thread_id=f"{i:08x}-2222-7333-8444-777777777777", kind="started"),
                  line("response_item", type="function_call_output", call_id=f"c{i}", output=f'{{"agent_id":"{i:08x}-2222-7333-8444-777777777777"}}')]
    return {rollout(): lines}


def same_call(n):
    """Every call has one id."""
    lines = [meta()] + turn(0)
    for i in range(n):
        lines += [line("response_item", type="function_call", name="shell", arguments="{}", call_id="c"),
                  line("response_item", type="function_call_output", call_id="c", output=f"x{i}")]
    return {rollout(): lines}


def paginated(records, start=0):
    return [{**record, "ordinal": start + i} for i, record in enumerate(records)]


def asked(thread, i):
    item = {"type": "UserMessage", "id": f"{thread[:8]}-{i}", "content": [{"type": "text", "text": f"p{i}"}]}
    return line("event_msg", type="item_completed", thread_id=thread, turn_id=f"t{i}", item=item)


def bases(n):
    """A chain of forks, each of which begins with the one before."""
    made = {}
    for i in range(n):
        name = f"{i:08x}-2222-7333-8444-555555555555"
        base = {} if i == 0 else {"history_base": {"thread_id": f"{i - 1:08x}-2222-7333-8444-555555555555", "end_ordinal_exclusive": 2 * i}}
        made[rollout(name, f"{i // 3600 % 24:02d}-{i // 60 % 60:02d}-{i % 60:02d}")] = paginated(
            [meta(name, history_mode="paginated", **base), asked(name, i)], 2 * i)
    return made


def reverts(n):
    """Many files of one thread, each of which begins with the one before."""
    made = {}
    for i in range(n):
        name = CODEX if i == 0 else f"{CODEX}_{i:08x}-2222-7333-8444-666666666666"
        before = CODEX if i == 1 else f"{i - 1:08x}-2222-7333-8444-666666666666"
        base = {} if i == 0 else {"history_base": {"thread_id": before, "end_ordinal_exclusive": 2 * i}}
        made[rollout(name, f"{i // 3600 % 24:02d}-{i // 60 % 60:02d}-{i % 60:02d}")] = paginated(
            [meta(CODEX, history_mode="paginated", **base), asked(CODEX, i)], 2 * i)
    return made


def same_thread(n):
    """Many files of one thread without a base."""
    return {rollout(CODEX, f"{i // 3600 % 24:02d}-{i // 60 % 60:02d}-{i % 60:02d}"): [meta()] + turn(i) for i in range(n)}


def threads(n):
    made = {}
    for i in range(n):
        name = f"{i:08x}-2222-7333-8444-555555555555"
        made[rollout(name)] = [meta(name)] + turn(i)
    return made


def names(n):
    """An index with many names for one thread."""
    records = [{"id": CODEX, "thread_name": f"name {i}", "updated_at": TIME} for i in range(n)]
    return turns(1) | {".codex/session_index.jsonl": records}


def compactions(n):
    lines = [meta()]
    for i in range(n):
        lines += turn(i) + [line("compacted", message=f"summary {i}")]
    return {rollout(): lines}
