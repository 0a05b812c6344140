// Sessions that were renamed, moved, relocated, forked and merged, as seen by the program.

import fs from 'node:fs';
import path from 'node:path';

import { expect, texts } from './kit.mjs';

const ids = (rows) => rows.map((row) => row.id);

/** A new folder below the home in which the program was never used. */
function folder(kit, name) {
  const made = path.join(kit.home, 'code', name);
  fs.mkdirSync(made, { recursive: true });
  return made;
}

/** Undoes the last change, after which the list must be what it was. */
async function undone(kit, project, before) {
  kit.does('undo', '--yes');
  const now = await kit.list(project);
  expect(JSON.stringify(now) === JSON.stringify(before), `the list is not what it was: ${JSON.stringify(now)}`);
}

export default [
  {
    name: 'renamed, and the title taken away again',
    core: true,
    async run(kit) {
      const before = await kit.list(kit.shop);
      kit.does('rename', kit.ids.tax, 'Taxes', '--yes');
      await undone(kit, kit.shop, before);
      kit.does('rename', kit.ids.tax, 'Steuern zählen', '--yes');
      const row = (await kit.list(kit.shop)).find(({ id }) => id === kit.ids.tax);
      expect(row?.title === 'Steuern zählen', `listed as ${row?.title}`);
      await kit.works(kit.shop, kit.ids.tax, texts('tax'), { title: 'Steuern' });
      kit.does('rename', kit.ids.tax, '--clear', '--yes');
      await kit.works(kit.shop, kit.ids.tax, texts('tax'), { title: 'How is the tax computed?' });
    },
  },
  {
    name: 'renamed although its last line is torn',
    since: '0.39.0',
    async run(kit) {
      const file = kit.row(kit.ids.tax).files.find(({ role }) => role === 'main').path;
      fs.appendFileSync(file, '{"id":"torn","type":"us');
      kit.does('rename', kit.ids.tax, 'Torn', '--yes');
      await kit.works(kit.shop, kit.ids.tax, texts('tax'), { title: 'Torn' });
      // What the program writes next is not appended to the fragment.
      await kit.works(kit.shop, kit.ids.tax, [...texts('tax'), 'Is that all?', 'That is all.']);
    },
  },
  {
    name: 'moved to a project that the program knows, and back',
    core: true,
    async run(kit) {
      const before = await kit.list(kit.shop);
      kit.does('move', kit.ids.tax, '--to', kit.store, '--yes');
      await kit.isGone(kit.shop, kit.ids.tax);
      await undone(kit, kit.shop, before);
      kit.does('move', kit.ids.tax, '--to', kit.store, '--yes');
      expect(ids(await kit.list(kit.store)).includes(kit.ids.shelf), 'the session that was there is gone');
      await kit.works(kit.store, kit.ids.tax, texts('tax'));
      await kit.works(kit.shop, kit.ids.cart, texts('cart'));
    },
  },
  {
    name: 'moved to a project in which the program was never used',
    async run(kit) {
      const fresh = folder(kit, 'My Shop 2');
      kit.does('move', kit.ids.tax, '--to', fresh, '--yes');
      await kit.isGone(kit.shop, kit.ids.tax);
      await kit.works(fresh, kit.ids.tax, texts('tax'));
      await kit.works(kit.shop, kit.ids.cart, texts('cart'));
    },
  },
  {
    name: 'moved beside a session whose file would have the same end of its name',
    since: '0.41.0',
    async run(kit) {
      const [first, second] = ['aaaaaaaa-1111-4111-8111-111111111111', 'aaaaaaaa-2222-4222-8222-222222222222'];
      const replies = [{ text: 'There are twelve plums.' }];
      await kit.ask(kit.shop, ['--session-id', first, '-p', 'Count the plums.'], replies);
      await kit.ask(kit.store, ['--session-id', second, '-p', 'Count the plums.'], replies);
      kit.does('move', first, '--to', kit.store, '--yes');
      await kit.ask(kit.store, ['--delete-session', second]);
      await kit.isGone(kit.store, second);
      await kit.works(kit.store, first, ['Count the plums.', 'There are twelve plums.']);
    },
  },
  {
    name: 'a folder that was renamed keeps its sessions',
    core: true,
    async run(kit) {
      const place = path.join(kit.home, 'code', 'market');
      fs.renameSync(kit.shop, place);
      kit.does('relocate', kit.shop, place, '--yes');
      await kit.works(place, kit.ids.tax, texts('tax'));
      await kit.works(place, kit.ids.cart, texts('cart'));
      await kit.works(kit.store, kit.ids.shelf, texts('shelf'));
    },
  },
  {
    name: 'a folder in which the program was used already takes over the sessions of another',
    async run(kit) {
      fs.rmSync(kit.shop, { recursive: true });
      kit.does('relocate', kit.shop, kit.store, '--yes');
      await kit.works(kit.store, kit.ids.tax, texts('tax'));
      await kit.works(kit.store, kit.ids.cart, texts('cart'));
      await kit.works(kit.store, kit.ids.shelf, texts('shelf'));
    },
  },
  {
    name: 'a project of an older release, known by a hash, keeps its sessions in another folder',
    async run(kit) {
      const tmp = path.join(kit.home, '.gemini', 'tmp');
      const { slug } = kit.row(kit.ids.tax).project;
      fs.renameSync(path.join(tmp, slug), path.join(tmp, kit.agentHome.hash));
      fs.rmSync(path.join(tmp, kit.agentHome.hash, '.project_root'), { force: true });
      fs.rmSync(path.join(kit.home, '.gemini', 'history', slug), { recursive: true, force: true });
      const register = path.join(kit.home, '.gemini', 'projects.json');
      const known = JSON.parse(fs.readFileSync(register, 'utf8'));
      delete known.projects[kit.shop];
      fs.writeFileSync(register, JSON.stringify(known, null, 2));
      const place = path.join(kit.home, 'code', 'market');
      fs.renameSync(kit.shop, place);
      kit.does('relocate', kit.shop, place, '--yes');
      await kit.works(place, kit.ids.tax, texts('tax'));
      await kit.works(place, kit.ids.cart, texts('cart'));
    },
  },
  {
    name: 'forked, as far as it was wanted',
    core: true,
    async run(kit) {
      const made = kit.does('fork', kit.ids.tax, '--at', '1', '--title', 'Another way', '--yes', '--json').json;
      const forked = made.sessions.map(({ id }) => id).find((id) => id !== kit.ids.tax);
      const [first, ...later] = [texts('tax').slice(0, 2), ...texts('tax').slice(2)];
      await kit.works(kit.shop, forked, first, { title: 'Another way', gone: later });
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
  {
    name: 'forked into another project',
    async run(kit) {
      const made = kit.does('fork', kit.ids.tax, '--to', kit.store, '--yes', '--json').json;
      const forked = made.sessions.map(({ id }) => id).find((id) => id !== kit.ids.tax);
      await kit.works(kit.store, forked, texts('tax'), { title: '(fork)' });
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
  {
    name: 'merged: one after the other',
    core: true,
    async run(kit) {
      const made = kit.does('merge', kit.ids.cart, kit.ids.tax, '--title', 'Both', '--yes', '--json').json;
      const known = [kit.ids.cart, kit.ids.tax];
      const merged = made.sessions.map(({ id }) => id).find((id) => !known.includes(id));
      const rows = ids(await kit.list(kit.shop));
      expect(!rows.some((id) => known.includes(id)), 'what it was made of is still listed');
      const body = await kit.resume(kit.shop, merged);
      kit.holds(body, texts('tax'));
      kit.holds(body, texts('cart'));
    },
  },
];
