// The terminal app in tmux, as a person uses it: open, filter, read, plan, undo, resume with the real agent, suspend, resize, kill.
//
//   RECOUNT_BIN=target/release/recount node e2e/app.mjs [--without-agent] [--release 0.60.0]
//
// Each check waits for what must be on the screen. Afterwards the terminal must be as it was: no alternate screen, no mouse, the cursor shown.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { AGENTS, endAll } from './live/agents.mjs';
import { sleep, Terminal } from './live/terminal.mjs';

const { values } = parseArgs({
  options: {
    'without-agent': { type: 'boolean', default: false },
    release: { type: 'string', default: '0.60.0' },
    quick: { type: 'boolean', default: false },
  },
});
const recount = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recount-app-'));
let checked = 0;

/** A shell in a pane, in which the app is started; without a home, the newest pane as it is. */
class Shell {
  constructor(terminal, home, more = {}) {
    this.terminal = terminal;
    if (!home) return;
    const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TZ: 'UTC', PS1: 'ready> ', CI: 'true', ...more };
    terminal.run(['bash', '--norc', '--noprofile', '-i'], { cwd: home, env });
  }

  screen() {
    return this.terminal.screen();
  }

  /** Waits until something is so. */
  async waits(fault, isSo, patience = 60_000) {
    for (const end = Date.now() + patience; Date.now() < end; await sleep(30)) {
      if (isSo()) {
        checked += 1;
        return;
      }
    }
    throw new Error(fault);
  }

  /** Waits until the screen has something. */
  sees(what, patience) {
    const isSo = what instanceof RegExp ? () => what.test(this.screen()) : () => this.screen().includes(what);
    return this.waits(`the screen never showed ${what}`, isSo, patience);
  }

  lacks(what) {
    return this.waits(`the screen still shows ${what}`, () => !this.screen().includes(what));
  }

  /** Waits until a field has the keys, or none has: meanwhile the mouse is the terminal's. A key right behind Escape would be read as one with Alt. */
  typing(is) {
    return this.waits(`${is ? 'no' : 'a'} field has the keys`, () => this.modes().split(' ')[1] === (is ? '0' : '1'));
  }

  /** Waits until the app has the screen: what was printed before it may have the same words. */
  async opens() {
    await this.waits('the app does not take the screen', () => this.modes().startsWith('1'));
    await this.sees('TITLE');
  }

  /** Presses keys by their tmux names, one after the other. */
  async press(...keys) {
    for (const key of keys) {
      this.terminal.press(key);
      await sleep(60);
    }
  }

  type(text) {
    this.terminal.tmux('send-keys', '-t', this.terminal.pane, '-l', text);
  }

  /** Types a command line. */
  async run(line) {
    this.type(line);
    await sleep(100);
    this.terminal.press('Enter');
  }

  /** What the terminal's modes are. */
  modes() {
    const format = '#{alternate_on} #{mouse_any_flag} #{cursor_flag}';
    return this.terminal.tmux('display-message', '-p', '-t', this.terminal.pane, format).trim();
  }

  /** The terminal must be as it was. */
  async isRestored(what) {
    await this.sees(/ready> *\n*$/);
    const modes = this.modes();
    if (modes !== '0 0 1') throw new Error(`after ${what} the modes are ${modes}, not 0 0 1 (alternate, mouse, cursor)`);
    const tty = this.terminal.tmux('display-message', '-p', '-t', this.terminal.pane, '#{pane_tty}').trim();
    const settings = execFileSync('stty', ['-F', tty, '-a'], { encoding: 'utf8' });
    // The shell's own line editor takes echo away while it waits, but never output processing.
    if (/-opost/.test(settings)) throw new Error(`after ${what} the terminal is raw`);
    checked += 1;
  }
}

function demoHome(name) {
  const home = path.join(folder, name);
  execFileSync(recount, ['testbed', '--demo', home], { stdio: 'ignore', env: { PATH: process.env.PATH, HOME: folder } });
  return home;
}

async function browse(terminal) {
  const home = demoHome('browse');
  const shell = new Shell(terminal, home);
  await shell.sees('ready>');
  await shell.run(`${recount}`);
  await shell.opens();
  await shell.sees('1 Sessions');
  // Filter, clear.
  await shell.press('/');
  shell.type('discount');
  await shell.sees('/ discount');
  await shell.sees('quantity discount');
  await shell.press('Escape');
  await shell.lacks('/ discount');
  await shell.typing(false);
  // Read and come back to the same row.
  await shell.press('j', 'Enter');
  await shell.lacks('TITLE');
  await shell.press('G', 'q');
  await shell.sees('TITLE');
  // Every tab opens. Their names are always on the screen, so each is known by something else.
  for (const [key, word] of [['2', 'what was said in'], ['3', 'alarms on'], ['4', /STATE +SESSIONS/], ['5', 'by [day]'], ['6', /^ Problems /m], ['7', '[Changes'], ['1', 'TITLE']]) {
    await shell.press(key);
    await shell.sees(word);
    if (key !== '2') continue;
    // The field of Search has the keys.
    await shell.typing(true);
    await shell.press('Escape');
    await shell.typing(false);
  }
  // Help and palette.
  await shell.press('?');
  await shell.sees('keys of Sessions');
  await shell.press('Escape');
  await shell.lacks('keys of Sessions');
  await shell.press(':');
  await shell.typing(true);
  shell.type('recount list --all');
  await shell.sees('list --all');
  await shell.press('Enter');
  await shell.sees('goes back');
  await shell.press('Enter');
  await shell.opens();
  // Sizes, down to one that fits nothing.
  for (const [width, height] of [[200, 60], [80, 24], [40, 12], [20, 5], [120, 40]]) {
    terminal.tmux('resize-window', '-t', terminal.pane, '-x', String(width), '-y', String(height));
    await sleep(40);
  }
  await shell.sees('TITLE');
  // Suspend and continue.
  await shell.press('C-z');
  await shell.sees('Stopped');
  await shell.isRestored('Ctrl-Z');
  await shell.run('fg');
  await shell.opens();
  await shell.press('q');
  await shell.isRestored('q');
  return shell;
}

/** Deletes a session by its plan, and takes it back. */
async function change(terminal) {
  const home = demoHome('change');
  const files = () => execFileSync('find', [path.join(home, '.gemini'), '-name', 'session-*', '-type', 'f'], { encoding: 'utf8' }).trim().split('\n').sort().join('\n');
  const before = files();
  const shell = new Shell(terminal, home);
  await shell.run(`${recount} --source gemini`);
  await shell.opens();
  await shell.sees('Draft the notes');
  await shell.press('j', 'd');
  await shell.sees('nothing done yet');
  // Cancel has the focus.
  await sleep(400);
  await shell.press('Enter');
  await shell.lacks('nothing done yet');
  if (files() !== before) throw new Error('a cancelled plan changed files');
  await shell.press('d');
  await shell.sees('nothing done yet');
  await sleep(400);
  await shell.press('y');
  await shell.sees('deleted 1 session');
  if (files() === before) throw new Error('nothing was deleted');
  await sleep(400);
  await shell.press('z');
  await shell.sees('nothing done yet');
  await sleep(400);
  await shell.press('y');
  await shell.lacks('nothing done yet');
  await shell.waits('undo did not bring the files back', () => files() === before);
  checked += 2;
  await shell.press('Q');
  await shell.isRestored('Q');
}

/** A signal, and no color. */
async function ends(terminal) {
  const home = demoHome('ends');
  const shell = new Shell(terminal, home, { NO_COLOR: '1' });
  await shell.run(`${recount}; echo "code $?"`);
  await shell.opens();
  await shell.sees('Draft the notes');
  let cells = '';
  await shell.waits('with NO_COLOR the selected row is not reversed', () => {
    cells = terminal.tmux('capture-pane', '-p', '-e', '-t', terminal.pane);
    return /\x1b\[(\d+;)*7(;\d+)*m/.test(cells);
  });
  if (/\x1b\[(\d+;)*(3[1-7]|9[0-7]|38;5;\d+)[;m]/.test(cells)) throw new Error('with NO_COLOR there is color');
  checked += 1;
  const tty = terminal.tmux('display-message', '-p', '-t', terminal.pane, '#{pane_tty}').trim().replace('/dev/', '');
  const found = execFileSync('ps', ['-t', tty, '-o', 'pid=,comm='], { encoding: 'utf8' });
  const own = found.split('\n').find((line) => line.trim().endsWith('recount'));
  process.kill(Number(own.trim().split(' ')[0]), 'SIGTERM');
  await shell.sees('code 143');
  await shell.isRestored('SIGTERM');
}

/** Resumes a session with the real agent, and comes back to the same row. */
async function resume(terminal) {
  const agent = await AGENTS.gemini.start(path.join(folder, 'agent'), values.release);
  try {
    terminal.run([...agent.program], { cwd: agent.project, env: agent.env });
    const first = new Shell(terminal);
    await first.sees(agent.ready, 120_000);
    await agent.script([{ text: 'The tea is green.' }, { text: 'Still green.' }, { text: 'A title.' }]);
    await terminal.type('Which tea is it', () => agent.requests() > 0);
    await first.sees('The tea is green.');
    await sleep(1500);
    await terminal.type(agent.quit, () => terminal.isDead());
    // `gemini` as people have it.
    const bin = path.join(folder, 'bin');
    fs.mkdirSync(bin, { recursive: true });
    fs.writeFileSync(path.join(bin, 'gemini'), `#!/bin/sh\nexec ${agent.program.join(' ')} "$@"\n`, { mode: 0o755 });
    const shell = new Shell(terminal, agent.home, { ...agent.env, PATH: `${bin}:${process.env.PATH}`, PS1: 'ready> ', CI: '' });
    await shell.run(`cd ${agent.project} && ${recount}`);
    await shell.sees('Which tea is it');
    await shell.press('o');
    await shell.sees(agent.ready, 120_000);
    await shell.sees('The tea is green.');
    await sleep(1500);
    // The agent ends slowly, and an Enter that it does not read opens the session.
    await terminal.type(agent.quit, () => /TITLE/.test(terminal.screen()), 20_000);
    await shell.sees('TITLE');
    await shell.sees('Which tea is it');
    await shell.press('q');
    await shell.isRestored('resume');
  } finally {
    endAll(agent.home);
    await agent.stop();
  }
}

const parts = { browse, change, ends, ...(values['without-agent'] ? {} : { resume }) };
const terminal = await Terminal.start(folder);
let failed = 0;
for (const [name, part] of Object.entries(parts)) {
  try {
    await part(terminal);
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${error.message}\n${terminal.describe()}`);
  }
}
terminal.stop();
await sleep(500);
try {
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
} catch (error) {
  // A program that is ending still writes there; the system clears its temporary folder.
  console.log(`note: ${error.message}`);
}
console.log(`${checked} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
