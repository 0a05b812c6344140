// Hands sessions over between Gemini CLI, Claude Code and Codex in all six directions, offline: the real target program must list the new session and resume it,
// with the old turns, tool calls and their results in the request that its model receives; and an undo must take it away.
//
//   RECOUNT_BIN=target/release/recount node e2e/handover.mjs [--quick] [--only FROM-TO] [--gemini A,B] [--claude A,B] [--codex A,B]
//
// The sessions that are handed over are written by the real programs too. The programs come from npm (`agent.mjs`, `programs.mjs`); the models are
// `model_server.mjs` and `scripted_model.mjs`, on loopback. Node 20 or later.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { AgentHome, execute } from './agent.mjs';
import { ModelServer } from './model_server.mjs';
import { installed, PROGRAMS } from './programs.mjs';
import { CODEX_ENV, claudeEnv, codexSettings, startModel } from './scripted_model.mjs';

const BIN = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
const RELEASES = {
  gemini: ['0.60.0', '0.43.0'],
  claude: ['2.1.325', '2.1.112'],
  codex: ['0.166.0', '0.144.6'],
};
const AGENTS = Object.keys(RELEASES);
/** What is said in every session, in this order; the command is run by the agent's own shell tool. */
const SAID = ['Remember the word zeppelin', 'I will look around.', 'airship-one', 'The word is kept.', 'And the color is mauve', 'Noted in full.'];
const COMMAND = 'echo airship-one';
/** Enough words for `--summary` to leave some out, and none twice: one of the agents takes repetitions for a loop. */
const LONG = Array.from({ length: 120 }, (_, number) => `word${number * number}`).join(' ');
const PROMPT = 'Which word was it?';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    keep: { type: 'boolean' },
    ...Object.fromEntries(AGENTS.map((name) => [name, { type: 'string' }])),
  },
});

let passed = 0;
let failed = 0;

function check(what, is, more = '') {
  if (is) {
    passed += 1;
  } else {
    failed += 1;
  }
  console.log(`${is ? 'ok  ' : 'FAIL'} ${what}${is || !more ? '' : `: ${more}`}`);
}

/** One home with all three agents and one project. */
class World {
  constructor(releases, model) {
    this.folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-handover-')));
    Object.assign(this, { releases, model });
    this.gemini = new AgentHome(this.folder, releases.gemini);
    this.home = this.gemini.home;
    this.shop = this.gemini.project;
    fs.mkdirSync(path.join(this.home, '.codex'), { recursive: true });
    fs.mkdirSync(path.join(this.home, '.claude', 'projects'), { recursive: true });
    fs.writeFileSync(path.join(this.home, '.codex', 'config.toml'), codexSettings(model));
  }

  env() {
    return {
      HOME: this.home,
      PATH: process.env.PATH,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      ...CODEX_ENV,
      ...claudeEnv(this.model),
    };
  }

  recount(...args) {
    const env = { ...this.env(), RECOUNT_DATA_DIR: path.join(this.folder, 'data') };
    const made = spawnSync(BIN, ['--home', this.home, ...args], { env, cwd: this.home, encoding: 'utf8' });
    return { text: made.stdout, fault: made.stderr, code: made.status };
  }

  sessions(agent) {
    const all = JSON.parse(this.recount('list', '--all', '--json').text || '{"sessions":[]}').sessions;
    return all.filter((one) => one.source === agent && one.prompts > 0);
  }

  /** Asks an agent something, in a session if one is named. Returns what its model was sent. */
  async ask(agent, prompt, session, replies = []) {
    const cwd = this.shop;
    if (agent === 'gemini') {
      const server = await ModelServer.start(replies.length > 0 ? replies : [{ text: 'It was that.' }]);
      const words = session ? ['--resume', session] : [];
      const { stderr } = await this.gemini.run([...words, '--yolo', '-p', prompt], server.url);
      await server.stop();
      return { sent: server.requests.map((request) => JSON.stringify(request.body)), fault: stderr };
    }
    await this.model.script(replies.map(({ text, calls }) => ({ text, call: calls?.[0] })));
    this.model.forget();
    const program = installed(agent, this.releases[agent]);
    const words =
      agent === 'claude'
        ? ['-p', prompt, ...(session ? ['--resume', session] : []), '--allowedTools', 'Bash']
        : ['exec', ...(session ? ['resume'] : []), '--skip-git-repo-check', ...(session ? [session] : []), prompt];
    const made = await execute(program, words, { cwd, env: this.env() });
    return { sent: this.model.sent().split('\n').filter(Boolean), fault: `${made.stdout.slice(-300)} ${made.stderr.slice(-300)}` };
  }

  /** Has an agent write a session with a tool call and two turns; returns its id. */
  async begin(agent) {
    const call = {
      gemini: { name: 'run_shell_command', args: { command: COMMAND } },
      claude: { name: 'Bash', args: { command: COMMAND, description: 'Look' } },
      codex: { name: 'exec_command', args: { cmd: COMMAND } },
    }[agent];
    await this.ask(agent, SAID[0], undefined, [{ text: SAID[1], calls: [call] }, { text: `${SAID[3]} ${LONG}` }]);
    const [one] = this.sessions(agent);
    if (!one) {
      return undefined;
    }
    await this.ask(agent, SAID[4], one.id, [{ text: SAID[5] }]);
    return one.id;
  }

  /** Whether an agent itself lists a session. */
  async lists(agent, id, title) {
    if (agent === 'gemini') {
      const server = await ModelServer.start();
      const { stdout, stderr } = await this.gemini.run(['--list-sessions'], server.url);
      await server.stop();
      return `${stdout}${stderr}`.split('\n').some((line) => line.includes(`[${id}]`) && line.includes(title.slice(0, 20)));
    }
    if (agent === 'codex') {
      return (await this.threads()).some((thread) => thread.id === id);
    }
    // It has no list for programs: the newest session of a folder is the one that is continued.
    const { sent } = await this.continued();
    return sent.some((request) => request.includes('zeppelin'));
  }

  async continued() {
    this.model.forget();
    const program = installed('claude', this.releases.claude);
    const made = await execute(program, ['-p', 'Go on', '--continue', '--fork-session'], { cwd: this.shop, env: this.env() });
    return { sent: this.model.sent().split('\n').filter(Boolean), fault: made.stderr };
  }

  /** The threads that Codex lists, by its own server. */
  threads() {
    return new Promise((resolve) => {
      const program = installed('codex', this.releases.codex);
      const child = spawn(program, ['app-server'], { cwd: this.shop, env: this.env(), stdio: ['pipe', 'pipe', 'ignore'] });
      const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
      let text = '';
      const end = (threads) => {
        clearTimeout(limit);
        child.kill();
        child.once('close', () => resolve(threads));
      };
      const limit = setTimeout(() => end([]), 180_000);
      child.stdout.on('data', (data) => {
        text += data;
        for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
          const message = JSON.parse(text.slice(0, at));
          text = text.slice(at + 1);
          if (message.id === 1) {
            send({ method: 'initialized' });
            send({ id: 2, method: 'thread/list', params: { limit: 100, sourceKinds: ['cli', 'vscode', 'exec'] } });
          } else if (message.id === 2) {
            end(message.result?.data ?? []);
          }
        }
      });
      send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'recount-e2e', title: 'e2e', version: '1' } } });
    });
  }

  end() {
    if (!values.keep) {
      fs.rmSync(this.folder, { recursive: true, force: true });
    }
  }
}

/** Whether texts are in a request in this order. */
function inOrder(request, texts) {
  let from = 0;
  return texts.every((text) => {
    const at = request.indexOf(text, from);
    from = at + text.length;
    return at >= 0;
  });
}

/** Whether each tool call in a request has its result. */
function paired(agent, request) {
  const body = JSON.parse(request);
  if (agent === 'gemini') {
    const parts = body.contents.flatMap((content) => content.parts ?? []);
    const ids = (key) => parts.filter((part) => part[key]).map((part) => part[key].id ?? part[key].name);
    return ids('functionCall').length === 1 && String(ids('functionCall')) === String(ids('functionResponse'));
  }
  if (agent === 'claude') {
    const blocks = body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id);
    return calls.length === 1 && String(calls) === String(results);
  }
  const ids = (kind) => body.input.filter(({ type }) => type === kind).map((item) => item.call_id);
  return ids('function_call').length === 1 && String(ids('function_call')) === String(ids('function_call_output'));
}

async function direction(world, from, to, id, more = []) {
  const name = (what) => `${from} ${world.releases[from]} to ${to} ${world.releases[to]}${more.length > 0 ? ' --summary' : ''}: ${what}`;
  const made = world.recount('handover', id, '--to', to, '--json', '--yes', ...more);
  const document = made.code === 0 ? JSON.parse(made.text) : undefined;
  const session = document?.sessions[0];
  check(name('it is handed over'), session !== undefined, made.fault);
  if (!session) {
    return;
  }
  check(name('the command that resumes it is printed'), document.resume.includes(session.id));
  check(name('it is listed'), await world.lists(to, session.id, session.title));
  const { sent, fault } = await world.ask(to, PROMPT, session.id);
  const request = sent.find((one) => one.includes(PROMPT)) ?? '';
  const expected = more.length > 0 ? [SAID[0], SAID[4], SAID[5], PROMPT] : [...SAID, PROMPT];
  check(name('its model receives the old turns in order'), inOrder(request, expected), `${request.length} bytes; ${fault}`);
  if (more.length === 0) {
    check(name('and each call with its result'), request !== '' && paired(to, request), request.slice(-3000));
  }
  const again = world.sessions(to).find((one) => one.id === session.id);
  check(name('it is continued in its own file'), again?.last_prompt === PROMPT || again?.prompts === (more.length > 0 ? 2 : 3), JSON.stringify(again));
}

/** A hand-over that nobody has used is undone. */
function undone(world, from, to, id) {
  const made = world.recount('handover', id, '--to', to, '--json', '--yes');
  const document = made.code === 0 ? JSON.parse(made.text) : undefined;
  const files = document?.files.filter((file) => file.before === null).map((file) => file.path) ?? [];
  world.recount('undo', document?.receipt ?? 'none', '--yes');
  const isGone = files.length > 0 && files.every((file) => !fs.existsSync(file));
  check(`${from} to ${to}: an undo removes the session`, isGone, made.fault);
}

async function all(releases, model) {
  const world = new World(releases, model);
  try {
    for (const from of AGENTS) {
      const targets = AGENTS.filter((to) => to !== from && (!values.only || values.only === `${from}-${to}`));
      if (targets.length === 0) {
        continue;
      }
      const id = await world.begin(from);
      check(`${from} ${releases[from]}: a session is written`, id !== undefined);
      if (!id) {
        continue;
      }
      for (const to of targets) {
        await direction(world, from, to, id);
        undone(world, from, to, id);
        if (!values.quick) {
          await direction(world, from, to, id, ['--summary', '100']);
        }
      }
    }
  } finally {
    world.end();
  }
}

/** The newest release that the gate has. */
const quick = (name) => PROGRAMS[name]?.gate.at(-1) ?? RELEASES[name][0];

const model = await startModel();
const chosen = Object.fromEntries(AGENTS.map((name) => [name, values[name]?.split(',') ?? (values.quick ? [quick(name)] : RELEASES[name])]));
try {
  const rounds = Math.max(...Object.values(chosen).map((releases) => releases.length));
  for (let round = 0; round < rounds; round += 1) {
    const pick = (name) => chosen[name][Math.min(round, chosen[name].length - 1)];
    await all(Object.fromEntries(AGENTS.map((name) => [name, pick(name)])), model);
  }
} finally {
  model.stop();
}
console.log(`${AGENTS.map((name) => `${name} ${chosen[name].join(', ')}`).join('; ')}: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
