// A tmux server of its own, with one pane per program. It needs nothing of the user: no configuration, no running server, no terminal.

import { execFileSync } from 'node:child_process';
import path from 'node:path';

const [WIDTH, HEIGHT] = [120, 40];

export const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

export class Terminal {
  /** Starts the server below a folder. */
  static async start(folder) {
    const terminal = new Terminal();
    terminal.socket = path.join(folder, 'tmux');
    terminal.panes = 0;
    terminal.folder = folder;
    // Its first session holds the server: it stays when programs end.
    terminal.tmux('new-session', '-d', '-s', 'holder', '-x', String(WIDTH), '-y', String(HEIGHT), 'tail', '-f', '/dev/null');
    for (let tries = 1; !terminal.isUp(); tries += 1) {
      if (tries === 1200) throw new Error('tmux does not answer');
      await sleep(50);
    }
    for (const [name, value] of [['exit-empty', 'off'], ['destroy-unattached', 'off']]) terminal.tmux('set-option', '-g', name, value);
    // What a program printed before it ended can be read afterwards.
    terminal.tmux('set-option', '-g', '-w', 'remain-on-exit', 'on');
    return terminal;
  }

  tmux(...args) {
    // Without `TMUX`: a gate may itself run in a pane.
    const env = { PATH: process.env.PATH, HOME: this.folder, LANG: 'C.UTF-8', TERM: 'xterm-256color', SHELL: '/bin/sh' };
    const all = ['-S', this.socket, '-f', '/dev/null', ...args];
    return execFileSync('tmux', all, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  }

  isUp() {
    try {
      this.tmux('has-session', '-t', '=holder');
      return true;
    } catch {
      return false;
    }
  }

  /** Runs a program in a new pane, with this environment and what names the pane, and nothing else. */
  run(program, { cwd, env }) {
    this.panes += 1;
    const words = Object.entries({ ...env, TERM: 'xterm-256color' }).map(([name, value]) => `${name}=${value}`);
    const start = ['sh', '-c', 'exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" "$@"', 'sh', ...words, ...program];
    this.tmux('new-session', '-d', '-s', `pane${this.panes}`, '-x', String(WIDTH), '-y', String(HEIGHT), '-c', cwd, ...start);
  }

  get pane() {
    return `=pane${this.panes}:`;
  }

  /** What the newest pane shows. */
  screen() {
    return this.tmux('capture-pane', '-p', '-t', this.pane);
  }

  press(key) {
    this.tmux('send-keys', '-t', this.pane, key);
  }

  /** Whether the program of the newest pane has ended. */
  isDead() {
    return this.tmux('display-message', '-p', '-t', this.pane, '#{pane_dead}').trim() === '1';
  }

  /**
   * Types text, and returns when Enter was pressed. If `isTaken` is not so after `patience` ms, Enter is pressed again: programs that
   * start drop it.
   */
  async type(text, isTaken, patience = 3000) {
    this.tmux('send-keys', '-t', this.pane, '-l', text);
    // An Enter that comes at once is part of a paste: the program must have drawn the text. Some draw it in another way.
    for (const end = Date.now() + 10_000; Date.now() < end && !this.screen().includes(text); ) await sleep(50);
    await sleep(700);
    for (const end = Date.now() + 120_000; Date.now() < end; ) {
      this.press('Enter');
      const pressed = Date.now();
      while (Date.now() - pressed < patience) {
        if (isTaken()) return pressed;
        await sleep(20);
      }
    }
    throw new Error(`Enter is not taken after '${text}'`);
  }

  /** Describes the newest pane, for failures. */
  describe() {
    const tell = (...args) => {
      try {
        return this.tmux(...args);
      } catch (error) {
        return `tmux ${args[0]}: ${String(error.stderr || error.message).trim()}\n`;
      }
    };
    const panes = tell('list-panes', '-a', '-F', '#{session_name} #{pane_pid} dead=#{pane_dead} status=#{pane_dead_status} #{pane_title}');
    return `${panes}--- screen ---\n${tell('capture-pane', '-p', '-t', this.pane).trimEnd()}\n---`;
  }

  stop() {
    try {
      this.tmux('kill-server');
    } catch {
      // It is gone.
    }
  }
}
