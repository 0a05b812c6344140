// Compares `recount show FILE --json --view strict` with the result of the real program's own loader for
// the same file, and for the output of `recount export FILE --format gemini --view strict`, over recorded
// session files and thousands of damaged copies of them.
//
//   node differential.mjs [options] [FOLDER|FILE]...
//
// See README.md. Writes only to a temporary folder.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { compare, compareRecords } from './compare.mjs';
import { mutant } from './mutations.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const RELEASE = '0.60.0';
const LOADER = '@google/gemini-cli-core/dist/src/services/chatRecordingService.js';
/** Larger files are compared as they are, but not mutated: they would only cost time. */
const LARGEST_TO_MUTATE = 200_000;

const say = (text) => process.stdout.write(`${text}\n`);

function options() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      bin: { type: 'string' },
      mutations: { type: 'string', default: '3000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      'most-failures': { type: 'string', default: '20' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    say(fs.readFileSync(path.join(HERE, 'README.md'), 'utf8'));
    process.exit(0);
  }
  const number = (name) => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 0) fail(`--${name} needs a whole number`);
    return value;
  };
  const fixtures = path.resolve(HERE, '../fixtures');
  return {
    bin: values.bin ?? process.env.RECOUNT_BIN ?? fail('set RECOUNT_BIN or give --bin PATH'),
    mutations: number('mutations'),
    seed: number('seed'),
    only: values.only === undefined ? null : number('only'),
    jobs: Math.max(1, number('jobs')),
    mostFailures: number('most-failures'),
    roots: positionals.length ? positionals : [fixtures, ...corpus()],
  };
}

/** The recorded homes: where RECOUNT_CORPUS says, which must be there; none if that is empty; else beside the repository. */
function corpus() {
  const named = process.env.RECOUNT_CORPUS;
  if (named === '') return [];
  const folder = named ?? path.resolve(HERE, '../../shared/corpus');
  if (fs.existsSync(folder)) return [folder];
  return named === undefined ? [] : fail(`no recorded homes in ${folder}`);
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

/** The real loader, from e2e/node_modules or the folder that RECOUNT_E2E_MODULES names. */
async function loader() {
  const given = process.env.RECOUNT_E2E_MODULES;
  const folders = given ? [given, path.join(given, 'node_modules')] : [path.join(HERE, 'node_modules')];
  const found = folders.find((folder) => fs.existsSync(path.join(folder, LOADER)));
  if (!found) fail(`no ${LOADER} in ${folders.join(' or ')}; run: npm ci --prefix e2e`);
  const manifest = path.join(found, '@google/gemini-cli-core/package.json');
  const { version } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
  if (version !== RELEASE) say(`note: the loader is of release ${version}, not ${RELEASE}`);
  const module = await import(pathToFileURL(path.join(found, LOADER)));
  // The loader reports unreadable files on the console; that is expected here.
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) console[name] = () => {};
  return module.loadConversationRecord;
}

/** Session files below the roots: `session-*` anywhere, and sub-agents in `chats/<id>/`. */
function sessionFiles(roots) {
  const found = new Set();
  const visit = (file, isGiven) => {
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      if (path.basename(file) === 'node_modules') return;
      for (const name of fs.readdirSync(file)) visit(path.join(file, name), false);
    } else if (stat?.isFile()) {
      const name = path.basename(file);
      const isSession = /^session-.*\.jsonl?$/.test(name);
      const isAgent = /[\\/]chats[\\/][^\\/]+[\\/][^\\/]+\.jsonl?$/.test(file);
      if (isGiven || isSession || isAgent) found.add(path.resolve(file));
    } else if (isGiven) {
      fail(`${file} is neither a file nor a folder`);
    }
  };
  for (const root of roots) visit(root, true);
  return [...found].sort();
}

/** Runs recount; never throws. */
function recount(bin, args, env) {
  return new Promise((resolve) => {
    const settings = { env, timeout: 120_000, maxBuffer: 1 << 30, encoding: 'utf8' };
    execFile(bin, args, settings, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT' || error?.code === 'EACCES') fail(`cannot run ${bin}: ${error.code}`);
      resolve({
        code: error ? error.code : 0,
        signal: error?.killed ? 'timeout' : (error?.signal ?? null),
        stdout,
        stderr,
      });
    });
  });
}

/** Each case: what to call it, and its bytes; `path` when it is a file that is there already. */
function* cases({ seed, mutations, only }, files) {
  if (only === null) for (const file of files) yield { label: 'as recorded', path: file, source: file };
  const bases = files.filter((file) => fs.statSync(file).size <= LARGEST_TO_MUTATE);
  if (bases.length === 0) return;
  const [from, to] = only === null ? [0, mutations] : [only, only + 1];
  for (let index = from; index < to; index += 1) {
    const { base, bytes, label, extension } = mutant(seed, index, bases, (file) => fs.readFileSync(file));
    yield { label: `--seed ${seed} --only ${index}: ${label}`, bytes, extension, source: base };
  }
}

async function main() {
  const chosen = options();
  const load = await loader();
  const files = sessionFiles(chosen.roots);
  if (files.length === 0) fail(`no session files in ${chosen.roots.join(', ') || 'the default folders'}`);
  say(`${files.length} session files below ${chosen.roots.join(', ')}, ${chosen.mutations} mutations`);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'recount-differential-'));
  const env = { PATH: process.env.PATH, HOME: scratch, RECOUNT_DATA_DIR: path.join(scratch, 'data'), NO_COLOR: '1' };
  const queue = cases(chosen, files);
  let [passed, failed] = [0, 0];

  /** What the loader takes must be the same to it when we have written it again. */
  const writtenAgain = async (real, file, place) => {
    const copy = path.join(place, 'written.jsonl');
    const { code, stderr } = await recount(
      chosen.bin,
      ['export', file, '--format', 'gemini', '--view', 'strict', '-v', '-o', copy],
      env,
    );
    if (code !== 0) return `export ended with exit code ${code}: ${stderr.slice(0, 300)}`;
    const leftOut = stderr.match(/left out: the agent takes no such record/g)?.length ?? 0;
    const difference = compareRecords(real, await load(copy), leftOut);
    fs.rmSync(copy);
    return difference && `written again: ${difference}`;
  };

  const check = async (item, place) => {
    const file = item.path ?? path.join(place, `session-2026-01-01T00-00-0a1b2c3d.${item.extension}`);
    if (item.bytes) fs.writeFileSync(file, item.bytes);
    const show = ['show', file, '--json', '--view', 'strict'];
    const [real, ours] = [await load(file), await recount(chosen.bin, show, env)];
    const difference = compare(real, ours) ?? (real === null ? null : await writtenAgain(real, file, place));
    if (difference === null) {
      passed += 1;
    } else {
      failed += 1;
      let kept = file;
      if (item.bytes) {
        kept = path.join(scratch, `failed-${failed}.${item.extension}`);
        fs.copyFileSync(file, kept);
      }
      if (failed <= chosen.mostFailures) {
        say(`FAILED ${kept}\n  from ${item.source}\n  ${item.label}\n  ${difference}`);
      }
    }
    if (item.bytes) fs.rmSync(file);
  };
  const worker = async (number) => {
    const place = path.join(scratch, `worker-${number}`, 'chats');
    fs.mkdirSync(place, { recursive: true });
    for (let next = queue.next(); !next.done; next = queue.next()) await check(next.value, place);
  };
  await Promise.all(Array.from({ length: chosen.jobs }, (_, number) => worker(number)));

  if (failed > chosen.mostFailures) say(`… and ${failed - chosen.mostFailures} more in ${scratch}`);
  if (failed === 0) fs.rmSync(scratch, { recursive: true });
  say(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
