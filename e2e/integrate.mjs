// Adds recount to released versions of the agents in an empty home, offline: each must list it, expand its commands and call its tools; removing and
// undoing it must restore every byte.
//
//   RECOUNT_BIN=target/release/recount node e2e/integrate.mjs [--quick] [--only gemini,claude,codex]
//
// The programs come from npm (`agent.mjs`, `programs.mjs`); the models are `model_server.mjs` and `scripted_model.mjs`, on loopback. Node 20 or later.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { execute, install } from './agent.mjs';
import { ModelServer } from './model_server.mjs';
import { installed } from './programs.mjs';
import { CODEX_ENV, claudeEnv, codexSettings, startModel } from './scripted_model.mjs';

const BIN = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
const args = process.argv.slice(2);
const isQuick = args.includes('--quick');
const only = args.includes('--only') ? args[args.indexOf('--only') + 1].split(',') : ['gemini', 'claude', 'codex'];

/** The releases that are tried. */
const RELEASES = {
  gemini: isQuick ? ['0.60.0'] : ['0.38.2', '0.43.0', '0.60.0'],
  claude: isQuick ? ['2.1.112'] : ['2.1.112', '2.1.325'],
  codex: isQuick ? ['0.166.0'] : ['0.144.6', '0.166.0'],
};

/** What a user may have written before, which must stay as it is. */
const SETTINGS = {
  gemini: {
    '.gemini/settings.json': `{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
  "general": { "disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false },
  "privacy": { "usageStatisticsEnabled": false }
}
`,
  },
  claude: {
    '.claude/settings.json': '{"permissions":{"allow":["Read"]},   "theme": "dark"}',
  },
  codex: {},
};

let passed = 0;
let failed = 0;

function check(what, is, more = '') {
  if (is) {
    passed += 1;
  } else {
    failed += 1;
  }
  console.log(`${is ? 'ok  ' : 'FAIL'} ${what}${is || !more ? '' : `: ${String(more).slice(0, 600)}`}`);
}

/** Every file and folder below a folder, with its bytes. */
function contents(folder, below = '', all = {}) {
  for (const entry of fs.readdirSync(path.join(folder, below), { withFileTypes: true })) {
    const name = path.join(below, entry.name);
    if (entry.isDirectory()) {
      all[`${name}/`] = '';
      contents(folder, name, all);
    } else {
      all[name] = fs.readFileSync(path.join(folder, name), 'latin1');
    }
  }
  return all;
}

const differences = (one, other) =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name]).join(', ');

class World {
  constructor(agent, release) {
    Object.assign(this, { agent, release });
    this.folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-integrate-')));
    this.home = path.join(this.folder, 'home');
    this.shop = path.join(this.home, 'code', 'shop');
    fs.mkdirSync(this.shop, { recursive: true });
  }

  put(files) {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(this.home, name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    }
  }

  env(more = {}) {
    return { HOME: this.home, PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8', TZ: 'UTC', RECOUNT_DATA_DIR: path.join(this.folder, 'data'), ...more };
  }

  recount(...words) {
    const made = spawnSync(BIN, words, { env: this.env(), cwd: this.home, encoding: 'utf8' });
    return { text: made.stdout, fault: made.stderr, code: made.status };
  }

  integrate(...words) {
    return this.recount('integrate', this.agent, '--yes', ...words);
  }

  status() {
    const { text } = this.recount('integrate', '--json');
    return JSON.parse(text).integrations.find((one) => one.agent === this.agent);
  }

  async end() {
    // A process in the background may still be building its index.
    for (let tries = 0; tries < 40; tries += 1) {
      try {
        fs.rmSync(this.folder, { recursive: true, force: true });
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  }
}

/** What holds for every agent, before it has run. */
function restores(world, name) {
  const { agent } = world;
  for (const settings of [{}, SETTINGS[agent], world.settings ?? {}]) {
    fs.rmSync(world.home, { recursive: true, force: true });
    fs.mkdirSync(world.shop, { recursive: true });
    world.put(settings);
    const what = Object.keys(settings).length > 0 ? 'with settings' : 'in an empty home';
    const before = contents(world.home);
    const same = () => differences(before, contents(world.home));
    let made = world.integrate('--command', BIN, '--allow');
    check(name(`is added ${what}`), made.code === 0 && same() !== '', made.fault);
    const after = contents(world.home);
    made = world.integrate('--command', BIN, '--allow');
    check(name('and a second time changes nothing'), made.code === 0 && differences(after, contents(world.home)) === '', made.fault);
    world.recount('undo', '--yes');
    check(name('undo restores every byte'), same() === '', same());
    world.integrate('--command', BIN);
    made = world.integrate('--remove');
    check(name('and so does --remove'), made.code === 0 && same() === '', same() + made.fault);
    check(name('which is undone, too'), world.recount('undo', '--yes').code === 0 && world.status().state === 'wired', JSON.stringify(world.status()));
    world.integrate('--remove');
  }
}

async function gemini(release) {
  const world = new World('gemini', release);
  const name = (what) => `gemini ${release}: ${what}`;
  restores(world, name);
  world.put(SETTINGS.gemini);
  world.integrate('--command', BIN);
  const script = install(release);
  const server = await ModelServer.start([]);
  const more = { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: server.url, GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true', TERM: 'dumb' };
  const run = (...words) => execute(process.execPath, [script, ...words], { cwd: world.shop, env: world.env(more) });
  const folder = path.join(world.home, '.gemini', 'extensions', 'recount');
  // That release prints nothing without a terminal.
  if (release !== '0.38.2') {
    const listed = await run('extensions', 'list');
    check(name('lists the extension'), /recount/.test(listed.stdout + listed.stderr), listed.stdout + listed.stderr);
    const valid = await run('extensions', 'validate', folder);
    check(name('finds it valid'), valid.code === 0 && !/error/i.test(valid.stderr), valid.stdout + valid.stderr);
  }
  const sent = () => JSON.stringify(server.requests.map((request) => request.body));
  server.replies = [{ text: 'Nothing.' }];
  await run('-p', '/recount:recall tax rate');
  check(name('expands its command'), sent().includes('The question: tax rate'), sent());
  // Headless, tools that need a question are not offered at all.
  const tool = 'mcp_recount_list_sessions';
  check(name('asks before it calls a tool'), !sent().includes(tool));
  world.integrate('--command', BIN, '--allow');
  server.requests.length = 0;
  server.replies = [{ calls: [{ name: tool, args: {} }] }, { text: 'Done.' }];
  const called = await run('-p', 'What did we do last?');
  const answers = server.requests.at(-1)?.body ? JSON.stringify(server.requests.at(-1).body.contents) : '';
  check(name('calls a tool without a question when that is allowed'), /functionResponse/.test(answers) && /session/.test(answers), answers + called.stderr);
  await server.stop();
  const made = world.integrate('--remove');
  const left = Object.keys(contents(path.join(world.home, '.gemini'))).filter((file) => /recount/.test(file) && !file.startsWith('tmp'));
  check(name('is removed after it ran'), made.code === 0 && left.length === 0, left.join(', ') + made.fault);
  await world.end();
}

async function claude(release) {
  const world = new World('claude', release);
  const name = (what) => `claude ${release}: ${what}`;
  restores(world, name);
  world.put(SETTINGS.claude);
  world.integrate('--command', BIN);
  const program = installed('claude', release);
  const model = await startModel();
  const run = (...words) => {
    const made = spawnSync(program, words, { cwd: world.shop, env: world.env(claudeEnv(model)), input: '', encoding: 'utf8', timeout: 300_000 });
    return made.stdout + made.stderr;
  };
  const marketplace = path.join(world.folder, 'data', 'marketplace');
  const valid = run('plugin', 'validate', marketplace);
  check(name('finds the marketplace valid'), /passed/.test(valid) && !/warning/i.test(valid), valid);
  const plugin = run('plugin', 'validate', path.join(marketplace, 'plugins', 'recount'));
  check(name('finds the plugin valid'), /passed/.test(plugin), plugin);
  const listed = run('plugin', 'list');
  check(name('lists the plugin'), /recount@recount-local/.test(listed) && /enabled/.test(listed), listed);
  const servers = run('mcp', 'list');
  check(name('connects to the server'), /recount.*(✓|✔).*Connected/.test(servers), servers);
  const tool = 'mcp__plugin_recount_recount__list_sessions';
  model.forget();
  run('-p', '/recount:recall tax rate');
  check(name('expands its command'), model.sent().includes('The question: tax rate'));
  check(name('has the skill'), model.sent().includes('session-history'));
  model.forget();
  await model.script([{ text: 'I look.', call: { name: tool, args: {} } }, { text: 'Done.' }]);
  run('-p', 'What did we do last?');
  check(name('asks before it calls a tool'), /permission|granted/i.test(model.sent()));
  world.integrate('--command', BIN, '--allow');
  model.forget();
  await model.script([{ text: 'I look.', call: { name: tool, args: {} } }, { text: 'Done.' }]);
  const said = run('-p', 'What did we do last?');
  const last = JSON.parse(model.sent().trim().split('\n').filter((line) => line.includes('tool_result')).at(-1) ?? '{"messages":[]}');
  const blocks = last.messages.flatMap((message) => (Array.isArray(message.content) ? message.content : []));
  const result = blocks.find((block) => block.type === 'tool_result');
  check(name('calls a tool without a question when that is allowed'), result && !result.is_error && /session/.test(JSON.stringify(result.content)), JSON.stringify(result) + said);
  model.stop();
  const made = world.integrate('--remove');
  const settings = fs.readFileSync(path.join(world.home, '.claude', 'settings.json'), 'utf8');
  check(name('is removed after it ran'), made.code === 0 && !settings.includes('recount') && !fs.existsSync(marketplace), settings + made.fault);
  check(name('and no longer listed'), !/recount@recount-local/.test(run('plugin', 'list')));
  await world.end();
}

async function codex(release) {
  const world = new World('codex', release);
  const name = (what) => `codex ${release}: ${what}`;
  const model = await startModel();
  world.settings = {
    // With comments, and no line end at the end.
    '.codex/config.toml': `# mine\n${codexSettings(model).replace('"gpt-5"', '"gpt-5"   # the usual one').trimEnd()}`,
  };
  restores(world, name);
  world.put(world.settings);
  world.integrate('--command', BIN);
  const program = installed('codex', release);
  const run = (...words) => {
    const made = spawnSync(program, words, { cwd: world.shop, env: world.env(CODEX_ENV), input: '', encoding: 'utf8', timeout: 300_000 });
    return made.stdout + made.stderr;
  };
  const listed = run('mcp', 'list');
  check(name('lists the server'), /recount/.test(listed) && /enabled/.test(listed), listed);
  const config = fs.readFileSync(path.join(world.home, '.codex', 'config.toml'), 'utf8');
  check(name('passes on where the data is'), config.includes('env_vars = ["RECOUNT_DATA_DIR"]'), config);
  model.forget();
  await model.script([{ text: 'I look.', call: { namespace: 'mcp__recount', name: 'list_sessions', args: {} } }, { text: 'Done.' }]);
  const said = run('exec', '--skip-git-repo-check', 'What did we do last?');
  check(name('has the skill'), model.sent().includes('session-history'));
  const results = model.sent().split('\n').at(-2) ?? '';
  const output = results.slice(results.indexOf('function_call_output'));
  check(name('calls a tool'), /function_call_output/.test(results) && /session/.test(output) && !/unsupported call/.test(output), output.slice(0, 400) + said.slice(-400));
  model.stop();
  const made = world.integrate('--remove');
  const left = fs.readFileSync(path.join(world.home, '.codex', 'config.toml'), 'utf8');
  check(name('is removed after it ran'), made.code === 0 && !left.includes('recount') && left.includes('# the usual one'), left + made.fault);
  await world.end();
}

const AGENTS = { gemini, claude, codex };
for (const agent of only) {
  for (const release of RELEASES[agent]) {
    await AGENTS[agent](release);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
