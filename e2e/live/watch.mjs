// `recount watch --json`, and when it said what of the sessions in one project.

import { spawn } from 'node:child_process';

export class Watch {
  constructor(recount, home, project) {
    this.said = [];
    this.errors = '';
    const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TZ: 'UTC' };
    this.child = spawn(recount, ['watch', '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stderr.on('data', (text) => (this.errors += text));
    let rest = '';
    this.child.stdout.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const { session } = JSON.parse(line);
        // Other agents may run on this machine, and a daemon goes on with what its window began.
        if (session.project.path === project && !session.headless) this.said.push({ at: Date.now(), session });
      }
    });
  }

  /** What was said of the session that began last. */
  get own() {
    const pid = this.said.map((one) => one.session.pid).findLast((pid, at, all) => all.indexOf(pid) === at);
    return this.said.filter((one) => one.session.pid === pid);
  }

  get session() {
    return this.own.at(-1)?.session;
  }

  get state() {
    return this.session?.state;
  }

  /** What first said the state that is shown. */
  get begun() {
    const own = this.own;
    return own.findLast((one, at) => one.session.state !== own[at - 1]?.session.state);
  }

  /** What was said after something else that was said; all of it if that was said of another session. */
  after(behind) {
    const own = this.own;
    return own.slice(own.indexOf(behind) + 1);
  }

  /** What first said a state after that, even if another one is shown by now. */
  reached(state, behind) {
    return this.after(behind).find((one) => one.session.state === state);
  }

  /** Describes what was said last, for failures. */
  describe() {
    const line = ({ at, session }) => {
      const from = session.signals.map((signal) => `${signal.from}: ${signal.says}`).join('; ');
      return `${new Date(at).toISOString().slice(11, 23)} ${session.pid} ${session.state}${session.certain ? '' : '?'} (${from})`;
    };
    return [...this.said.slice(-12).map(line), this.errors.trim()].join('\n');
  }

  stop() {
    this.child.kill();
  }
}
