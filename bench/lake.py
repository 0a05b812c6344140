#!/usr/bin/env python3
"""Measures the team lake: what a push costs, and what a question reads in the lake of a large team.

  lake.py speed --bin target/release/recount --home HOME     # a push to a folder beside the Parquet export and a warm list
  lake.py team --bin target/release/recount --modules DIR    # 1,000 machines, 1,000,000 sessions, generated; asked with DuckDB
  lake.py soak --bin target/release/recount                  # 100,000 sessions on one machine

Times are of the processor, user and system, as others may use the machine. `--modules` says where the packages `duckdb` and `pyarrow` are.
Exit code 1 when a limit is exceeded.
"""

import argparse
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

MONTHS = [f"2026-{month:02}" for month in range(1, 13)]


def run(bin, data, *args):
    """Runs recount; returns its output, its processor time and its memory in MB."""
    env = {**os.environ, "RECOUNT_DATA_DIR": data, "RECOUNT_BACKGROUND": "0"}
    out = tempfile.TemporaryFile()
    began = time.time()
    pid = subprocess.Popen([bin, *args], stdout=out, stderr=subprocess.DEVNULL, env=env)
    _, status, used = os.wait4(pid.pid, 0)
    pid.returncode = os.waitstatus_to_exitcode(status)
    if pid.returncode:
        raise SystemExit(f"recount {' '.join(args)}: exit code {pid.returncode}")
    out.seek(0)
    return out.read().decode(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, time.time() - began


def speed(opts, scratch):
    data, home, faults = f"{scratch}/data", opts.home, []
    run(opts.bin, data, "--home", home, "list", "--all")
    run(opts.bin, data, "--home", home, "stats", "--all")
    lists = [run(opts.bin, data, "--home", home, "list", "--all", "--json")[1] for _ in range(opts.runs)]
    _, export, memory, wall = run(opts.bin, data, "--home", home, "export", "--all", "--format", "parquet", "-o", f"{scratch}/tables")
    print(f"Parquet export: {export:.2f} s CPU, {wall:.1f} s, {memory:.0f} MB")
    shutil.rmtree(f"{scratch}/tables")
    for level in ("full", "none"):
        lake = f"file://{scratch}/lake-{level}"
        push = lambda: run(opts.bin, data, "--home", home, "push", lake, "--text", level, "--json")
        text, cpu, memory, wall = push()
        first = json.loads(text)["push"]
        print(f"first push, text {level}: {cpu:.2f} s CPU ({cpu / export:.2f} x the export), {wall:.1f} s, {memory:.0f} MB memory, {first['files']} files, {first['bytes'] / 1e6:.1f} MB")
        if level == "full" and (cpu > 1.2 * export or memory > 120):
            faults.append(f"a push takes {cpu / export:.2f} x the export, and {memory:.0f} MB")
        times = []
        for _ in range(opts.runs):
            text, cpu, memory, _ = push()
            times.append(cpu)
            requests = json.loads(text)["push"]["requests"]
            if requests != {"get": 1, "put": 0, "delete": 0}:
                faults.append(f"a push without changes makes {requests}")
        print(f"push without changes: {min(times):.3f} s CPU; warm list: {min(lists):.3f} s ({min(times) / min(lists):.2f} x), {memory:.0f} MB")
        if min(times) > 2 * min(lists):
            faults.append(f"a push without changes takes {min(times) / min(lists):.2f} x a warm list")
    return faults


def generate(folder, columns, origins, sessions, rng):
    """Writes the tables of many machines with the columns of a real lake; values are random."""
    import pyarrow
    import pyarrow.parquet
    types = {"time": pyarrow.timestamp("ms", tz="UTC"), "number": pyarrow.int64(), "real": pyarrow.float64(), "flag": pyarrow.bool_(), "text": pyarrow.string()}
    per_month = max(1, sessions // origins // len(MONTHS))
    written, rows = 0, 0
    for number in range(origins):
        origin = f"{rng.getrandbits(80):020x}"
        for month in MONTHS:
            start = datetime.datetime.fromisoformat(f"{month}-01T00:00:00+00:00")
            ids = [f"{rng.getrandbits(128):032x}" for _ in range(per_month)]
            for table, wanted in columns.items():
                count = per_month if table == "sessions" else per_month * 6
                own = [ids[at % per_month] for at in range(count)]
                arrays = {}
                for name, kind in wanted:
                    if name in ("session", "id", "main"):
                        values = own
                    elif name == "key":
                        values = [f"{rng.getrandbits(64):016x}" for _ in range(count)]
                    elif name == "project":
                        values = [f"{at % 7:016x}" for at in range(count)]
                    elif name == "model":
                        values = [f"model-{at % 5}" for at in range(count)]
                    elif kind == "time":
                        values = [start + datetime.timedelta(minutes=at * 40000 // count) for at in range(count)]
                    elif kind == "number":
                        values = [rng.randrange(1, 20000) for _ in range(count)]
                    elif kind == "real":
                        values = [rng.random() for _ in range(count)]
                    elif kind == "flag":
                        values = [False] * count
                    else:
                        values = [None] * count
                    arrays[name] = pyarrow.array(values, types[kind])
                place = f"{folder}/v1/{table}/source=gemini/month={month}/origin={origin}"
                os.makedirs(place)
                pyarrow.parquet.write_table(pyarrow.table(arrays), f"{place}/part.parquet", compression="zstd")
                written += os.path.getsize(f"{place}/part.parquet")
                rows += count
    return written, rows


def kind_of(dtype):
    if dtype.startswith("TIMESTAMP"):
        return "time"
    return {"BIGINT": "number", "DOUBLE": "real", "BOOLEAN": "flag"}.get(dtype, "text")


def team(opts, scratch):
    import duckdb
    home, real, folder = f"{scratch}/home", f"{scratch}/real", f"{scratch}/team"
    run(opts.bin, f"{scratch}/data", "testbed", home, "--sessions", "20", "--megabytes", "1")
    run(opts.bin, f"{scratch}/data", "--home", home, "push", f"file://{real}")
    base = duckdb.connect()
    columns = {}
    for table in ("sessions", "requests"):
        found = base.execute(f"DESCRIBE SELECT * FROM read_parquet('{real}/v1/{table}/*/*/*/part.parquet', hive_partitioning = false)").fetchall()
        columns[table] = [(column[0], kind_of(column[1])) for column in found]
    began = time.time()
    written, rows = generate(folder, columns, opts.origins, opts.sessions, random.Random(1))
    print(f"{opts.origins} machines, {opts.origins * len(MONTHS) * max(1, opts.sessions // opts.origins // len(MONTHS))} sessions, {rows} rows, {written / 1e6:.0f} MB ({time.time() - began:.0f} s)")
    views = run(opts.bin, f"{scratch}/data", "push", f"file://{folder}", "--views", "duckdb")[0]
    wanted = [statement for statement in views.split(";\n") if any(f"VIEW {name} AS" in statement for name in ("sessions", "requests", "by_model"))]
    for statement in wanted:
        base.execute(statement)
    size = lambda month, table: sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(f"{folder}/v1/{table}/source=gemini/month={month}") for name in names)
    month = MONTHS[4]
    own, everything = size(month, "requests"), sum(size(month, "requests") for month in MONTHS)

    def asked(sql):
        read = lambda: int(next(line.split()[1] for line in open("/proc/self/io") if line.startswith("rchar")))
        before, began = read(), time.time()
        answer = base.execute(sql).fetchall()
        return answer, read() - before, time.time() - began

    answer, read, seconds = asked(f"SELECT model, count(*), sum(total), sum(cost_usd) FROM requests WHERE month = '{month}' GROUP BY model")
    print(f"one month by model: {read / 1e6:.1f} MB read of {own / 1e6:.1f} MB in the month and {everything / 1e6:.1f} MB in the table, {seconds:.1f} s")
    _, whole, seconds = asked("SELECT month, count(*), sum(total) FROM requests GROUP BY month")
    print(f"all months: {whole / 1e6:.1f} MB read, {seconds:.1f} s")
    faults = []
    if read > 1.1 * own or sum(row[1] for row in answer) != rows * 6 // 7 // len(MONTHS):
        faults.append(f"the month query read {read} bytes, of {own} in its partitions")
    return faults


def soak(opts, scratch):
    home, lake = f"{scratch}/home", f"file://{scratch}/lake"
    run(opts.bin, f"{scratch}/data", "testbed", home, "--sessions", str(opts.sessions), "--megabytes", str(opts.megabytes))
    faults = []
    for what in ("first push", "push without changes"):
        text, cpu, memory, wall = run(opts.bin, f"{scratch}/data", "--home", home, "push", lake, "--json")
        report = json.loads(text)["push"]
        print(f"{what}: {report['sessions']} sessions, {report['files']} files, {report['bytes'] / 1e6:.1f} MB, {cpu:.1f} s CPU, {wall:.1f} s, {memory:.0f} MB; {report['requests']}")
    if report["requests"] != {"get": 1, "put": 0, "delete": 0}:
        faults.append(f"a push without changes makes {report['requests']}")
    return faults


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["speed", "team", "soak"])
    parser.add_argument("--bin", default=os.environ.get("RECOUNT_BIN", "target/release/recount"))
    parser.add_argument("--modules", default=".", metavar="DIR")
    parser.add_argument("--home", help="the home for `speed`")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--origins", type=int, default=1000)
    parser.add_argument("--sessions", type=int, help="1,000,000 for `team`, 100,000 for `soak`")
    parser.add_argument("--megabytes", type=int, default=400)
    opts = parser.parse_args()
    opts.bin = os.path.abspath(opts.bin)
    opts.sessions = opts.sessions or (100_000 if opts.part == "soak" else 1_000_000)
    sys.path.insert(0, opts.modules)
    with tempfile.TemporaryDirectory(prefix="recount-lake-") as scratch:
        faults = {"speed": speed, "team": team, "soak": soak}[opts.part](opts, scratch)
    for fault in faults:
        print(f"FAULT {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
