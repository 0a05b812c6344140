// While the program uses a session, it is not changed, and nothing that it writes is lost.

import { expect, texts } from './kit.mjs';

export default [
  {
    name: 'left alone while the program is at work in it',
    async run(kit) {
      let release;
      const after = new Promise((resolve) => (release = resolve));
      const from = kit.server.requests.length;
      const working = kit.ask(kit.shop, ['--resume', kit.ids.tax, '-p', 'Take your time.'], [{ text: 'I take my time.', after }]);
      try {
        await kit.until(() => kit.server.requests.length > from);
        const refused = kit.recount('delete', kit.ids.tax, '--yes');
        expect(refused.code === 3, `a session in use was deleted: exit ${refused.code}: ${refused.stderr}`);
        expect(refused.stderr.includes('in use by process'), `the reason is not told: ${refused.stderr}`);
      } finally {
        release();
        await working;
      }
      await kit.works(kit.shop, kit.ids.tax, [...texts('tax'), 'Take your time.', 'I take my time.']);
    },
  },
];
