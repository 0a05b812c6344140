// `recount resume` from anywhere: the program runs in the project's folder, continues the session, and leaves nothing
// that would make it delete conversations.

import fs from 'node:fs';
import path from 'node:path';

import { expect, texts } from './kit.mjs';

/** Puts the release where the shell finds it. */
function installed(kit) {
  const bin = path.join(kit.work, 'bin');
  fs.mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec '${process.execPath}' '${kit.agentHome.script}' "$@"\n`;
  fs.writeFileSync(path.join(bin, 'gemini'), script, { mode: 0o755 });
  return bin;
}

export default [
  {
    name: 'resumed from another folder, twice, and nothing is deleted',
    async run(kit) {
      const bin = installed(kit);
      kit.retention(true);
      for (const prompt of ['Is that all?', 'And now?']) {
        const { code, stderr, requests } = await kit.resumed(bin, kit.ids.tax, ['-p', prompt], [{ text: 'That is all.' }]);
        expect(code === 0, `recount resume ended with ${code}: ${stderr}`);
        expect(requests.length > 0, 'the model was not asked');
        kit.holds(requests[0], texts('tax'), { prompt });
      }
      // Starts under other ids, which would delete conversations beside leftovers.
      await kit.ask(kit.shop, ['-p', 'Hello?'], [{ text: 'Hello.' }]);
      await kit.works(kit.shop, kit.ids.tax, texts('tax'));
    },
  },
];
