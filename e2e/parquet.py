#!/usr/bin/env python3
"""Reads exported Parquet with DuckDB and compares it, cell by cell, with the output of `recount sql`.

  parquet.py --bin target/release/recount                       # synthetic homes, ../fixtures, and ../../shared/corpus where that is
  parquet.py --bin target/release/recount --homes DIR…          # synthetic homes, and every home below these folders
  parquet.py --bin target/release/recount --megabytes 1000      # a larger synthetic home

DuckDB is the Python package `duckdb`; `--modules DIR` says where it lies. Exit code 1 when something differs, 2 when nothing could be compared.
"""

import argparse
import datetime
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
# An empty RECOUNT_CORPUS asks for the fixtures alone.
CORPUS = os.environ.get("RECOUNT_CORPUS", os.path.join(HERE, "../../shared/corpus"))
HOMES = [os.path.join(HERE, "../fixtures")] + ([CORPUS] if CORPUS else [])
TABLES = ["sessions", "messages", "tool_calls", "requests", "files_touched"]
TYPES = {"TEXT": "VARCHAR", "INTEGER": "BIGINT", "REAL": "DOUBLE"}
TIMES = {"started", "updated", "time"}
FLAGS = {"cost_is_lower_bound", "live", "doomed", "is_error"}
UNKNOWN = "__HIVE_DEFAULT_PARTITION__"
KILLS = 8


class Failure(Exception):
    """An error that prevents the comparison."""


def main():
    sys.stdout.reconfigure(line_buffering=True)
    opts = arguments()
    sys.path.insert(0, opts.modules)
    if os.environ.get("RECOUNT_CORPUS") and not homes(CORPUS):
        print(f"error: no recorded homes in {CORPUS}", file=sys.stderr)
        return 2
    try:
        import duckdb
    except ImportError as error:
        print(f"error: {error}; install duckdb, or say where it is with --modules", file=sys.stderr)
        return 2
    print(f"duckdb {duckdb.__version__}")
    try:
        with tempfile.TemporaryDirectory(prefix="recount-parquet-") as scratch:
            trial = Trial(opts.bin, scratch, duckdb)
            made = [trial.make("demo", "--demo"),
                    trial.make("crowd", "--sessions", "120", "--megabytes", str(opts.megabytes))]
            for home in made:
                trial.compare(home)
            trial.only_what_changed(made[0])
            trial.kills(made[1])
            found = [home for folder in opts.homes for home in homes(folder)]
            for home in found:
                trial.compare(home, quietly=True)
            print(f"{len(found)} recorded homes, {trial.rows} rows in all; {len(trial.faults)} faults")
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    return 1 if trial.faults else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--modules", default=".", metavar="DIR", help="the folder that holds the package duckdb")
    parser.add_argument("--megabytes", type=int, default=12, help="size of the synthetic home (12)")
    parser.add_argument("--homes", nargs="*", default=HOMES, metavar="DIR")
    return parser.parse_args()


def homes(folder):
    """Every home below a folder, in order."""
    found = []
    for at, folders, _ in os.walk(folder):
        folders.sort()
        if ".gemini" in folders:
            found.append(at)
            folders.remove(".gemini")
    return found


class Trial:
    """The state of the test, and the differences found."""

    def __init__(self, binary, scratch, duckdb):
        self.bin, self.scratch, self.duckdb = os.path.abspath(binary), scratch, duckdb
        self.faults, self.rows, self.number = [], 0, 0
        self.views = {view["name"]: view["columns"]
                      for view in self.json(scratch, "sql", "--schema", "--json")["views"]}
        if list(self.views) != TABLES:
            raise Failure(f"the views are {list(self.views)}")

    def run(self, home, *arguments, **more):
        env = dict(os.environ, RECOUNT_DATA_DIR=os.path.join(self.scratch, "data"), HOME=self.scratch)
        return subprocess.run([self.bin, "--home", home, *arguments], env=env, capture_output=True, **more)

    def json(self, home, *arguments):
        done = self.run(home, *arguments)
        if done.returncode not in (0, 1):
            raise Failure(f"{arguments} ended with {done.returncode}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def make(self, name, *arguments):
        home = os.path.join(self.scratch, name)
        done = subprocess.run([self.bin, "testbed", home, *arguments], capture_output=True)
        if done.returncode:
            raise Failure(f"recount testbed ended with {done.returncode}: {done.stderr.decode()}")
        # A file written just now may be written again unnoticed, so it counts as changed.
        when = time.time() - 3600
        for folder, _, names in os.walk(os.path.join(home, ".gemini")):
            for name in names:
                os.utime(os.path.join(folder, name), (when, when))
        return home

    def fault(self, where, text):
        self.faults.append(text)
        print(f"WRONG {where}: {text[:600]}")

    def export(self, home, folder, *arguments):
        done = self.run(home, "export", "--all", "--format", "parquet", "-o", folder, "--json", *arguments)
        if not done.stdout:
            return None
        return json.loads(done.stdout)["export"]

    def compare(self, home, quietly=False):
        self.number += 1
        folder = os.path.join(self.scratch, f"out-{self.number}")
        if self.export(home, folder) is None:
            if self.json(home, "sql", "SELECT id FROM sessions", "--json")["rows"]:
                self.fault(home, "nothing was exported")
            return
        counts = []
        for table in TABLES:
            right = self.right(home, table)
            read, types = self.read(folder, table)
            wanted = {column["name"]: wanted_type(column) for column in self.views[table]}
            if types != dict(wanted, month="VARCHAR"):
                self.fault(home, f"{table} has the columns {types}")
                continue
            if read != right:
                self.fault(home, f"{table}: {difference(read, right)}")
            self.rows += len(right)
            counts.append(f"{len(right)} {table}")
        self.months(home, folder)
        if not quietly:
            print(f"{os.path.basename(home)}: {', '.join(counts)}; {sizes(folder)}")

    def right(self, home, table):
        told = self.json(home, "sql", f"SELECT * FROM {table}", "--json")
        return sorted(json.dumps(dict(zip(told["columns"], row)), sort_keys=True) for row in told["rows"])

    def read(self, folder, table):
        source = f"read_parquet('{folder}/{table}/**/*.parquet', hive_partitioning=true)"
        types = {row[0]: row[1] for row in self.ask(f"DESCRIBE SELECT * FROM {source}")}
        names = [name for name in types if name != "month"]
        cells = ", ".join(f'epoch_ms("{name}")' if name in TIMES else f'"{name}"' for name in names)
        rows = self.ask(f"SELECT {cells} FROM {source}")
        told = (json.dumps({name: plain(name, cell) for name, cell in zip(names, row)}, sort_keys=True) for row in rows)
        return sorted(told), types

    def ask(self, statement):
        return self.duckdb.sql(statement).fetchall()

    def months(self, home, folder):
        """A session is in the folder of its month, and so are its messages."""
        source = "read_parquet('{}/{}/**/*.parquet', hive_partitioning=true)"
        sessions = source.format(folder, "sessions")
        wrong = self.ask(f"SELECT id, month FROM {sessions} WHERE month IS DISTINCT FROM "
                         f"strftime(make_timestamp(epoch_ms(coalesce(started, updated)) * 1000), '%Y-%m')")
        for table in TABLES[1:]:
            wrong += self.ask(f"SELECT t.session, t.month FROM {source.format(folder, table)} t "
                              f"JOIN {sessions} s ON s.id = t.session AND s.source = t.source "
                              f"WHERE t.month IS DISTINCT FROM s.month")
        if wrong:
            self.fault(home, f"in another month: {wrong[:3]}")

    def only_what_changed(self, home):
        """A second run writes nothing; a changed session rewrites one partition; deleted sessions are removed."""
        folder = os.path.join(self.scratch, "changed")
        first = self.export(home, folder)
        foreign = os.path.join(folder, "messages", "of-mine.txt")
        with open(foreign, "w", encoding="utf-8") as file:
            file.write("mine")
        before = stamps(folder)
        second = self.export(home, folder)
        if second["written"] or second["unchanged"] != first["written"] or stamps(folder) != before:
            self.fault(home, f"the second run did {second}")
        chats = [os.path.join(at, name) for at, _, names in os.walk(home) for name in names if name.endswith(".jsonl")]
        last = max(chats)
        with open(last, "a", encoding="utf-8") as file:
            file.write('{"$set":{"lastUpdated":"2026-11-15T23:00:00.000Z"}}\n')
        third = self.export(home, folder)
        if third["written"] != 1 or third["unchanged"] != first["written"] - 1:
            self.fault(home, f"one session changed, and the third run did {third}")
        for at, _, names in os.walk(home):
            for name in names:
                if name.startswith("session-2026-01"):
                    os.remove(os.path.join(at, name))
        fourth = self.export(home, folder)
        left = {part for path in stamps(folder) for part in path.split(os.sep) if part.startswith("month=")}
        there = {f"month={month}" for month in self.months_of(home)}
        if not fourth["removed"] or left != there or not os.path.exists(foreign):
            self.fault(home, f"sessions are gone, {fourth}, and {sorted(left)} are there instead of {sorted(there)}")
        print(f"only what changed: {first['written']} partitions, then {second['written']}, {third['written']}; "
              f"{fourth['removed']} files removed with their sessions")

    def months_of(self, home):
        statement = "SELECT DISTINCT substr(coalesce(started, updated), 1, 7) FROM sessions"
        return {row[0] or UNKNOWN for row in self.json(home, "sql", statement, "--json")["rows"]}

    def kills(self, home):
        """Killed at any moment, the next run ends with the same files as one that was never killed."""
        whole, folder = os.path.join(self.scratch, "whole"), os.path.join(self.scratch, "killed")
        began = time.perf_counter()
        self.export(home, whole)
        seconds = time.perf_counter() - began
        rng, killed = random.Random(1), 0
        env = dict(os.environ, RECOUNT_DATA_DIR=os.path.join(self.scratch, "data"), HOME=self.scratch)
        for _ in range(KILLS):
            process = subprocess.Popen([self.bin, "--home", home, "export", "--all", "--format", "parquet", "-o", folder, "-q"],
                                       env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=rng.uniform(0, seconds))
            except subprocess.TimeoutExpired:
                killed += 1
                process.kill()
                process.wait()
        self.export(home, folder)
        if hashes(folder) != hashes(whole):
            differ = sorted(set(hashes(folder).items()) ^ set(hashes(whole).items()))
            self.fault(home, f"after {killed} kills other files are there: {differ[:4]}")
        print(f"kills: {killed} of {KILLS} runs; {len(hashes(folder))} files are those of one run")


def wanted_type(column):
    if column["name"] in TIMES:
        return "TIMESTAMP WITH TIME ZONE"
    return "BOOLEAN" if column["name"] in FLAGS else TYPES[column["form"]]


def plain(name, cell):
    """A cell as in `recount sql --json`."""
    if cell is None:
        return None
    if name in TIMES:
        at = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=cell)
        return at.isoformat(timespec="milliseconds") + "Z"
    return int(cell) if name in FLAGS else cell


def difference(read, right):
    """The first row that only one of them has."""
    missing, extra = sorted(set(right) - set(read)), sorted(set(read) - set(right))
    if missing and extra:
        one, other = json.loads(missing[0]), json.loads(extra[0])
        return f"{len(missing)} rows differ; first: " + str({k: (one[k], other[k]) for k in one if one[k] != other[k]})
    return f"{len(read)} rows instead of {len(right)}; missing {missing[:1]}, too many {extra[:1]}"


def paths(folder):
    return [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".parquet")]


def stamps(folder):
    return {os.path.relpath(path, folder): os.stat(path).st_mtime_ns for path in paths(folder)}


def hashes(folder):
    every = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
             if name.endswith((".parquet", ".tmp"))]
    told = {}
    for path in every:
        with open(path, "rb") as file:
            told[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return told


def sizes(folder):
    every = [os.path.getsize(path) for path in paths(folder)]
    return f"{len(every)} files, {sum(every) / 1e6:.1f} MB"


if __name__ == "__main__":
    sys.exit(main())
