#!/usr/bin/env python3
"""Presses 100,000 random keys in the terminal app, and reads a session of 300 MB in it. Runs the ignored tests of crates/tui.

usage: keys.py [--huge]
"""
import argparse
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--huge", action="store_true", help="also the session of 300 MB, in an optimized build")
arguments = parser.parse_args()
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
began = time.monotonic()
code = 0
runs = [["--locked", "a_hundred_thousand"]] + ([["--release", "--locked", "a_huge"]] if arguments.huge else [])
for *options, test in runs:
    command = ["cargo", "test", "--package", "recount-tui", "--lib", *options, "--", "--ignored", test, "--nocapture"]
    code = code or subprocess.run(command, cwd=root, check=False).returncode
print(f"random keys in {time.monotonic() - began:.0f} s, the build included")
sys.exit(code)
