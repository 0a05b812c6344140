// Released versions of Claude Code and Codex: installed from npm once, without their install scripts.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** The programs: where each comes from, the releases that are tried, the one that most parts take with `--quick`, and all that the gate needs. */
export const PROGRAMS = {
  // The first one is a script, whose clock can be sped up.
  claude: { package: '@anthropic-ai/claude-code', folder: 'claude-code', releases: ['2.1.112', '2.1.325'], quick: '2.1.112', gate: ['2.1.112', '2.1.325'] },
  codex: { package: '@openai/codex', folder: 'codex-cli', releases: ['0.104.0', '0.144.6', '0.166.0'], quick: '0.166.0', gate: ['0.166.0'] },
};

/** Where releases of a program are kept: below `RECOUNT_E2E_AGENTS`, else below the target folder. */
function folderOf(program) {
  const target = process.env.CARGO_TARGET_DIR ?? path.join(HERE, '../target');
  return path.resolve(process.env.RECOUNT_E2E_AGENTS ?? target, program.folder);
}

/** Returns the executable of a release, which is installed if it is not there. */
export function installed(name, release) {
  const program = PROGRAMS[name];
  const folder = path.join(folderOf(program), release);
  const modules = path.join(folder, 'node_modules');
  const about = path.join(modules, program.package, 'package.json');
  if (!fs.existsSync(about)) {
    // Installed beside its destination first, so that an interrupted installation is never used.
    const partial = `${folder}.${process.pid}`;
    fs.mkdirSync(partial, { recursive: true });
    const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
    execFileSync('npm', ['install', '--prefix', partial, ...flags, `${program.package}@${release}`], { stdio: 'inherit' });
    // Another process may have installed it meanwhile, and run it.
    if (fs.existsSync(about)) {
      fs.rmSync(partial, { recursive: true, force: true });
    } else {
      fs.rmSync(folder, { recursive: true, force: true });
      fs.renameSync(partial, folder);
    }
  }
  // Newer releases of Claude Code are one executable in a package of its own, which their install script would put into place.
  const native = path.join(modules, `${program.package}-${process.platform}-${process.arch}`, name);
  if (fs.existsSync(native)) {
    return native;
  }
  const { bin } = JSON.parse(fs.readFileSync(about, 'utf8'));
  const script = path.join(path.dirname(about), bin[name]);
  fs.chmodSync(script, 0o755);
  return script;
}

/** The releases that a script was asked for: `--releases A,B`, one with `--quick`, else all. */
export function asked(name, args) {
  const named = args.indexOf('--releases');
  const { releases, quick } = PROGRAMS[name];
  if (named >= 0) {
    return args[named + 1].split(',');
  }
  return args.includes('--quick') ? [quick] : releases;
}

// Run directly, it only installs the releases of the gate.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, { gate }] of Object.entries(PROGRAMS)) {
    for (const release of gate) {
      console.log(installed(name, release));
    }
  }
}
