// Passes threads that recount wrote to released versions of Codex, offline: threads that recount renamed, moved, forked, deleted, restored and
// exported must be listed and resumed with their context.
//
//   RECOUNT_BIN=target/release/recount node e2e/codex.mjs [--quick] [--releases A,B]
//
// The programs come from npm (`programs.mjs`); the model is `scripted_model.mjs`, on loopback. Lists come from `codex app-server`, which
// the program's own picker uses too. Node 20 or later.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { asked, installed } from './programs.mjs';
import { CODEX_ENV, codexSettings, startModel } from './scripted_model.mjs';

const BIN = path.resolve(process.env.RECOUNT_BIN ?? 'target/release/recount');
/** From this release on names in the program's own list come from its database, into which nobody else writes. */
const OWN_NAMES = [0, 150];
/** From this release on threads are paginated. */
const PAGINATED = [0, 150];
/** From this release on the program reads threads that were compressed. */
const COMPRESSED = [0, 137];
const FIXTURES = path.join(path.dirname(fileURLToPath(import.meta.url)), '../fixtures/codex');

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

function isSince(release, [major, minor]) {
  const [ours, theirs] = release.split('.').map(Number);
  return ours > major || (ours === major && theirs >= minor);
}

class World {
  constructor(release, model) {
    this.folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-codex-')));
    Object.assign(this, { release, model, program: installed('codex', release) });
    this.home = path.join(this.folder, 'home');
    this.root = path.join(this.home, '.codex');
    this.shop = this.project('shop');
    fs.mkdirSync(this.root, { recursive: true });
    fs.writeFileSync(path.join(this.root, 'config.toml'), codexSettings(model));
  }

  project(name) {
    const folder = path.join(this.home, 'code', name);
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  }

  env() {
    return { HOME: this.home, PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8', TZ: 'UTC', ...CODEX_ENV };
  }

  /** Asks the program something, in a project; returns what the model was sent. */
  ask(cwd, ...args) {
    this.model.forget();
    const made = spawnSync(this.program, ['exec', ...args], { cwd, env: this.env(), input: '', encoding: 'utf8', timeout: 300_000 });
    return { text: made.stdout, fault: made.stderr, sent: this.model.sent() };
  }

  /** Begins a thread, and returns its id. */
  begin(prompt, cwd = this.shop) {
    const known = new Set(this.threads().map((one) => one.id));
    this.ask(cwd, '--skip-git-repo-check', prompt);
    return this.threads().find((one) => !known.has(one.id))?.id;
  }

  /** Whether a thread that is resumed tells the model what was said before. */
  knows(cwd, id, words, prompt = 'Which word?') {
    const { sent, fault } = this.ask(cwd, 'resume', '--skip-git-repo-check', id, prompt);
    const is = words.every((word) => sent.includes(word)) && sent.includes(prompt);
    if (!is) {
      console.log(`     sent ${sent.length} bytes; ${fault.split('\n').slice(-4).join(' | ')}`);
    }
    return is;
  }

  /** Asks the program's server something. */
  server(...calls) {
    return new Promise((resolve) => {
      const child = spawn(this.program, ['app-server'], { cwd: this.shop, env: this.env(), stdio: ['pipe', 'pipe', 'ignore'] });
      const answers = [];
      let text = '';
      const end = () => {
        clearTimeout(limit);
        child.kill();
        child.once('close', () => resolve(answers));
      };
      const limit = setTimeout(end, 180_000);
      const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
      const next = (id) => {
        const call = calls[id - 2];
        if (call) {
          send({ id, method: call[0], params: call[1] });
        } else {
          end();
        }
      };
      child.stdout.on('data', (data) => {
        text += data;
        for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
          const message = JSON.parse(text.slice(0, at));
          text = text.slice(at + 1);
          if (message.id === 1) {
            send({ method: 'initialized' });
          } else if (message.id !== undefined) {
            answers.push(message);
          }
          if (message.id !== undefined) {
            next(message.id + 1);
          }
        }
      });
      send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'recount-e2e', title: 'e2e', version: '1' } } });
    });
  }

  /** The threads that the program lists. */
  async listed(more = {}) {
    const sourceKinds = ['cli', 'vscode', 'exec', 'appServer', 'unknown'];
    const [answer] = await this.server(['thread/list', { limit: 100, sourceKinds, ...more }]);
    return answer?.result?.data ?? [];
  }

  recount(...args) {
    const env = { ...this.env(), RECOUNT_DATA_DIR: path.join(this.folder, 'data') };
    const made = spawnSync(BIN, ['--home', this.home, ...args], { env, cwd: this.home, encoding: 'utf8' });
    return { text: made.stdout, fault: made.stderr, code: made.status };
  }

  /** Changes something; it must work. */
  change(...args) {
    const made = this.recount(...args, '--yes');
    if (made.code !== 0) {
      check(`${this.release}: ${args.join(' ')}`, false, made.fault);
    }
    return made;
  }

  threads() {
    return JSON.parse(this.recount('list', '--all', '--json').text || '{"sessions":[]}').sessions;
  }

  thread(id) {
    return this.threads().find((one) => one.id === id);
  }

  /** All files of threads and their names, with what is in them. */
  files() {
    const all = {};
    for (const name of fs.readdirSync(this.root, { recursive: true })) {
      const file = path.join(this.root, String(name));
      if (/sessions.*rollout-|session_index\.jsonl$/.test(file) && fs.statSync(file).isFile()) {
        all[name] = fs.readFileSync(file, 'latin1');
      }
    }
    return JSON.stringify(all);
  }

  end() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

async function run(release, model) {
  const world = new World(release, model);
  const name = (what) => `${release}: ${what}`;
  const row = async (id, more) => (await world.listed(more)).find((one) => one.id === id);
  const id = world.begin('Remember the word zeppelin');
  check(name('a thread is listed by both'), world.thread(id)?.project.path === world.shop && (await row(id)) !== undefined);
  check(name('and resumed'), world.knows(world.shop, id, ['zeppelin'], 'And the word gondola'));

  // Names.
  const unnamed = world.files();
  world.change('rename', id, 'Airships "über" alles');
  check(name('a renamed thread has its name'), world.thread(id)?.title === 'Airships "über" alles');
  const { name: shown } = (await row(id)) ?? {};
  const byItself = isSince(release, OWN_NAMES) ? null : 'Airships "über" alles';
  // The oldest list has no names at all.
  check(name('and the program lists it, under that name where it reads names from files'), shown === undefined || shown === byItself, shown);
  world.change('undo');
  check(name('undo takes the name back'), world.files() === unnamed && ((await row(id))?.name ?? null) === null);
  world.change('rename', id, 'Airships');
  check(name('the program resumes it by its name, with its context'), world.knows(world.shop, 'Airships', ['zeppelin', 'gondola']));
  check(name('and has begun no other'), world.threads().length === 1);

  // Another folder.
  const blog = world.project('a-blog-with-a-longer-name');
  const before = world.files();
  world.change('move', id, '--to', blog);
  check(name('a moved thread belongs to its new folder'), world.thread(id)?.project.path === blog);
  check(name('undo takes it back'), world.change('undo').code === 0 && world.files() === before);
  world.change('move', id, '--to', blog);
  check(name('a moved thread is resumed in its new folder, with its context'), world.knows(blog, id, ['zeppelin', 'gondola']));
  check(name('and the program says that it is there'), (await row(id))?.cwd === blog, (await row(id))?.cwd);
  check(name('and lists it there'), (await row(id, { cwd: blog })) !== undefined);
  const news = world.project('news');
  world.change('relocate', blog, news);
  check(name('a relocated project takes its threads along'), world.knows(news, id, ['zeppelin', 'gondola']) && (await row(id))?.cwd === news);

  // Copies.
  const known = new Set(world.threads().map((one) => one.id));
  world.change('fork', id);
  const fork = world.threads().find((one) => !known.has(one.id))?.id;
  check(name('a fork is listed by the program'), (await row(fork)) !== undefined);
  check(name('and resumed with its context'), fork !== undefined && world.knows(news, fork, ['zeppelin', 'gondola'], 'Only in the fork'));
  check(name('and the first one knows nothing of it'), world.knows(news, id, ['zeppelin']) && !world.model.sent().includes('Only in the fork'));

  // To the trash and back.
  const whole = world.files();
  world.change('delete', id);
  check(name('a deleted thread is gone'), world.thread(id) === undefined && (await row(id)) === undefined);
  world.change('restore', id);
  check(name('a restored thread is what it was'), world.files() === whole);
  check(name('and is listed and resumed with its context'), (await row(id)) !== undefined && world.knows(news, id, ['zeppelin', 'gondola']));
  world.change('delete', id);
  world.change('undo');
  check(name('undo of a deletion restores the listing'), (await row(id)) !== undefined && world.knows(news, id, ['zeppelin', 'gondola']));

  await exported(world, id, name);
  await archived(world, name);
  if (isSince(release, COMPRESSED)) {
    await compressed(world, name);
  }
  if (isSince(release, PAGINATED)) {
    await pointed(world, name);
    await reverted(world, name);
  }
  world.end();
}

/** An export in the program's own form, alone in another home. */
async function exported(world, id, name) {
  const out = path.join(world.folder, 'out');
  fs.mkdirSync(out);
  world.recount('export', id, '--format', 'codex', '-o', out);
  const found = fs.readdirSync(out, { recursive: true }).find((file) => file.endsWith('.jsonl'));
  check(name("a thread is exported in the program's form, under a name of its form"), /rollout-[^/]*\.jsonl$/.test(found ?? ''), found);
  if (found === undefined) {
    return;
  }
  const other = new World(world.release, world.model);
  const day = /rollout-(\d+)-(\d+)-(\d+)T/.exec(found) ?? ['', '2026', '01', '01'];
  const folder = path.join(other.root, 'sessions', day[1], day[2], day[3]);
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(path.join(out, found), path.join(folder, path.basename(found)));
  const listed = (await other.listed()).find((one) => one.id === id);
  check(name('an export is listed in another home'), listed !== undefined);
  check(name('and resumed there with its context'), other.knows(other.shop, id, ['zeppelin', 'gondola']));
  other.end();
}

/** What the program archived: still one thread, which goes and comes back whole. */
async function archived(world, name) {
  const id = world.begin('Remember the word hangar');
  await world.server(['thread/archive', { threadId: id }]);
  const is = async () => (await world.listed({ archived: true })).some((one) => one.id === id);
  check(name('the program archives a thread'), await is());
  const before = world.files();
  world.change('delete', id);
  check(name('an archived thread is deleted'), world.thread(id) === undefined && !(await is()));
  world.change('undo');
  check(name('and comes back, archived'), world.files() === before && (await is()));
  world.change('rename', id, 'Hangar');
  await world.server(['thread/unarchive', { threadId: id }]);
  check(name('and is resumed with its context when the program takes it out'), world.knows(world.shop, 'Hangar', ['hangar']));
}

/** Threads that begin with another one, by a place in its file: they must still begin with it when that file has become longer. */
async function pointed(world, name) {
  const id = world.begin('Remember the word ballast');
  world.knows(world.shop, id, ['ballast'], 'And the word valve');
  const known = new Set(world.threads().map((one) => one.id));
  await world.server(['thread/fork', { threadId: id }]);
  const fork = world.threads().find((one) => !known.has(one.id));
  check(name('a fork that the program makes points into the first thread'), fork?.files.some((file) => file.role === 'base'));
  if (!fork) {
    return;
  }
  const depot = world.project('depot-with-quite-another-length');
  const before = world.files();
  world.change('move', id, '--to', depot);
  check(name('when the first thread moves, the fork still has its context'), world.knows(world.shop, fork.id, ['ballast', 'valve']));
  check(name('and the first thread has its own'), world.knows(depot, id, ['ballast', 'valve']));
  check(name('the first thread cannot be deleted'), world.recount('delete', id, '--yes').code !== 0);
  check(name('the fork can'), world.recount('delete', fork.id, '--yes').code === 0 && before.length > 0);
}

/** Threads that the program compressed: they go and come back as they are, and can be copied. */
async function compressed(world, name) {
  const other = new World(world.release, world.model);
  fs.cpSync(path.join(FIXTURES, 'paginated/compressed/home/.codex'), other.root, { recursive: true });
  const [thread] = other.threads();
  check(name('a compressed thread is read'), thread?.files[0].path.endsWith('.zst'));
  const before = other.files();
  other.change('delete', thread.id);
  check(name('it is deleted'), !(await other.listed()).some((one) => one.id === thread.id));
  other.change('undo');
  check(name('it comes back as it was'), other.files() === before);
  check(name('it is not moved'), other.recount('move', thread.id, '--to', other.shop, '--yes').code !== 0);
  const known = new Set(other.threads().map((one) => one.id));
  other.change('fork', thread.id);
  const fork = other.threads().find((one) => !known.has(one.id));
  check(name('its fork is resumed with its context'), fork && other.knows(other.shop, fork.id, [thread.title]));
  check(name('it is resumed with its context'), other.knows(other.shop, thread.id, [thread.title]));
  other.end();
}

/** A thread of several files, of which the last one says where in the one before it goes on. */
async function reverted(world, name) {
  const other = new World(world.release, world.model);
  fs.cpSync(path.join(FIXTURES, 'paginated/reverted/home/.codex'), other.root, { recursive: true });
  const [thread] = other.threads();
  const kept = ['What does HTTP status 404 mean?', 'Use tabs instead of spaces?'];
  const undone = 'Please list the files and fix the total in cart.py';
  const before = other.files();
  other.change('delete', thread.id);
  check(name('all files of a reverted thread go'), !other.files().includes('rollout-') && (await other.listed()).length === 0);
  other.change('undo');
  check(name('and come back'), other.files() === before && (await other.listed()).some((one) => one.id === thread.id));
  const place = other.project('a-place-with-a-name-of-another-length');
  other.change('move', thread.id, '--to', place);
  check(name('a reverted thread that was moved is resumed with its context'), other.knows(place, thread.id, kept));
  check(name('without what was undone'), !other.model.sent().includes(undone));
  const known = new Set(other.threads().map((one) => one.id));
  other.change('fork', thread.id);
  const fork = other.threads().find((one) => !known.has(one.id));
  check(name('its fork is resumed with its context'), fork && other.knows(place, fork.id, kept));
  check(name('without what was undone'), !other.model.sent().includes(undone));
  other.end();
}

const args = process.argv.slice(2);
const model = await startModel();
try {
  for (const release of asked('codex', args)) {
    await run(release, model);
  }
} finally {
  model.stop();
}
console.log(`${asked('codex', args).join(', ')}: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
