// Exports synthetic sessions as HTML, writes a report of them, and tests the pages in a browser. See ../README.md.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checks as ofPages } from "./page.mjs";
import { checks as ofReports } from "./report.mjs";
import { checks as ofTheWatch } from "./self.mjs";
import { checks as ofSites } from "./site.mjs";
import { launch } from "./watch.mjs";

const program = process.env.RECOUNT_BIN;
if (!program) {
  console.error("RECOUNT_BIN must name the recount binary");
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "recount-browser-"));
const [demo, site, report] = [join(folder, "demo"), join(folder, "site"), join(folder, "report.html")];
const fixture = (name) => join(dirname(fileURLToPath(import.meta.url)), `../../fixtures/gemini/checkpoints/${name}/home`);

function recount(...parameters) {
  const env = { PATH: process.env.PATH, HOME: folder, RECOUNT_DATA_DIR: join(folder, "data") };
  const done = spawnSync(program, parameters, { encoding: "utf8", env });
  if (done.status !== 0) throw new Error(`recount ${parameters.join(" ")}: ${done.stderr || done.error}`);
}

function prepare() {
  recount("testbed", "--demo", demo);
  recount("--home", demo, "--home", fixture("markup"), "--home", fixture("image"), "export", "--all", "--format", "html", "-o", site);
  // Of one agent: the page names the costliest sessions, and the planted title must be among them.
  recount("--home", demo, "--home", fixture("markup"), "stats", "--all", "--source", "gemini", "--utc", "--html", report);
  const all = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html") && name !== "index.html");
  const named = (part) => {
    const found = all.filter((name) => name.includes(part));
    if (found.length !== 1) throw new Error(`${found.length} pages are called ${part}`);
    return join(site, found[0]);
  };
  return {
    index: join(site, "index.html"),
    all: all.map((name) => join(site, name)),
    story: named("add-a-quantity-discount"),
    planted: named("bad0c0de"),
    image: named("5d934256"),
    report,
  };
}

let [passed, failed] = [0, 0];
let browser;
try {
  const files = prepare();
  browser = await launch();
  for (const [what, checks] of Object.entries({ page: ofPages, site: ofSites, report: ofReports, watch: ofTheWatch })) {
    for (const [name, check] of Object.entries(checks)) {
      if (process.argv[2] && !`${what}: ${name}`.includes(process.argv[2])) continue;
      try {
        await check({ browser, files, folder });
        passed += 1;
        console.log(`ok    ${what}: ${name}`);
      } catch (error) {
        failed += 1;
        console.log(`FAIL  ${what}: ${name}\n${error.stack}`);
      }
      for (const context of browser.contexts()) await context.close();
    }
  }
} catch (error) {
  console.error(`the test could not run: ${error.message}`);
  process.exitCode = 2;
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0) process.exitCode ||= 1;
