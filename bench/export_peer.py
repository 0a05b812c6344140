#!/usr/bin/env python3
"""The minimum that a tool in Python has to do for a Markdown export: read every record, write prompts, answers and calls.

  export_peer.py SESSION OUT          one session file to OUT/<name>.md
  export_peer.py --list PATHS OUT     those whose paths stand in a file, with NUL between
"""

import json
import os
import sys


def records(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        if path.endswith(".jsonl"):
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue
            return
        try:
            yield from json.load(file).get("messages", [])
        except ValueError:
            return


def text_of(content):
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in parts)


def export(path, folder):
    kept = {}
    for record in records(path):
        if isinstance(record, dict) and "type" in record and "id" in record:
            kept[record["id"]] = record
    with open(os.path.join(folder, os.path.basename(path) + ".md"), "w", encoding="utf-8", errors="replace") as out:
        for record in kept.values():
            out.write(f"\n## {record['type']} {record.get('timestamp', '')}\n\n{text_of(record.get('content'))}\n")
            for call in record.get("toolCalls") or []:
                out.write(f"\n- {call.get('name')} {json.dumps(call.get('args'), ensure_ascii=False)[:300]}\n")


def main():
    if sys.argv[1] == "--list":
        with open(sys.argv[2], encoding="utf-8") as file:
            paths = file.read().split("\0")
    else:
        paths = [sys.argv[1]]
    for path in paths:
        export(path, sys.argv[-1])


if __name__ == "__main__":
    main()
