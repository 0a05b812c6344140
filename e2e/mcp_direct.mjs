// Talks to `recount mcp` without an agent: how it begins and ends, and what happens when it is killed.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A server and the lines that it has answered. */
class Talk {
  constructor(bin, home) {
    const env = { HOME: home, PATH: process.env.PATH, TZ: 'UTC', RECOUNT_BACKGROUND: '0' };
    this.child = spawn(bin, ['mcp'], { env, cwd: home, stdio: ['pipe', 'pipe', 'inherit'] });
    this.ended = new Promise((resolve) => this.child.on('exit', (code, signal) => resolve({ code, signal })));
    this.waiting = new Map();
    let rest = '';
    this.child.stdout.on('data', (bytes) => {
      rest += bytes;
      const lines = rest.split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const answer = JSON.parse(line);
        this.waiting.get(answer.id)?.(answer);
      }
    });
    this.number = 0;
  }

  send(method, params) {
    this.number += 1;
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.number, method, params })}\n`);
    return this.number;
  }

  ask(method, params = {}) {
    const id = this.send(method, params);
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  async call(name, given) {
    const answer = await this.ask('tools/call', { name, arguments: given });
    return answer.result?.content[0].text ?? JSON.stringify(answer);
  }
}

const within = (promise, seconds) => Promise.race([promise, new Promise((resolve) => setTimeout(() => resolve(null), seconds * 1000))]);

export async function direct(bin, check) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-mcp-')));
  const home = path.join(folder, 'home');
  spawnSync(bin, ['testbed', home, '--sessions', '60', '--megabytes', '8', '--quiet']);

  // The index is built twice at once, and killed meanwhile.
  const both = [new Talk(bin, home), new Talk(bin, home)];
  const texts = await Promise.all(both.map((talk) => talk.call('search_sessions', { query: 'test' })));
  check('two servers on one index answer the same question', texts.every((text) => text.includes('<<recount')), texts);
  both[0].send('tools/call', { name: 'search_sessions', arguments: { query: 'error' } });
  both[0].child.kill('SIGKILL');
  await both[0].ended;
  const other = await both[1].call('search_sessions', { query: 'error' });
  check('one goes on when the other is killed', other.includes('<<recount'), other);
  both[1].child.kill('SIGTERM');
  const { signal, code } = (await within(both[1].ended, 60)) ?? {};
  check('SIGTERM ends it', signal === 'SIGTERM' || code === 0 || code === 143);

  const third = new Talk(bin, home);
  third.send('tools/call', { name: 'list_sessions', arguments: { project: '*' } });
  const answer = new Promise((resolve) => third.waiting.set(1, resolve));
  third.child.stdin.end();
  check('a call that is open at the end of the input is answered', (await within(answer, 60))?.result !== undefined);
  check('the end of the input ends it', (await within(third.ended, 60))?.code === 0);

  fs.rmSync(path.join(home, '.local'), { recursive: true, force: true });
  for (let round = 0; round < 5; round += 1) {
    const talk = new Talk(bin, home);
    talk.send('tools/call', { name: 'search_sessions', arguments: { query: 'error' } });
    await new Promise((resolve) => setTimeout(resolve, 20 + 60 * round));
    talk.child.kill('SIGKILL');
    await talk.ended;
  }
  const last = new Talk(bin, home);
  const text = await last.call('search_sessions', { query: 'error' });
  check('after five kills while it indexed it answers', text.includes('<<recount'), text);
  last.child.stdin.end();
  await last.ended;
  fs.rmSync(folder, { recursive: true, force: true });
}
