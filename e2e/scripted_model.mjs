// A scripted model on loopback for Claude Code (`/v1/messages`) and Codex (`/v1/responses`): answers every request with the same text unless it is given
// replies, and records its requests. It is a separate process, as a process that waits for the agent cannot answer it.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SELF = fileURLToPath(import.meta.url);

/** The variables with which Claude Code asks the model, and with which Codex does. */
export const claudeEnv = (model) => ({
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: 'fake',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
});
export const CODEX_ENV = { OPENAI_API_KEY: 'fake' };

/** The settings with which Codex asks the model; `keys` are further lines above the tables. */
export const codexSettings = (model, { name = 'gpt-5', approval = 'never', keys = '' } = {}) => `model = "${name}"
model_provider = "local"
approval_policy = "${approval}"
${keys}check_for_update_on_startup = false
[model_providers.local]
name = "local"
base_url = "${model.url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[analytics]
enabled = false
`;

/**
 * Starts the model. `sent()` is what it was sent since the last `forget()`. `script(replies)` says what to answer to the next requests of a
 * conversation: `{ text, call: { name, args, namespace }, delay }`, the delay in milliseconds.
 */
export async function startModel() {
  const log = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'recount-model-')), 'requests');
  fs.writeFileSync(log, '');
  const server = spawn(process.execPath, [SELF, log], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve) => server.stdout.once('data', (text) => resolve(String(text).trim())));
  return {
    url: `http://127.0.0.1:${port}`,
    forget: () => fs.writeFileSync(log, ''),
    sent: () => fs.readFileSync(log, 'utf8'),
    script: (replies) => fetch(`http://127.0.0.1:${port}/__replies`, { method: 'POST', body: JSON.stringify(replies) }),
    stop: () => {
      server.kill();
      fs.rmSync(path.dirname(log), { recursive: true, force: true });
    },
  };
}

const TEXT = 'The word is known.';

function answer(request, response, number, reply) {
  const usage = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 };
  const message = { id: `msg_fake${number}`, type: 'message', role: 'assistant', model: request.model, stop_sequence: null };
  const text = isConversation(request) ? (reply?.text ?? TEXT) : '{"title":"Words"}';
  const call = reply?.call;
  if (!request.stream) {
    const content = [{ type: 'text', text }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...message, content, stop_reason: 'end_turn', usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  send({ type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } });
  send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  send({ type: 'content_block_stop', index: 0 });
  if (call) {
    send({ type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: `toolu_fake${number}`, name: call.name, input: {} } });
    send({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: JSON.stringify(call.args) } });
    send({ type: 'content_block_stop', index: 1 });
  }
  send({ type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null }, usage });
  send({ type: 'message_stop' });
  response.end();
}

function respond(request, response, number, reply) {
  const text = reply?.text ?? TEXT;
  const base = { id: `resp_fake${number}`, object: 'response', status: 'in_progress', model: request.model, output: [] };
  const item = { type: 'message', id: `msg_fake${number}`, role: 'assistant', status: 'in_progress', content: [] };
  const done = { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  send({ type: 'response.created', response: base });
  send({ type: 'response.output_item.added', output_index: 0, item });
  send({ type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: text });
  send({ type: 'response.output_item.done', output_index: 0, item: done });
  const output = [done];
  if (reply?.call) {
    const { name, args, namespace } = reply.call;
    const call = { type: 'function_call', id: `fc_fake${number}`, status: 'completed', call_id: `call_fake${number}`, name, arguments: JSON.stringify(args) };
    if (namespace) call.namespace = namespace;
    send({ type: 'response.output_item.added', output_index: 1, item: call });
    send({ type: 'response.output_item.done', output_index: 1, item: call });
    output.push(call);
  }
  send({ type: 'response.completed', response: { ...base, status: 'completed', output, usage } });
  response.end();
}

/** Whether a request belongs to the conversation: it offers tools. */
const isConversation = (request) => (request.tools ?? []).length > 0;

function serve(log) {
  let number = 0;
  let replies = [];
  /** Answers a request with the next reply, after its delay. */
  const reply = (body, response, send) => {
    fs.appendFileSync(log, `${body}\n`);
    number += 1;
    const id = `${process.pid}${number}`;
    const request = JSON.parse(body);
    const next = isConversation(request) ? replies.shift() : undefined;
    setTimeout(() => send(request, response, id, next), next?.delay ?? 0);
  };
  const server = http.createServer((incoming, response) => {
    const parts = [];
    incoming.on('data', (part) => parts.push(part));
    incoming.on('end', () => {
      const body = Buffer.concat(parts).toString();
      if (incoming.url === '/__replies') {
        replies = JSON.parse(body);
        response.end();
      } else if (incoming.url.includes('count_tokens')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"input_tokens":10}');
      } else if (incoming.method === 'POST' && incoming.url.startsWith('/v1/messages')) {
        reply(body, response, answer);
      } else if (incoming.method === 'POST' && incoming.url.split('?')[0].endsWith('/responses')) {
        reply(body, response, respond);
      } else if (incoming.url.split('?')[0].endsWith('/models')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"object":"list","data":[],"models":[]}');
      } else {
        response.writeHead(404);
        response.end('{}');
      }
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

if (process.argv[1] === SELF) {
  serve(process.argv[2]);
}
