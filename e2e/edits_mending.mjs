// Sessions that recount wrote anew, handed to the real program: it must list them and go on with what is left in them.
//
// Each scenario is `{ name, run(kit) }` and throws when something is not as it should be. The kit has
//   home, project, chats            folders: the home, the project in it, and where its sessions lie
//   recount(args)                   { code, stdout, stderr, json }
//   agent.list(project)             what `--list-sessions` prints
//   agent.resume(project, id, text) { output, requests }: the answer, and the bodies of the requests to the model

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { said } from './model_server.mjs';

const PROMPT = 'And what was that about?';
const ID = '3d2f9a10-5c1b-4d11-b127-fab536451cda';

const hash = (kit) => crypto.createHash('sha256').update(kit.project).digest('hex');
const at = (minute) => new Date(Date.now() - 3_600_000 + minute * 60_000).toISOString();
const file = (kit, ending) => path.join(kit.chats, `session-2026-11-15T08-00-${ID.slice(0, 8)}.${ending}`);

const head = (kit) => ({ sessionId: ID, projectHash: hash(kit), startTime: at(0), lastUpdated: at(0), kind: 'main' });
const prompt = (n) => ({ id: `u${n}`, timestamp: at(n), type: 'user', content: [{ text: `prompt ${n}` }] });
const call = (n, output) => ({
  id: `c${n}`,
  name: 'read_file',
  args: { file_path: 'a' },
  status: 'success',
  timestamp: at(n),
  ...(output === undefined
    ? {}
    : { result: [{ functionResponse: { id: `c${n}`, name: 'read_file', response: { output } } }] }),
});
const answer = (n, calls) => ({
  id: `m${n}`,
  timestamp: at(n),
  type: 'gemini',
  content: `answer ${n}`,
  model: 'gemini-2.5-flash',
  ...(calls ? { toolCalls: calls } : {}),
});

/** A log as 0.61 leaves it after a resume behind each turn: messages twice, and the whole list again and again. */
function longLog(kit, turns) {
  const lines = [head(kit)];
  const list = [];
  for (let n = 1; n <= turns; n += 1) {
    const touch = { $set: { lastUpdated: at(n) } };
    const whole = answer(n, [call(n, 'x'.repeat(900))]);
    lines.push(prompt(n), touch, answer(n), touch, whole, touch, { $set: { sessionId: ID } });
    list.push(prompt(n), whole);
    lines.push({ $set: { messages: [...list], lastUpdated: at(n) } });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function write(kit, ending, text) {
  fs.mkdirSync(kit.chats, { recursive: true });
  fs.writeFileSync(file(kit, ending), text);
}

/** Makes a change and returns what recount says of it. */
async function change(kit, ...args) {
  const done = await kit.recount([...args, '--yes', '--json']);
  assert.equal(done.code, 0, done.stderr);
  return done.json;
}

/** Goes on with a session and returns all that the model was told, joined, after looking at the tools in it. */
async function told(kit, id) {
  const listing = await kit.agent.list(kit.project);
  assert.ok(listing.includes(`[${id}]`), `not listed: ${listing}`);
  const { requests } = await kit.agent.resume(kit.project, id, PROMPT);
  assert.ok(requests.length > 0, 'the model was not asked');
  const parts = said(requests[0]);
  const calls = new Set(parts.filter((part) => part.call).map((part) => part.call.id));
  const responses = new Set(parts.filter((part) => part.response).map((part) => part.response.id));
  assert.deepEqual([...calls].sort(), [...responses].sort(), 'calls and responses do not match');
  const text = parts.map((part) => part.text ?? '').join('\n');
  assert.ok(text.includes(PROMPT));
  return { text, calls };
}

function has(text, wanted, gone = []) {
  for (const word of wanted) assert.ok(text.includes(word), `not told: ${word}`);
  for (const word of gone) assert.ok(!text.includes(word), `told: ${word}`);
}

export const scenarios = [
  {
    name: 'a compacted log goes on with all of it',
    async run(kit) {
      write(kit, 'jsonl', longLog(kit, 8));
      const before = fs.statSync(file(kit, 'jsonl')).size;
      await change(kit, 'compact', ID);
      const after = fs.statSync(file(kit, 'jsonl')).size;
      assert.ok(after * 2 < before, `${before} -> ${after}`);
      const { text, calls } = await told(kit, ID);
      has(text, ['prompt 1', 'answer 1', 'prompt 8', 'answer 8']);
      assert.equal(calls.size, 8);
    },
  },
  {
    name: 'a log with only what the program loads goes on',
    async run(kit) {
      write(kit, 'jsonl', longLog(kit, 3));
      await change(kit, 'compact', ID, '--strict-only');
      has((await told(kit, ID)).text, ['prompt 1', 'prompt 3', 'answer 3']);
    },
  },
  {
    name: 'a document made of a log goes on, and the log made of that',
    async run(kit) {
      write(kit, 'jsonl', longLog(kit, 3));
      await change(kit, 'convert', ID, '--to', 'json');
      assert.deepEqual(fs.readdirSync(kit.chats), [path.basename(file(kit, 'json'))]);
      await change(kit, 'convert', ID, '--to', 'jsonl');
      assert.deepEqual(fs.readdirSync(kit.chats), [path.basename(file(kit, 'jsonl'))]);
      const { text, calls } = await told(kit, ID);
      has(text, ['prompt 1', 'answer 3']);
      assert.equal(calls.size, 3);
    },
  },
  {
    name: 'a document is loaded as it is written',
    async run(kit) {
      write(kit, 'jsonl', longLog(kit, 2));
      await change(kit, 'convert', ID, '--to', 'json');
      has((await told(kit, ID)).text, ['prompt 1', 'answer 2']);
    },
  },
  {
    name: 'dropped turns are not told, whichever way they were dropped',
    async run(kit) {
      for (const how of [[], ['--rewrite']]) {
        write(kit, 'jsonl', longLog(kit, 4));
        await change(kit, 'trim', ID, '--drop', '2..3', ...how);
        const { text, calls } = await told(kit, ID);
        has(text, ['prompt 1', 'answer 1', 'prompt 4', 'answer 4'], ['prompt 2', 'answer 3']);
        assert.equal(calls.size, 2);
        fs.rmSync(kit.chats, { recursive: true });
      }
    },
  },
  {
    name: 'a damaged log is listed again, and every call has a response',
    async run(kit) {
      const lines = [prompt(1), answer(1, [call(1, 'x'), call(2)]), prompt(2), { $rewindTo: 'gone' }, prompt(3), answer(3)];
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      write(kit, 'jsonl', `${text}{"id":"u4","timest`);
      const entry = { sessionId: ID, messageId: 0, type: 'user', message: 'prompt 1', timestamp: at(1) };
      fs.writeFileSync(path.join(kit.chats, '../logs.json'), JSON.stringify([entry]));
      assert.ok(!(await kit.agent.list(kit.project)).includes(ID), 'listed as it is');
      await change(kit, 'repair', ID.slice(0, 8));
      const result = await told(kit, ID);
      has(result.text, ['prompt 1', 'answer 1', 'prompt 2', 'prompt 3', 'answer 3']);
      assert.equal(result.calls.size, 2);
    },
  },
  {
    name: 'a document that was cut off goes on',
    async run(kit) {
      const whole = { ...head(kit), messages: [prompt(1), answer(1), prompt(2), answer(2)] };
      const text = JSON.stringify(whole, null, 2);
      write(kit, 'json', text.slice(0, text.indexOf('answer 2')));
      await change(kit, 'repair', ID);
      has((await told(kit, ID)).text, ['prompt 1', 'answer 1', 'prompt 2'], ['answer 2']);
    },
  },
  {
    name: 'a buried conversation comes back',
    async run(kit) {
      const context = { id: 'd04923d38bb0f6017037e74183378ef4', timestamp: at(0), type: 'user', content: [{ text: '<session_context>\nx\n</session_context>' }] };
      const list = { $set: { messages: [context], lastUpdated: at(3) } };
      const lines = [head(kit), list, prompt(1), answer(1), { $set: { sessionId: ID } }, list];
      write(kit, 'jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      assert.ok(!(await kit.agent.list(kit.project)).includes(ID), 'listed as it is');
      await change(kit, 'repair', ID);
      has((await told(kit, ID)).text, ['prompt 1', 'answer 1']);
    },
  },
  {
    name: 'a session that was swept is listed again, with its prompts',
    async run(kit) {
      const entry = (n) => ({ sessionId: ID, messageId: n, type: 'user', message: `prompt ${n}`, timestamp: at(n) });
      fs.writeFileSync(path.join(kit.chats, '../logs.json'), JSON.stringify([entry(1), entry(2)]));
      const { sessions } = await change(kit, 'resurrect', ID.slice(0, 8));
      assert.equal(sessions[0].id, ID);
      const listing = await kit.agent.list(kit.project);
      assert.ok(listing.includes('resurrected: prompt 1'), listing);
      has((await told(kit, ID)).text, ['prompt 1', 'prompt 2']);
    },
  },
];
