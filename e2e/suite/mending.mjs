// Sessions that were compacted, converted, trimmed, repaired and rebuilt, as seen by the program.

import fs from 'node:fs';
import path from 'node:path';

import { expect, texts } from './kit.mjs';

/** The file of a session that the program loads. */
const file = (kit, id) => kit.row(id).files.find(({ role }) => role === 'main').path;

export default [
  {
    name: 'compacted',
    core: true,
    since: '0.39.0',
    async run(kit) {
      const before = fs.statSync(file(kit, kit.ids.tax)).size;
      const listed = await kit.list(kit.shop);
      kit.does('compact', kit.ids.tax, '--min-saving', '0%', '--yes');
      expect(fs.statSync(file(kit, kit.ids.tax)).size < before, 'the file is not smaller');
      const rows = await kit.list(kit.shop);
      expect(JSON.stringify(rows) === JSON.stringify(listed), 'the list is not what it was');
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
  {
    name: 'compacted to what the program loads',
    since: '0.39.0',
    async run(kit) {
      kit.does('compact', kit.ids.tax, '--min-saving', '0%', '--strict-only', '--yes');
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
  {
    name: 'converted to a log',
    core: true,
    async run(kit) {
      if (kit.since('0.39.0')) {
        // Converted and back.
        kit.does('convert', kit.ids.tax, '--to', 'json', '--yes');
        await kit.works(kit.shop, kit.ids.tax, texts('tax'));
        kit.does('convert', kit.ids.cart, '--to', 'json', '--yes');
        kit.does('convert', kit.ids.cart, '--to', 'jsonl', '--yes');
        await kit.works(kit.shop, kit.ids.cart, texts('cart'));
        return;
      }
      // The release itself reads documents only; converted twice, it is one again.
      kit.does('convert', kit.ids.tax, '--to', 'jsonl', '--yes');
      await kit.isGone(kit.shop, kit.ids.tax);
      kit.does('convert', kit.ids.tax, '--to', 'json', '--yes');
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
  {
    name: 'trimmed: the first turn dropped',
    core: true,
    async run(kit) {
      kit.does('trim', kit.ids.tax, '--drop', '1', '--yes');
      const [prompt, answer, ...rest] = texts('tax');
      await kit.works(kit.shop, kit.ids.tax, rest, { gone: [prompt, answer] });
    },
  },
  {
    name: 'trimmed to the last turn, the file written anew',
    async run(kit) {
      kit.does('trim', kit.ids.tax, '--keep-last', '1', '--rewrite', '--yes');
      const [prompt, answer, ...rest] = texts('tax');
      await kit.works(kit.shop, kit.ids.tax, rest, { gone: [prompt, answer] });
    },
  },
  {
    name: 'repaired: a mark at the start of the file',
    since: '0.39.0',
    async run(kit) {
      const target = file(kit, kit.ids.cart);
      fs.writeFileSync(target, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), fs.readFileSync(target)]));
      await kit.isGone(kit.shop, kit.ids.cart);
      kit.does('repair', kit.ids.cart, '--yes');
      await kit.works(kit.shop, kit.ids.cart, texts('cart'));
    },
  },
  {
    name: 'repaired: the head is missing',
    core: true,
    since: '0.39.0',
    async run(kit) {
      const target = file(kit, kit.ids.cart);
      const [, ...lines] = fs.readFileSync(target, 'utf8').split('\n');
      fs.writeFileSync(target, lines.filter((line) => !line.includes('"sessionId"')).join('\n'));
      await kit.isGone(kit.shop, kit.ids.cart);
      kit.does('repair', target, '--yes');
      const rows = await kit.list(kit.shop);
      const back = rows.find(({ id }) => id.slice(0, 8) === kit.ids.cart.slice(0, 8));
      expect(back, `not listed: ${JSON.stringify(rows)}`);
      kit.holds(await kit.resume(kit.shop, back.id), texts('cart'));
    },
  },
  {
    name: 'repaired: a rewind to nowhere',
    since: '0.39.0',
    async run(kit) {
      fs.appendFileSync(file(kit, kit.ids.tax), '{"$rewindTo":"nowhere"}\n');
      kit.does('repair', kit.ids.tax, '--yes');
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
  {
    name: 'repaired: a conversation that lies buried under a list',
    since: '0.47.0',
    async run(kit) {
      const target = file(kit, kit.ids.cart);
      const [head, list] = fs.readFileSync(target, 'utf8').split('\n');
      expect(list.startsWith('{"$set":{"messages"'), 'the log does not begin with a list');
      // What a start in the same minute leaves: another header, and a list with only the context.
      fs.appendFileSync(target, `${head}\n${list}\n`);
      await kit.isGone(kit.shop, kit.ids.cart);
      kit.does('repair', kit.ids.cart, '--yes');
      await kit.works(kit.shop, kit.ids.cart, texts('cart'));
    },
  },
  {
    name: 'repaired: a call without its response',
    since: '0.39.0',
    async run(kit) {
      const target = file(kit, kit.ids.cart);
      const call = { id: 'read_file_1_0', name: 'read_file', args: { file_path: 'tax.js' }, status: 'success', timestamp: new Date().toISOString() };
      const message = { id: 'call-1', timestamp: call.timestamp, type: 'gemini', content: 'I look.', model: 'gemini-2.5-flash', toolCalls: [call] };
      fs.appendFileSync(target, `${JSON.stringify(message)}\n`);
      kit.does('repair', kit.ids.cart, '--yes');
      const body = await kit.resume(kit.shop, kit.ids.cart);
      kit.holds(body, [...texts('cart'), 'I look.']);
      expect(JSON.stringify(body.contents).includes('functionCall'), 'the call is not told');
    },
  },
  {
    name: 'repaired: a document that was cut short',
    core: true,
    async run(kit) {
      if (kit.since('0.39.0')) kit.does('convert', kit.ids.tax, '--to', 'json', '--yes');
      const target = file(kit, kit.ids.tax);
      const text = fs.readFileSync(target, 'utf8');
      fs.writeFileSync(target, text.slice(0, text.indexOf('And who calls it?') + 4));
      kit.does('repair', target, '--yes');
      await kit.works(kit.shop, kit.ids.tax, texts('tax').slice(0, 2));
    },
  },
  {
    name: 'recovered from the prompts that are left',
    core: true,
    async run(kit) {
      const target = file(kit, kit.ids.tax);
      const { slug } = kit.row(kit.ids.tax).project;
      const prompts = ['How is the tax computed?', 'And who calls it?'].map((message, messageId) => ({
        sessionId: kit.ids.tax, messageId, type: 'user', message, timestamp: new Date().toISOString(),
      }));
      fs.writeFileSync(path.join(kit.home, '.gemini', 'tmp', slug, 'logs.json'), JSON.stringify(prompts, null, 2));
      fs.rmSync(target);
      for (const other of kit.row(kit.ids.tax)?.files ?? []) fs.rmSync(other.path);
      const made = kit.does('recover', kit.ids.tax, '--yes', '--json').json;
      const id = made.sessions[0].id;
      // It is a log; older releases read documents only.
      if (!kit.since('0.39.0')) kit.does('convert', id, '--to', 'json', '--yes');
      await kit.works(kit.shop, id, prompts.map(({ message }) => message));
    },
  },
];
