#!/usr/bin/env python3
"""Asks one engine thousands of questions while files change: memory and open files must stay flat, and answers must be
those of a fresh engine. Runs the ignored test of crates/engine in release mode.

usage: questions.py [--questions N]
"""
import argparse
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--questions", type=int, default=10_000)
arguments = parser.parse_args()
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
command = [
    "cargo", "test", "--release", "--locked", "--package", "recount-engine", "--test", "engine", "--",
    "--ignored", "ten_thousand_questions", "--nocapture",
]
began = time.monotonic()
environment = dict(os.environ, SOAK_QUESTIONS=str(arguments.questions))
ended = subprocess.run(command, cwd=root, env=environment, check=False)
print(f"{arguments.questions} questions in {time.monotonic() - began:.0f} s, the build included")
sys.exit(ended.returncode)
