// `recount watch` beside the real Gemini CLI in tmux, offline: how long until it shows what the program does.
//
//   RECOUNT_BIN=target/release/recount node e2e/live.mjs [--release 0.60.0] [--quick] [--slack 1]
//
// A moment counts from when it is to be seen on the screen (a dialog, an answer) or from the key that causes it (Enter, kill). Each must be
// shown within its limit; on a busy machine `--slack 2` doubles the limits. `--quick` leaves out the kill and the hooks.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { AgentHome } from './agent.mjs';
import { ModelServer } from './model_server.mjs';

const { values } = parseArgs({
  options: {
    release: { type: 'string', default: '0.60.0' },
    quick: { type: 'boolean', default: false },
    slack: { type: 'string', default: '1' },
  },
});
const slack = Number(values.slack);
const recount = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recount-live-'));
const socket = path.join(folder, 'tmux');
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
const failures = [];

const tmux = (...args) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
const screen = () => tmux('capture-pane', '-p', '-t', 'agent');

/** Waits until something is so, looking every 20 ms. Returns the moment. */
async function until(what, isSo, patience = 60_000) {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    if (isSo()) return Date.now();
    await sleep(20);
  }
  throw new Error(`${what} did not happen within ${patience / 1000} s; the screen:\n${screen()}`);
}

/** `recount watch --json`, and when it said what. */
class Watch {
  constructor(home) {
    this.said = [];
    const env = { PATH: process.env.PATH, HOME: home.home, LANG: 'C.UTF-8', TZ: 'UTC' };
    this.child = spawn(recount, ['watch', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let rest = '';
    this.child.stdout.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) this.said.push({ at: Date.now(), session: JSON.parse(line).session });
    });
  }

  /** The state that is shown. */
  get state() {
    return this.said.at(-1)?.session.state;
  }

  /** Waits until a state is shown, which must be no later than `limit` ms after the moment `since`. */
  async shows(state, since, limit, what) {
    const at = await until(`'${state}' (${what})`, () => this.state === state, 20_000);
    const first = this.said.findLast((one, number) => one.session.state === state && this.said[number - 1]?.session.state !== state);
    const late = Math.max(0, (first?.at ?? at) - since);
    const isFine = late <= limit * slack;
    if (!isFine) failures.push(`${what}: ${late} ms`);
    const from = this.said.at(-1).session.signals.map((signal) => signal.from).join(', ');
    console.log(`${isFine ? 'ok  ' : 'LATE'} ${what.padEnd(34)} ${state.padEnd(8)} ${String(late).padStart(5)} ms of ${limit} (${from})`);
    return this.said.at(-1).session;
  }

  stop() {
    this.child.kill();
  }
}

/** Starts the program in a pane of its own. */
async function start(home, server) {
  const env = { ...home.env(server.url), TERM: 'xterm-256color' };
  // The launcher starts its worker, as it does for people.
  delete env.GEMINI_CLI_NO_RELAUNCH;
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  tmux('new-session', '-d', '-s', 'agent', '-x', '120', '-y', '40', '-c', home.project, 'env', ...words, 'node', home.script);
  await until('the prompt', () => screen().includes('Type your message'));
  await sleep(1500);
}

/** Types a prompt, and returns when Enter was pressed. */
async function type(text) {
  tmux('send-keys', '-t', 'agent', '-l', text);
  // An Enter that comes at once is part of a paste.
  await sleep(700);
  tmux('send-keys', '-t', 'agent', 'Enter');
  return Date.now();
}

const shell = (command) => ({ name: 'run_shell_command', args: { command, description: 'as asked' } });
const DIALOG = /Allow execution|Allow once|Yes, allow|Apply this change/;

async function turns(home, server, watch) {
  server.replies = [
    { text: 'I will look.', calls: [shell('sleep 4; echo done')], delay: 3000 },
    { text: 'It is done.', delay: 1500 },
  ];
  await watch.shows('yours', Date.now(), 2500, 'ready, nothing typed');
  await watch.shows('working', await type('Do it, please.'), 1500, 'prompt');
  const dialog = await until('the dialog', () => DIALOG.test(screen()));
  await watch.shows('approve', dialog, 1200, 'approval');
  await sleep(1500);
  if (watch.state !== 'approve') failures.push(`while the dialog is open: ${watch.state}`);
  tmux('send-keys', '-t', 'agent', 'Enter');
  const tool = await watch.shows('tool', Date.now(), 2500, 'approved, the command runs');
  if (!tool.tool?.argument?.includes('sleep 4')) failures.push(`the tool is not named: ${JSON.stringify(tool.tool)}`);
  await until('the answer', () => screen().includes('It is done.'));
  await watch.shows('yours', Date.now(), 2500, 'the turn is over');
}

async function quit(watch) {
  const at = await type('/quit');
  await watch.shows('done', at, 4000, 'quit');
}

async function killed(home, server, watch) {
  server.replies = [{ text: 'Too late.', delay: 60_000 }];
  await start(home, server);
  await watch.shows('working', await type('Think about it.'), 1500, 'prompt of a second run');
  process.kill(watch.said.at(-1).session.pid, 'SIGKILL');
  await watch.shows('gone', Date.now(), 2500, 'kill -9');
}

/** Without a title, hooks say when a permission is asked for. */
async function hooks(home, server, watch) {
  const env = { PATH: process.env.PATH, HOME: home.home, TZ: 'UTC' };
  execFileSync(recount, ['guard', '--hook', 'install', '--program', recount, '--yes'], { env, stdio: 'ignore' });
  const file = path.join(home.home, '.gemini', 'settings.json');
  const settings = JSON.parse(fs.readFileSync(file, 'utf8'));
  settings.ui = { ...settings.ui, hideWindowTitle: true, dynamicWindowTitle: false };
  fs.writeFileSync(file, JSON.stringify(settings));
  server.replies = [{ text: 'I will look.', calls: [shell('sleep 2; echo done')], delay: 1000 }, { text: 'It is done.' }];
  await start(home, server);
  await watch.shows('working', await type('Do it, please.'), 1500, 'prompt, with hooks');
  const dialog = await until('the dialog', () => DIALOG.test(screen()));
  const asked = await watch.shows('approve', dialog, 1200, 'approval, told by a hook');
  if (asked.signals[0].from !== 'hook') failures.push(`the approval is not from the hook: ${JSON.stringify(asked.signals)}`);
  tmux('send-keys', '-t', 'agent', 'Enter');
  await until('the answer', () => screen().includes('It is done.'));
  await watch.shows('yours', Date.now(), 2500, 'the turn is over, with hooks');
  execFileSync(recount, ['guard', '--hook', 'remove', '--yes'], { env, stdio: 'ignore' });
  if (fs.readFileSync(file, 'utf8').includes('recount')) failures.push('a hook is left');
}

/** Where the system allows no more watches, files are polled, and that is said. */
async function polling() {
  const root = path.join(folder, 'polled');
  const chats = path.join(root, '.gemini/tmp/shop/chats');
  fs.mkdirSync(chats, { recursive: true });
  fs.writeFileSync(path.join(root, '.gemini/tmp/shop/.project_root'), '/c/shop');
  const log = path.join(chats, 'session-2026-11-16T13-10-117eaa32.jsonl');
  fs.writeFileSync(log, `${JSON.stringify({ sessionId: '117eaa32', startTime: new Date() })}\n`);
  const process = { pid: 9, ppid: 1, argv: ['node', '/bin/gemini'], cwd: '/c/shop', start_ms: Date.now() - 5000, tty: '/dev/pts/1' };
  fs.writeFileSync(path.join(root, 'table.json'), JSON.stringify([process]));
  const command = `echo 0 > /proc/sys/user/max_inotify_watches && exec "${recount}" watch --json --home "${root}"`;
  const env = { PATH: '/usr/bin:/bin', HOME: root, RECOUNT_PROCESS_TABLE: path.join(root, 'table.json') };
  const child = spawn('unshare', ['-Ur', 'sh', '-c', command], { env });
  let [said, noted] = ['', ''];
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (noted += text));
  try {
    await until('a row', () => said.includes('"yours"'), 10_000);
    fs.appendFileSync(log, `${JSON.stringify({ id: '1', type: 'user', content: 'go' })}\n`);
    const since = Date.now();
    const late = (await until('the prompt', () => said.includes('"working"'), 10_000)) - since;
    if (late > 1200 * slack) failures.push(`polling: ${late} ms`);
    if (!noted.includes('checked each second')) failures.push(`polling is not said: ${noted}`);
    console.log(`ok   prompt, without inotify               working  ${String(late).padStart(5)} ms of 1200`);
  } finally {
    child.kill();
  }
}

const server = await ModelServer.start();
const home = new AgentHome(folder, values.release);
const watch = new Watch(home);
try {
  await start(home, server);
  await turns(home, server, watch);
  await quit(watch);
  if (!values.quick) {
    await killed(home, server, watch);
    await until('the end of the session', () => {
      try {
        tmux('has-session', '-t', 'agent');
        return false;
      } catch {
        return true;
      }
    });
    await hooks(home, server, watch);
    await polling();
  }
} catch (error) {
  failures.push(String(error.message));
} finally {
  watch.stop();
  try {
    tmux('kill-server');
  } catch {
    // The last pane has ended it.
  }
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
for (const failure of failures) console.error(`FAILED ${failure}`);
console.log(failures.length === 0 ? `live: Gemini CLI ${values.release}, every state in time` : `live: ${failures.length} failures`);
process.exitCode = failures.length === 0 ? 0 : 1;
