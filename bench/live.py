#!/usr/bin/env python3
"""Scores `recount watch --replay` against recordings with the true state, and measures what watching costs.

    bench/live.py score PROGRAM FOLDER     share of time with the right state, per agent and state
    bench/live.py append PROGRAM [MB]      time from an append to a large log until the change is printed
    bench/live.py rewrite PROGRAM [MB]     the same for a document that is rewritten whole
    bench/live.py hook PROGRAM [CALLS]     processor time of one call of a hook, and how long it takes
    bench/live.py soak PROGRAM [SECONDS]   memory while 20 sessions write without a pause; fails if it grows after a quarter
    bench/live.py idle PROGRAM [SECONDS]   processor time and memory while nothing runs
    bench/live.py load PROGRAM [SECONDS]   the same with 20 sessions that write 10 lines a second each

A recording is a folder with `timeline.jsonl` and `meta.json`. States are compared every 100 ms; the first 0.7 s after each true
change are left out.
"""
import hashlib, json, os, pathlib, resource, subprocess, sys, tempfile, threading, time

WANTED = {"thinking": {"working"}, "tool": {"tool"}, "approval": {"approve"}, "question": {"approve"},
          "idle": {"yours", "idle"}, "cancelled": {"yours", "idle"}, "failed": {"failed"},
          "exited": {"done"}, "killed": {"gone"}}


def score(program, folder):
    tally, flicker = {}, []
    for path in sorted(pathlib.Path(folder).glob("*/*/*/timeline.jsonl")):
        agent = path.parts[-4]
        truths = [json.loads(line) for line in open(path) if '"truth"' in line]
        truths = [one for one in truths if "truth" in one]
        end = max(json.loads(line)["t"] for line in open(path))
        out = subprocess.run([program, "watch", "--replay", path, "--speed", "max", "--json"],
                             capture_output=True, check=True).stdout
        said = {}
        for line in out.splitlines():
            document = json.loads(line)
            said.setdefault(document["session"]["pid"], []).append((document["t"], document["session"]["state"]))
        for pid in sorted({one["pid"] for one in truths}):
            own = [one for one in truths if one["pid"] == pid]
            states = said.get(pid, [])
            changed = None
            for at, one in enumerate(own):
                until = own[at + 1]["t"] if at + 1 < len(own) else end
                if at == 0 or own[at - 1]["truth"] != one["truth"]:
                    changed = one["t"]
                for t in range(-(-one["t"] // 100) * 100, until, 100):
                    if t - changed < 700:
                        continue
                    got = [state for when, state in states if when <= t]
                    right = bool(got) and got[-1] in WANTED[one["truth"]]
                    cell = tally.setdefault((agent, one["truth"]), [0, 0])
                    cell[0] += right
                    cell[1] += 1
            changes = [t for (t, state), (_, before) in zip(states[1:], states) if state != before]
            for start in changes:
                ours = sum(start <= t < start + 60000 for t in changes)
                theirs = sum(start - 1500 <= one["t"] < start + 61500 for one in own)
                if ours > theirs + 3:
                    flicker.append(f"{path.parent}: {ours} changes in a minute, the truth has {theirs}")
                    break
    agents = sorted({agent for agent, _ in tally})
    for agent in agents:
        right = sum(cell[0] for (one, _), cell in tally.items() if one == agent)
        total = sum(cell[1] for (one, _), cell in tally.items() if one == agent)
        print(f"{agent}: {100 * right / total:.1f} % of {total} samples")
        for (one, state), cell in sorted(tally.items()):
            if one == agent:
                print(f"  {state:10} {100 * cell[0] / max(cell[1], 1):5.1f} % of {cell[1]}")
    print("\n".join(flicker) or "no more than 3 changes in a minute that the truth does not have")


def home_with_log(folder, megabytes):
    chats = folder / ".gemini/tmp/shop/chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text("/home/dev/code/shop")
    log = chats / "session-2026-11-16T13-10-117eaa32.jsonl"
    start = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    line = json.dumps({"id": "x", "timestamp": start, "type": "gemini", "content": "x" * 1000}) + "\n"
    with open(log, "w") as out:
        out.write(json.dumps({"sessionId": "117eaa32-683a-4d3c-8c0d-9a395b519f51", "startTime": start}) + "\n")
        for _ in range(megabytes * 1000):
            out.write(line)
    table = folder / "processes.json"
    table.write_text(json.dumps([{
        "pid": 91, "ppid": 1, "comm": "node", "argv": ["node", "/usr/bin/gemini"], "cwd": "/home/dev/code/shop",
        "start_ms": int(time.time() * 1000) - 5000, "state": "S", "tty": "/dev/pts/0", "env": {}}]))
    return log, table


def append(program, megabytes):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log, table = home_with_log(folder, megabytes)
        env = dict(os.environ, RECOUNT_PROCESS_TABLE=str(table), RECOUNT_DATA_DIR=str(folder / "data"))
        run = subprocess.Popen([program, "watch", "--json", "--home", folder], stdout=subprocess.PIPE, env=env)
        seen = []
        def read():
            for line in run.stdout:
                seen.append((time.monotonic(), json.loads(line)["session"]["state"]))
        threading.Thread(target=read, daemon=True).start()
        time.sleep(8)
        late = []
        for number in range(200):
            is_prompt = number % 2 == 0
            kind, content = ("user", [{"text": "go"}]) if is_prompt else ("error", "stop")
            wanted = "working" if is_prompt else "failed"
            before, begun = len(seen), time.monotonic()
            with open(log, "a") as out:
                out.write(json.dumps({"id": f"m{number}", "type": kind, "content": content}) + "\n")
            shown = lambda: next((at for at, state in seen[before:] if state == wanted), None)
            while shown() is None and time.monotonic() - begun < 3:
                time.sleep(0.0005)
            late.append((shown() or begun + 3) - begun)
            time.sleep(0.05)
        run.terminate()
        late.sort()
        print(f"append to a log of {megabytes} MB: p50 {1000 * late[100]:.1f} ms, p99 {1000 * late[197]:.1f} ms of {len(late)}")


def rewrite(program, megabytes):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log, table = home_with_log(folder, 0)
        log.unlink()
        path = log.with_suffix(".json")
        start = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        head = ('{\n  "sessionId": "117eaa32-683a-4d3c-8c0d-9a395b519f51",\n  "projectHash": "x",\n  "startTime": "%s",\n  "messages": [' % start).encode()
        item = lambda number, kind, text: ("\n    " + json.dumps({"id": f"m{number}", "timestamp": start, "type": kind, "content": text}, indent=2).replace("\n", "\n    ")).encode()
        body = b",".join(item(number, "gemini", "x" * 1000) for number in range(megabytes * 1000 * 1000 // 1120))
        run, seen = None, []
        late, spent = [], []
        for number in range(12):
            is_prompt = number % 2 == 0
            last = item(f"l{number}", "user" if is_prompt else "error", "go")
            before = len(seen)
            with open(path, "wb") as out:
                out.write(head + body + b"," + last + b"\n  ]\n}\n")
            begun = time.monotonic()
            if run is None:
                env = dict(os.environ, RECOUNT_PROCESS_TABLE=str(table), RECOUNT_DATA_DIR=str(folder / "data"))
                run = subprocess.Popen([program, "watch", "--json", "--home", folder], stdout=subprocess.PIPE, env=env)
                def read():
                    for line in run.stdout:
                        seen.append((time.monotonic(), json.loads(line)["session"]["state"]))
                threading.Thread(target=read, daemon=True).start()
                time.sleep(15)
                continue
            wanted = "working" if is_prompt else "failed"
            while not any(state == wanted for _, state in seen[before:]) and time.monotonic() - begun < 10:
                time.sleep(0.002)
            late.append(next((at for at, state in seen[before:] if state == wanted), begun + 10) - begun)
            time.sleep(3)
        run.terminate()
        late.sort()
        size = path.stat().st_size / 1e6
        print(f"rewrite of a document of {size:.0f} MB: p50 {1000 * max(late[len(late) // 2], 0):.0f} ms, most {1000 * max(late[-1], 0):.0f} ms after the last byte, of {len(late)}")


def hook(program, calls):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log, _ = home_with_log(folder, 1)
        env = dict(os.environ, HOME=str(folder), RECOUNT_DATA_DIR=str(folder / "data"))
        for event in ("Notification", "BeforeAgent"):
            said = json.dumps({"session_id": "117eaa32-683a-4d3c-8c0d-9a395b519f51", "transcript_path": str(log), "cwd": "/home/dev/code/shop",
                               "hook_event_name": event, "notification_type": "ToolPermission"}).encode()
            before, took = resource.getrusage(resource.RUSAGE_CHILDREN), []
            for _ in range(calls):
                begun = time.monotonic()
                subprocess.run([program, "guard", "--hook", "run", "--source", "gemini"], input=said, env=env, check=True)
                took.append(time.monotonic() - begun)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            took.sort()
            print(f"hook {event}: {1000 * spent / calls:.1f} ms of processor time, p50 {1000 * took[calls // 2]:.1f} ms, p99 {1000 * took[calls * 99 // 100]:.1f} ms of {calls}")


def idle(program, seconds):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / ".gemini/tmp").mkdir(parents=True)
        env = dict(os.environ, RECOUNT_DATA_DIR=str(folder / "data"))
        run = subprocess.Popen([program, "watch", "--json", "--home", folder], stdout=subprocess.DEVNULL, env=env)
        time.sleep(2)
        def used():
            fields = open(f"/proc/{run.pid}/stat").read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        before = used()
        time.sleep(seconds)
        share = (used() - before) / seconds
        memory = next(line for line in open(f"/proc/{run.pid}/status") if line.startswith("VmRSS"))
        run.terminate()
        print(f"nothing runs: {100 * share:.2f} % of a core over {seconds} s, {int(memory.split()[1]) / 1000:.1f} MB")


def resident(pid):
    line = next(line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


def stamp():
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"


def gemini_session(folder, number, project):
    chats = folder / f".gemini/tmp/p{number}/chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(project)
    head = [{"sessionId": f"00000000-0000-4000-9000-{number:012}", "projectHash": hashlib.sha256(project.encode()).hexdigest(), "startTime": stamp()},
            {"id": f"p{number}", "timestamp": stamp(), "type": "user", "content": [{"text": f"task {number}"}]}]
    line = lambda nth: {"id": f"m{nth}", "timestamp": stamp(), "type": "gemini", "content": "x" * 500, "model": "gemini-3.5-flash",
                        "tokens": {"input": 100, "output": 10, "total": 110}}
    return chats / f"session-2026-11-16T13-10-{number:08}.jsonl", ["node", "/usr/bin/gemini"], head, line


def claude_session(folder, number, project):
    session = f"00000000-0000-4000-8000-{number:012}"
    below = folder / ".claude/projects" / project.replace("/", "-")
    below.mkdir(parents=True)
    common = lambda nth: {"cwd": project, "sessionId": session, "version": "2.1.112", "uuid": f"u{number}-{nth}", "timestamp": stamp()}
    head = [common(0) | {"type": "user", "message": {"role": "user", "content": f"task {number}"}}]
    line = lambda nth: common(nth) | {"type": "assistant", "requestId": f"r{nth}", "message": {
        "id": f"m{nth}", "role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "x" * 300}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 100, "output_tokens": 10}}}
    return below / f"{session}.jsonl", ["claude"], head, line


def codex_session(folder, number, project):
    session = f"00000000-0000-7000-8000-{number:012}"
    below = folder / time.strftime(".codex/sessions/%Y/%m/%d", time.gmtime())
    below.mkdir(parents=True, exist_ok=True)
    record = lambda kind, payload: {"timestamp": stamp(), "type": kind, "payload": payload}
    head = [record("session_meta", {"id": session, "cwd": project, "timestamp": stamp(), "cli_version": "0.144.6", "originator": "codex_cli_rs"}),
            record("turn_context", {"cwd": project, "approval_policy": "never", "model": "gpt-5.4"}),
            record("event_msg", {"type": "task_started"}),
            record("event_msg", {"type": "user_message", "message": f"task {number}"})]
    usage = lambda many: {"input_tokens": 100 * many, "cached_input_tokens": 0, "output_tokens": 10 * many, "reasoning_output_tokens": 0, "total_tokens": 110 * many}
    line = lambda nth: record("event_msg", {"type": "token_count", "info": {
        "total_token_usage": usage(nth), "last_token_usage": usage(1), "model_context_window": 272000}})
    return below / f"rollout-{time.strftime('%Y-%m-%dT%H-%M-%S', time.gmtime())}-{session}.jsonl", ["codex"], head, line


def load(program, seconds, pause=0.005, is_soak=False):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        now = int(time.time() * 1000)
        logs, processes = [], []
        kinds = [gemini_session, claude_session, codex_session] if is_soak else [gemini_session]
        for number in range(20):
            project = f"/home/dev/code/p{number}"
            log, program_args, head, line = kinds[number % len(kinds)](folder, number, project)
            log.write_text("".join(json.dumps(one) + "\n" for one in head))
            logs.append((open(log, "a"), line))
            processes.append({"pid": 100 + number, "ppid": 1, "comm": program_args[0], "argv": program_args,
                              "cwd": project, "start_ms": now - 5000, "state": "S", "tty": f"/dev/pts/{number}", "env": {}})
        table = folder / "processes.json"
        table.write_text(json.dumps(processes))
        env = dict(os.environ, RECOUNT_PROCESS_TABLE=str(table), RECOUNT_DATA_DIR=str(folder / "data"))
        run = subprocess.Popen([program, "watch", "--json", "--home", folder], stdout=subprocess.DEVNULL, env=env)
        def used():
            fields = open(f"/proc/{run.pid}/stat").read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        time.sleep(5)
        before, begun, written, sizes = used(), time.monotonic(), 0, []
        while time.monotonic() - begun < seconds:
            for log, line in logs:
                written += 1
                log.write(json.dumps(line(written)) + "\n")
                log.flush()
                time.sleep(pause)
            if is_soak and time.monotonic() - begun >= len(sizes) * seconds / 40:
                sizes.append(resident(run.pid))
        took = time.monotonic() - begun
        share = (used() - before) / took
        memory = next(line for line in open(f"/proc/{run.pid}/status") if line.startswith("VmRSS"))
        resident_at_end = resident(run.pid)
        if is_soak:
            # Rows of the list are read again when sessions rest: this takes memory for each of their messages.
            time.sleep(75)
            at_rest = resident(run.pid)
        run.terminate()
        print(f"20 sessions, {written / took:.0f} lines/s: {100 * share:.1f} % of a core, {int(memory.split()[1]) / 1000:.1f} MB")
        if is_soak:
            sizes.append(resident_at_end)
            quarters = [sizes[len(sizes) * quarter // 4 - (quarter == 4)] for quarter in range(1, 5)]
            hours = written / (20 * 10 * 3600)
            print(f"{written} lines in {seconds} s, as many as 20 sessions with 10 lines a second write in {hours:.1f} hours")
            print("memory in MB after each quarter: " + " ".join(f"{size:.1f}" for size in quarters) + f", most {max(sizes):.1f}; when all have come to rest {at_rest:.1f}")
            most = quarters[0] * 1.15 + 5
            if max(sizes[len(sizes) // 4:]) > most:
                sys.exit(f"memory grows: more than {most:.1f} MB after the first quarter")


if __name__ == "__main__":
    what, program, *rest = sys.argv[1:]
    if what == "score":
        score(program, rest[0])
    elif what == "append":
        append(program, int(rest[0]) if rest else 300)
    elif what == "load":
        load(program, int(rest[0]) if rest else 30)
    elif what == "soak":
        load(program, int(rest[0]) if rest else 600, 0, True)
    elif what == "rewrite":
        rewrite(program, int(rest[0]) if rest else 300)
    elif what == "hook":
        hook(program, int(rest[0]) if rest else 100)
    else:
        idle(program, int(rest[0]) if rest else 60)
