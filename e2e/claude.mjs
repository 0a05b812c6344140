// Passes sessions that recount wrote to released versions of Claude Code, offline: sessions that recount renamed, moved, forked, restored and exported
// must be resumed with their context.
//
//   RECOUNT_BIN=target/release/recount node e2e/claude.mjs [--quick] [--releases A,B] [--patient]
//
// The programs come from npm (`programs.mjs`); the model is `scripted_model.mjs`, on loopback. Node 20 or later, python3.
//
// Old sessions are deleted ten minutes after the first prompt that is typed in a terminal (`terminal.py`). For releases that are scripts the clock is sped up
// (`hurry.cjs`); those that are executables need `--patient`, and half an hour.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { asked, installed } from './programs.mjs';
import { claudeEnv, startModel } from './scripted_model.mjs';

const BIN = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
const HERE = path.dirname(fileURLToPath(import.meta.url));
const MONTHS = 40 * 24 * 60 * 60;
const args = process.argv.slice(2);

let passed = 0;
let failed = 0;

function check(what, is) {
  if (is) {
    passed += 1;
  } else {
    failed += 1;
  }
  console.log(`${is ? 'ok  ' : 'FAIL'} ${what}`);
}

class World {
  constructor(release, model) {
    this.folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-claude-')));
    const program = installed('claude', release);
    Object.assign(this, { release, program, model, home: path.join(this.folder, 'home') });
    this.shop = this.project('shop');
    // Its questions at the first start in a terminal are answered.
    const answers = {
      hasCompletedOnboarding: true,
      lastOnboardingVersion: release,
      theme: 'dark',
      customApiKeyResponses: { approved: ['fake'], rejected: [] },
      projects: { [this.shop]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    };
    fs.writeFileSync(path.join(this.home, '.claude.json'), JSON.stringify(answers));
  }

  /** Types a prompt in a terminal, and waits until `file` is deleted, but no longer than that; returns how many seconds it took. */
  typeIn(cwd, file, seconds) {
    const env = { ...this.env(), ...(this.isScript ? { NODE_OPTIONS: `--require=${path.join(HERE, 'hurry.cjs')}` } : {}) };
    const words = [path.join(HERE, 'terminal.py'), String(seconds), file, 'Say hello', this.program];
    const began = Date.now();
    spawnSync('python3', words, { cwd, env, encoding: 'latin1' });
    return (Date.now() - began) / 1000;
  }

  get isScript() {
    return this.program.endsWith('.js');
  }

  project(name) {
    const folder = path.join(this.home, 'code', name);
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Asks the program something, in a project; returns what it prints and what the model was sent. */
  ask(cwd, prompt, ...args) {
    this.model.forget();
    const made = spawnSync(this.program, ['-p', prompt, ...args], { cwd, env: this.env(), input: '', encoding: 'utf8', timeout: 300_000 });
    return { text: made.stdout, fault: made.stderr, sent: this.model.sent() };
  }

  env() {
    return {
      HOME: this.home,
      PATH: process.env.PATH,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...claudeEnv(this.model),
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

  session(id) {
    return this.sessions().find((one) => one.id === id);
  }

  /** Begins a session, and returns its id. */
  begin(prompt) {
    const known = new Set(this.sessions().map((one) => one.id));
    this.ask(this.shop, prompt);
    return this.sessions().find((one) => !known.has(one.id))?.id;
  }

  end() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

function run(release, model) {
  const world = new World(release, model);
  const name = (what) => `${release}: ${what}`;
  const id = world.begin('Remember the word zeppelin');
  const first = world.session(id);
  check(name('a session is listed'), first?.prompts === 1 && first.project.path === world.shop);
  const resumed = (cwd, one) => world.ask(cwd, 'Which word?', '--resume', one).sent.includes('zeppelin');

  world.recount('rename', id, 'Airships', '--yes');
  check(name('a renamed session is resumed with its context'), resumed(world.shop, id));
  check(name('and keeps its title'), world.session(id)?.title === 'Airships');

  const blog = world.project('blog');
  world.recount('move', id, '--to', blog, '--yes');
  check(name('a moved session is resumed in its new folder'), resumed(blog, id));
  check(name('and belongs to it'), world.session(id)?.project.path === blog);
  const news = world.project('news');
  world.recount('relocate', blog, news, '--yes');
  check(name('a relocated session is resumed in the new folder'), resumed(news, id) && world.session(id)?.project.path === news);

  const before = new Set(world.sessions().map((one) => one.id));
  world.recount('fork', id, '--yes');
  const fork = world.sessions().find((one) => !before.has(one.id));
  check(name('a fork is resumed with its context'), fork !== undefined && resumed(news, fork.id));

  world.recount('delete', id, '--yes');
  const isGone = world.ask(news, 'Which word?', '--resume', id).sent === '';
  check(name('a deleted session is gone'), isGone && world.session(id) === undefined);
  world.recount('undo', '--yes');
  check(name('undo brings it back'), resumed(news, id));
  world.recount('delete', id, '--yes');
  world.recount('restore', id, '--yes');
  check(name('restore brings it back'), resumed(news, id));

  const other = new World(release, model);
  const out = path.join(world.folder, 'out');
  fs.mkdirSync(out);
  world.recount('export', id, '--format', 'claude', '-o', out);
  const found = fs.readdirSync(out, { recursive: true }).find((file) => file.endsWith('.jsonl'));
  check(name('a session is exported in the form of the program'), found?.endsWith(`${id}.jsonl`));
  // The program names the folder after the path; one prompt creates it.
  const made = other.session(other.begin('Nothing'))?.files[0].path;
  if (found && made) {
    fs.copyFileSync(path.join(out, found), path.join(path.dirname(made), path.basename(found)));
    check(name('an export is resumed in another home, with its context'), other.ask(other.shop, 'Which word?', '--resume', id).sent.includes('zeppelin'));
  }
  other.end();
  world.end();
  if (world.isScript || args.includes('--patient')) {
    retention(release, model, name);
  }
}

/** What the program deletes by itself is what `guard` says, and what keeps it from that does. */
function retention(release, model, name) {
  const world = new World(release, model);
  const [one, two, fresh] = ['Remember the word zeppelin', 'Remember the word hangar', 'Remember the word ballast'].map((prompt) => world.begin(prompt));
  const file = (id) => world.session(id)?.files[0].path;
  const files = { [one]: file(one), [two]: file(two), [fresh]: file(fresh) };
  const age = (id) => fs.utimesSync(files[id], Date.now() / 1000 - MONTHS, Date.now() / 1000 - MONTHS);
  const foretold = () => JSON.stringify(JSON.parse(world.recount('guard', '--json').text));
  age(one);
  age(two);
  const said = foretold();
  check(name('guard foretells what is old, and nothing else'), said.includes(one) && said.includes(two) && !said.includes(fresh));
  world.recount('guard', '--keep', '--yes');
  const bytes = fs.readFileSync(files[one]);
  const took = world.typeIn(world.shop, files[one], world.isScript ? 240 : 800);
  const there = (id) => fs.existsSync(files[id]);
  check(name('the program deletes what was foretold, and nothing else'), !there(one) && !there(two) && there(fresh));
  world.recount('restore', one, '--yes');
  check(name('what was kept is restored byte for byte'), there(one) && fs.readFileSync(files[one]).equals(bytes));
  check(name('and resumed with its context'), world.ask(world.shop, 'Which word?', '--resume', one).sent.includes('zeppelin'));
  age(one);
  world.recount('guard', '--retention', 'off', '--yes');
  const settings = JSON.parse(fs.readFileSync(path.join(world.home, '.claude', 'settings.json'), 'utf8'));
  check(name('guard writes a period that no session outlives'), settings.cleanupPeriodDays > 36_500);
  check(name('and then foretells nothing'), !foretold().includes(one));
  // Newer releases clean up once a day.
  fs.rmSync(path.join(world.home, '.claude', '.last-cleanup'), { force: true });
  world.typeIn(world.shop, files[one], world.isScript ? took * 1.5 : took + 60);
  check(name('the program deletes nothing then, in more than the time it took before'), there(one));
  check(name('and resumes it with its context'), world.ask(world.shop, 'Which word?', '--resume', one).sent.includes('zeppelin'));
  world.end();
}

const model = await startModel();
const releases = asked('claude', args);
try {
  for (const release of releases) {
    run(release, model);
  }
} finally {
  model.stop();
}
console.log(`${releases.join(', ')}: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
