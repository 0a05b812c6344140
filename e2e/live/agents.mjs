// The real programs in a terminal, offline, each in a home of its own: how each is started, what it shows, and what is typed.

import fs from 'node:fs';
import path from 'node:path';

import { AgentHome } from '../agent.mjs';
import { ModelServer } from '../model_server.mjs';
import { installed } from '../programs.mjs';
import { CODEX_ENV, claudeEnv, codexSettings, startModel } from '../scripted_model.mjs';

/** Ends when a file is there, so that it runs until that was seen, and is not allowed without a question. */
export const SEEN = 'seen.txt';
export const COMMAND = `touch made.txt; until [ -e ${SEEN} ]; do sleep 0.2; done`;

const common = { PATH: process.env.PATH, LANG: 'C.UTF-8', TZ: 'UTC' };

function newHome(folder) {
  const home = path.join(folder, 'home');
  const project = path.join(home, 'code', 'shop');
  fs.mkdirSync(project, { recursive: true });
  return { home, project };
}

/** Gemini CLI: a launcher and its worker. */
async function gemini(folder, release) {
  const agent = new AgentHome(folder, release);
  const server = await ModelServer.start();
  const env = { ...agent.env(server.url), ...common };
  // The launcher starts its worker, as it does for people.
  delete env.GEMINI_CLI_NO_RELAUNCH;
  return {
    home: agent.home,
    project: agent.project,
    env,
    program: ['node', agent.script],
    ready: /Type your message/,
    works: /esc to cancel/,
    dialog: /Allow execution|Allow once|Yes, allow|Apply this change/,
    quit: '/quit',
    moments: ['prompt', 'permission', 'turn-end'],
    async script(replies) {
      const call = (args) => ({ name: 'run_shell_command', args: { command: args, description: 'as asked' } });
      server.replies = replies.map(({ command, ...reply }) => ({ ...reply, calls: command ? [call(command)] : [] }));
    },
    /** Without a title, only a hook says that a permission is asked for. */
    hideTitle() {
      const file = path.join(agent.home, '.gemini', 'settings.json');
      const settings = JSON.parse(fs.readFileSync(file, 'utf8'));
      settings.ui = { ...settings.ui, hideWindowTitle: true, dynamicWindowTitle: false };
      fs.writeFileSync(file, JSON.stringify(settings));
    },
    /** How many requests of the conversation came. */
    requests: () => server.requests.length,
    stop: () => server.stop(),
  };
}

/** Claude Code: one process. */
async function claude(folder, release) {
  const { home, project } = newHome(folder);
  const model = await startModel();
  // Its questions at the first start are answered.
  const answers = {
    hasCompletedOnboarding: true,
    lastOnboardingVersion: release,
    theme: 'dark',
    customApiKeyResponses: { approved: ['fake'], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
  fs.writeFileSync(path.join(home, '.claude.json'), JSON.stringify(answers));
  fs.mkdirSync(path.join(home, '.claude', 'projects'), { recursive: true });
  const program = installed('claude', release);
  return {
    home,
    project,
    env: { ...common, HOME: home, ...claudeEnv(model) },
    program: [...(program.endsWith('.js') ? ['node'] : []), program, '--permission-mode', 'default'],
    ready: /\? for shortcuts/,
    works: /esc to interrupt/,
    dialog: /Do you want to proceed|Do you want to make this edit/,
    quit: '/exit',
    // It notifies once a dialog has been open for six seconds.
    notifiesAfter: 7000,
    moments: ['start', 'prompt', 'permission', 'turn-end'],
    script: (replies) =>
      model.script(
        replies.map(({ command, ...reply }) => ({ ...reply, call: command && { name: 'Bash', args: { command, description: 'as asked' } } })),
      ),
    requests: () => model.sent().split('\n').filter((line) => line.includes('"tools":[{')).length,
    stop: () => model.stop(),
  };
}

/** Codex: a window, and from 0.166 on a daemon that does the work and outlives it. */
async function codex(folder, release) {
  const { home, project } = newHome(folder);
  const model = await startModel();
  const root = path.join(home, '.codex');
  fs.mkdirSync(path.join(root, 'sessions'), { recursive: true });
  const asked = { name: 'gpt-5.4', approval: 'on-request', keys: 'sandbox_mode = "workspace-write"\n' };
  const answered = `[projects."${project}"]\ntrust_level = "trusted"\n[notice]\nhide_full_access_warning = true\n`;
  fs.writeFileSync(path.join(root, 'config.toml'), codexSettings(model, asked) + answered);
  return {
    home,
    project,
    env: { ...common, HOME: home, ...CODEX_ENV },
    program: ['node', installed('codex', release)],
    // A person trusts a hook once, in a dialog.
    hooked: ['--dangerously-bypass-hook-trust'],
    ready: /› \S/,
    works: /esc to interrupt/,
    dialog: /Would you like to run/,
    quit: '/quit',
    moments: ['start', 'prompt', 'permission', 'turn-end'],
    script: (replies) =>
      model.script(
        replies.map(({ command, ...reply }) => {
          const args = { cmd: command, sandbox_permissions: 'require_escalated', justification: 'May I?' };
          return { ...reply, call: command && { name: 'exec_command', args } };
        }),
      ),
    requests: () => model.sent().split('\n').filter((line) => line.includes('"tools":[{')).length,
    stop: () => model.stop(),
  };
}

export const AGENTS = {
  gemini: { start: gemini, releases: ['0.60.0'], quick: '0.60.0', title: 'Gemini CLI' },
  claude: { start: claude, releases: ['2.1.112', '2.1.325'], quick: '2.1.112', title: 'Claude Code' },
  codex: { start: codex, releases: ['0.144.6', '0.166.0'], quick: '0.166.0', title: 'Codex' },
};

/** Ends what was started in a home and outlives its terminal: processes that have it in their environment. */
export function endAll(home) {
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (Number(pid) !== process.pid && variables.includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended, or is somebody else's.
    }
  }
}
