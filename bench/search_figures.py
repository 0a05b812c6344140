"""Figures of search.py: one run, the best of several, and goals."""

import os
import time
from dataclasses import dataclass


@dataclass
class Result:
    """One run, or the best of several; memory and bytes are the worst."""

    wall: float
    cpu: float
    rss_mb: float = 0.0
    read: int = 0
    code: int = 0
    out: bytes = b""
    err: str = ""


def bytes_read(pid):
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as file:
            return int(file.readline().split()[1])
    except (OSError, ValueError):
        return -1


def settle(home):
    """Sets the modification times of all files to a while ago: new files are read again each time."""
    when = time.time() - 3600
    for folder, _, names in os.walk(home):
        for name in names:
            os.utime(os.path.join(folder, name), (when, when))


def best(runs):
    return Result(min(r.wall for r in runs), min(r.cpu for r in runs), max(r.rss_mb for r in runs),
                  max(r.read for r in runs))


def share(values, part):
    """The value of this quantile."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


class Goals:
    """Goals and results."""

    def __init__(self):
        self.lines = []

    def add(self, name, value, most, unit=""):
        self.lines.append((name, value, most, unit))

    def report(self, has_goals):
        """Prints all figures that have a goal; returns the number of missed goals."""
        missed = 0
        print("\n| figure | value | at most | |\n|---|---:|---:|---|")
        for name, value, most, unit in self.lines:
            is_missed = value is None or value > most
            missed += is_missed
            shown = "not seen" if value is None else f"{value:.3g}{unit}"
            print(f"| {name} | {shown} | {most:g}{unit} | {'TOO HIGH' if is_missed and has_goals else ''} |")
        return missed
