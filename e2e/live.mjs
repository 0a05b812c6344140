// `recount watch` beside the real programs in tmux, offline: how long until it shows what they do.
//
//   RECOUNT_BIN=target/release/recount node e2e/live.mjs [--agents gemini,claude,codex] [--releases A,B] [--quick] [--slack 1]
//
// A moment counts from when it is to be seen on the screen (a dialog, an answer, the end) or from what causes it (Enter, kill). Each must be
// shown within its limit; on a busy machine `--slack 2` doubles the limits. `--quick` takes one release of each, without hooks and polling,
// and only prints what is late: other things run beside the gate.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { AGENTS, COMMAND, endAll, SEEN } from './live/agents.mjs';
import { sleep, Terminal } from './live/terminal.mjs';
import { Watch } from './live/watch.mjs';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: Object.keys(AGENTS).join(',') },
    releases: { type: 'string' },
    quick: { type: 'boolean', default: false },
    slack: { type: 'string', default: '1' },
  },
});
const slack = Number(values.slack);
const recount = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
/** These pass by themselves; all other states stay until a key is pressed. */
const PASSING = ['working', 'tool'];
const failures = [];
let checked = 0;

/** Waits until something is so, looking every 20 ms. Returns the moment. */
async function until(what, isSo, patience = 180_000) {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    if (isSo()) return Date.now();
    await sleep(20);
  }
  throw new Error(`${what} did not happen within ${patience / 1000} s`);
}

/** One program in its home, with `recount watch` beside it. */
class Scene {
  constructor(name, release, agent, terminal) {
    Object.assign(this, { name: `${name} ${release}`, agent, terminal });
    this.watch = new Watch(recount, agent.home, agent.project);
  }

  fail(what) {
    failures.push(`${this.name}: ${what}`);
  }

  /** What passes by itself is looked for in what is said from now on. */
  mark() {
    this.last = this.watch.own.at(-1);
  }

  /** Waits until a state is shown, which must be no later than `limit` ms after the moment `since`. */
  shows(state, since, limit, what) {
    const { watch } = this;
    if (PASSING.includes(state)) return this.says(state, () => watch.reached(state, this.last), since, limit, what);
    return this.says(state, () => watch.state === state && watch.begun, since, limit, what);
  }

  /** The same for anything that is said. */
  async says(word, find, since, limit, what) {
    let found;
    await until(`${this.name}: '${word}' (${what})`, () => (found = find()), 60_000);
    const { at, session } = found;
    const late = Math.max(0, at - since);
    const isFine = late <= limit * slack;
    checked += 1;
    if (!isFine && !values.quick) this.fail(`${what} after ${late} ms`);
    const from = session.signals.map((signal) => signal.from).join(', ');
    const row = [isFine ? 'ok  ' : 'LATE', this.name.padEnd(15), what.padEnd(32), word.padEnd(8), String(late).padStart(5)];
    console.log(`${row.join(' ')} ms of ${limit} (${from})`);
    return session;
  }

  /** Starts the program, and waits for its prompt. */
  async start(...more) {
    const { agent, terminal } = this;
    terminal.run([...agent.program, ...more], { cwd: agent.project, env: agent.env });
    const ready = await until(`${this.name}: the prompt`, () => agent.ready.test(terminal.screen()));
    await this.shows('yours', ready, 2500, 'ready, nothing typed');
    await sleep(1500);
  }

  /** Types a prompt, and returns when Enter was pressed. */
  prompt(text) {
    const { agent, terminal } = this;
    const before = agent.requests();
    this.mark();
    // Once the model was asked, another Enter could answer the dialog.
    return terminal.type(text, () => agent.requests() > before || agent.works.test(terminal.screen()));
  }

  async turn(what = '', open = 1500) {
    const { agent, terminal, watch } = this;
    const seen = path.join(agent.project, SEEN);
    fs.rmSync(seen, { force: true });
    await agent.script([
      { text: 'I will look.', command: COMMAND, delay: 6000 },
      { text: 'It is done.', delay: 1500 },
    ]);
    await this.shows('working', await this.prompt('Do it, please.'), 1500, `prompt${what}`);
    const dialog = await until(`${this.name}: the dialog`, () => agent.dialog.test(terminal.screen()));
    const asked = await this.shows('approve', dialog, 1200, `approval${what}`);
    await sleep(open);
    if (watch.state !== 'approve') this.fail(`while the dialog is open: ${watch.state}`);
    this.mark();
    terminal.press('Enter');
    const approved = Date.now();
    await this.shows('tool', approved, 2500, `the command runs${what}`);
    // A title may say that a tool runs before its process is seen.
    const named = () => watch.after(this.last).find(({ session }) => session.state === 'tool' && session.tool?.argument?.includes(COMMAND));
    await this.says('tool', named, approved, 2500, `the command is named${what}`);
    fs.writeFileSync(seen, '');
    await until(`${this.name}: the answer`, () => terminal.screen().includes('It is done.'));
    await this.shows('yours', Date.now(), 2500, `the turn is over${what}`);
    return asked;
  }

  async quit() {
    // Some take it for part of the prompt if it comes with the last frame of the answer.
    await sleep(500);
    await this.terminal.type(this.agent.quit, () => this.terminal.isDead());
    await this.shows('done', Date.now(), 3000, 'quit');
  }

  async killed() {
    await this.agent.script([{ text: 'Too late.', delay: 60_000 }]);
    await this.start();
    await this.shows('working', await this.prompt('Think about it.'), 1500, 'prompt of a second run');
    process.kill(this.watch.session.pid, 'SIGKILL');
    await this.shows('gone', Date.now(), 2500, 'kill -9');
  }

  /** Hooks are called at each moment, and say what nothing else does. */
  async hooks() {
    const { agent } = this;
    const env = { PATH: process.env.PATH, HOME: agent.home, TZ: 'UTC' };
    const run = (...args) => execFileSync(recount, ['guard', '--hook', ...args, '--yes'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    run('install', '--program', recount);
    agent.hideTitle?.();
    await this.start(...(agent.hooked ?? []));
    const asked = await this.turn(', with hooks', agent.notifiesAfter);
    if (agent.hideTitle && asked.signals[0].from !== 'hook') this.fail(`the approval is not from the hook: ${JSON.stringify(asked.signals)}`);
    await this.quit();
    const log = path.join(agent.home, '.local/share/recount/live/hooks.jsonl');
    const lines = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) : [];
    const moments = lines.filter((line) => line.session === asked.id).map((line) => line.moment);
    const missing = agent.moments.filter((moment) => !moments.includes(moment));
    checked += 1;
    if (missing.length > 0) this.fail(`hooks were not called for ${missing.join(', ')}; the log: ${JSON.stringify(lines)}`);
    else console.log(`ok   ${this.name.padEnd(15)} hooks were called: ${[...new Set(moments)].join(', ')}`);
    run('remove');
    for (const file of ['.gemini/settings.json', '.claude/settings.json', '.codex/hooks.json']) {
      const settings = path.join(agent.home, file);
      if (fs.existsSync(settings) && fs.readFileSync(settings, 'utf8').includes('recount')) this.fail(`a hook is left in ${file}`);
    }
  }
}

async function tryAgent(name, release, folder) {
  const about = AGENTS[name];
  const agent = await about.start(folder, release);
  let terminal;
  let scene;
  try {
    terminal = await Terminal.start(folder);
    scene = new Scene(name, release, agent, terminal);
    await scene.start();
    await scene.turn();
    await scene.quit();
    await scene.killed();
    if (!values.quick) await scene.hooks();
  } catch (error) {
    failures.push(`${error.message}\n${terminal?.describe() ?? ''}\n${scene?.watch.describe() ?? ''}`);
  } finally {
    scene?.watch.stop();
    terminal?.stop();
    endAll(agent.home);
    await agent.stop();
  }
}

/** Where the system allows no more watches, files are polled, and that is said. */
async function polling(root) {
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
    await until('a row', () => said.includes('"yours"'));
    fs.appendFileSync(log, `${JSON.stringify({ id: '1', type: 'user', content: 'go' })}\n`);
    const since = Date.now();
    const late = (await until('the prompt', () => said.includes('"working"'))) - since;
    checked += 1;
    if (late > 1200 * slack) failures.push(`polling: ${late} ms`);
    if (!noted.includes('checked each second')) failures.push(`polling is not said: ${noted}`);
    console.log(`ok   without inotify prompt                       working  ${String(late).padStart(5)} ms of 1200`);
  } catch (error) {
    failures.push(`polling: ${error.message}; ${said} ${noted}`);
  } finally {
    child.kill();
  }
}

/** Where processes cannot be listed, that is said. */
function blind(root) {
  fs.mkdirSync(path.join(root, '.gemini/tmp'), { recursive: true });
  const command = `mount -t tmpfs none /proc && exec "${recount}" watch --once --home "${root}"`;
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: root };
  const run = spawnSync('unshare', ['-Urm', 'sh', '-c', command], { env, encoding: 'utf8', timeout: 60_000 });
  checked += 1;
  if (run.status === 1 && run.stderr.includes('processes cannot be listed')) console.log('ok   without /proc   says so');
  else failures.push(`without /proc: exit ${run.status}, ${run.stdout} ${run.stderr}`);
}

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-live-')));
for (const name of values.agents.split(',')) {
  const { releases, quick } = AGENTS[name];
  const asked = values.releases?.split(',').filter((release) => releases.includes(release));
  for (const release of asked ?? (values.quick ? [quick] : releases)) {
    const own = path.join(folder, `${name}-${release}`);
    fs.mkdirSync(own);
    await tryAgent(name, release, own);
  }
}
if (!values.quick) {
  await polling(path.join(folder, 'polled'));
  blind(path.join(folder, 'blind'));
}
fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
for (const failure of failures) console.error(`FAILED ${failure}`);
console.log(failures.length === 0 ? `live: ${checked} moments of the real programs, each shown${values.quick ? '' : ' in time'}` : `live: ${failures.length} failures, ${checked} moments`);
process.exitCode = failures.length === 0 ? 0 : 1;
