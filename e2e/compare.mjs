// Compares what must be equal: session id, messages in order, their ids and texts, their tool calls.

import { isDeepStrictEqual } from 'node:util';

/** A difference in one line, or `null` when the two agree. */
export function compare(real, { code, signal, stdout, stderr }) {
  if (signal) return `recount ended with ${signal}`;
  if (![0, 1, 2].includes(code)) return `recount ended with exit code ${code}: ${brief(stderr)}`;
  // A file that the loader refuses has no strict view: an empty one or an error are both correct.
  if (code !== 0) return real === null ? null : `recount refuses a file that loads: ${brief(stderr)}`;
  let document;
  try {
    document = JSON.parse(stdout);
  } catch (error) {
    return `recount printed no JSON: ${error.message}`;
  }
  if (document?.schema !== 'recount.show/1') return `schema is ${brief(document?.schema)}`;
  if (!Array.isArray(document.messages)) return 'no list of messages';
  const ours = document.messages.map(fromOurs);
  if (real === null) {
    return ours.length === 0 ? null : `recount shows ${ours.length} messages of a file that does not load`;
  }
  // Only a string that is not empty is an id; the loader lets other values through.
  if (typeof real.sessionId === 'string' && real.sessionId !== '') {
    const [expected, found] = [whole(real.sessionId), document.session?.id];
    if (found !== expected) return `session id is ${brief(found)} instead of ${brief(expected)}`;
  }
  return compareMessages((real.messages ?? []).map(fromReal), ours);
}

function compareMessages(expected, found) {
  const length = Math.min(expected.length, found.length);
  for (let index = 0; index < length; index += 1) {
    for (const field of ['id', 'text', 'calls']) {
      const [a, b] = [JSON.stringify(expected[index][field]), JSON.stringify(found[index][field])];
      if (a !== b) return `message ${index + 1} of ${expected.length}, ${field}: ${apart(b, a)}`;
    }
  }
  if (expected.length !== found.length) {
    const next = expected[length] ?? found[length];
    return `${found.length} messages instead of ${expected.length}; the first extra has id ${brief(next.id)}`;
  }
  return null;
}

function fromReal(message) {
  return {
    id: typeof message?.id === 'string' ? whole(message.id) : null,
    text: whole(text(message?.content)),
    calls: Array.isArray(message?.toolCalls)
      ? message.toolCalls
          .filter((call) => call !== null && typeof call === 'object' && !Array.isArray(call))
          .map((call) => (typeof call.id === 'string' ? whole(call.id) : null))
      : [],
  };
}

function fromOurs(message) {
  return {
    id: message.id ?? null,
    text: message.text ?? '',
    calls: (message.tool_calls ?? []).map((call) => call.id ?? null),
  };
}

/** The words of a message: texts of the parts that are not thoughts. */
export function text(content) {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(text).join('');
  return typeof content?.text === 'string' && !content.thought ? content.text : '';
}

/** Half a surrogate pair cannot be written as UTF-8: it stands as U+FFFD. */
const whole = (string) => string.toWellFormed();

const brief = (value) => {
  const shown = typeof value === 'string' ? value.trim() : (JSON.stringify(value) ?? 'undefined');
  return shown.length > 160 ? `${shown.slice(0, 157)}...` : shown;
};

/** Two long texts, from a little before the place where they part. */
function apart(found, expected) {
  let at = 0;
  while (at < found.length && found[at] === expected[at]) at += 1;
  const from = Math.max(0, at - 20);
  return `${brief(found.slice(from))} instead of ${brief(expected.slice(from))}`;
}

/** What the loader gives of a session as a whole, but for times, which it makes up where there are none. */
const WHOLE = ['sessionId', 'projectHash', 'kind', 'summary', 'directories', 'memoryScratchpad'];

/** A difference between what the loader makes of a file and of the file that we wrote from it, or `null`. */
export function compareRecords(real, again, leftOut) {
  if (again === null) return 'it does not load';
  for (const key of WHOLE) {
    const value = real[key];
    // Without a usable id or hash, one is generated.
    const isMadeUp = ['sessionId', 'projectHash'].includes(key) && (typeof value !== 'string' || value === '');
    // recount also reads what follows a byte order mark, which hides it from the loader.
    if (value === undefined || isMadeUp || isDeepStrictEqual(value, again[key])) continue;
    return `${key} is ${brief(again[key])} instead of ${brief(value)}`;
  }
  const isRecord = (message) => typeof message === 'object' && message !== null && !Array.isArray(message);
  const found = again.messages ?? [];
  const all = real.messages ?? [];
  if (all.length !== found.length + leftOut) return `${found.length} messages instead of ${all.length} less ${leftOut}`;
  const isHere = new Set(found.map((message) => message.id));
  // A document may have what a log cannot: values that are not messages, and messages that make the loader throw.
  const expected = leftOut === 0 ? all : all.filter((message) => isRecord(message) && isHere.has(message.id));
  const seen = new Set();
  for (const [index, message] of expected.entries()) {
    const { id, $rewindTo, ...rest } = message;
    const { id: newId, ...newRest } = found[index];
    const isKept = typeof id === 'string' && !seen.has(id);
    seen.add(id);
    if (isKept && id !== newId) return `message ${index + 1}: id ${brief(newId)} instead of ${brief(id)}`;
    // Not a rewind at its position.
    if (typeof $rewindTo !== 'string' && $rewindTo !== undefined) rest.$rewindTo = $rewindTo;
    if (!isDeepStrictEqual(rest, newRest)) return `message ${index + 1} differs: ${brief(newRest)} instead of ${brief(rest)}`;
  }
  return null;
}
