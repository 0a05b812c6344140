// Tests `recount serve` in a real browser. See ../../README.md.
// Usage: RECOUNT_BIN=… node e2e/browser/web/run.mjs [--quick] [--slack N] [PART OF A NAME]

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../watch.mjs";
import { checks as ofChanges } from "./live.mjs";
import { checks as ofPages } from "./pages.mjs";
import { endServers, fixture, program, recount, serve, within } from "./serve.mjs";
import { checks as ofTypes } from "./types.mjs";

if (!program) {
  console.error("RECOUNT_BIN must name the recount binary");
  process.exit(2);
}
const words = process.argv.slice(2);
const quick = words.includes("--quick");
const slackAt = words.indexOf("--slack");
const slack = slackAt >= 0 ? Number(words[slackAt + 1]) : 1;
const wanted = words.filter((word, at) => !word.startsWith("--") && (slackAt < 0 || at !== slackAt + 1)).join(" ");
const limit = (quick ? 120 : 600) * slack; // seconds for a check

/** Waits for what ends something. If it fails, that is a failed check, but all others are ended, too. */
async function ended(what, promise) {
  try {
    await within(90, what, promise);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${what}\n${error.stack}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "recount-web-"));
const demo = join(folder, "demo");
let [passed, failed] = [0, 0];
let [browser, server] = [null, null];
try {
  recount(folder, "testbed", "--demo", demo);
  server = await serve(folder, [demo, fixture("markup"), fixture("image")]);
  browser = await launch();
  for (const [what, checks] of Object.entries({ types: ofTypes, pages: ofPages, live: ofChanges })) {
    for (const [name, check] of Object.entries(checks)) {
      if (wanted && !`${what}: ${name}`.includes(wanted)) continue;
      try {
        await within(limit, "the check ends", check({ browser, server, folder, demo, quick, slack, say: (text) => console.log(`      ${text}`) }));
        passed += 1;
        console.log(`ok    ${what}: ${name}`);
      } catch (error) {
        failed += 1;
        console.log(`FAIL  ${what}: ${name}\n${error.stack}`);
        for (const open of browser.contexts()) await ended("a page closes", open.close());
        endServers(server);
      }
    }
  }
} finally {
  if (browser) await ended("the browser closes", browser.close());
  if (server) await ended("the server stops", server.stop());
  endServers();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`web: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
