// Measures the web app in Chromium: first paint, lists, search, the largest session, scrolling, appended messages, memory.
// Usage: RECOUNT_BIN=… node bench/web.mjs [--home DIR] [--many DIR] [--huge DIR] [--runs N] [--only home] [--agentsview URL] [--agentsview-pid PID] [--json FILE]
// `--home` is read only. `--many` has 10,000 sessions, `--huge` a session of 300 MB; both are created when they do not exist.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../e2e/browser/watch.mjs";
import { append, program, recount, serve, sleep, writeHome } from "../e2e/browser/web/serve.mjs";

const words = process.argv.slice(2);
const option = (name, fallback) => { const at = words.indexOf(`--${name}`); return at < 0 ? fallback : words[at + 1]; };
if (!program) {
  console.error("RECOUNT_BIN must name the recount binary");
  process.exit(2);
}
const runs = Number(option("runs", "7"));
/** Words that synthetic homes have. */
const WORDS = ["graph", "queue", "schema", "buffer", "parser"];
const rows = [];
const middle = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
const worst = (values) => Math.max(...values);

function note(what, value, limit, unit = "ms") {
  rows.push({ what, value, limit, unit });
  console.log(`${what.padEnd(52)} ${String(value).padStart(9)} ${unit}${limit ? `   (limit ${limit})` : ""}`);
}

/** Notes when the first element of a selector is drawn: the frame after it is there. */
const watchFor = (page, selector) => page.addInitScript((wanted) => {
  const look = () => {
    if (!document.querySelector(wanted)) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.drawnAt ??= performance.now(); }));
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true });
}, selector);

/** Times of opening an address in a new tab of a browser that has been there before. */
async function opened(context, url, selector) {
  const page = await context.newPage();
  await watchFor(page, selector);
  await page.goto(url);
  await page.waitForFunction(() => window.drawnAt !== undefined, null, { timeout: 120_000 });
  const times = await page.evaluate(() => ({ drawn: window.drawnAt, paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null, bytes: performance.getEntriesByType("resource").reduce((sum, entry) => sum + entry.decodedBodySize, 0) }));
  return { page, ...times };
}

async function times(context, url, selector) {
  const found = [];
  for (let run = 0; run < runs; run += 1) {
    const { page, ...result } = await opened(context, url, selector);
    found.push(result);
    await page.close();
  }
  return { drawn: Math.round(middle(found.map(({ drawn }) => drawn))), paint: Math.round(middle(found.map(({ paint }) => paint ?? 0))), worst: Math.round(worst(found.map(({ drawn }) => drawn))) };
}

/** Frames a second while something is scrolled, and the longest frame. */
const scrolled = (page, selector) => page.evaluate(async (wanted) => {
  const box = document.querySelector(wanted);
  const frames = [];
  await new Promise((resolve) => {
    const begun = performance.now();
    let last = begun;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      box.scrollTop += 60;
      if (now - begun < 3000) requestAnimationFrame(step);
      else resolve();
    };
    requestAnimationFrame(step);
  });
  frames.shift();
  const sum = frames.reduce((total, frame) => total + frame, 0);
  return { rate: Math.round((1000 * frames.length) / sum), longest: Math.round(Math.max(...frames)) };
}, selector);

/** Megabytes of a tab: its script heap after a collection, and the private memory of its process. */
async function memory(context, page) {
  const tools = await context.newCDPSession(page);
  await tools.send("HeapProfiler.collectGarbage");
  const heap = (await tools.send("Runtime.getHeapUsage")).usedSize;
  return Math.round(heap / 1e5) / 10;
}

const rss = (pid) => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024);
const cpu = (pid) => { const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" "); return (Number(fields[11]) + Number(fields[12])) / 100; };

const folder = mkdtempSync(join(tmpdir(), "recount-bench-web-"));
const browser = await launch();
const size = (path) => readdirSync(path, { recursive: true }).map((name) => join(path, name)).filter((file) => statSync(file).isFile() && !/license-|versions\.txt/.test(file)).reduce((sum, file) => sum + statSync(file).size, 0);

/** The largest session of a home: its address. */
async function largest(context, server) {
  const page = await context.newPage();
  await page.goto(server.url);
  await page.waitForSelector(".list .row");
  const key = await page.evaluate(() => [...window.recount.store.rows.values()].sort((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0))[0].key);
  await page.close();
  return `${server.base}/s/${key.split("/").map(encodeURIComponent).join("/")}`;
}

async function typed(page, field, hit, text) {
  await page.locator(field).fill("");
  await sleep(300);
  await page.evaluate(([wanted, words]) => {
    window.drawnAt = undefined;
    const begun = performance.now();
    const observer = new MutationObserver(() => {
      if (![...document.querySelectorAll(wanted)].some((mark) => mark.textContent.toLowerCase().includes(words))) return;
      observer.disconnect();
      requestAnimationFrame(() => { window.drawnAt = performance.now() - begun; });
    });
    observer.observe(document, { childList: true, subtree: true, characterData: true });
  }, [hit, text]);
  await page.locator(field).fill(text);
  await page.waitForFunction(() => window.drawnAt !== undefined, null, { timeout: 60_000 });
  return page.evaluate(() => window.drawnAt);
}

async function recountOn(home, name, isWhole = true) {
  const server = await serve(folder, [home]);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await (await opened(context, server.url, ".list .row")).page.close();
  await sleep(1500);
  const list = await times(context, `${server.base}/sessions`, ".list .row");
  note(`${name}: first paint`, list.paint, 150);
  note(`${name}: rows of the list drawn (worst ${list.worst})`, list.drawn, 300);
  const { page } = await opened(context, `${server.base}/sessions`, ".list .row");
  await sleep(1000);
  const speed = await scrolled(page, ".list");
  note(`${name}: list, frames a second (longest ${speed.longest} ms)`, speed.rate, 55, "fps");
  note(`${name}: script heap of the tab`, await memory(context, page), 60, "MB");
  await page.close();
  if (isWhole) {
    const search = await context.newPage();
    await search.goto(`${server.base}/search`);
    await search.waitForSelector(".big-field");
    const found = [];
    for (const text of WORDS) found.push(await typed(search, ".big-field", ".hits mark", text).catch(() => NaN));
    note(`${name}: typed → hits drawn`, Math.round(middle(found.filter(Number.isFinite))), null);
    await search.close();
  }
  const address = await largest(context, server);
  const session = await times(context, address, "article.message");
  note(`${name}: largest session, first screen (worst ${session.worst})`, session.drawn, 400);
  const { page: reader } = await opened(context, address, "article.message");
  await sleep(1500);
  const reading = await scrolled(reader, ".reader-body .scroller");
  note(`${name}: transcript, frames a second (longest ${reading.longest} ms)`, reading.rate, 55, "fps");
  note(`${name}: script heap of the transcript`, await memory(context, reader), 60, "MB");
  note(`${name}: memory of the server`, rss(server.pid), 60, "MB");
  const before = cpu(server.pid);
  await sleep(10_000);
  note(`${name}: server, share of a core while idle`, Math.round(((cpu(server.pid) - before) / 10) * 1000) / 10, 0.2, "%");
  await context.close();
  await server.stop();
}

async function appended() {
  const home = join(folder, "growing");
  const id = "9a0b1c2d-1111-4222-8333-444455556666";
  const file = writeHome(home, id, 200, (at) => `message ${at}`);
  const server = await serve(folder, [home]);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(server.url);
  await page.waitForSelector(".connection.live");
  await page.goto(`${server.base}/s/gemini/${id}`);
  await page.waitForSelector("article.message");
  await page.waitForSelector(".connection.live");
  await page.keyboard.press("G");
  await sleep(1000);
  const found = [];
  for (let at = 0; at < 100; at += 1) {
    const text = `appended ${at} ${Math.random()}`;
    await page.evaluate((wanted) => {
      window.appeared = new Promise((resolve) => {
        const observer = new MutationObserver(() => {
          const last = [...document.querySelectorAll("article.message")].slice(-2);
          if (last.some((message) => message.textContent.includes(wanted))) { observer.disconnect(); requestAnimationFrame(() => resolve(Date.now())); }
        });
        observer.observe(document.querySelector(".transcript"), { childList: true, subtree: true, characterData: true });
      });
    }, text);
    const begun = Date.now();
    append(file, at, text);
    found.push((await page.evaluate(() => window.appeared)) - begun);
    await sleep(40 + Math.random() * 80);
  }
  found.sort((one, other) => one - other);
  note("appended → drawn, median", found[50], null);
  note("appended → drawn, p99", found[98], 100);
  await context.close();
  await server.stop();
}

/** The same questions to agentsview, which has read the same home: its start is not measured. */
async function agentsviewOn(url, home) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await (await opened(context, `${url}/sessions`, ".session-item")).page.close();
  const list = await times(context, `${url}/sessions`, ".session-item");
  note("agentsview: first paint", list.paint, null);
  note(`agentsview: rows of the list drawn (worst ${list.worst})`, list.drawn, null);
  const page = await context.newPage();
  await page.goto(`${url}/sessions`);
  await page.waitForSelector(".session-item");
  await page.keyboard.press("Control+k");
  await page.waitForSelector(".palette-input");
  const found = [];
  for (const text of WORDS) found.push(await typed(page, ".palette-input", ".palette-item mark", text).catch(() => NaN));
  note("agentsview: typed → hits drawn", Math.round(middle(found.filter(Number.isFinite))), null);
  note("agentsview: script heap of the tab", await memory(context, page), null, "MB");
  await page.close();
  const { files } = JSON.parse(readFileSync(join(home, "manifest.json"), "utf8"));
  const { sessionId } = files.filter(({ kind }) => kind === "main").sort((one, other) => other.bytes - one.bytes)[0];
  const session = await times(context, `${url}/sessions/gemini/${sessionId}`, ".message-body");
  note(`agentsview: largest session, first screen (worst ${session.worst})`, session.drawn, null);
  const pid = Number(option("agentsview-pid", "0"));
  if (pid) note("agentsview: memory of the server", rss(pid), null, "MB");
  await context.close();
}

const only = option("only", "");
try {
  note("files of the page", Math.round(size(join(dirname(fileURLToPath(import.meta.url)), "../crates/web/assets")) / 1000), 150, "KB");
  if (only !== "home") {
    const many = option("many", join(folder, "many"));
    if (!existsSync(many)) recount(folder, "testbed", "--sessions", "10000", "--megabytes", "60", many);
    await recountOn(many, "10,000 sessions", false);
    const huge = option("huge", join(folder, "huge"));
    if (!existsSync(huge)) writeHome(huge, "10ca1000-1111-4222-8333-444455556666", 50_000, (at) => `message ${at} ${"some words of it ".repeat(at % 2 === 0 ? 4 : 680)}`);
    await recountOn(huge, "300 MB, 50,000 messages", false);
    await appended();
  }
  const home = option("home", null);
  if (home) await recountOn(home, "home");
  const other = option("agentsview", null);
  if (home && other) await agentsviewOn(other, home);
  const file = option("json", null);
  if (file) writeFileSync(file, `${JSON.stringify(rows, null, 1)}\n`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
