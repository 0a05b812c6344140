// Provokes a deletion by the real program, and checks each protection: a session is created and resumed, which leaves a stub, and
// the next start deletes the conversation, unless `recount guard` prevents it.
//
//   node guard_saves.mjs [--bin PATH] [--releases 0.47.0,0.61.0] [--only CASE] [--quick]
//
// See README.md. Writes only to a temporary folder and to the folder of installed releases.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { AgentHome, install } from './agent.mjs';
import { ModelServer, said } from './model_server.mjs';

/** Where the trap is open. */
const RELEASES = ['0.42.0', '0.43.0', '0.47.0', '0.52.0', '0.56.0', '0.60.0', '0.61.0'];
const QUICK = ['0.43.0', '0.60.0'];
/** How long the model waits for deletions that are not expected. */
const PATIENCE = 1500;

const FIRST = 'What does an apple cost at the market?';
const SECOND = 'And what does a pear cost there?';

const say = (text) => process.stdout.write(`${text}\n`);

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

function options() {
  const { values } = parseArgs({
    options: { bin: { type: 'string' }, releases: { type: 'string' }, only: { type: 'string' }, quick: { type: 'boolean' } },
  });
  const bin = values.bin ?? process.env.RECOUNT_BIN ?? fail('set RECOUNT_BIN or give --bin PATH');
  return {
    bin: path.resolve(bin),
    releases: values.releases?.split(',') ?? (values.quick ? QUICK : RELEASES),
    cases: CASES.filter(({ name }) => !values.only || name.includes(values.only)),
  };
}

/** A home in which the program cleans up as it does by default. */
class Home extends AgentHome {
  constructor(folder, release, bin) {
    super(folder, release);
    this.release = release;
    this.bin = bin;
    this.data = path.join(folder, 'data');
    /** Files that the next run must delete. */
    this.doomed = [];
    const settings = JSON.parse(fs.readFileSync(this.settings, 'utf8'));
    delete settings.general.sessionRetention;
    fs.writeFileSync(this.settings, `${JSON.stringify(settings, null, 2)}\n`);
    // Hooks and guard look for the release that is installed.
    this.programs = path.join(folder, 'bin');
    fs.mkdirSync(this.programs);
    fs.symlinkSync(this.script, path.join(this.programs, 'gemini'));
  }

  get settings() {
    return path.join(this.home, '.gemini', 'settings.json');
  }

  /** Runs recount; returns what it prints and how it ends. */
  recount(...args) {
    const paths = `${this.programs}${path.delimiter}${process.env.PATH}`;
    const env = { PATH: paths, HOME: this.home, RECOUNT_DATA_DIR: this.data, GEMINI_CLI_TRUST_WORKSPACE: 'true' };
    try {
      const stdout = execFileSync(this.bin, args, { env, cwd: this.home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
      return { code: 0, stdout };
    } catch (error) {
      return { code: error.status, stdout: error.stdout, stderr: error.stderr };
    }
  }

  /** Says something to the program, and returns what the model was told. */
  async ask(prompt, ...args) {
    const server = await ModelServer.start([{ text: 'Three coins.' }]);
    server.answerAfter(this.doomed.splice(0), PATIENCE);
    try {
      const { code, stdout, stderr } = await this.run([...args, '-p', prompt], server.url, { RECOUNT_DATA_DIR: this.data });
      const told = server.requests.flatMap(({ body }) => said(body).map(({ text }) => text ?? '')).join('\n');
      return { code, stdout, stderr, told };
    } finally {
      await server.stop();
    }
  }

  async listed() {
    const server = await ModelServer.start();
    try {
      return (await this.run(['--list-sessions'], server.url)).stdout;
    } finally {
      await server.stop();
    }
  }

  files() {
    return fs.readdirSync(this.chats).filter((name) => name.startsWith('session-'));
  }

  /** A conversation that was resumed once, as the program leaves it. Returns its id. */
  async trapped() {
    const first = await this.ask(FIRST);
    if (first.code !== 0) throw new Error(`the first run ends with ${first.code}: ${first.stderr.slice(-300)}`);
    const [name] = this.files();
    const id = JSON.parse(fs.readFileSync(path.join(this.chats, name), 'utf8').split('\n')[0]).sessionId;
    // Within the same minute the stub would be written to the file itself.
    const earlier = name.replace(/T\d\d-\d\d/, (time) => (time === 'T00-00' ? 'T00-01' : 'T00-00'));
    fs.renameSync(path.join(this.chats, name), path.join(this.chats, earlier));
    const again = await this.ask(SECOND, '--resume', id);
    if (again.code !== 0) throw new Error(`the resume ends with ${again.code}: ${again.stderr.slice(-300)}`);
    return { id, name: earlier };
  }

  has(name) {
    return fs.existsSync(path.join(this.chats, name));
  }
}

/** Whether the conversation is listed, and goes on with all that was said. */
async function goesOn(home, id) {
  const wrong = [];
  const listed = await home.listed();
  if (!listed.includes(id)) wrong.push(`not listed: ${listed.slice(0, 300)}`);
  const { code, told, stderr } = await home.ask('Thank you.', '--resume', id);
  if (code !== 0) wrong.push(`the resume ends with ${code}: ${stderr.slice(-300)}`);
  for (const text of [FIRST, SECOND, 'Three coins.']) if (!told.includes(text)) wrong.push(`the model is not told: ${text}`);
  return wrong;
}

/** Each makes a home, and says what is wrong in it in the end. */
const CASES = [
  {
    name: 'unguarded, the conversation goes',
    async run(home) {
      const { name } = await home.trapped();
      const wrong = home.files().length === 2 ? [] : [`no stub: ${home.files()}`];
      if (home.recount('guard').code !== 1) wrong.push('guard does not foretell it');
      home.doomed.push(path.join(home.chats, name));
      await home.ask('Something else.');
      if (home.has(name)) wrong.push('it is still there: the trap is not open');
      return wrong;
    },
  },
  {
    name: 'fixed, it stays',
    async run(home) {
      const { id, name } = await home.trapped();
      const fixed = home.recount('guard', '--fix', '--yes');
      const wrong = fixed.code === 0 ? [] : [`guard --fix ends with ${fixed.code}: ${fixed.stderr}`];
      if (home.recount('guard').code !== 0) wrong.push('guard still foretells something');
      await home.ask('Something else.');
      if (!home.has(name)) wrong.push('it is gone');
      return [...wrong, ...(await goesOn(home, id))];
    },
  },
  {
    name: 'two whose ids begin alike get names of their own',
    async run(home) {
      const { id, name } = await home.trapped();
      const other = `${id.slice(0, 8)}-0000-4000-8000-000000000000`;
      const text = fs.readFileSync(path.join(home.chats, name), 'utf8').replaceAll(id, other);
      fs.writeFileSync(path.join(home.chats, name.replace(/T00-0\d/, 'T00-05')), text);
      const wrong = [];
      for (const one of [id, other]) {
        // Each resume leaves a stub that would cause the other to be deleted.
        const { code, stderr } = home.recount('guard', '--fix', '--yes');
        if (code !== 0) wrong.push(`guard --fix ends with ${code}: ${stderr}`);
        if (home.files().filter((file) => file.endsWith(`-${id.slice(0, 8)}.jsonl`)).length !== 1) wrong.push(`still alike: ${home.files()}`);
        await home.ask('Something else.');
        wrong.push(...(await goesOn(home, one)));
      }
      return wrong;
    },
  },
  {
    name: 'kept and restored, it goes on',
    async run(home) {
      const { id, name } = await home.trapped();
      const kept = home.recount('guard', '--keep');
      const wrong = kept.code === 0 ? [] : [`guard --keep ends with ${kept.code}: ${kept.stderr}`];
      const before = fs.readFileSync(path.join(home.chats, name));
      home.doomed.push(path.join(home.chats, name));
      await home.ask('Something else.');
      if (home.has(name)) wrong.push('it is still there: nothing to restore');
      const restored = home.recount('restore', id, '--yes');
      if (restored.code !== 0) wrong.push(`restore ends with ${restored.code}: ${restored.stderr}`);
      if (!home.has(name) || !fs.readFileSync(path.join(home.chats, name)).equals(before)) wrong.push('other bytes came back');
      return [...wrong, ...(await goesOn(home, id))];
    },
  },
  {
    name: 'with retention off, it stays',
    async run(home) {
      const { id, name } = await home.trapped();
      const off = home.recount('guard', '--retention', 'off', '--yes');
      const wrong = off.code === 0 ? [] : [`guard --retention off ends with ${off.code}: ${off.stderr}`];
      await home.ask('Something else.');
      if (!home.has(name)) wrong.push('it is gone');
      return [...wrong, ...(await goesOn(home, id))];
    },
  },
  {
    name: 'with the hook, it stays without a hand',
    async run(home) {
      const hooked = home.recount('guard', '--hook', 'install', '--program', home.bin, '--yes');
      const wrong = hooked.code === 0 ? [] : [`guard --hook install ends with ${hooked.code}: ${hooked.stderr}`];
      const { id, name } = await home.trapped();
      if (home.files().length !== 1) wrong.push(`the stub is there: ${home.files()}`);
      await home.ask('Something else.');
      if (!home.has(name)) wrong.push('it is gone');
      wrong.push(...(await goesOn(home, id)));
      const held = JSON.parse(home.recount('vault', '--json').stdout).sessions;
      if (!held.some((session) => session.id === id)) wrong.push('no copy of it is kept');
      if (home.recount('vault', 'verify').code !== 0) wrong.push('copies are damaged');
      home.recount('guard', '--hook', 'remove', '--yes');
      // The program has rewritten its settings meanwhile, including comments.
      if (/hooks|recount/.test(fs.readFileSync(home.settings, 'utf8'))) wrong.push('something of the hook is left in the settings');
      return wrong;
    },
  },
  {
    name: 'a hook whose program is gone harms nobody',
    async run(home) {
      const copy = path.join(home.data, '..', "re'count");
      fs.copyFileSync(home.bin, copy);
      const hooked = home.recount('guard', '--hook', 'install', '--program', copy, '--yes');
      fs.rmSync(copy);
      const wrong = hooked.code === 0 ? [] : [`guard --hook install ends with ${hooked.code}: ${hooked.stderr}`];
      const { code, stdout, stderr } = await home.ask(FIRST);
      if (code !== 0 || !stdout.includes('Three coins.')) wrong.push(`exit ${code}: ${stderr.slice(-300)}`);
      if (/hook/i.test(stderr)) wrong.push(`it complains: ${stderr.slice(-300)}`);
      return wrong;
    },
  },
];

async function main() {
  const { bin, releases, cases } = options();
  const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-saves-')));
  for (const release of releases) install(release);
  let [passed, failed] = [0, 0];
  const work = releases.flatMap((release) => cases.map((item, number) => ({ item, number, release })));
  const worker = async () => {
    for (let next = work.shift(); next; next = work.shift()) {
      const { item, number, release } = next;
      let wrong;
      try {
        wrong = await item.run(new Home(path.join(scratch, `${release}-${number}`), release, bin));
      } catch (error) {
        wrong = [String(error.stack ?? error)];
      }
      if (wrong.length === 0) {
        passed += 1;
      } else {
        failed += 1;
        say(`FAILED: ${release} ${item.name}`);
        for (const line of wrong) say(`  ${line}`);
      }
    }
  };
  // In parallel: most of the time is start-up, and waiting for the model.
  await Promise.all(Array.from({ length: 4 }, worker));
  if (failed === 0) fs.rmSync(scratch, { recursive: true, force: true });
  say(`${releases.join(', ')}: ${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
