// Deleted sessions are gone for the program, do not reappear by themselves, and can be restored.

import fs from 'node:fs';
import path from 'node:path';

import { changes, expect, texts } from './kit.mjs';

export default [
  {
    name: 'deleted, and restored',
    core: true,
    async run(kit) {
      const listed = await kit.list(kit.shop);
      const before = kit.tree();
      kit.does('delete', kit.ids.tax, '--yes');
      await kit.isGone(kit.shop, kit.ids.tax);
      expect((await kit.list(kit.shop)).some((row) => row.id === kit.ids.cart), 'another session is gone too');
      kit.does('restore', kit.ids.tax, '--yes');
      const changed = changes(before, kit.tree()).filter((name) => name.includes(kit.ids.tax.slice(0, 8)));
      expect(changed.length === 0, `not as they were: ${changed.join(', ')}`);
      expect(JSON.stringify(await kit.list(kit.shop)) === JSON.stringify(listed), 'the list is not what it was');
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
  {
    name: 'deleted with its copy in a folder of older releases, and not brought back by migration',
    async run(kit) {
      // A home that came from an older release: the same folder under its hash.
      const { slug } = kit.row(kit.ids.tax).project;
      const tmp = path.join(kit.home, '.gemini', 'tmp');
      const hashed = path.join(tmp, kit.agentHome.hash);
      fs.cpSync(path.join(tmp, slug, 'chats'), path.join(hashed, 'chats'), { recursive: true });
      kit.does('delete', kit.ids.tax, '--yes');
      // An empty folder is what lets the program copy the old one again.
      fs.rmSync(path.join(tmp, slug), { recursive: true });
      fs.mkdirSync(path.join(tmp, slug));
      fs.writeFileSync(path.join(tmp, slug, '.project_root'), kit.shop);
      const rows = await kit.list(kit.shop);
      expect(rows.some((row) => row.id === kit.ids.cart), 'the old folder was not taken over');
      expect(!rows.some((row) => row.id === kit.ids.tax), 'the deleted session is back');
    },
  },
];
