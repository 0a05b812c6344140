// Starts the real program once in homes that have one of everything, and compares the deleted files with the forecast of
// `recount guard`, file by file.
//
//   node guard.mjs [--bin PATH] [--releases 0.43.0,0.60.0] [--only CASE] [--quick]
//
// See README.md. Writes only to a temporary folder and to the folder of installed releases.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { AgentHome, install } from './agent.mjs';
import { fill } from './guard_home.mjs';
import { ModelServer } from './model_server.mjs';

/** One of each way in which releases clean up. */
const RELEASES = ['0.29.0', '0.38.2', '0.43.0', '0.52.0', '0.60.0'];
/** Those of them that are not installed in minutes. */
const QUICK = ['0.38.2', '0.43.0', '0.60.0'];
/** How long the model waits for deletions that were not foretold. */
const PATIENCE = 2000;

const commented = `{
  // Sessions go after ten days.
  "general": { /* "enabled": false, */ "sessionRetention": { "enabled": true, "maxAge": "10d" } } // http://nowhere
}
`;

/** What the user's settings say, and the project's. */
const CASES = [
  { name: 'by age', quick: true, user: { enabled: true, maxAge: '30d' } },
  { name: 'in other forms', quick: true, user: { enabled: true, maxAge: '30d' }, seed: 1 },
  { name: 'in other forms, far west', quick: ['0.60.0'], user: { enabled: true, maxAge: '30d' }, seed: 2, zone: 'America/Los_Angeles' },
  { name: 'in other forms, far east', user: { enabled: true, maxAge: '30d' }, seed: 3, zone: 'Pacific/Auckland' },
  { name: 'linked files', quick: true, user: { enabled: true, maxAge: '30d' }, link: 'files' },
  { name: 'linked chats', quick: ['0.60.0'], user: { enabled: true, maxAge: '30d' }, link: 'chats' },
  { name: 'linked directory', quick: ['0.60.0'], user: { enabled: true, maxAge: '30d' }, link: 'directory' },
  { name: 'by number', quick: true, user: { enabled: true, maxCount: 4 } },
  { name: 'by default' },
  { name: 'as the project says', quick: true, user: { enabled: false }, project: commented },
  { name: 'not a period', quick: true, user: { enabled: true, maxAge: '5 days' } },
  { name: 'too short', user: { enabled: true, maxAge: '12h', minRetention: '1d' } },
  { name: 'off', user: { enabled: false, maxAge: '1d' } },
];

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
    cases: CASES.filter(({ name, quick }) => (!values.only || name.includes(values.only)) && (!values.quick || quick)),
    // The releases of a quick run, if not all.
    takes: ({ quick }, release) => !values.quick || !Array.isArray(quick) || quick.includes(release),
  };
}

/** All files of folders: of the program's for the project, and of what links in it lead to. Links are files, too. */
function files(folders) {
  const entries = folders.filter(fs.existsSync).flatMap((folder) => fs.readdirSync(fs.realpathSync(folder), { recursive: true, withFileTypes: true }));
  return new Set(entries.filter((entry) => !entry.isDirectory()).map((entry) => path.join(entry.parentPath ?? entry.path, entry.name)));
}

/** Where a file really lies; a link is not followed, only the folders above it. */
function real(file) {
  return path.join(fs.realpathSync(path.dirname(file)), path.basename(file));
}

/** Moves a folder elsewhere and leaves a link to it. */
function replaceByLink(folder, elsewhere) {
  fs.renameSync(folder, elsewhere);
  fs.symlinkSync(elsewhere, folder);
}

/** What `recount guard` foretells: paths, each with the reason. */
function foretold(bin, agent, release, data, more) {
  const env = { PATH: process.env.PATH, HOME: agent.home, RECOUNT_DATA_DIR: data, GEMINI_CLI_TRUST_WORKSPACE: 'true', ...more };
  const run = (args) => {
    try {
      return { code: 0, text: execFileSync(bin, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }) };
    } catch (error) {
      return { code: error.status, text: error.stdout };
    }
  };
  const { code, text } = run(['--home', agent.home, 'guard', '--release', release, '--json']);
  const { doomed, projects } = JSON.parse(text);
  if (code !== (doomed ? 1 : 0)) fail(`guard exits with ${code} and says ${doomed}`);
  const all = projects.flatMap(({ sessions, others }) => [...sessions.flatMap((one) => [...one.files, ...one.beside]), ...others]);
  return new Map(all.map((doom) => [real(doom.path), doom.why]));
}

async function gone(agent, folders, before, told, more) {
  const server = await ModelServer.start([{ text: 'Three coins.' }]);
  server.answerAfter([...told.keys()], PATIENCE);
  try {
    const { code, stdout, stderr } = await agent.run(['-p', 'What does a pear cost?'], server.url, more);
    const after = files(folders);
    const wrong = code === 0 && stdout.includes('Three coins.') ? [] : [`exit ${code}: ${stderr.slice(-500)}`];
    return { gone: [...before].filter((file) => !after.has(file)), wrong };
  } finally {
    await server.stop();
  }
}

/** Says where the program and what was foretold differ. */
async function check(bin, folder, release, item) {
  const agent = new AgentHome(folder, release);
  const settings = path.join(agent.home, '.gemini', 'settings.json');
  const user = JSON.parse(fs.readFileSync(settings, 'utf8'));
  user.general.sessionRetention = item.user;
  fs.writeFileSync(settings, JSON.stringify(user));
  if (item.project) {
    fs.mkdirSync(path.join(agent.project, '.gemini'));
    fs.writeFileSync(path.join(agent.project, '.gemini', 'settings.json'), item.project);
  }
  const own = path.dirname(agent.chats);
  const elsewhere = path.join(folder, 'elsewhere');
  fill(own, item.seed, item.link && path.join(elsewhere, 'files'));
  if (item.link === 'chats') replaceByLink(agent.chats, path.join(elsewhere, 'chats'));
  if (item.link === 'directory') replaceByLink(own, path.join(elsewhere, 'shop'));
  const folders = [own, elsewhere];
  const before = files(folders);
  const more = item.zone ? { TZ: item.zone } : {};
  const told = foretold(bin, agent, release, path.join(folder, 'data'), more);
  const found = await gone(agent, folders, before, told, more);
  const name = (file) => path.relative(folder, file);
  const wrong = found.wrong;
  for (const file of found.gone) if (!told.has(file)) wrong.push(`gone, and not foretold: ${name(file)}`);
  for (const [file, why] of told) if (!found.gone.includes(file)) wrong.push(`foretold (${why}), and still there: ${name(file)}`);
  return { wrong, count: found.gone.length };
}

async function main() {
  const { bin, releases, cases, takes } = options();
  const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-guard-')));
  for (const release of releases) install(release);
  let [passed, failed, files] = [0, 0, 0];
  const every = cases.flatMap((item, number) => releases.map((release) => ({ item, number, release })));
  const work = every.filter(({ item, release }) => takes(item, release));
  const worker = async () => {
    for (let next = work.shift(); next; next = work.shift()) {
      const { item, number, release } = next;
      const { wrong, count } = await check(bin, path.join(scratch, `${release}-${number}`), release, item);
      files += count;
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
  say(`${releases.join(', ')}: ${passed} passed, ${failed} failed, ${files} files gone as foretold`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
