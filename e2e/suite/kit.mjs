// A home that a release of the real program has filled, in which recount changes something and the program checks it.

import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { AgentHome, execute } from '../agent.mjs';
import { ModelServer, said } from '../model_server.mjs';

/** What is said in the sessions that every home begins with: prompts and the model's replies. */
export const TALKS = {
  tax: [
    {
      prompt: 'How is the tax computed?',
      replies: [{ calls: [{ name: 'read_file', args: { file_path: 'tax.js', absolute_path: 'tax.js' } }] }, { text: 'The tax is a quarter of the price.' }],
    },
    { prompt: 'And who calls it?', replies: [{ text: 'Only the cart calls it.' }] },
  ],
  cart: [{ prompt: 'What is in the cart?', replies: [{ text: 'Apples and pears are in the cart.' }] }],
  shelf: [{ prompt: 'Which shelf is empty?', replies: [{ text: 'The third shelf is empty.' }] }],
};

/** All texts of a talk, in order. */
export const texts = (talk) =>
  TALKS[talk].flatMap(({ prompt, replies }) => [prompt, ...replies.filter((reply) => reply.text).map((reply) => reply.text)]);

/** The check that failed, in words. */
export class Wrong extends Error {}

export function expect(is, words) {
  if (!is) throw new Wrong(words);
}

export class Kit {
  /** Lets a release fill a home: two sessions in `shop`, one in `store`. */
  static async start(folder, release, bin) {
    const kit = new Kit();
    kit.release = release;
    kit.bin = bin;
    kit.folder = folder;
    fs.mkdirSync(folder, { recursive: true });
    kit.work = path.join(folder, 'work');
    kit.kept = path.join(folder, 'kept');
    kit.server = await ModelServer.start();
    kit.agentHome = new AgentHome(kit.work, release);
    kit.home = kit.agentHome.home;
    kit.shop = kit.agentHome.project;
    kit.store = path.join(kit.home, 'code', 'store');
    // The release chooses the folder of its projects by itself.
    fs.rmSync(path.join(kit.home, '.gemini', 'tmp'), { recursive: true });
    fs.rmSync(path.join(kit.home, '.gemini', 'projects.json'));
    for (const project of [kit.shop, kit.store]) {
      fs.mkdirSync(project, { recursive: true });
      fs.writeFileSync(path.join(project, 'tax.js'), 'export const tax = (price) => price / 4;\n');
    }
    kit.ids = {};
    kit.ids.tax = await kit.talk(kit.shop, TALKS.tax);
    kit.ids.cart = await kit.talk(kit.shop, TALKS.cart);
    kit.ids.shelf = await kit.talk(kit.store, TALKS.shelf);
    fs.cpSync(kit.work, kit.kept, { recursive: true, preserveTimestamps: true });
    return kit;
  }

  /** Puts the home back as the release left it. */
  reset() {
    fs.rmSync(this.work, { recursive: true, force: true });
    fs.cpSync(this.kept, this.work, { recursive: true, preserveTimestamps: true });
  }

  async stop() {
    await this.server.stop();
  }

  /** Whether the release is at least another one. */
  since(release) {
    const parts = (text) => text.split('.').map(Number);
    const [own, other] = [parts(this.release), parts(release)];
    return (own[0] - other[0] || own[1] - other[1] || own[2] - other[2]) >= 0;
  }

  /** Has a conversation in a project, one run per prompt, and returns the session's id. */
  async talk(project, turns, { approve = true } = {}) {
    const known = new Set(this.sessionIds(project));
    let id;
    for (const { prompt, replies } of turns) {
      const args = [...(id ? ['--resume', id] : []), '-p', prompt, ...(approve ? ['--approval-mode', 'yolo'] : [])];
      await this.ask(project, args, replies);
      id ??= this.sessionIds(project).find((found) => !known.has(found));
      expect(id, `${this.release} left no session of ${JSON.stringify(prompt)} in ${project}`);
    }
    return id;
  }

  /** Runs the program with scripted replies; returns what it printed and what the model was asked. */
  async ask(project, args, replies = []) {
    this.server.replies = [...replies];
    const from = this.server.requests.length;
    const done = await this.agentHome.run(args, this.server.url, {}, project);
    expect(done.code === 0, `${this.release} ${args.join(' ')} ended with ${done.code}: ${done.stderr.slice(-600)}`);
    return { ...done, requests: this.server.requests.slice(from).map((request) => request.body) };
  }

  /** Waits until something is so, for two minutes at most. */
  async until(is) {
    for (let tries = 0; !is(); tries += 1) {
      expect(tries < 2400, 'timed out');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** What `--list-sessions` says: titles and ids, in its order. */
  async list(project) {
    const { stdout, stderr } = await this.ask(project, ['--list-sessions']);
    const rows = [];
    // Some releases print the list on the other stream.
    for (const line of `${stdout}\n${stderr}`.split('\n')) {
      const found = /^\s+\d+\. (.*) \([^()]*\) \[([^\]]+)\]$/.exec(line);
      if (found) rows.push({ title: found[1], id: found[2] });
    }
    return rows;
  }

  /** Goes on with a session and returns the first thing the model was asked. */
  async resume(project, id, prompt = 'Is that all?') {
    const { requests } = await this.ask(project, ['--resume', id, '-p', prompt], [{ text: 'That is all.' }]);
    expect(requests.length > 0, `the model was not asked when ${id} was resumed`);
    return requests[0];
  }

  /** Says that a request holds these texts in order, every call with its response, and none of the others. */
  holds(body, wanted, { gone = [], prompt = 'Is that all?' } = {}) {
    const all = said(body);
    let from = 0;
    for (const text of [...wanted, prompt]) {
      const at = all.findIndex((part, index) => index >= from && part.text?.includes(text));
      expect(at >= 0, `the model was not told, or not in order: ${text}`);
      from = at;
    }
    for (const text of gone) {
      expect(!all.some((part) => part.text?.includes(text)), `the model was told: ${text}`);
    }
    const ids = (key) => new Set(all.filter((part) => part[key]).map((part) => part[key].id ?? part[key].name));
    const [calls, responses] = [ids('call'), ids('response')];
    for (const id of calls) expect(responses.has(id), `no response to the call ${id}`);
    for (const id of responses) expect(calls.has(id), `a response to no call: ${id}`);
  }

  /** Says that a session is listed, under a title if one is given, and goes on with these texts. */
  async works(project, id, wanted, { title, ...more } = {}) {
    const row = (await this.list(project)).find((found) => found.id === id);
    expect(row, `${id} is not listed in ${path.basename(project)}`);
    if (title) expect(row.title.includes(title), `${id} is listed as ${JSON.stringify(row.title)}, not ${JSON.stringify(title)}`);
    this.holds(await this.resume(project, id), wanted, more);
  }

  /** Says that a session is not listed. */
  async isGone(project, id) {
    const rows = await this.list(project);
    expect(!rows.some((row) => row.id === id), `${id} is still listed in ${path.basename(project)}`);
  }

  /** Turns the program's clean-up on or off. */
  retention(enabled) {
    const file = path.join(this.home, '.gemini', 'settings.json');
    const settings = JSON.parse(fs.readFileSync(file, 'utf8'));
    settings.general.sessionRetention = { enabled, maxAge: '30d' };
    fs.writeFileSync(file, JSON.stringify(settings, null, 2));
  }

  /** Runs `recount resume`, which runs the program. */
  async resumed(bin, id, args, replies) {
    this.server.replies = [...replies];
    const from = this.server.requests.length;
    const env = { ...this.env(), ...this.agentHome.env(this.server.url), PATH: `${bin}:${process.env.PATH}` };
    const done = await execute(this.bin, ['resume', id, '--', ...args], { env, cwd: this.folder });
    return { ...done, requests: this.server.requests.slice(from).map((request) => request.body) };
  }

  /** What recount is told. */
  env() {
    return {
      PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`,
      HOME: this.home,
      RECOUNT_DATA_DIR: path.join(this.work, 'data'),
      XDG_CONFIG_HOME: path.join(this.work, 'config'),
      NO_COLOR: '1',
      TZ: 'UTC',
    };
  }

  /** Runs recount; the last document it printed is in `json`. */
  recount(...args) {
    const done = spawnSync(this.bin, args, { env: this.env(), encoding: 'utf8', cwd: this.home, maxBuffer: 1 << 28 });
    let json = null;
    try {
      json = JSON.parse(done.stdout);
    } catch {
      // Not every command prints JSON.
    }
    return { code: done.status, stdout: done.stdout, stderr: done.stderr, json };
  }

  /** Runs recount, which must succeed. */
  does(...args) {
    const done = this.recount(...args);
    expect(done.code === 0, `recount ${args.join(' ')} ended with ${done.code}: ${done.stderr}`);
    return done;
  }

  /** The ids that recount finds in a project. */
  sessionIds(project) {
    const { json } = this.recount('list', '--all', '--json');
    return (json?.sessions ?? []).filter((found) => found.project.path === project).map((found) => found.id);
  }

  /** The row of a session in recount's list. */
  row(id) {
    const { json } = this.recount('list', '--all', '--json', '--kind', 'main,subagent');
    return json?.sessions.find((found) => found.id === id);
  }

  /** Every file below the agent's folder with its bytes. */
  tree() {
    const root = path.join(this.home, '.gemini', 'tmp');
    const files = fs.readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return new Map(files.map((entry) => path.join(entry.parentPath, entry.name)).sort().map((file) => [file, fs.readFileSync(file, 'latin1')]));
  }
}

/** Names of files that differ between two trees. */
export function changes(before, after) {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

/** Makes a copy of a folder with its times. */
export function copy(from, to) {
  execFileSync('cp', ['-a', from, to]);
}
