// Passes sessions that `recount export --format gemini` wrote to the real program, and checks the result:
// it must import them, list them under their titles, and continue with the whole conversation.
//
//   node own_form.mjs [--bin PATH] [--releases 0.43.0,0.60.0] [--only CASE]
//
// See README.md. Writes only to a temporary folder and to the folder of installed releases.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { AgentHome, install } from './agent.mjs';
import { ModelServer, said } from './model_server.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const FIXTURES = path.resolve(HERE, '../fixtures/gemini');
/** The first that imports sessions, one in the middle, and the newest that we compare with. */
const RELEASES = ['0.43.0', '0.52.0', '0.60.0'];
const PROMPT = 'And what was that about?';

/** What is exported, and what the model must be told of it: texts in order, how many tools answered, what must be gone. */
const CASES = [
  {
    name: 'one document with tools',
    home: 'strings/tools',
    session: '791b85e5',
    title: 'Raise the tax rate to 25 percent and add a discount.',
    texts: ['Raise the tax rate to 25 percent', 'I will look around.', 'Done: the tax is 25 percent now.'],
    tools: 15,
  },
  {
    name: 'a log with repeated records and tools',
    home: 'lines/tools',
    session: '8662c6d1',
    title: 'Raise the tax rate to 25 percent and add a discount.',
    texts: ['Raise the tax rate to 25 percent', 'I will look around.', 'Done: the tax is 25 percent now.'],
    tools: 15,
  },
  {
    name: 'a log with checkpoints and a rewind',
    home: 'checkpoints/rewind',
    session: '26b31e75',
    title: 'Question one',
    texts: ['Question one', 'Answer one.', 'Question two, write a file', 'Question four', 'Answer four, after the rewind.'],
    tools: 1,
    gone: ['Question three', 'Answer three.'],
  },
  {
    name: 'a log that was resumed, with a title of its own',
    home: 'lines/resume',
    session: 'fbebfe09',
    title: 'Ask about the shop project',
    texts: ['First session question', 'First answer.', 'Continue index one', 'Continue by uuid', 'Continued by uuid.'],
    tools: 1,
  },
  {
    name: 'a session split in two files',
    home: 'damaged/split-by-compress',
    session: '178e5879',
    title: 'What does cart.js do?',
    texts: ['What does cart.js do?', 'It adds up prices.', 'And tax.js?', 'It adds the tax.', 'Now write a test.', 'Written.'],
    tools: 0,
  },
  {
    name: 'a log that the program itself cannot load',
    home: 'damaged/bom',
    session: '54c8a907',
    title: 'What does cart.js do?',
    texts: ['What does cart.js do?', 'It adds up prices.', 'And tax.js?', 'It adds the tax.'],
    tools: 0,
  },
  {
    name: 'a saved chat',
    home: 'strings/saved-chats',
    session: 'checkpoint-before-change.json',
    title: 'What does an apple cost?',
    texts: ['What does an apple cost?', 'Three coins.', 'And a pear?', 'Four coins.'],
    tools: 1,
    gone: ['Got it. Thanks for the context!'],
  },
];

const say = (text) => process.stdout.write(`${text}\n`);

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

function options() {
  const { values } = parseArgs({
    options: { bin: { type: 'string' }, releases: { type: 'string' }, only: { type: 'string' } },
  });
  const bin = values.bin ?? process.env.RECOUNT_BIN ?? fail('set RECOUNT_BIN or give --bin PATH');
  return {
    bin: path.resolve(bin),
    releases: values.releases?.split(',') ?? RELEASES,
    cases: CASES.filter(({ name }) => !values.only || name.includes(values.only)),
  };
}

/** Writes a session in the program's own form, into a folder and to a file; returns both files. */
function exported(bin, folder, { home, session }) {
  const from = path.join(FIXTURES, home, 'home');
  const find = (below) =>
    fs.readdirSync(below, { recursive: true }).map((name) => path.join(below, name)).find((file) => file.endsWith(session));
  const wanted = session.endsWith('.json') ? find(from) : session;
  const env = { PATH: process.env.PATH, HOME: folder, RECOUNT_DATA_DIR: path.join(folder, 'data'), NO_COLOR: '1' };
  const run = (target) =>
    execFileSync(bin, ['--home', from, 'export', wanted, '--format', 'gemini', '-o', target], { env, stdio: 'pipe' });
  const file = path.join(folder, 'share.jsonl');
  run(file);
  run(path.join(folder, 'out/'));
  const named = fs.readdirSync(path.join(folder, 'out'), { recursive: true }).find((name) => name.endsWith('.jsonl'));
  return { file, named: path.join(folder, 'out', named) };
}

/** Says what of a case is not in a request, or is and should not be. */
function missing(body, { texts, tools, gone = [] }) {
  const all = said(body);
  const wrong = [];
  let from = 0;
  for (const text of [...texts, PROMPT]) {
    const at = all.findIndex((part, index) => index >= from && part.text?.includes(text));
    if (at < 0) wrong.push(`not told, or not in order: ${text}`);
    else from = at;
  }
  for (const text of gone) if (all.some((part) => part.text?.includes(text))) wrong.push(`told: ${text}`);
  const ids = (key) => new Set(all.filter((part) => part[key]).map((part) => part[key].id));
  const [calls, responses] = [ids('call'), ids('response')];
  if (calls.size !== tools) wrong.push(`${calls.size} calls of tools, not ${tools}`);
  for (const id of calls) if (!responses.has(id)) wrong.push(`no response to ${id}`);
  for (const id of responses) if (!calls.has(id)) wrong.push(`a response to nothing: ${id}`);
  return wrong;
}

/** Runs the program with a prompt and checks what the model was told. */
async function goesOn(agent, args, item) {
  const server = await ModelServer.start([{ text: 'Of apples.' }]);
  try {
    const { code, stdout, stderr } = await agent.run([...args, '-p', PROMPT], server.url);
    const wrong = code === 0 ? [] : [`exit ${code}: ${stderr.slice(-500)}`];
    if (!stdout.includes('Of apples.')) wrong.push(`no answer: ${stdout.slice(-200)}`);
    if (server.requests.length === 0) return [...wrong, 'the model was not asked'];
    return [...wrong, ...missing(server.requests[0].body, item)];
  } finally {
    await server.stop();
  }
}

/** Whether the program lists a session under a title and goes on with it, in its own file. */
async function resumes(agent, named, item) {
  const file = path.join(agent.chats, path.basename(named));
  fs.copyFileSync(named, file);
  const { sessionId } = JSON.parse(fs.readFileSync(file, 'utf8').split('\n', 1)[0]);
  const server = await ModelServer.start();
  const listed = await agent.run(['--list-sessions'], server.url);
  await server.stop();
  const row = `${listed.stdout}${listed.stderr}`.split('\n').find((line) => line.includes(`[${sessionId}]`));
  const wrong = [];
  if (!row) wrong.push(`not listed: ${listed.stdout.slice(-300)}${listed.stderr.slice(-300)}`);
  else if (!row.includes(item.title)) wrong.push(`listed as: ${row}`);
  wrong.push(...(await goesOn(agent, ['--resume', sessionId], item)));
  if (!fs.readFileSync(file, 'utf8').includes('Of apples.')) wrong.push('the session was not continued in its file');
  return wrong;
}

async function main() {
  const { bin, releases, cases } = options();
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'recount-own-form-'));
  for (const release of releases) install(release);
  let [passed, failed] = [0, 0];
  const check = async (release, item, number) => {
    const place = (name) => path.join(scratch, `${release}-${number}-${name}`);
    fs.mkdirSync(place('export'));
    const { file, named } = exported(bin, place('export'), item);
    const results = {
      imports: await goesOn(new AgentHome(place('import'), release), ['--session-file', file], item),
      resumes: await resumes(new AgentHome(place('resume'), release), named, item),
    };
    for (const [what, wrong] of Object.entries(results)) {
      if (wrong.length === 0) {
        passed += 1;
      } else {
        failed += 1;
        say(`FAILED: ${release} ${what} ${item.name} (${named})`);
        for (const line of wrong) say(`  ${line}`);
      }
    }
  };
  // Releases in parallel: most of the time is their start-up.
  await Promise.all(
    releases.map(async (release) => {
      for (const [number, item] of cases.entries()) await check(release, item, number);
    }),
  );
  if (failed === 0) fs.rmSync(scratch, { recursive: true, force: true });
  say(`${releases.join(', ')}: ${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
