// Damage of every kind that a session file can suffer, chosen by a seed.

/** mulberry32: small, and the same on every machine. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

class Chance {
  constructor(seed, index) {
    this.next = random(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  }
  below(end) {
    return Math.floor(this.next() * end);
  }
  pick(list) {
    return list[this.below(list.length)];
  }
}

/** The mutant of this number: its bytes, what was done, and what it was made from. */
export function mutant(seed, index, bases, read) {
  const chance = new Chance(seed, index);
  // A damaged document usually does not load at all, so lines are more useful.
  const lines = bases.filter((file) => file.endsWith('.jsonl'));
  const base = chance.pick(lines.length > 0 && chance.below(5) > 0 ? lines : bases);
  const state = new State(read(base), chance);
  const names = [];
  const times = chance.pick([1, 1, 1, 1, 2, 2, 3]);
  for (let turn = 0; turn < times; turn += 1) {
    // A kind that does not apply to this file is replaced by another.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const name = chance.pick(KINDS);
      if (MUTATIONS[name](state, chance) !== false) {
        names.push(name);
        break;
      }
    }
  }
  let extension = base.endsWith('.jsonl') ? 'jsonl' : 'json';
  if (chance.below(25) === 0) {
    names.push('other-extension');
    extension = extension === 'json' ? 'jsonl' : 'json';
  }
  return { base, bytes: state.bytes(), label: names.join(' + '), extension };
}

/** A file as lines without their ends; `raw` are changes of the bytes, made last. */
class State {
  constructor(bytes, chance) {
    this.chance = chance;
    this.end = bytes.length > 0 && bytes[bytes.length - 1] === 10 ? '\n' : '';
    const body = bytes.toString('utf8');
    this.lines = (this.end ? body.slice(0, -1) : body).split('\n');
    this.ends = '\n';
    this.raw = [];
  }
  bytes() {
    let bytes = Buffer.from(this.lines.join(this.ends) + this.end, 'utf8');
    for (const change of this.raw) bytes = change(bytes);
    return bytes;
  }
  at() {
    return this.chance.below(this.lines.length);
  }
  insert(record) {
    this.lines.splice(this.chance.below(this.lines.length + 1), 0, asText(record));
  }
  /** Indexes of lines that hold a record which passes the test. */
  where(test) {
    const found = [];
    this.lines.forEach((line, index) => {
      const record = parsed(line);
      if (record !== undefined && test(record)) found.push(index);
    });
    return found;
  }
  /** Every message in the file, wherever it is written. */
  messages() {
    const lines = this.lines.map(parsed).filter((record) => typeof record?.id === 'string');
    const whole = this.whole();
    return [...lines, ...(Array.isArray(whole?.messages) ? whole.messages : [])].filter(isObject);
  }
  /** The file as one value, if it is one. */
  whole() {
    return this.lines.length > 1 && this.lines[0].trim() === '{' ? parsed(this.lines.join('\n')) : undefined;
  }
  /** Changes a record: a message line, a checkpoint, or the document. */
  edit(change, test = isObject) {
    const document = this.whole();
    if (document) {
      change(document);
      this.lines = JSON.stringify(document, null, 2).split('\n');
      return true;
    }
    const found = this.where(test);
    if (found.length === 0) return false;
    const index = this.chance.pick(found);
    const record = parsed(this.lines[index]);
    change(record);
    this.lines[index] = asText(record);
    return true;
  }
  /** Changes a message, be it on a line, in a checkpoint or in a document. */
  editMessage(change) {
    return this.edit((record) => {
      const list = record.messages ?? record.$set?.messages;
      const messages = Array.isArray(list) ? list.filter(isObject) : [record];
      if (messages.length > 0) change(this.chance.pick(messages));
    }, (record) => typeof record?.id === 'string' || Array.isArray(record?.$set?.messages));
  }
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const asText = (record) => (typeof record === 'string' ? record : JSON.stringify(record));
const isHead = (record) => isObject(record) && 'sessionId' in record && !('id' in record);
const isMessage = (record) => typeof record?.id === 'string';

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const NOW = '2026-02-03T04:05:06.789Z';
const message = (id, content, type = 'user') => ({ id, timestamp: NOW, type, content });

/** Contents that the loader passes, bends or throws at. */
const CONTENTS = [
  '', ' ', 'plain', [], {}, null, 5, true, [''], ['a', { text: 'b' }], { text: 'alone' }, { text: 5 },
  [{ text: 5 }], [{ text: null }], [null], [5], [[{ text: 'nested' }]], [['nested']], { functionCall: null },
  [{ functionCall: null }], [{ functionCall: {} }], [{ functionCall: { name: 'x', args: {} } }],
  [{ functionResponse: null }], [{ functionResponse: { name: 'y', response: {} } }], { inlineData: null },
  [{ inlineData: {} }], [{ inlineData: { mimeType: 5 } }], [{ inlineData: { mimeType: 'image/png', data: 7 } }],
  [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }], [{ text: 'x', thought: true }],
  [{ text: 'x', thought: false }], [{ text: 'x', thought: 0 }], [{ text: 'x', thought: null }],
  [{ text: 'a' }, { text: 'b', thought: 'yes' }], [{ fileData: {} }, { text: 'c' }], [{ executableCode: 1 }],
  [{ videoMetadata: {} }], [{ codeExecutionResult: null, text: 'd' }], '/slash', '?', '<session_context>',
  [{ text: '<hook_context>x' }], [{ thought: null }], { text: ['a'] }, [{ text: { a: 1 } }], [true, 'x'],
];

const TOOL_CALLS = [
  null, [], {}, 'x', 5, [null], [5], ['x'], [{}], [{ id: 5 }], [{ id: 'a' }, { id: 'a' }], [{ id: null, name: 'x' }],
  [{ id: 'b', name: 'read_file', args: null, result: null, status: 5 }], [{ id: 'c', result: 'text' }], { length: 3 },
  [{ id: 'd', name: 'replace', args: [], resultDisplay: [[]], status: 'executing' }], [[]],
];

const VALUES = [null, 5, -1, 1.5, true, false, '', 'x', [], {}, [null], { a: null }];

const WEIRD_LINES = [
  '{', '}', '[]', '{}', 'null', '5', '"text"', 'true', '{"id":}', '{"id":"x"', '{"id":5}', '{"id":null,"type":"user"}',
  '{"id":""}', '{"$set":null}', '{"$set":[]}', '{"$set":5}', '{"$set":{}}', '{"$rewindTo":null}', '{"$rewindTo":5}',
  '{"$rewindTo":""}', '{"sessionId":"other"}', '{"sessionId":5,"projectHash":"x"}', '{"sessionId":"","projectHash":""}',
  '{"id":"m","$rewindTo":"m"}', '{"id":"m","$set":{"messages":[]}}', "{'id':'x'}", '{"id":"x",}', 'NaN', '01', '\u0000',
  '{"id":"n","content":1e999}', '{"__proto__":{"id":"p"}}', '{"id":"constructor","type":"user","content":"c"}',
  '[{"id":"in-list"}]', '{"id":"tab\there"}', '{"id":"q","type":"user","content":"ok"} trailing',
];

const MUTATIONS = {
  'drop-line': (state) => void state.lines.splice(state.at(), 1),
  'double-line': (state) => {
    const at = state.at();
    state.lines.splice(at, 0, state.lines[at]);
  },
  'double-line-elsewhere': (state) => state.insert(state.lines[state.at()]),
  'swap-lines': (state) => {
    const [a, b] = [state.at(), state.at()];
    [state.lines[a], state.lines[b]] = [state.lines[b], state.lines[a]];
  },
  'cut-line': (state, chance) => {
    const at = state.at();
    state.lines[at] = state.lines[at].slice(0, chance.below(state.lines[at].length + 1));
  },
  'join-lines': (state) => {
    const at = state.at();
    if (at + 1 >= state.lines.length) return false;
    state.lines.splice(at, 2, state.lines[at] + state.lines[at + 1]);
  },
  'reuse-id': (state, chance) => {
    const messages = state.messages();
    if (messages.length < 2) return false;
    return state.editMessage((record) => (record.id = chance.pick(messages).id));
  },
  'rewind-unknown': (state) => state.insert({ $rewindTo: 'no-such-message' }),
  'rewind-known': (state, chance) => {
    const messages = state.messages();
    if (messages.length === 0) return false;
    state.insert({ $rewindTo: chance.pick(messages).id });
  },
  checkpoint: (state, chance) => {
    const list = state.messages().filter(() => chance.below(3) > 0);
    if (chance.below(3) === 0) list.push(message('fresh', [{ text: 'put in' }]), message('fresh', 'again'));
    if (chance.below(4) === 0) list.splice(chance.below(list.length + 1), 0, chance.pick([null, 5, {}, { id: 5 }, []]));
    if (chance.below(4) === 0) list.push(message('odd', chance.pick(CONTENTS)), message('after', 'odd'));
    state.insert({ $set: { messages: list, lastUpdated: NOW } });
  },
  'odd-checkpoint': (state, chance) =>
    state.insert({ $set: { messages: chance.pick([null, {}, 'x', 5, []]), summary: chance.pick(VALUES) } }),
  'checkpoint-with-identity': (state, chance) =>
    state.insert({ $set: { sessionId: 'taken-over', messages: [message('one', chance.pick(CONTENTS))] } }),
  bom: (state) => void state.raw.push((bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])),
  'bom-inside': (state) => {
    const at = state.at();
    state.lines[at] = `\ufeff${state.lines[at]}`;
  },
  crlf: (state) => {
    state.ends = '\r\n';
    if (state.end) state.end = '\r\n';
  },
  'lone-cr': (state) => {
    state.ends = '\r';
  },
  'cr-inside': (state, chance) => {
    const at = state.at();
    const cut = chance.below(state.lines[at].length + 1);
    state.lines[at] = `${state.lines[at].slice(0, cut)}\r${state.lines[at].slice(cut)}`;
  },
  'line-separator': (state, chance) => {
    const at = state.at();
    const cut = chance.below(state.lines[at].length + 1);
    const separator = chance.pick(['\u2028', '\u2029', '\u0085', '\u000b', '\u000c']);
    state.lines[at] = state.lines[at].slice(0, cut) + separator + state.lines[at].slice(cut);
  },
  'blank-lines': (state, chance) => {
    for (let n = 0; n < 3; n += 1) state.insert(chance.pick(['', ' ', '\t ', '\u00a0', '\ufeff', '\u2003', '\u000b']));
  },
  'blanks-around': (state, chance) => {
    const at = state.at();
    const blank = chance.pick([' ', '\t', '\u00a0', '\ufeff', '  \t']);
    state.lines[at] = blank + state.lines[at] + chance.pick(['', blank]);
  },
  'torn-tail': (state, chance) => void state.raw.push((bytes) => bytes.subarray(0, bytes.length - chance.below(bytes.length))),
  'torn-head': (state, chance) => void state.raw.push((bytes) => bytes.subarray(chance.below(Math.min(bytes.length, 400)))),
  'no-final-newline': (state) => {
    if (!state.end) return false;
    state.end = '';
  },
  'garbage-line': (state, chance) => state.insert(chance.pick(WEIRD_LINES)),
  'garbage-bytes': (state, chance) =>
    void state.raw.push((bytes) => {
      const noise = Buffer.from(Array.from({ length: 1 + chance.below(12) }, () => chance.below(256)));
      const at = chance.below(bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]);
    }),
  'flip-byte': (state, chance) =>
    void state.raw.push((bytes) => {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[chance.below(copy.length)] ^= 1 << chance.below(8);
      return copy;
    }),
  'invalid-utf8': (state, chance) =>
    void state.raw.push((bytes) => {
      const broken = chance.pick([[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xc0, 0x80], [0xf5, 0x80]]);
      const at = bytes.indexOf(chance.pick(['text":"', 'content":"', 'content": "', '"id":"']));
      const cut = at < 0 ? chance.below(bytes.length + 1) : bytes.indexOf(':', at) + 2 + chance.below(3);
      return Buffer.concat([bytes.subarray(0, cut), Buffer.from(broken), bytes.subarray(cut)]);
    }),
  'lone-surrogate': (state, chance) => {
    const found = state.where((record) => isMessage(record));
    const line = message(`s${chance.below(9)}`, 'SURROGATE');
    const escape = chance.pick(['\\ud83d', '\\udc00', '\\ud83d\\ud83d', 'a\\ud83dx', '\\udc00\\ud83d', '\\uD83C\\uDF4E', '\\ud83c"x']);
    state.lines.splice(found.length ? chance.pick(found) : state.at(), 0, JSON.stringify(line).replace('SURROGATE', escape));
  },
  'surrogate-in-id': (state) => state.insert('{"id":"x\\ud83d","timestamp":"","type":"user","content":"half an id"}'),
  'duplicate-key': (state, chance) => {
    const at = state.at();
    if (!isObject(parsed(state.lines[at]))) return false;
    const extra = chance.pick(['"id":"doubled"', '"id":5', '"content":"second"', '"type":"info"', '"toolCalls":[]', '"$set":{}', '"sessionId":"doubled"', '"messages":[]']);
    const line = state.lines[at].trimEnd();
    const inner = line.trimStart().slice(1, -1);
    const joint = inner === '' ? '' : ',';
    state.lines[at] = chance.below(2) ? `{${extra}${joint}${inner}}` : `{${inner}${joint}${extra}}`;
  },
  'repeat-head': (state) => {
    const heads = state.where(isHead);
    if (heads.length === 0) return false;
    state.insert(state.lines[heads[0]]);
  },
  'another-head': (state, chance) =>
    state.insert({ sessionId: chance.pick(['second', '', 's\u0000']), projectHash: chance.pick(['h', '']), startTime: NOW, lastUpdated: NOW, kind: 'main' }),
  'move-head': (state) => {
    const heads = state.where(isHead);
    if (heads.length === 0) return false;
    const [head] = state.lines.splice(heads[0], 1);
    state.insert(head);
  },
  'remove-head': (state) => {
    const heads = state.where(isHead);
    if (heads.length === 0) return false;
    for (const index of heads.reverse()) state.lines.splice(index, 1);
  },
  'head-without': (state, chance) => state.edit((record) => delete record[chance.pick(['sessionId', 'projectHash', 'startTime', 'messages'])], isHead),
  'head-value': (state, chance) => state.edit((record) => (record[chance.pick(['sessionId', 'projectHash', 'messages', 'kind', 'id'])] = chance.pick(VALUES)), isHead),
  'one-line-document': (state, chance) => {
    const messages = state.messages();
    const cut = chance.below(messages.length + 1);
    const document = { sessionId: 'one-line', projectHash: 'hash', startTime: NOW, lastUpdated: NOW, messages: messages.slice(0, cut) };
    if (chance.below(4) === 0) delete document.projectHash;
    if (chance.below(4) === 0) document.messages.push(chance.pick([null, 5, {}, message('odd', chance.pick(CONTENTS))]));
    const rest = messages.slice(chance.below(cut + 1)).map(asText);
    state.lines = [asText(document), ...(chance.below(2) ? rest : [])];
  },
  'lines-to-document': (state, chance) => {
    const document = { sessionId: 'whole', projectHash: chance.pick(['hash', '', null]), messages: state.messages() };
    if (chance.below(3) === 0) document.messages.unshift(chance.pick([null, 5, 'x', {}, [], { type: 'user' }]));
    if (chance.below(6) === 0) document.messages = chance.pick([null, {}, 'x', 5]);
    state.lines = JSON.stringify(document, null, 2).split('\n');
    state.end = '';
  },
  'set-session-id': (state, chance) => state.insert({ $set: { sessionId: chance.pick(['renamed', '', null, 5, 'ünï', true]) } }),
  'set-project-hash': (state, chance) => state.insert({ $set: { projectHash: chance.pick(['h', '', null, 0]) } }),
  'set-values': (state, chance) => state.insert({ $set: { [chance.pick(['summary', 'kind', 'startTime', 'directories', 'memoryScratchpad', 'id'])]: chance.pick(VALUES) } }),
  'null-value': (state, chance) => state.editMessage((record) => (record[chance.pick(Object.keys(record))] = null)),
  'wrong-type': (state, chance) => state.editMessage((record) => (record[chance.pick(Object.keys(record))] = chance.pick(VALUES))),
  'missing-key': (state, chance) => state.editMessage((record) => delete record[chance.pick(Object.keys(record))]),
  'odd-content': (state, chance) => state.editMessage((record) => (record.content = chance.pick(CONTENTS))),
  'odd-message': (state, chance) => state.insert(message(`odd-${chance.below(5)}`, chance.pick(CONTENTS), chance.pick(['user', 'gemini', 'info', 'other', 5, null]))),
  'odd-calls': (state, chance) => state.editMessage((record) => (record.toolCalls = chance.pick(TOOL_CALLS))),
  'odd-thoughts': (state, chance) => state.editMessage((record) => (record.thoughts = chance.pick([null, {}, 'x', 5, [null], [{}], [{ subject: 5 }]]))),
  'odd-tokens': (state, chance) => state.editMessage((record) => (record.tokens = chance.pick([null, {}, 'x', [], { total: -1 }, { total: 1.5, input: '7' }, { total: 1e300 }]))),
  'deep-nesting': (state, chance) => {
    // From about 2,000 on it depends on the optimiser whether the loader's recursion fits its stack.
    const deep = chance.pick([100, 600, 1200]);
    state.insert(`{"id":"deep","type":"user","content":${'['.repeat(deep)}${']'.repeat(deep)}}`);
  },
  'number-forms': (state, chance) =>
    state.editMessage((record) => (record.tokens = { total: chance.pick([0, 2 ** 53, 1e21, 5e-324, Number.MAX_VALUE]) })),
  empty: (state, chance) => {
    if (chance.below(4) > 0) return false;
    state.lines = chance.pick([[''], ['', ''], [' '], ['\u0000\u0000']]);
    state.end = '';
  },
};

const KINDS = Object.keys(MUTATIONS);
