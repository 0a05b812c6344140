// Creates sessions with released versions of the real program, changes them with recount, and checks the result with the program.
//
//   node suite/run.mjs [--bin PATH] [--releases 0.29.0,0.60.0] [--brief 0.29.0] [--only WORDS] [--jobs N]
//
// With the releases of --brief only one scenario per command is run.
// See ../README.md. Writes only to a temporary folder and to the folder of installed releases.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { install } from '../agent.mjs';
import { Kit, Wrong } from './kit.mjs';
import live from './live.mjs';
import mending from './mending.mjs';
import moving from './moving.mjs';
import resume from './resume.mjs';
import trash from './trash.mjs';

/** One of each way to write: documents, logs without and with checkpoints, before and since the list asks what can be resumed. */
export const RELEASES = ['0.29.0', '0.38.2', '0.40.1', '0.43.0', '0.52.0', '0.60.0'];
const SCENARIOS = [...trash, ...resume, ...live, ...moving, ...mending];

const say = (text) => process.stdout.write(`${text}\n`);

const { values } = parseArgs({
  options: {
    bin: { type: 'string' },
    releases: { type: 'string' },
    only: { type: 'string' },
    brief: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
});
const bin = values.bin ?? process.env.RECOUNT_BIN;
if (!bin) {
  process.stderr.write('error: set RECOUNT_BIN or give --bin PATH\n');
  process.exit(2);
}
const releases = values.releases?.split(',') ?? RELEASES;
const brief = values.brief?.split(',') ?? [];
const scenarios = SCENARIOS.filter(({ name }) => !values.only || name.includes(values.only));
const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-suite-')));
let [passed, failed, left] = [0, 0, 0];

async function tryRelease(release) {
  const kit = await Kit.start(path.join(scratch, release), release, path.resolve(bin));
  for (const scenario of scenarios) {
    if (brief.includes(release) && !scenario.core) continue;
    if (scenario.since && !kit.since(scenario.since)) {
      left += 1;
      continue;
    }
    kit.reset();
    try {
      await scenario.run(kit);
      passed += 1;
    } catch (error) {
      failed += 1;
      const words = error instanceof Wrong ? error.message : error.stack;
      say(`FAILED: ${release}: ${scenario.name}\n  ${words}`);
      fs.cpSync(kit.work, path.join(scratch, 'failed', `${release} ${scenario.name}`.replaceAll(/[^\w.]+/g, '-')), { recursive: true });
    }
  }
  await kit.stop();
}

// One after the other: npm does not support parallel runs.
for (const release of releases) install(release);
const waiting = [...releases];
const worker = async () => {
  for (let release = waiting.shift(); release; release = waiting.shift()) {
    const began = Date.now();
    try {
      await tryRelease(release);
    } catch (error) {
      failed += 1;
      say(`FAILED: ${release}: ${error instanceof Wrong ? error.message : error.stack}`);
    }
    say(`${release}: ${Math.round((Date.now() - began) / 1000)} s`);
  }
};
await Promise.all(Array.from({ length: Number(values.jobs) }, worker));
if (failed === 0) fs.rmSync(scratch, { recursive: true, force: true });
else say(`what was left is in ${scratch}`);
say(`${passed} passed, ${failed} failed${left ? `, ${left} not for that release` : ''}`);
process.exitCode = failed ? 1 : 0;
