// A fake model service on loopback: it gives scripted replies and records its requests.
//
//   const server = await ModelServer.start([{ text: 'Hello.' }, { calls: [{ name: 'read_file', args: {} }] }]);
//   … run a program with GOOGLE_GEMINI_BASE_URL=server.url …
//   server.requests  // [{ method, model, body }], the conversation's own requests only
//   await server.stop();
//
// A reply is { text?, thought?, calls?, status?, usage?, delay?, after? }: a delay in milliseconds, a promise to wait for. Each request of a conversation
// takes the next one; when none is left, the answer is 'No reply is left.'. Side requests of the program (titles, routing, counting) get a harmless answer
// and are in `server.asides`. It listens on loopback only.

import fs from 'node:fs';
import http from 'node:http';

const TITLE = /summary|summarize|title/i;
/** How long files that are to be deleted are waited for: cleanups take long on a busy machine. */
const CLEANUP_LIMIT = 60_000;

const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** The text of all parts of a content. */
export const textOf = (content) => (content?.parts ?? []).map((part) => part.text ?? '').join('\n');

/** Every text and every response of a tool in a request, in order. */
export function said(body) {
  return (body.contents ?? []).flatMap((content) =>
    (content.parts ?? []).map((part) => {
      if (part.functionCall) return { role: content.role, call: part.functionCall };
      if (part.functionResponse) return { role: content.role, response: part.functionResponse };
      return { role: content.role, text: part.text ?? '' };
    }),
  );
}

/** The smallest value that a schema allows: enough for any question whose answer does not matter. */
function smallest(schema = {}) {
  if (schema.enum?.length) return schema.enum[0];
  switch (String(schema.type ?? 'object').toLowerCase()) {
    case 'string':
      return 'none';
    case 'number':
    case 'integer':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return [];
    default:
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, smallest(value)]));
  }
}

/** Whether a request belongs to the conversation: it offers tools and wants no JSON. */
function isConversation(body) {
  const tools = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
  return tools.length > 0 && body.generationConfig?.responseMimeType !== 'application/json';
}

function partsOf(reply) {
  const parts = [];
  if (reply.thought) parts.push({ thought: true, text: reply.thought });
  if (reply.text) parts.push({ text: reply.text });
  for (const call of reply.calls ?? []) parts.push({ functionCall: call });
  return parts;
}

function response(reply, model) {
  const { input = 100, output = 10, thoughts = 0 } = reply.usage ?? {};
  return {
    candidates: [{ content: { role: 'model', parts: partsOf(reply) }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      thoughtsTokenCount: thoughts,
      totalTokenCount: input + output + thoughts,
    },
    modelVersion: model,
  };
}

async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const text = Buffer.concat(pieces).toString('utf8');
  return text ? JSON.parse(text) : {};
}

export class ModelServer {
  /** Starts a server on a free port. */
  static async start(replies = []) {
    const server = new ModelServer();
    server.replies = [...replies];
    server.requests = [];
    server.asides = [];
    /** What a session is called when the program asks; without one, that is refused. */
    server.title = null;
    server.http = http.createServer((request, answer) => {
      server.serve(request, answer).catch((error) => answer.destroy(error));
    });
    await new Promise((resolve) => server.http.listen(0, '127.0.0.1', resolve));
    server.url = `http://127.0.0.1:${server.http.address().port}`;
    return server;
  }

  /** A cleanup goes on beside the program's work: every answer waits until files are gone, and then `more` milliseconds for deletions of others. */
  answerAfter(files, more) {
    const serve = this.serve.bind(this);
    let end;
    this.serve = async (request, answer) => {
      end ??= Date.now() + CLEANUP_LIMIT;
      while (Date.now() < end && files.some((file) => fs.lstatSync(file, { throwIfNoEntry: false }))) await sleep(50);
      await sleep(more);
      return serve(request, answer);
    };
  }

  /** Stops it, whatever connections are open. */
  async stop() {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  async serve(request, answer) {
    const send = (code, value) => {
      answer.writeHead(code, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(value));
    };
    const found = /\/models\/([^/:]+):(\w+)/.exec(request.url ?? '');
    if (!found) return send(404, { error: { code: 404, message: 'no such method', status: 'NOT_FOUND' } });
    const [, model, method] = found;
    const body = await read(request);
    if (method === 'countTokens') return send(200, { totalTokens: 1 });
    if (method === 'embedContent') return send(200, { embedding: { values: [0] } });
    const reply = this.reply({ model, method, body });
    if (reply.delay) await sleep(reply.delay);
    if (reply.after) await reply.after;
    if (reply.status) {
      return send(reply.status, { error: { code: reply.status, message: 'scripted', status: 'INTERNAL' } });
    }
    const whole = response(reply, model);
    if (method !== 'streamGenerateContent') return send(200, whole);
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    answer.end(`data: ${JSON.stringify(whole)}\r\n\r\n`);
  }

  reply(request) {
    const { body } = request;
    if (isConversation(body)) {
      this.requests.push(request);
      return this.replies.shift() ?? { text: 'No reply is left.' };
    }
    this.asides.push(request);
    const config = body.generationConfig ?? {};
    if (config.responseMimeType === 'application/json') {
      return { text: JSON.stringify(smallest(config.responseJsonSchema ?? config.responseSchema)) };
    }
    if (!TITLE.test(textOf(body.contents?.at(-1)))) return { text: 'Nothing.' };
    return this.title === null ? { status: 400 } : { text: this.title };
  }
}
