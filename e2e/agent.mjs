// Released versions of the real program: installed once, run offline in a separate home.

import { execFile, execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PACKAGE = '@google/gemini-cli';

/** API key login, nothing sent, nothing asked, nothing cleaned away. */
const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: {
    disableAutoUpdate: true,
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    // Sessions of fixtures may be old.
    sessionRetention: { enabled: false },
  },
};

/** Where releases are kept: `RECOUNT_E2E_AGENTS`, else below the target folder. */
function releases() {
  const target = process.env.CARGO_TARGET_DIR ?? path.join(HERE, '../target');
  return path.resolve(process.env.RECOUNT_E2E_AGENTS ?? path.join(target, 'gemini-cli'));
}

/** Returns the script of a release, which is installed if it is not there. */
export function install(release) {
  const folder = path.join(releases(), release);
  const about = path.join(folder, 'node_modules', PACKAGE, 'package.json');
  if (!fs.existsSync(about)) {
    // Installed beside its destination first, so that an interrupted installation is never used.
    const partial = `${folder}.${process.pid}`;
    fs.mkdirSync(partial, { recursive: true });
    const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional', '--no-package-lock'];
    execFileSync('npm', ['install', '--prefix', partial, ...flags, `${PACKAGE}@${release}`], { stdio: 'inherit' });
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(partial, folder);
  }
  const { bin } = JSON.parse(fs.readFileSync(about, 'utf8'));
  return path.join(path.dirname(about), bin.gemini);
}

/** A home with one project in it, below a scratch folder. */
export class AgentHome {
  constructor(folder, release) {
    this.script = install(release);
    this.home = path.join(folder, 'home');
    this.project = path.join(this.home, 'code', 'shop');
    this.chats = path.join(this.home, '.gemini', 'tmp', 'shop', 'chats');
    fs.mkdirSync(this.project, { recursive: true });
    fs.mkdirSync(this.chats, { recursive: true });
    fs.writeFileSync(path.join(this.home, '.gemini', 'settings.json'), JSON.stringify(SETTINGS));
    fs.writeFileSync(path.join(this.home, '.gemini', 'tmp', 'shop', '.project_root'), this.project);
    const projects = { projects: { [this.project]: 'shop' } };
    fs.writeFileSync(path.join(this.home, '.gemini', 'projects.json'), JSON.stringify(projects, null, 2));
  }

  /** The hash of the project's path. */
  get hash() {
    return crypto.createHash('sha256').update(this.project).digest('hex');
  }

  /** What the program is told. Nothing of the environment reaches it but what it needs to start, and `more`. */
  env(url, more = {}) {
    return {
      PATH: process.env.PATH,
      HOME: this.home,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      ...more,
    };
  }

  /** Runs the program; never throws. */
  run(args, url, more = {}, cwd = this.project) {
    return execute(process.execPath, [this.script, ...args], { cwd, env: this.env(url, more) });
  }
}

/** Runs a program without input; never throws. */
export function execute(program, args, settings) {
  return new Promise((resolve) => {
    // The model may wait a minute for files to be deleted.
    const all = { timeout: 300_000, maxBuffer: 1 << 28, encoding: 'utf8', ...settings };
    const child = execFile(program, args, all, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

// Run directly, it only installs releases: node agent.mjs 0.43.0 0.60.0
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const release of process.argv.slice(2)) install(release);
}
