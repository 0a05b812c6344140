"""Every command that changes something, each with a home in which it has something to do."""

import json


class Case:
    """A command. `then` is what is done before it; `is_ours` when only our own data change; `lose` when the agent deletes all first."""

    def __init__(self, name, fixture, arguments, *, then=(), is_ours=False, codes=(0,), look=None, prepare=None,
                 lose=False):
        self.name, self.fixture, self.asked, self.then = name, fixture, arguments, then
        self.is_ours, self.codes, self.seen, self.also, self.lose = is_ours, codes, look, prepare, lose

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
        """Puts ids in the place of `{N}`: the N-th session of all, the newest first."""
        if not any("{" in argument for argument in arguments):
            return list(arguments)
        ids = [session["id"] for session in home.sessions() if session["kind"] == "main"]
        return [argument.format(*ids, home=home.home) for argument in arguments]


def listed(*arguments):
    """Looks at what a command tells as JSON."""
    return lambda home: json.loads(home.run(*arguments, "--json").stdout or "null")


def project(name):
    """Makes a folder for a project, so that something can go there."""
    return lambda home: home.write(f"code/{name}/README", "A project.")


def damaged(home):
    """A log whose head is missing and whose last line is torn."""
    for path in home.session_files():
        text = home.read(path)
        home.write(path, text[text.index("\n") + 1:] + '{"id":"torn')


def lost(home):
    """A session of which only the prompts are left."""
    home.write(".gemini/tmp/shop/logs.json", json.dumps([
        {"sessionId": "0f0f0f0f-1111-4111-8111-111111111111", "messageId": number, "type": "user", "message": text,
         "timestamp": "2026-11-15T18:00:00.000Z"} for number, text in enumerate(("Where is it?", "And now?"))], indent=2))


def renamed(home):
    """The folder of the project is somewhere else."""
    home.write("code/market/README", "A project.")


def vault(home):
    """What the vault holds: sizes and hashes of all that was kept, and whether it is whole."""
    told = json.loads(home.run("vault", "--json").stdout)
    checked = home.run("vault", "verify", "--json")
    return [checked.returncode, sorted((held["id"], held["bytes"]) for held in told["sessions"])]


CASES = [
    Case("delete", "checkpoints/subagent", ["delete", "{0}", "--yes"]),
    Case("restore", "checkpoints/subagent", ["restore", "--yes"], then=[["delete", "{0}", "--yes"]]),
    Case("undo", "lines/migration", ["undo", "--yes"], then=[["delete", "{0}", "--yes"]]),
    Case("rename a log", "lines/tools", ["rename", "{0}", "Another title", "--yes"]),
    Case("rename a document", "parts/tools", ["rename", "{0}", "Another title", "--yes"]),
    Case("move", "checkpoints/subagent", ["move", "{0}", "--to", "{home}/code/store", "--yes"], prepare=project("store")),
    Case("relocate", "checkpoints/tools", ["relocate", "/home/dev/code/shop", "{home}/code/market", "--yes"], prepare=renamed),
    Case("relocate a hash", "strings/tools", ["relocate", "/home/dev/code/shop", "{home}/code/market", "--yes"], prepare=renamed),
    Case("fork", "checkpoints/rewind", ["fork", "{0}", "--yes"]),
    Case("merge", "lines/resume", ["merge", "{0}", "{1}", "--yes"]),
    Case("prune", "lines/resume", ["prune", "--older", "1h", "--yes"]),
    Case("compact", "checkpoints/tools", ["compact", "{0}", "--min-saving", "0%", "--yes"]),
    Case("convert to a log", "parts/tools", ["convert", "{0}", "--to", "jsonl", "--yes"]),
    Case("convert to a document", "lines/tools", ["convert", "{0}", "--to", "json", "--yes"]),
    Case("trim", "checkpoints/multi-turn", ["trim", "{0}", "--keep-last", "1", "--yes"]),
    Case("repair", "lines/multi-turn", ["repair", "--all", "--yes"], prepare=damaged),
    Case("recover", "lines/plain", ["recover", "0f0f0f0f", "--yes"], prepare=lost),
    Case("guard --fix", "checkpoints/resume-stub", ["guard", "--fix", "--yes"]),
    Case("guard --retention", "lines/plain", ["guard", "--retention", "off", "--yes"]),
    Case("guard --hook", "lines/plain", ["guard", "--hook", "install", "--program", "/usr/local/bin/recount", "--yes"]),
    Case("guard --keep", "checkpoints/subagent", ["guard", "--keep"], is_ours=True, codes=(0, 1), look=vault),
    Case("restore from the vault", "checkpoints/multi-turn", ["restore", "{0}", "--yes"], then=[["guard", "--keep"]], prepare=None,
         lose=True),
    Case("tag", "lines/plain", ["tag", "{0}", "seen"], is_ours=True, look=listed("tag")),
    Case("pin", "lines/plain", ["pin", "{0}"], is_ours=True, look=listed("list", "--all", "--pinned")),
]
