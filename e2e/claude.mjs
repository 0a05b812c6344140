// What recount writes is handed to released versions of Claude Code, offline: sessions that recount renamed, moved, forked, restored and exported
// must be resumed with their context.
//
//   RECOUNT_BIN=target/release/recount CLAUDE_2_1_112=…/claude CLAUDE_2_1_325=…/claude node e2e/claude.mjs
//
// The programs come from npm (`@anthropic-ai/claude-code`); the model is `claude_model.mjs`, on loopback. Node 20 or later.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { startModel } from './claude_model.mjs';

const BIN = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
const PROGRAMS = Object.entries(process.env)
  .filter(([name]) => /^CLAUDE_\d/.test(name))
  .map(([name, program]) => [name.slice('CLAUDE_'.length).replaceAll('_', '.'), program]);
const MONTHS = 40 * 24 * 60 * 60;

let failed = 0;

function check(what, is) {
  if (!is) {
    failed += 1;
  }
  console.log(`${is ? 'ok  ' : 'FAIL'} ${what}`);
}

class World {
  constructor(release, program, model) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recount-claude-'));
    Object.assign(this, { release, program, model, home: path.join(this.folder, 'home') });
    this.shop = this.project('shop');
  }

  project(name) {
    const folder = path.join(this.home, 'code', name);
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Asks the program something, in a project; returns what it prints and what the model was sent. */
  ask(cwd, prompt, ...args) {
    this.model.forget();
    const made = spawnSync(this.program, ['-p', prompt, ...args], { cwd, env: this.env(), input: '', encoding: 'utf8', timeout: 120_000 });
    return { text: made.stdout, fault: made.stderr, sent: this.model.sent() };
  }

  env() {
    return {
      HOME: this.home,
      PATH: process.env.PATH,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ANTHROPIC_BASE_URL: this.model.url,
      ANTHROPIC_API_KEY: 'fake',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
  }

  recount(...args) {
    const env = { ...this.env(), RECOUNT_DATA_DIR: path.join(this.folder, 'data') };
    const made = spawnSync(BIN, ['--home', this.home, ...args], { env, cwd: this.home, encoding: 'utf8' });
    return { text: made.stdout, fault: made.stderr, code: made.status };
  }

  sessions() {
    return JSON.parse(this.recount('list', '--all', '--json').text || '{"sessions":[]}').sessions;
  }

  end() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

function run(release, program, model) {
  const world = new World(release, program, model);
  const name = (what) => `${release}: ${what}`;
  world.ask(world.shop, 'Remember the word zeppelin');
  const [first] = world.sessions();
  check(name('a session is listed'), first?.prompts === 1 && first.project.path === fs.realpathSync(world.shop));
  const resumed = (cwd, id) => world.ask(cwd, 'Which word?', '--resume', id).sent.includes('zeppelin');

  world.recount('rename', first.id, 'Airships', '--yes');
  check(name('a renamed session is resumed with its context'), resumed(world.shop, first.id));
  check(name('and keeps its title'), world.sessions().find((one) => one.id === first.id)?.title === 'Airships');

  const blog = world.project('blog');
  world.recount('move', first.id, '--to', blog, '--yes');
  check(name('a moved session is resumed in its new folder'), resumed(blog, first.id));
  check(name('and belongs to it'), world.sessions().find((one) => one.id === first.id)?.project.path === fs.realpathSync(blog));

  const before = new Set(world.sessions().map((one) => one.id));
  world.recount('fork', first.id, '--yes');
  const fork = world.sessions().find((one) => !before.has(one.id));
  check(name('a fork is resumed with its context'), fork !== undefined && resumed(blog, fork.id));

  world.recount('delete', first.id, '--yes');
  check(name('a deleted session is gone'), !world.sessions().some((one) => one.id === first.id));
  world.recount('undo', '--yes');
  check(name('undo brings it back'), resumed(blog, first.id));

  const file = world.sessions().find((one) => one.id === first.id)?.files[0].path;
  const then = Date.now() / 1000 - MONTHS;
  fs.utimesSync(file, then, then);
  const doomed = JSON.parse(world.recount('guard', '--json').text);
  check(name('guard foretells what is old'), JSON.stringify(doomed).includes(first.id));
  // A run with a prompt on the command line does not clean up, so what the program does with it is not seen here.
  world.recount('guard', '--retention', 'off', '--yes');
  const settings = JSON.parse(fs.readFileSync(path.join(world.home, '.claude', 'settings.json'), 'utf8'));
  check(name('and writes a period that no session outlives'), settings.cleanupPeriodDays > 36_500);
  check(name('after which it foretells nothing'), !JSON.stringify(JSON.parse(world.recount('guard', '--json').text)).includes(first.id));
  world.end();
}

const model = await startModel();
for (const [release, program] of PROGRAMS) {
  run(release, program, model);
}
model.stop();
console.log(`${PROGRAMS.length} releases, ${failed} failures`);
process.exit(failed > 0 || PROGRAMS.length === 0 ? 1 : 0);
