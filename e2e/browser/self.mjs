// Checks the monitor itself: a page that was tampered with must be detected.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faint, misdeeds, open, overflow } from "./watch.mjs";
import { soon } from "./web/serve.mjs";

const RULES = /<meta http-equiv="Content-Security-Policy"[^>]*>/;

/** Opens a copy of a page with something put into it. */
async function tampered({ browser, files, folder }, change) {
  const page = change(readFileSync(files.story, "utf8"));
  const file = join(folder, "tampered.html");
  writeFileSync(file, page);
  return open(browser, file, { width: 390 });
}
const into = (markup) => (page) => page.replace('<main id="session" tabindex="-1">', (main) => main + markup);

export const checks = {
  async "a script, a handler, a request and a dialog are caught without the rules"(given) {
    const planted = into(`<script>pwned("script")</script><img src="https://example.invalid/x.png" onerror="pwned('handler')"><script>alert("dialog")</script>`);
    const page = await tampered(given, (text) => planted(text.replace(RULES, "")));
    await page.waitForFunction(() => window.reached.length === 2);
    const found = (await misdeeds(page)).join("\n");
    for (const word of ["planted: script", "planted: handler", "has onerror", "3 scripts", "an image from https://example.invalid/x.png", "asked for https://example.invalid", "asked dialog"]) {
      assert.ok(found.includes(word), `${word} in\n${found}`);
    }
  },

  async "the rules alone stop all of it, and the browser says so"(given) {
    const page = await tampered(given, into(`<script>pwned("script")</script><img src="https://example.invalid/x.png" onerror="pwned('handler')"><p style="color:red">x</p><form action="https://example.invalid"><button>x</button></form>`));
    const found = await soon(async () => {
      const said = (await misdeeds(page)).join("\n");
      for (const deed of ["Executing inline script", "Executing inline event handler", "Applying inline style", "Loading the image"]) {
        assert.ok(said.includes(`said ${deed}`), `${deed} is refused:\n${said}`);
      }
      return said;
    }, 60);
    assert.ok(!found.includes("planted"), found);
    assert.notEqual(await page.locator("p[style]").evaluate((p) => getComputedStyle(p).color), "rgb(255, 0, 0)");
  },

  async "what is too wide or too faint is seen"(given) {
    const loose = (text) => text.replace(RULES, "");
    const wide = await tampered(given, (text) => into(`<div style="width:2000px">x</div>`)(loose(text)));
    assert.ok((await overflow(wide)) > 1000);
    const pale = await tampered(given, (text) => into(`<p class="pale" style="color:#bbb">pale</p>`)(loose(text)));
    assert.equal((await faint(pale)).filter((found) => found.includes("pale")).length, 1);
  },
};
