"""Sessions of Gemini CLI in the shapes of four eras, for recall.py: text in a given place of a message."""

import copy
import hashlib
import json
import os
import uuid
from dataclasses import dataclass, field

# strings: 0.10, parts: 0.30, both one JSON document; lines: 0.40, checkpoints: 0.61, both logs.
ERAS = ["strings", "parts", "lines", "checkpoints"]
DOCUMENTS = ("strings", "parts")
MODEL = {"strings": "gemini-2.5-pro", "parts": "gemini-3-pro-preview", "lines": "gemini-2.5-flash",
         "checkpoints": "gemini-3.5-flash"}
CONTEXT_ID = "d04923d38bb0f6017037e74183378ef4"
MASK = "<tool_output_masked>\nOutput too large. Full output at: tool-outputs/one.txt\n</tool_output_masked>"


@dataclass
class Session:
    """One file: its name, and its messages or records."""

    era: str
    id: str
    path: str
    title: str = ""
    records: list = field(default_factory=list)
    written: int = 0
    kind: str = "main"

    def next_id(self):
        return f"{self.id}.{len(self.records)}"


class Book:
    """All sessions that are planted in one home."""

    def __init__(self, home):
        self.tmp = os.path.join(home, ".gemini", "tmp")
        self.sessions, self.copies = {}, []
        self.minute = 0

    def session(self, era, name, session_id=None, folder=None, **more):
        """The session of this name; a new one begins with a prompt without a fact."""
        key = (era, name)
        if key not in self.sessions:
            session_id = session_id or str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{era}-{name}.example"))
            self.minute += 1
            stem = f"session-2026-03-{1 + self.minute // 600:02}T{self.minute // 60 % 10:02}-{self.minute % 60:02}"
            ending = "json" if era in DOCUMENTS else "jsonl"
            path = os.path.join(folder or self.folder(era), f"{stem}-{session_id[:8]}.{ending}")
            session = self.sessions[key] = Session(era, session_id, path, **more)
            if era == "checkpoints":
                context = {"id": CONTEXT_ID, "timestamp": stamp(self.minute, 0), "type": "user", "content": [
                    {"text": "<session_context>\nToday is a day.\n</session_context>"}]}
                session.records.append({"$set": {"messages": [context], "lastUpdated": stamp(self.minute, 0)}})
            self.append(session, "prompt", "Start of the round")
        return self.sessions[key]

    def folder(self, era):
        """A project directory: named by a hash in the oldest era, else by a short name."""
        root = f"/home/dev/recall/{era}"
        digest = hashlib.sha256(root.encode()).hexdigest()
        name = digest if era == "strings" else f"recall-{era}"
        os.makedirs(os.path.join(self.tmp, name, "chats"), exist_ok=True)
        if era != "strings":
            with open(os.path.join(self.tmp, name, ".project_root"), "w", encoding="utf-8") as file:
                file.write(root)
        return os.path.join(self.tmp, name, "chats")

    def add(self, era, name, place, text):
        """Adds the text as a separate message; returns the id of that message."""
        return self.append(self.session(era, name), place, text)

    def append(self, session, place, text):
        message_id = session.next_id()
        message = {"id": message_id, "timestamp": stamp(self.minute, len(session.records)),
                   **body(session.era, place, text)}
        session.records.append(message)
        return message_id

    def titled(self, era, text):
        session = self.session(era, f"titled {text}", title=text)
        self.append(session, "answer", "Nothing to see here.")
        return session.id

    # The fate of messages, and what agents do to files.

    def add_undone(self, fate, text):
        return getattr(self, f"make_{fate.replace('-', '_')}")(text)

    def make_rewound(self, text):
        session = self.session("lines", "rewound")
        message = self.append(session, "prompt", text)
        self.append(session, "answer", "Done so.")
        session.records.append({"$rewindTo": message})
        self.append(session, "prompt", "Another way then")
        return message

    def make_rewound_answer(self, text):
        session = self.session("checkpoints", "rewound answer")
        kept = copy.deepcopy(session.records[0]["$set"]["messages"] + session.records[1:])
        prompt = self.append(session, "prompt", "A prompt that is taken back")
        message = self.append(session, "answer", text)
        session.records += [{"$rewindTo": prompt}, checkpoint(self.minute, kept)]
        self.append(session, "prompt", "Another way then")
        return message

    def make_cancelled(self, text):
        session = self.session("checkpoints", "cancelled")
        self.append(session, "answer", "All well.")
        kept = copy.deepcopy(session.records[0]["$set"]["messages"] + session.records[1:])
        message = self.append(session, "prompt", text)
        session.records.append(checkpoint(self.minute, kept))
        return message

    def make_compressed(self, text):
        session = self.session("checkpoints", "compressed")
        message = self.append(session, "answer", text)
        self.compress(session, "<overall_goal>Go on.</overall_goal>")
        return message

    def make_summary(self, text):
        session = self.session("checkpoints", "summary")
        self.append(session, "answer", "A long talk.")
        return self.compress(session, f"<overall_goal>{text}</overall_goal>")

    def compress(self, session, goal):
        context = copy.deepcopy(session.records[0]["$set"]["messages"])
        session.records.append({"$set": {"sessionId": session.id}})
        summary, thanks = session.next_id(), session.next_id() + "x"
        snapshot = f"<state_snapshot>\n{goal}\n</state_snapshot>"
        when = stamp(self.minute, len(session.records))
        session.records.append(checkpoint(self.minute, [
            *context, {"id": summary, "timestamp": when, "type": "user", "content": [{"text": snapshot}]},
            {"id": thanks, "timestamp": when, "type": "gemini",
             "content": [{"text": "Got it. Thanks for the additional context!"}]}]))
        self.append(session, "info", "")
        self.append(session, "prompt", "Then go on")
        return summary

    def make_masked(self, text):
        session = self.session("lines", "masked")
        message = self.append(session, "output", text)
        later = copy.deepcopy(session.records[-1])
        later["toolCalls"][0]["result"][0]["functionResponse"]["response"]["output"] = MASK
        session.records.append(later)
        return message

    def make_streamed(self, text):
        """A message is written again, completely, when its tools have ended."""
        session = self.session("lines", "streamed")
        message = self.append(session, "answer", text)
        later = {**copy.deepcopy(session.records[-1]), **body("lines", "output", "fine")}
        session.records.append({**later, "content": text})
        return message

    def make_resumed(self, text):
        """A resume writes everything again, in other shapes."""
        session = self.session("checkpoints", "resumed")
        message = self.append(session, "answer", text)
        rebuilt = copy.deepcopy(session.records[0]["$set"]["messages"] + session.records[1:])
        for record in rebuilt:
            if record["type"] == "gemini":
                record["content"] = [{"text": record["content"]}]
        session.records += [{"$set": {"sessionId": session.id}}, checkpoint(self.minute, rebuilt)]
        self.append(session, "prompt", "Where were we")
        return message

    def make_twin(self, text):
        """A document that a later release continued as a log: both exist."""
        old = self.session("parts", "twin")
        message = self.append(old, "answer", text)
        new = Session("lines", old.id, old.path + "l", records=old.records)
        self.sessions[("lines", "twin")] = new
        return message

    def make_moved(self, text):
        """The same file in two project directories."""
        session = self.session("strings", "moved")
        message = self.append(session, "answer", text)
        self.copies.append((session, os.path.join(self.folder("parts"), os.path.basename(session.path))))
        return message

    def make_split(self, text):
        """One session in two files: the second began after a compression."""
        first = self.session("strings", "split one")
        second = self.session("strings", "split two", first.id)
        second.records[0]["id"] = f"{first.id}.second"
        second.records.append({**second.records[0], "id": f"{first.id}.third"})
        return self.append(second, "answer", text)

    def make_agent(self, text):
        parent = self.session("lines", "agent parent")
        agent = str(uuid.uuid5(uuid.NAMESPACE_DNS, "agent.example"))
        session = self.session("lines", "agent", agent, kind="subagent")
        folder = os.path.join(os.path.dirname(session.path), parent.id)
        os.makedirs(folder, exist_ok=True)
        session.path = os.path.join(folder, f"{agent}.jsonl")
        return self.append(session, "answer", text)

    # Less common shapes of a message.

    def make_expanded(self, text):
        """A custom command: the typed text is shown, the sent text is longer."""
        return self.put("checkpoints", {"type": "user", "content": [{"text": f"Be thorough. {text} Be brief."}],
                                        "displayContent": [{"text": "/inspect"}]})

    def make_thought_part(self, text):
        return self.put("checkpoints", {"type": "gemini", "content": [{"text": text, "thought": True}, {"text": "Yes."}]})

    def make_deep_argument(self, text):
        message = body("lines", "args", "ls")
        message["toolCalls"][0]["args"] = {"todos": [{"inner": {"description": text, "status": "pending"}}], "n": 7}
        return self.put("lines", message)

    def make_hook(self, text):
        return self.put("checkpoints", {"type": "user", "content": [
            {"text": f"<hook_context>From a hook.</hook_context>\n\n{text}"}]})

    def make_crowded(self, text):
        """The same words in another order, before and after it, in its own session and in others."""
        mixed = " ".join(reversed(text.split()))
        session = self.session("lines", "crowded")
        for name in ("crowd one", "crowd two"):
            for _ in range(150):
                self.append(self.session("lines", name), "output", f"{mixed} {mixed}")
        for _ in range(100):
            self.append(session, "output", mixed)
        message = self.append(session, "output", text)
        for _ in range(100):
            self.append(session, "output", f"{mixed} {mixed}")
        return message

    def make_after_rubbish(self, text):
        session = self.session("lines", "after rubbish")
        session.records.append('{"id":"torn","type":"user","content":[{"te')
        session.records.append("\0\0\0 not JSON at all")
        return self.append(session, "answer", text)

    def make_torn(self, text):
        """The last line is incomplete: the lines before it count."""
        session = self.session("lines", "torn")
        message = self.append(session, "prompt", text)
        session.records.append('{"id":"m9","timestamp":"2026-03-01T00:0')
        return message

    def put(self, era, message):
        session = self.session(era, f"shape {len(self.sessions)}")
        message_id = session.next_id()
        session.records.append({"id": message_id, "timestamp": stamp(self.minute, 5), **message})
        return message_id

    # On disk.

    def write(self, part=1.0):
        """Writes the first part of every session, or what was added since."""
        for session in self.sessions.values():
            until = max(1, round(len(session.records) * part))
            if session.era in DOCUMENTS:
                self.write_document(session, session.records[:until])
            else:
                self.write_log(session, until)
        for session, path in self.copies:
            self.write_document(session, session.records, path)

    def write_document(self, session, messages, path=None):
        document = {**self.head(session), "messages": messages}
        if session.title:
            document["summary"] = session.title
        with open(path or session.path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=2, ensure_ascii=is_escaped(session, messages))

    def write_log(self, session, until):
        lines = [] if session.written else [{**self.head(session), "kind": session.kind}]
        lines += session.records[session.written:until]
        if session.title and not session.written:
            lines.append({"$set": {"summary": session.title}})
        session.written = until
        with open(session.path, "a", encoding="utf-8") as file:
            for line in lines:
                is_raw = isinstance(line, str)
                file.write((line if is_raw else json.dumps(line, ensure_ascii=is_escaped(session, line),
                                                           separators=(",", ":"))) + "\n")

    def head(self, session):
        return {"sessionId": session.id, "projectHash": hashlib.sha256(session.era.encode()).hexdigest(),
                "startTime": stamp(1, 0), "lastUpdated": stamp(1, 59)}


def is_escaped(session, content):
    """Half of the sessions are written in ASCII; half a character can only be written so."""
    return session.era in ("strings", "lines") or "\\ud83d surr" in json.dumps(content)


def checkpoint(minute, messages):
    return {"$set": {"messages": messages, "lastUpdated": stamp(minute, 59)}}


def stamp(minute, second):
    return f"2026-03-{1 + minute // 600:02}T{minute // 60 % 10:02}:{minute % 60:02}:{second % 60:02}.{second // 60:03}Z"


def body(era, place, text):
    """A message with the text in this place, without id and time."""
    typed = (lambda words: words) if era == "strings" else (lambda words: [{"text": words}])
    answer = {"type": "gemini", "content": "", "thoughts": [], "model": MODEL[era],
              "tokens": {"input": 9, "output": 1, "cached": 0, "thoughts": 0, "tool": 0, "total": 10}}
    thought = {"subject": "Looking", "description": "On it.", "timestamp": stamp(1, 1)}
    if place == "prompt":
        return {"type": "user", "content": typed(text)}
    if place == "file":
        return attached(era, text)
    if place == "answer":
        return {**answer, "content": text}
    if place == "thought-subject":
        return {**answer, "thoughts": [{**thought, "subject": text}]}
    if place == "thought":
        return {**answer, "thoughts": [{**thought, "description": text}]}
    if place in ("info", "warning", "error"):
        return {"type": place, "content": text}
    return {**answer, "toolCalls": [call(place, text)]}


def call(place, text):
    args = {"path": text} if place == "path" else {"command": text if place == "args" else "ls"}
    name = "run_shell_command" if place != "tool-name" else text
    number = f"{name}-1772000000000-9c1f"
    said = {"error": text} if place == "tool-error" else {"output": text if place == "output" else "ok"}
    return {"id": number, "name": name, "args": args, "timestamp": stamp(1, 2), "displayName": "Shell",
            "status": "error" if place == "tool-error" else "success", "description": "runs it",
            "result": [{"functionResponse": {"id": number, "name": name, "response": said}}]}


def attached(era, text):
    """A prompt with the content of a file."""
    parts = ["read @notes.txt", "\n--- Content from referenced files ---", "\nContent from @notes.txt:\n", text,
             "\n--- End of content ---"]
    if era == "strings":
        return {"type": "user", "content": "".join(parts)}
    shown = {"displayContent": [{"text": parts[0]}]} if era == "checkpoints" else {}
    return {"type": "user", "content": [{"text": part} for part in parts], **shown}
