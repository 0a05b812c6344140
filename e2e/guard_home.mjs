// A home with one of everything that affects a cleanup: sessions of every age and kind, stubs, twins, names with the same
// ending, damaged files, and artifacts of sessions.

import fs from 'node:fs';
import path from 'node:path';

const DAY = 24 * 60 * 60 * 1000;
const now = Date.now();
const time = (days) => new Date(now - days * DAY).toISOString();
const minute = (days) => time(days).slice(0, 16).replace(':', '-');
const uuid = (short) => `${short}-0000-4000-8000-000000000000`;
const json = (value) => JSON.stringify(value);

const said = (days, text = 'What does an apple cost?') => [
  { id: `u-${text.length}`, timestamp: time(days), type: 'user', content: [{ text }] },
  { id: `g-${text.length}`, timestamp: time(days), type: 'gemini', content: 'Three coins.', thoughts: [] },
];
const head = (id, days, more = {}) => ({
  sessionId: id,
  projectHash: 'ab'.repeat(32),
  startTime: time(days),
  lastUpdated: time(days),
  kind: 'main',
  ...more,
});
const without = (object, ...keys) => Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
const page = (object) => JSON.stringify(object, null, 2);
const log = (...records) => records.map((record) => `${json(record)}\n`).join('');
const CONTEXT = { id: 'd04923d38bb0f6017037e74183378ef4', type: 'user', content: [{ text: '<session_context>\nToday.\n</session_context>' }] };
const checkpoint = (days, messages) => ({ $set: { messages, lastUpdated: time(days) } });

/** Session files by name: what is in each. */
function chats() {
  const files = {};
  const document = (short, days, change = (whole) => whole) => {
    const whole = { ...head(uuid(short), days), messages: said(days) };
    files[`session-${minute(days)}-${short}.json`] = page(change(whole));
  };
  const lines = (short, days, records = said(days), first = head(uuid(short), days)) => {
    files[`session-${minute(days)}-${short}.jsonl`] = log(first, ...records);
  };
  document('d0c00001', 2);
  document('d0c00002', 40);
  document('d0c00003', 15);
  document('d0c00004', 3, (whole) => without(whole, 'lastUpdated'));
  document('d0c00005', 3, (whole) => without(whole, 'startTime', 'lastUpdated'));
  document('d0c00006', 3, (whole) => without(whole, 'messages'));
  document('d0c00007', 3, (whole) => ({ ...whole, messages: [{ id: 'i', timestamp: time(3), type: 'info', content: 'Hm.' }] }));
  document('d0c00008', 3, (whole) => ({ ...whole, kind: 'subagent' }));
  document('d0c00009', 3, (whole) => without(whole, 'projectHash'));
  document('d0c0000a', 3, (whole) => ({ ...whole, lastUpdated: 'yesterday' }));
  document('d0c0000b', 3, (whole) => ({ ...whole, messages: [] }));
  document('d0c0000c', 3, (whole) => ({ ...whole, messages: said(3, '/help me').slice(0, 1) }));
  files[`session-${minute(4)}-d0c0000d.json`] = page({ ...head(uuid('d0c0000d'), 4), messages: said(4) }).slice(0, -20);
  files[`session-${minute(4)}-d0c0000e.json`] = '';
  files[`session-${minute(4)}-d0c0000f.json`] = json({ ...head(uuid('d0c0000f'), 4), messages: said(4) });

  lines('10900001', 1);
  lines('10900002', 41);
  lines('10900003', 16);
  lines('10900004', 5, said(5), without(head(uuid('10900004'), 5), 'lastUpdated'));
  lines('10900005', 5, said(5), head(uuid('10900005'), 5, { lastUpdated: 'never' }));
  lines('10900006', 5, []);
  lines('10900007', 5, [checkpoint(5, [CONTEXT])]);
  lines('10900008', 5, said(5, '/stats').slice(0, 1));
  lines('10900009', 5, said(5), head(uuid('10900009'), 5, { kind: 'subagent' }));
  lines('1090000a', 5, [...said(5), { $rewindTo: said(5)[0].id }]);
  lines('1090000b', 5, [...said(5), { $rewindTo: 'nobody' }]);
  lines('1090000c', 42, [...said(42), { $set: { lastUpdated: time(1) } }]);
  lines('1090000d', 5, [checkpoint(5, said(5))]);
  lines('1090000e', 5, [...said(5), checkpoint(5, [])]);
  files[`session-${minute(6)}-1090000f.jsonl`] = `\ufeff${log(head(uuid('1090000f'), 6), ...said(6))}`;
  files[`session-${minute(6)}-10900010.jsonl`] = '';
  files[`session-${minute(6)}-10900011.jsonl`] = 'no JSON at all\n';
  files[`session-${minute(6)}-10900012.jsonl`] = log(...said(6));
  files[`session-${minute(6)}-10900013.jsonl`] = log(head(uuid('10900013'), 6), ...said(6)).slice(0, -9);
  files[`session-${now - 7 * DAY}-10900014.jsonl`] = log(head(uuid('10900014'), 7), ...said(7));

  // Resumed: the name of the stub has the same ending.
  lines('57ab0001', 8);
  files[`session-${minute(7)}-57ab0001.jsonl`] = log(head(uuid('57ab0001'), 7));
  lines('57ab0002', 8);
  files[`session-${minute(7)}-57ab0002.jsonl`] = log(head(uuid('57ab0002'), 7), checkpoint(7, [CONTEXT]));
  // An old document and the log that was made of it.
  document('7b140001', 45);
  files[`session-${minute(45)}-7b140001.jsonl`] = log(head(uuid('7b140001'), 2), ...said(2));
  // Two sessions whose ids have the same start.
  lines('c0111111', 44);
  files[`session-${minute(9)}-c0111111.jsonl`] = log(head('c0111111-1111-4111-8111-111111111111', 9), ...said(9));
  document('c0222222', 44);
  files[`session-${minute(9)}-c0222222.json`] = page({ ...head('c0222222-1111-4111-8111-111111111111', 9), messages: said(9) });
  // Names that do not end in eight letters and digits.
  files[`session-${minute(43)}-my-task-.jsonl`] = log(head('my-task-1', 43), ...said(43));
  files[`session-${minute(43)}-abc.json`] = page({ ...head('abc', 43), messages: said(43) });
  files['session-free-form.json'] = page({ ...head('free-form', 10), messages: said(10) });
  // A first line that is longer than what a cleanup reads.
  lines('1a46e001', 46, said(46), head(uuid('1a46e001'), 46, { directories: ['/home/dev/'.repeat(600)] }));
  // Files that are not sessions.
  files[`session-${minute(50)}-0b5e4001.jsonl.unreadable-1790000000000`] = 'torn';
  files['notes.jsonl'] = 'mine';
  return files;
}

/** What `lastUpdated` may be: times in every form that JavaScript takes for one, old and new, in an order that a seed gives. */
function times(seed) {
  let state = seed;
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  const local = (date) => new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 23);
  const forms = [
    (date) => date.toISOString().slice(0, 10),
    (date) => local(date).slice(0, 16),
    local,
    (date) => local(date).replace('T', ' '),
    (date) => date.toISOString().replace('Z', '+00:00'),
    (date) => date.toISOString().replace('T', ' '),
    (date) => date.toString(),
    (date) => date.toUTCString(),
    (date) => date.toDateString(),
    (date) => date.toLocaleString('en-US'),
    (date) => date.toLocaleDateString('en-US', { month: 'short', day: '2-digit', year: 'numeric' }),
    (date) => `${date.getMonth() + 1}/${date.getDate()}/${date.getFullYear()}`,
    (date) => `noted ${date.toUTCString()} (by hand)`,
    (date) => date.getTime(),
    (date) => [date.toISOString()],
    (date) => [[date.getTime()]],
    (date) => `${date.getFullYear() - 1}`,
    (date) => `${date.toISOString().slice(0, 8)}31`,
    () => '0',
    () => '2026',
    () => 'Oct 07, 2026',
    () => '2026-02-31T10:00:00Z',
    () => 1,
    () => 1e300,
    () => -0.5,
    () => true,
    () => ({ at: 1 }),
    () => [],
    () => 'soon',
  ];
  return Array.from({ length: 60 }, (_, at) => {
    // Close to the limit of 30 days, too: there the time zone decides.
    const days = [2, 5, 30 - 1 / 12, 30 + 1 / 12, 45, 90, 400][random(7)];
    return forms[at < forms.length ? at : random(forms.length)](new Date(now - days * DAY));
  });
}

/** Sessions whose times, hashes and line ends are not those that the program writes; the ids of those with side files. */
function oddities(seed) {
  const files = {};
  const ids = [];
  for (const [at, lastUpdated] of times(seed).entries()) {
    const short = `0dd${at.toString(16).padStart(5, '0')}`;
    const odd = head(uuid(short), 5, { lastUpdated });
    files[`session-${minute(5)}-${short}.json${at % 2 ? 'l' : ''}`] = at % 2 ? log(odd, ...said(5)) : page({ ...odd, messages: said(5) });
  }
  for (const [at, projectHash] of [5, true, ['x'], {}, 0, null, ''].entries()) {
    for (const [form, name] of [[page, 'a'], [(odd) => log(odd), 'b'], [(odd) => log(without(odd, 'messages'), ...said(3)), 'c']]) {
      const short = `0dd${name}${at.toString(16).padStart(4, '0')}`;
      files[`session-${minute(3)}-${short}.json${name === 'a' ? '' : 'l'}`] = form({ ...head(uuid(short), 3, { projectHash }), messages: said(3) });
      ids.push(uuid(short));
    }
  }
  // A cleanup looks for the id before the first line feed, within 4,096 bytes, and the loader in lines with any line ending.
  const ends = { 1: (text) => text.replaceAll('\n', '\r'), 2: (text) => text.replaceAll('\n', '\r\n'), 3: (text) => text.replace('\n', '\r'), 4: (text) => text.replace('\n', '\r\r\n'), 5: (text) => `\n${text}`, 6: (text) => `\r${text}`, 7: (text) => text.replace('\n', ' \n') };
  for (const [at, end] of Object.entries(ends)) {
    const short = `0dde000${at}`;
    files[`session-${minute(45)}-${short}.jsonl`] = end(log(head(uuid(short), 45), ...said(45)));
    ids.push(uuid(short));
  }
  for (const length of [4094, 4095, 4096, 4097]) {
    const short = `0ddf${length}`;
    const first = head(uuid(short), 45, { summary: '' });
    first.summary = 'x'.repeat(length - json(first).length);
    files[`session-${minute(45)}-${short}.jsonl`] = log(first, ...said(45));
    ids.push(uuid(short));
  }
  return { files, ids };
}

/** Makes session files that are links, to files in a folder elsewhere. Returns the ids of those that have side files. */
function linked(chats, elsewhere) {
  const ids = [];
  const link = (target, name) => fs.symlinkSync(target, path.join(chats, name));
  fs.mkdirSync(elsewhere, { recursive: true });
  for (const [at, days] of [2, 45].entries()) {
    for (const ending of ['json', 'jsonl']) {
      const short = `11${at}${ending.length}0000`;
      const text = ending === 'json' ? page({ ...head(uuid(short), days), messages: said(days) }) : log(head(uuid(short), days), ...said(days));
      const target = path.join(elsewhere, `${short}.${ending}`);
      fs.writeFileSync(target, text);
      link(target, `session-${minute(days)}-${short}.${ending}`);
      ids.push(uuid(short));
    }
  }
  // To a session beside it, to nothing, to itself, to a folder, and one that causes a whole session to be deleted.
  link(`session-${minute(41)}-10900002.jsonl`, `session-${minute(41)}-11a00001.jsonl`);
  link(path.join(elsewhere, 'nothing'), `session-${minute(4)}-11a00002.jsonl`);
  link(`session-${minute(4)}-11a00003.json`, `session-${minute(4)}-11a00003.json`);
  link(elsewhere, `session-${minute(4)}-11a00004.json`);
  link(elsewhere, `session-${minute(4)}-11a00005.jsonl`);
  link(path.join(elsewhere, 'nothing'), `session-${minute(4)}-10900001.jsonl`);
  return ids;
}

/** Whose side files there are. */
const BESIDE = [uuid('d0c00001'), uuid('d0c00002'), uuid('10900002'), uuid('10900006'), uuid('57ab0001'), uuid('7b140001'), 'my-task-1', 'abc', uuid('1a46e001'), uuid('d0c0000d'), uuid('0dead000')];

/**
 * Fills a project directory; returns nothing. With a seed, also with files that the program itself does not write; with another folder,
 * also with links to its contents.
 */
export function fill(folder, seed, elsewhere) {
  const write = (name, text, days) => {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    if (days !== undefined) fs.utimesSync(file, (now - days * DAY) / 1000, (now - days * DAY) / 1000);
    return file;
  };
  const odd = seed === undefined ? { files: {}, ids: [] } : oddities(seed);
  for (const [name, text] of Object.entries({ ...chats(), ...odd.files })) write(`chats/${name}`, text);
  const links = elsewhere === undefined ? [] : linked(path.join(folder, 'chats'), elsewhere);
  for (const [at, id] of [...BESIDE, ...odd.ids, ...links].entries()) {
    write(`tool-outputs/session-${id}/list_${at}.txt`, 'apples');
    write(`logs/session-${id}.jsonl`, '{}\n');
    write(`${id}/plans/plan.md`, 'Buy apples.');
    write(`chats/${id}/agent${at}.jsonl`, log(head(`agent${at}`, 1, { kind: 'subagent' }), ...said(1)));
    write(`tool-outputs/session-agent${at}/more.txt`, 'pears');
    write(`agent${at}/tasks/task.json`, '{}');
  }
  write('tool-outputs/old.txt', 'old', 60);
  for (const days of [1, 2, 3, 4, 5]) write(`tool-outputs/loose-${days}.txt`, 'new', days);
  const forgotten = path.dirname(write('tool-outputs/session-forgotten/x.txt', 'x', 60));
  fs.utimesSync(forgotten, (now - 60 * DAY) / 1000, (now - 60 * DAY) / 1000);
  write('tool-outputs/other/x.txt', 'x', 60);
  write('tool_output/older.txt', 'x', 60);
  write('checkpoints/point.json', '{}');
  write('logs.json', '[]');
  write('checkpoint-kept.json', '[]', 60);
}
