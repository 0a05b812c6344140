"""Every command that changes something, each with a home in which it has something to do."""

import json
import os


class Case:
    """A command. `then` runs before it; `is_ours`: only our own data changes; `lose`: the agent deletes everything first;
    `is_quick`: it is always tested."""

    def __init__(self, name, fixture, arguments, *, then=(), is_ours=False, codes=(0,), look=None, prepare=None,
                 lose=False, is_quick=True):
        self.name, self.fixture, self.asked, self.then = name, fixture, arguments, then
        self.is_ours, self.codes, self.seen, self.also, self.lose = is_ours, codes, look, prepare, lose
        self.is_quick = is_quick

    def prepare(self, home):
        if self.fixture.startswith("-"):
            home.make(*self.fixture.split())
        else:
            home.copy(self.fixture)
        if self.also:
            self.also(home)
        for arguments in self.then:
            done = home.run(*self.filled(arguments, home))
            if done.returncode not in (0, 1):
                raise RuntimeError(f"{arguments}: {done.stderr.strip()}")
        self.ready = self.filled(self.asked, home)
        if self.lose:
            home.lose()

    def arguments(self, home):
        return self.ready

    def look(self, home):
        return self.seen(home) if self.seen else None

    @staticmethod
    def filled(arguments, home):
        """Replaces `{N}` by ids: the N-th session of all, newest first."""
        if not any("{" in argument for argument in arguments):
            return list(arguments)
        ids = [session["id"] for session in home.sessions() if session["kind"] == "main"]
        return [argument.format(*ids, home=home.home) for argument in arguments]


def listed(*arguments):
    """Checks the JSON output of a command."""
    return lambda home: json.loads(home.run(*arguments, "--json").stdout or "null")


def project(name):
    """Creates a folder for a project, as a destination."""
    return lambda home: home.write(f"code/{name}/README", "A project.")


def damaged(home):
    """A log without a header and with an incomplete last line."""
    for path in home.session_files():
        text = home.read(path)
        home.write(path, text[text.index("\n") + 1:] + '{"id":"torn')


def lost(home):
    """A session of which only the prompts are left."""
    home.write(".gemini/tmp/shop/logs.json", json.dumps([
        {"sessionId": "0f0f0f0f-1111-4111-8111-111111111111", "messageId": number, "type": "user", "message": text,
         "timestamp": "2026-11-15T18:00:00.000Z"} for number, text in enumerate(("Where is it?", "And now?"))], indent=2))


def renamed(home):
    """The folder of the project has moved."""
    home.write("code/market/README", "A project.")


def vault(home):
    """The contents of the vault: sizes and hashes of all copies, and whether they are intact."""
    told = json.loads(home.run("vault", "--json").stdout)
    checked = home.run("vault", "verify", "--json")
    return [checked.returncode, sorted((held["id"], held["bytes"]) for held in told["sessions"])]


def titled(home):
    """The agent stores a title again, in a write-protected file."""
    for path in home.session_files():
        folder = path.removesuffix(".jsonl")
        if os.path.isdir(os.path.join(home.home, folder)):
            home.write(f"{folder}/custom-title.json", '{"customTitle":"First"}')
            os.chmod(os.path.join(home.home, folder, "custom-title.json"), 0o444)


def turns(home):
    """The file that the agent's processes lock to change names."""
    home.write(".codex/session_index.jsonl.lock", "")


def received(agent):
    """Another agent that was used before, and a project."""
    def prepare(home):
        home.write(f"{agent}/settings.json", "{}")
        home.write("code/store/README", "A project.")
        turns(home)
    return prepare


CASES = [
    Case("delete", "gemini/checkpoints/subagent", ["delete", "{0}", "--yes"]),
    Case("restore", "gemini/checkpoints/subagent", ["restore", "--yes"], then=[["delete", "{0}", "--yes"]]),
    Case("undo", "gemini/lines/migration", ["undo", "--yes"], then=[["delete", "{0}", "--yes"]]),
    Case("rename a log", "gemini/lines/tools", ["rename", "{0}", "Another title", "--yes"]),
    Case("rename a document", "gemini/parts/tools", ["rename", "{0}", "Another title", "--yes"]),
    Case("move", "gemini/checkpoints/subagent", ["move", "{0}", "--to", "{home}/code/store", "--yes"], prepare=project("store")),
    Case("relocate", "gemini/checkpoints/tools", ["relocate", "/home/dev/code/shop", "{home}/code/market", "--yes"], prepare=renamed),
    Case("relocate a hash", "gemini/strings/tools", ["relocate", "/home/dev/code/shop", "{home}/code/market", "--yes"], prepare=renamed),
    Case("fork", "gemini/checkpoints/rewind", ["fork", "{0}", "--yes"]),
    Case("handover", "gemini/checkpoints/tools", ["handover", "{0}", "--to", "codex", "--project", "{home}/code/store", "--yes"],
         prepare=received(".codex")),
    Case("handover to another layout", "claude/folder/compact",
         ["handover", "{0}", "--to", "gemini", "--project", "{home}/code/store", "--yes"], prepare=received(".gemini"), is_quick=False),
    Case("handover of a thread", "codex/tagged/tools", ["handover", "{0}", "--to", "claude", "--project", "{home}/code/store", "--yes"],
         prepare=received(".claude"), is_quick=False),
    Case("merge", "gemini/lines/resume", ["merge", "{0}", "{1}", "--yes"]),
    Case("prune", "gemini/lines/resume", ["prune", "--older", "1h", "--yes"]),
    Case("compact", "gemini/checkpoints/tools", ["compact", "{0}", "--min-saving", "0%", "--yes"]),
    Case("convert to a log", "gemini/parts/tools", ["convert", "{0}", "--to", "jsonl", "--yes"]),
    Case("convert to a document", "gemini/lines/tools", ["convert", "{0}", "--to", "json", "--yes"]),
    Case("trim", "gemini/checkpoints/multi-turn", ["trim", "{0}", "--keep-last", "1", "--yes"]),
    Case("repair", "gemini/lines/multi-turn", ["repair", "--all", "--yes"], prepare=damaged),
    Case("recover", "gemini/lines/plain", ["recover", "0f0f0f0f", "--yes"], prepare=lost),
    Case("guard --fix", "gemini/checkpoints/resume-stub", ["guard", "--fix", "--yes"]),
    Case("guard --retention", "gemini/lines/plain", ["guard", "--retention", "off", "--yes"]),
    Case("guard --hook", "gemini/lines/plain", ["guard", "--hook", "install", "--program", "/usr/local/bin/recount", "--yes"]),
    Case("guard --keep", "gemini/checkpoints/subagent", ["guard", "--keep"], is_ours=True, codes=(0, 1), look=vault),
    Case("restore from the vault", "gemini/checkpoints/multi-turn", ["restore", "{0}", "--yes"], then=[["guard", "--keep"]], prepare=None,
         lose=True),
    Case("tag", "gemini/lines/plain", ["tag", "{0}", "seen"], is_ours=True, look=listed("tag")),
    Case("pin", "gemini/lines/plain", ["pin", "{0}"], is_ours=True, look=listed("list", "--all", "--pinned")),
    Case("claude: delete", "claude/folder/subagent", ["delete", "{0}", "--yes"]),
    Case("claude: rename", "claude/folder/subagent", ["rename", "{0}", "Another title", "--yes"], prepare=titled),
    Case("claude: move", "claude/folder/subagent", ["move", "{0}", "--to", "{home}/code/store", "--yes"], prepare=project("store")),
    Case("claude: relocate", "claude/flat/subagent", ["relocate", "/home/dev/code/shop", "{home}/code/market", "--yes"],
         prepare=renamed, is_quick=False),
    Case("claude: fork", "claude/folder/compact", ["fork", "{0}", "--yes"], is_quick=False),
    Case("claude: restore", "claude/folder/subagent", ["restore", "--yes"], then=[["delete", "{0}", "--yes"]], is_quick=False),
    Case("claude: guard --retention", "claude/folder/compact", ["guard", "--retention", "off", "--yes"], is_quick=False),
    Case("claude: restore from the vault", "claude/folder/subagent", ["restore", "{0}", "--yes"], then=[["guard", "--keep"]],
         lose=True, is_quick=False),
    Case("codex: delete", "codex/paginated/reverted", ["delete", "{0}", "--yes"]),
    Case("codex: rename", "codex/paginated/reverted", ["rename", "{0}", "Another title", "--yes"], prepare=turns),
    Case("codex: first name", "codex/tagged/tools", ["rename", "{0}", "A title", "--yes"], is_quick=False),
    Case("codex: move", "codex/paginated/fork", ["move", "{1}", "--to", "{home}/code/a-store-of-another-length", "--yes"],
         prepare=project("a-store-of-another-length")),
    Case("codex: relocate", "codex/paginated/fork", ["relocate", "/home/dev/code/shop", "{home}/code/market", "--yes"],
         prepare=renamed, is_quick=False),
    Case("codex: fork", "codex/paginated/reverted", ["fork", "{0}", "--yes"], prepare=turns),
    Case("codex: undo", "codex/paginated/archived", ["undo", "--yes"], then=[["delete", "{0}", "--yes"]], is_quick=False),
    Case("codex: restore from the vault", "codex/paginated/compressed", ["restore", "{0}", "--yes"], then=[["guard", "--keep"]],
         lose=True, is_quick=False),
]
