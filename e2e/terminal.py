#!/usr/bin/env python3
"""Uses a program in a terminal: starts it, types one prompt, waits, and ends it.

  terminal.py SECONDS FILE PROMPT PROGRAM…   # waits until FILE is gone, at most SECONDS, and three more

The prompt is typed when the program has printed nothing for two seconds, and three more times. What the program prints goes to standard output.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

# A program that stalls while it starts is silent, too, and drops what is typed then: seconds until it is typed again, and how often. Not
# for ever, as some wait for a terminal in which nobody types.
AGAIN, TIMES = 20, 3


def main():
    seconds, awaited, prompt, *program = sys.argv[1:]
    process, terminal = pty.fork()
    if process == 0:
        os.execvp(program[0], program)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    until, heard, typed, keys = time.monotonic() + float(seconds), None, -AGAIN, [prompt.encode(), b"\r"] * (1 + TIMES)
    while (now := time.monotonic()) < until:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            heard = now
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        elif keys and heard is not None and now - heard > 2 and (len(keys) % 2 or now - typed > AGAIN):
            os.write(terminal, keys.pop(0))
            heard = typed = now
        if not os.path.exists(awaited):
            until, awaited = min(until, now + 3), "/"
    end(process)


def end(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.kill(process, number)
        until = time.monotonic() + 3
        while time.monotonic() < until:
            if os.waitpid(process, os.WNOHANG)[0]:
                return
            time.sleep(0.05)


if __name__ == "__main__":
    main()
