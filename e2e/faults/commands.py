"""Every command that changes something, each with a home in which it has something to do."""

import json


class Case:
    """A command. `arguments` is a list, or a function of the home; `is_ours` when only our own data change."""

    def __init__(self, name, fixture, arguments, *, then=(), is_ours=False, codes=(0,), look=None, prepare=None):
        self.name, self.fixture, self.asked, self.then = name, fixture, arguments, then
        self.is_ours, self.codes, self.seen, self.also = is_ours, codes, look, prepare

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

    def arguments(self, home):
        return self.filled(self.asked, home)

    def look(self, home):
        return self.seen(home) if self.seen else None

    @staticmethod
    def filled(arguments, home):
        """Puts ids in the place of `{N}`: the N-th session of all, the newest first."""
        if not any("{" in argument for argument in arguments):
            return list(arguments)
        ids = [session["id"] for session in home.sessions() if session["kind"] == "main"]
        return [argument.format(*ids) for argument in arguments]


def listed(*arguments):
    """Looks at what a command tells as JSON."""
    return lambda home: json.loads(home.run(*arguments, "--json").stdout or "null")


SMALL = "--sessions 5 --megabytes 1 --seed 7"

CASES = [
    Case("delete", "checkpoints/subagent", ["delete", "{0}", "--yes"]),
    Case("restore", "checkpoints/subagent", ["restore", "--yes"], then=[["delete", "{0}", "--yes"]]),
    Case("undo", "lines/migration", ["undo", "--yes"], then=[["delete", "{0}", "--yes"]]),
]
