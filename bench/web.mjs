// Measures the web app in Chromium: first paint, lists, search, the largest session, scrolling, appended messages, memory.
// Usage: RECOUNT_BIN=… node bench/web.mjs [--home DIR] [--many DIR] [--huge DIR] [--runs N] [--only many,huge,appended,home,agentsview] [--agentsview PROGRAM] [--json FILE]
// `--home` is read only. `--many` has 10,000 sessions, `--huge` a session of 300 MB; both are created when they do not exist.
// `--only` names the parts to measure, so that each needs a quiet machine for a minute or two only.
// `--agentsview` names its program: it reads the same home, answers the same questions, and a table compares both.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
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
/** Nanoseconds of CPU of each thread; the clock of `stat` ticks too slowly for an idle server. */
const cpu = (pid) => new Map(readdirSync(`/proc/${pid}/task`).map((thread) => [thread, Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0])]));
/** Percent of a core, of the threads that are still there. */
const share = (before, after, seconds) => Math.round([...after].reduce((sum, [thread, now]) => sum + now - (before.get(thread) ?? 0), 0) / seconds / 1e5) / 100;

const folder = mkdtempSync(join(tmpdir(), "recount-bench-web-"));
const browser = await launch();
const size = (path) => readdirSync(path, { recursive: true }).map((name) => join(path, name)).filter((file) => statSync(file).isFile() && !/license-|versions\.txt/.test(file)).reduce((sum, file) => sum + statSync(file).size, 0);

/** The largest session of a home: its address. */
async function largest(context, server) {
  const page = await context.newPage();
  await page.goto(server.url);
  // The newest rows come first: only all of them have the largest.
  await page.waitForFunction(() => window.recount?.store.isLoaded && window.recount.store.total === null);
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
  const { page: first } = await opened(context, server.url, ".list .row");
  await sleep(1500);
  const sent = await first.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/")).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0));
  note(`${name}: files of the page, as sent`, Math.round(sent / 1000), 150, "KB");
  await first.close();
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
  note(`${name}: server, share of a core while idle`, share(before, cpu(server.pid), 10), 0.2, "%");
  await context.close();
  await server.stop();
}

/** Milliseconds from an append to a session file until its text is drawn, in order; what is not drawn within half a minute is left out. */
async function appends(page, file, many, selector, rest) {
  const found = [];
  for (let at = 0; at < many; at += 1) {
    const text = `appended ${at} ${Math.random()}`;
    await page.evaluate(([wanted, messages]) => {
      window.appeared = new Promise((resolve) => {
        const look = () => {
          // A virtual list may have its newest element anywhere.
          const last = [...document.querySelectorAll(messages)].slice(-40);
          if (last.some((message) => message.textContent.includes(wanted))) { observer.disconnect(); requestAnimationFrame(() => resolve(Date.now())); }
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { childList: true, subtree: true, characterData: true });
        setTimeout(() => { observer.disconnect(); resolve(NaN); }, 30_000);
      });
    }, [text, selector]);
    const begun = Date.now();
    append(file, at, text);
    found.push((await page.evaluate(() => window.appeared)) - begun);
    await sleep(rest());
  }
  return found.filter(Number.isFinite).sort((one, other) => one - other);
}

const GROWING = "9a0b1c2d-1111-4222-8333-444455556666";
const short = () => 40 + Math.random() * 80;

/** Appends to a session while its end is on the page. */
async function appended(name, id, file, home, many, rest = short) {
  const server = await serve(folder, [home]);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(server.url);
  await page.waitForSelector(".connection.live");
  await page.goto(`${server.base}/s/gemini/${id}`);
  await page.waitForSelector("article.message");
  await page.waitForSelector(".connection.live");
  await page.keyboard.press("G");
  await sleep(1500);
  const found = await appends(page, file, many, "article.message", rest);
  note(`${name}: appended → drawn, median`, middle(found), null);
  note(`${name}: appended → drawn, p99 of ${found.length}`, found[Math.ceil(found.length * 0.99) - 1], 100);
  await context.close();
  await server.stop();
}

/** Appends to a small session. */
async function smallAppended() {
  const home = join(folder, "growing");
  const file = writeHome(home, GROWING, 200, (at) => `message ${at}`);
  await appended("200 messages", GROWING, file, home, 100);
}

/** Appends to a copy of a session of 300 MB. */
async function hugeAppended() {
  const home = join(folder, "growing-huge");
  const file = writeHome(home, HUGE, 50_000, hugeText);
  await appended("300 MB, 50,000 messages", HUGE, file, home, 20, () => 700 + Math.random() * 300);
  rmSync(home, { recursive: true, force: true });
}

const HUGE = "10ca1000-1111-4222-8333-444455556666";
const hugeText = (at) => `message ${at} ${"some words of it ".repeat(at % 2 === 0 ? 4 : 680)}`;

/** Starts agentsview on a home; returns when it has read everything. */
async function agentsview(program_, home, name) {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const child = spawn(program_, ["serve", "--no-browser", "--no-update-check", "--port", "0"], { env: { PATH: process.env.PATH, HOME: own, GEMINI_DIR: join(home, ".gemini"), TZ: "UTC" }, stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    const hear = (text) => {
      said += text;
      const found = /listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(said);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`agentsview ended with ${code}: ${said}`)));
  });
  const ended = new Promise((resolve) => { child.on("exit", resolve); });
  return { url, pid: child.pid, stop: async () => { child.kill("SIGTERM"); await ended; } };
}

/** The header of the largest log of a conversation below a home's Gemini CLI folder. */
function largestLog(home) {
  const below = join(home, ".gemini/tmp");
  const logs = readdirSync(below, { recursive: true }).filter((name) => /chats[/\\]session-[^/\\]*\.jsonl$/.test(name)).map((name) => join(below, name));
  const largest_ = logs.sort((one, other) => statSync(other).size - statSync(one).size)[0];
  return JSON.parse(readFileSync(largest_, "utf8").split("\n", 1)[0]);
}

/** How often a session that agentsview shows is appended to. */
const APPENDS = 3;

/** Appends to a small session that agentsview shows. */
async function agentsviewAppended(program_) {
  const home = join(folder, "growing-other");
  const file = writeHome(home, GROWING, 200, (at) => `message ${at}`);
  const server = await agentsview(program_, home, "agentsview-growing");
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${server.url}/sessions/gemini/${GROWING}`);
  await page.waitForSelector(".message-body");
  // It does not follow what is appended: its list is kept at the end.
  await page.evaluate(() => setInterval(() => {
    const list = document.querySelector(".message-list-scroll");
    if (list && list.scrollHeight - list.scrollTop - list.clientHeight > 4) list.scrollTop = list.scrollHeight;
  }, 50));
  await sleep(2000);
  const found = await appends(page, file, APPENDS, ".message-body", () => 3000);
  note(`agentsview: appended → drawn, median of ${found.length} shown of ${APPENDS}`, middle(found) ?? "> 30000", null);
  await context.close();
  await server.stop();
}

/** The same questions to agentsview, which has read the same home: its start is not measured. */
async function agentsviewOn({ url, pid }, home) {
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
  const { sessionId } = largestLog(home);
  const session = await times(context, `${url}/sessions/gemini/${sessionId}`, ".message-body");
  note(`agentsview: largest session, first screen (worst ${session.worst})`, session.drawn, null);
  note("agentsview: memory of the server", rss(pid), null, "MB");
  await context.close();
}

/** Prints what was measured of both, side by side. */
function table() {
  const value = (name, what) => { const row = rows.find((one) => one.what.startsWith(`${name}: ${what}`)); return row ? `${row.value} ${row.unit}` : "–"; };
  console.log("\n| | recount | agentsview |\n|---|---|---|");
  for (const what of ["first paint", "rows of the list drawn", "typed → hits drawn", "largest session, first screen", "script heap of the tab", "memory of the server"]) console.log(`| ${what} | ${value("home", what)} | ${value("agentsview", what)} |`);
  console.log(`| appended → drawn, median | ${value("200 messages", "appended → drawn, median")} | ${value("agentsview", "appended → drawn, median")} |`);
}

const only = option("only", "").split(",").filter(Boolean);
const isWanted = (part) => only.length === 0 || only.includes(part);
try {
  console.log(`load ${loadavg().map((load) => load.toFixed(2)).join(" ")} on ${cpus().length} cores`);
  note("files of the page", Math.round(size(join(dirname(fileURLToPath(import.meta.url)), "../crates/web/assets")) / 1000), 150, "KB");
  if (isWanted("many")) {
    const many = option("many", join(folder, "many"));
    if (!existsSync(many)) recount(folder, "testbed", "--sessions", "10000", "--megabytes", "60", many);
    await recountOn(many, "10,000 sessions", false);
  }
  if (isWanted("huge")) {
    const huge = option("huge", join(folder, "huge"));
    if (!existsSync(huge)) writeHome(huge, HUGE, 50_000, hugeText);
    await recountOn(huge, "300 MB, 50,000 messages", false);
  }
  if (isWanted("appended")) {
    await smallAppended();
    await hugeAppended();
  }
  const home = option("home", null);
  if (home && isWanted("home")) {
    // As agentsview, it has read the home before: the first search does not wait for an index.
    recount(folder, "--home", home, "index");
    await recountOn(home, "home");
  }
  const other = option("agentsview", null);
  if (home && other && isWanted("agentsview")) {
    const server = await agentsview(other, home, "agentsview");
    await agentsviewOn(server, home);
    await server.stop();
    await agentsviewAppended(other);
    table();
  }
  const file = option("json", null);
  if (file) writeFileSync(file, `${JSON.stringify(rows, null, 1)}\n`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
