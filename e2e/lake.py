#!/usr/bin/env python3
"""Pushes three homes with overlapping copies to a lake, and asks it with other engines: the figures must be those of `recount stats` on all homes together.

  lake.py --bin target/release/recount                          # DuckDB, chdb, Polars and PySpark over a folder, and an S3 server
  lake.py --bin target/release/recount --engines duckdb         # only some engines
  lake.py --bin target/release/recount --sessions 2000 --megabytes 200

The engines are the Python packages `duckdb`, `chdb`, `polars` and `pyspark` (with Java), the S3 server is `moto[server]`; `--modules DIR` says where
they are. An engine that is not installed is skipped, unless it was named. Exit code 1 when something differs, 2 when nothing could be compared.
"""

import argparse
import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True

ENGINES = ["duckdb", "clickhouse", "polars", "spark"]
PACKAGES = {"duckdb": "duckdb", "clickhouse": "chdb", "polars": "polars", "spark": "pyspark", "s3": "moto"}
TOKENS = ["input", "output", "cached", "cache_write", "thoughts", "tool", "total"]
FIGURES = {
    "by_month": ["sessions", "requests", "prompts", "answers", "tool_calls", "tools_failed"] + TOKENS + ["cost_usd"],
    "by_project": ["sessions", "requests", "prompts", "answers", "tool_calls", "tools_failed"] + TOKENS + ["cost_usd"],
    "by_model": ["sessions", "requests", "input", "output", "cached", "total", "cost_usd"],
}


class Failure(Exception):
    """An error that prevents the comparison."""


class Trial:
    def __init__(self, opts, scratch):
        self.bin, self.scratch, self.modules = os.path.abspath(opts.bin), scratch, opts.modules
        self.faults = []

    def run(self, machine, *args, env=None, code=0):
        base = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RECOUNT_"))}
        base.update({"RECOUNT_DATA_DIR": f"{self.scratch}/data-{machine}", "RECOUNT_BACKGROUND": "0", "TZ": "UTC"})
        base.update(env or {})
        done = subprocess.run([self.bin, *args], capture_output=True, text=True, env=base)
        if code is not None and done.returncode != code:
            raise Failure(f"recount {' '.join(args)}: {done.returncode}: {done.stderr.strip()}")
        return done

    def fault(self, text):
        self.faults.append(text)
        print(f"FAULT {text}")

    def homes(self, sessions, megabytes):
        """Three homes: the second and the third have copies of sessions of the first, some of them shorter."""
        made = []
        for seed in (1, 2):
            home = f"{self.scratch}/home-{seed}"
            self.run("testbed", "testbed", home, "--sessions", str(sessions), "--megabytes", str(megabytes), "--seed", str(seed))
            made.append(home)
        third = f"{self.scratch}/home-3"
        shutil.copytree(made[0], third, symlinks=True)
        files = sorted(glob.glob(f"{third}/**/*.jsonl", recursive=True))
        for number, path in enumerate(files):
            if number % 3 == 1:
                os.remove(path)
            elif number % 3 == 2:
                # The copy was made earlier, when the session was shorter.
                with open(path, "rb") as file:
                    lines = file.readlines()
                with open(path, "wb") as file:
                    file.writelines(lines[:max(2, len(lines) * 2 // 3)])
        for path in sorted(glob.glob(f"{made[0]}/.gemini/tmp/*/chats/*", recursive=True))[::4]:
            to = path.replace(made[0], made[1], 1)
            if os.path.isfile(path) and not os.path.exists(to):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy2(path, to)
        for path in sorted(glob.glob(f"{made[0]}/.claude/projects/*/*.jsonl"))[::3]:
            to = path.replace(made[0], made[1], 1)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy2(path, to)
        return made + [third]

    def stats(self, homes):
        """Returns the figures of all homes together, as the views name them."""
        expected = {}
        given = [part for home in homes for part in ("--home", home)]
        for view in FIGURES:
            by = view.removeprefix("by_")
            text = self.run("union", *given, "stats", "--by", by, "--utc", "--all", "--json").stdout
            rows = {}
            for row in json.loads(text)["rows"]:
                flat = {**row, **row["tokens"], "cost_usd": row["cost_usd"]}
                rows[row["key"]] = {name: flat.get(name) for name in FIGURES[view]}
            expected[view] = rows
        return expected

    def compare(self, engine, view, found, expected):
        """Compares rows by key; a missing figure is 0."""
        number = lambda value: float(value or 0)
        found = {key if key is not None else "unknown": row for key, row in found.items()}
        found = {"unknown" if key == "__HIVE_DEFAULT_PARTITION__" else key: row for key, row in found.items()}
        wrong = 0
        for key in sorted(set(found) | set(expected)):
            have, want = found.get(key, {}), expected.get(key, {})
            for name in FIGURES[view]:
                if view == "by_model" and key == "unknown" and not have and not number(want.get("requests")):
                    continue
                one, other = number(have.get(name)), number(want.get(name))
                if abs(one - other) > 1e-6 * max(1, abs(other)):
                    wrong += 1
                    if wrong <= 5:
                        self.fault(f"{engine} {view} {key}: {name} is {one}, stats say {other}")
        return wrong


def rows_of(columns, rows):
    """Returns rows by their first column."""
    return {row[0]: dict(zip(columns[1:], row[1:])) for row in rows}


def ask_duckdb(views, lake):
    import duckdb
    base = duckdb.connect()
    base.execute(views)
    for view in FIGURES:
        answer = base.execute(f"SELECT * FROM {view}")
        yield view, rows_of([column[0] for column in answer.description], answer.fetchall())


def ask_clickhouse(views, lake):
    from chdb import session
    with tempfile.TemporaryDirectory() as folder:
        base = session.Session(folder)
        for statement in views.split(";\n"):
            if statement.strip():
                base.query(statement)
        for view in FIGURES:
            text = str(base.query(f"SELECT * FROM {view}", "JSONCompact"))
            answer = json.loads(text)
            yield view, rows_of([column["name"] for column in answer["meta"]], answer["data"])


def ask_polars(views, lake):
    names = {}
    exec(compile(views, "views", "exec"), names)
    for view in FIGURES:
        frame = names[view].collect()
        yield view, rows_of(frame.columns, frame.rows())


def ask_spark(views, lake):
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
             .config("spark.sql.shuffle.partitions", "4").config("spark.driver.memory", "1g").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    try:
        for statement in views.split(";\n"):
            if statement.strip():
                spark.sql(statement)
        for view in FIGURES:
            frame = spark.sql(f"SELECT * FROM {view}")
            yield view, rows_of(frame.columns, [tuple(row) for row in frame.collect()])
    finally:
        spark.stop()


ASK = {"duckdb": ask_duckdb, "clickhouse": ask_clickhouse, "polars": ask_polars, "spark": ask_spark}


def engines(trial, opts, homes):
    lake = f"file://{trial.scratch}/lake"
    for number, home in enumerate(homes):
        trial.run(number, "--home", home, "push", lake, "--text", "full", "--label", f"machine-{number}")
    expected = trial.stats(homes)
    alone = [trial.run("alone", "--home", home, "stats", "--by", "month", "--utc", "--all", "--json").stdout for home in homes]
    requests = sum(json.loads(text)["total"]["requests"] for text in alone)
    union = sum(row["requests"] for row in expected["by_month"].values())
    print(f"{requests} requests on three machines, {union} of them different, {len(expected['by_project'])} projects")
    if requests <= union:
        trial.fault("the homes do not overlap")
    compared = 0
    for engine in opts.engines or ENGINES:
        try:
            __import__(PACKAGES[engine])
        except ImportError as error:
            if opts.engines:
                raise Failure(f"{engine}: {error}")
            print(f"{engine}: not installed")
            continue
        views = trial.run(0, "push", lake, "--views", engine).stdout
        began = time.time()
        wrong = 0
        for view, found in ASK[engine](views, lake):
            wrong += trial.compare(engine, view, found, expected[view])
            compared += len(found)
        print(f"{engine}: {'equal' if not wrong else f'{wrong} figures differ'} ({time.time() - began:.1f} s)")
    return compared


def privacy(trial, home):
    """At the default level, nothing that anybody wrote and no path is in any table."""
    try:
        import duckdb
    except ImportError:
        return
    lake = f"file://{trial.scratch}/figures"
    trial.run("figures", "--home", home, "push", lake)
    base = duckdb.connect()
    sessions = json.loads(trial.run("figures", "--home", home, "list", "--all", "--json").stdout)["sessions"]
    words = set()
    for row in sessions:
        project = row.get("project") or {}
        words |= {row.get("title"), row.get("first_prompt"), row.get("last_prompt"), row.get("branch"), project.get("path")}
    words = sorted(word for word in words if word and len(word) > 5)
    base.execute("CREATE TABLE words (word VARCHAR)")
    base.executemany("INSERT INTO words VALUES (?)", [(word,) for word in words[:400]])
    checked = 0
    for table in ["sessions", "messages", "tool_calls", "requests", "files_touched"]:
        files = f"{trial.scratch}/figures/v1/{table}/*/*/*/part.parquet"
        columns = base.execute(f"DESCRIBE SELECT * FROM read_parquet('{files}', hive_partitioning = false)").fetchall()
        for name in [column[0] for column in columns if column[1] == "VARCHAR"]:
            found = base.execute(f"SELECT DISTINCT \"{name}\" AS cell, word FROM read_parquet('{files}', hive_partitioning = false) JOIN words ON contains(\"{name}\", word) LIMIT 3").fetchall()
            checked += 1
            if found:
                trial.fault(f"{table}.{name} has text at the level none: {found}")
    print(f"no text in {checked} columns at the level none, of {len(words)} titles, prompts, branches and paths")


def raw(trial, home):
    lake = f"file://{trial.scratch}/raw"
    trial.run("raw", "--home", home, "push", lake, "--raw")
    trial.run("raw", "pull", lake, "--to", f"{trial.scratch}/pulled")
    [pulled] = glob.glob(f"{trial.scratch}/pulled/*")
    facts = lambda where: sorted((row["source"], row["id"], row["tokens"]["total"], row["messages"])
                                 for row in json.loads(trial.run("raw", "--home", where, "list", "--all", "--json").stdout)["sessions"])
    have, want = facts(pulled), facts(home)
    if have != want:
        trial.fault(f"the pulled home has {len(have)} sessions, of {len(want)}: {sorted(set(map(str, want)) ^ set(map(str, have)))[:3]}")
    fresh = f"{trial.scratch}/fresh"
    os.makedirs(f"{fresh}/.gemini")
    os.makedirs(f"{fresh}/.claude/projects")
    os.makedirs(f"{fresh}/.codex/sessions")
    session = next(row for row in json.loads(trial.run("raw", "--home", pulled, "list", "--all", "--json").stdout)["sessions"] if row["source"] == "gemini" and row["kind"] == "main")
    trial.run("fresh", "--home", fresh, "restore", session["id"], "--from", pulled, "--yes")
    shown = json.loads(trial.run("fresh", "--home", fresh, "show", session["id"], "--json").stdout)
    print(f"{len(have)} sessions pulled, one restored on a new machine with {len(shown['messages'])} messages")


@contextlib.contextmanager
def s3_server(modules):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, "PYTHONPATH": modules, "MOTO_ACCOUNT_ID": "123456789012"}
    code = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    server = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1800):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url, timeout=2)
                break
            time.sleep(0.1)
        else:
            raise Failure("the S3 server does not start")
        urllib.request.urlopen(urllib.request.Request(f"{url}/team", method="PUT"), timeout=120)
        yield url
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def s3(trial, home, modules):
    """The same guarantees over HTTP: one GET without changes, a copied data folder refused, no credentials in messages."""
    lake, secret = "s3://team/agents", "wJalrXUtnFEMIK7MDENGbPxRfiCY"
    with s3_server(modules) as url:
        env = {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1"}
        push = lambda machine, *more, code=0: trial.run(machine, "--home", home, "push", lake, "--json", *more, env=env, code=code)
        first = json.loads(push("s3").stdout)["push"]
        second = json.loads(push("s3").stdout)["push"]
        if not first["files"] or second["requests"] != {"get": 1, "put": 0, "delete": 0}:
            trial.fault(f"s3: {first['files']} files, then {second['requests']}")
        shutil.copytree(f"{trial.scratch}/data-s3", f"{trial.scratch}/data-s3-copy")
        changed = json.loads(push("s3", "--text", "full", "--raw").stdout)["push"]
        refused = push("s3-copy", "--text", "redacted", code=3)
        if "another machine" not in refused.stderr:
            trial.fault(f"s3: a copied data folder is not refused: {refused.stderr}")
        trial.run("s3-pull", "pull", lake, "--to", f"{trial.scratch}/s3-pulled", env=env)
        profile = f"{trial.scratch}/credentials"
        with open(profile, "w") as file:
            file.write(f"[default]\naws_access_key_id = AKIDTEST\naws_secret_access_key = {secret}\n")
        by_profile = {"AWS_ENDPOINT_URL": url, "AWS_SHARED_CREDENTIALS_FILE": profile}
        trial.run("s3", "--home", home, "push", lake, "--text", "full", "--raw", env=by_profile)
        wrong = trial.run("s3", "--home", home, "push", "s3://no-such-bucket/x", env=env, code=2)
        for text in (refused.stderr, wrong.stderr, wrong.stdout):
            if secret in text:
                trial.fault("s3: the secret key is in a message")
        kept = subprocess.run(["grep", "-rl", secret, f"{trial.scratch}/data-s3"], capture_output=True, text=True).stdout
        if kept:
            trial.fault(f"s3: the secret key is stored: {kept}")
        print(f"s3: {first['files']} files, then 1 GET; {changed['files']} files with text and {changed['raw']['pieces']} raw pieces; a copy is refused")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--modules", default=os.environ.get("RECOUNT_LAKE_MODULES", "."), metavar="DIR", help="folders that have the packages, with : between")
    parser.add_argument("--engines", nargs="*", choices=ENGINES, help="only these engines; all that are installed by default")
    parser.add_argument("--sessions", type=int, default=150)
    parser.add_argument("--megabytes", type=int, default=12)
    parser.add_argument("--without-s3", action="store_true")
    opts = parser.parse_args()
    sys.path[:0] = opts.modules.split(os.pathsep)
    try:
        with tempfile.TemporaryDirectory(prefix="recount-lake-") as scratch:
            trial = Trial(opts, scratch)
            homes = trial.homes(opts.sessions, opts.megabytes)
            compared = engines(trial, opts, homes)
            privacy(trial, homes[0])
            raw(trial, homes[0])
            if not opts.without_s3:
                try:
                    import moto
                    s3(trial, homes[0], os.pathsep.join(map(os.path.abspath, opts.modules.split(os.pathsep))))
                except ImportError:
                    print("s3: moto is not installed")
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    print(f"{compared} rows compared; {len(trial.faults)} faults")
    return 1 if trial.faults else 0 if compared else 2


if __name__ == "__main__":
    sys.exit(main())
