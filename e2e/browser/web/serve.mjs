// Starts `recount serve` on synthetic homes, and opens its pages in a browser that records what they do.

import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, closeSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const program = process.env.RECOUNT_BIN;
export const sleep = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });
const fixtures = join(dirname(fileURLToPath(import.meta.url)), "../../../fixtures/gemini/checkpoints");
export const fixture = (name) => join(fixtures, name, "home");

const environment = (folder) => ({ PATH: process.env.PATH, HOME: folder, RECOUNT_DATA_DIR: join(folder, "data"), TZ: "UTC" });
/** Servers of different homes have different data: copies of a home have the same sessions. */
const dataOf = (folder, home) => ({ RECOUNT_DATA_DIR: join(folder, `data${home.replaceAll("/", "-")}`) });

export function recount(folder, ...parameters) {
  const done = spawnSync(program, parameters, { encoding: "utf8", env: environment(folder), maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`recount ${parameters.join(" ")}: ${done.stderr || done.error}`);
  return done.stdout;
}

/** Servers that run. One that a failed check has left behind would keep this process from ending. */
const running = new Set();

/** Ends all servers but one. */
export function endServers(but) {
  for (const child of running) if (child.pid !== but?.pid) child.kill("SIGKILL");
}

/** Rejects if something takes longer than a number of seconds. */
export async function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what}: not within ${seconds} s`)), seconds * 1000); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Repeats a check until nothing in it fails; after a number of seconds, its last error is thrown. */
export async function soon(check, seconds = 30) {
  for (const end = Date.now() + seconds * 1000; ; await sleep(50)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Starts a server; `stop` ends it. */
export async function serve(folder, homes, flags = [], variables = {}) {
  const child = spawn(program, [...homes.flatMap((home) => ["--home", home]), "serve", ...(flags.includes("--port") ? [] : ["--port", "0"]), ...flags], { env: { ...environment(folder), ...dataOf(folder, homes[0]), ...variables }, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.on("exit", () => running.delete(child));
  let said = "";
  child.stderr.on("data", (text) => { said += text; });
  const address = await new Promise((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (text) => {
      printed += text;
      const found = /(http:\/\/127\.0\.0\.1:(\d+))\/#k=([0-9a-f]+)/.exec(printed);
      if (found) resolve({ base: found[1], port: Number(found[2]), token: found[3] });
    });
    child.on("exit", (code) => reject(new Error(`recount serve ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`recount serve printed no address: ${said}`)), 60_000).unref();
  });
  const ended = new Promise((resolve) => { child.on("exit", resolve); });
  return {
    ...address,
    pid: child.pid,
    url: `${address.base}/#k=${address.token}`,
    stop: async () => {
      child.kill("SIGTERM");
      await within(60, "recount serve ends after SIGTERM", ended);
    },
  };
}

const allowed = /^(application\/javascript|text\/|image\/|application\/json|application\/x-ndjson)/;

/** Opens a tab in a context; what it does wrong is in `page.wrong`. */
export async function tab(context, server, path = "/sessions") {
  const page = await context.newPage();
  page.wrong = [];
  page.asked = [];
  page.on("request", (request) => {
    const url = request.url();
    page.asked.push(url);
    if (!url.startsWith(server.base) && !url.startsWith("blob:")) page.wrong.push(`asked for ${url}`);
  });
  page.on("response", (response) => {
    const kind = response.headers()["content-type"] ?? "";
    if (response.ok() && kind && !allowed.test(kind)) page.wrong.push(`got ${kind}`);
  });
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) page.wrong.push(`said ${message.text()}`); });
  page.on("pageerror", (error) => page.wrong.push(`threw ${error.message}`));
  page.on("dialog", async (dialog) => { page.wrong.push(`asked ${dialog.message()}`); await dialog.dismiss(); });
  await page.addInitScript(() => {
    window.reached = [];
    window.pwned = (place) => window.reached.push(place);
  });
  await page.goto(server.url);
  await page.waitForSelector(".list .row, .empty");
  if (path !== "/sessions") await page.goto(server.base + path);
  await started(page);
  return page;
}

/** Waits until a page has loaded all rows: the first ones are drawn before that. */
export const started = (page) => page.waitForFunction(() => window.recount);

/** Waits by a page's own clock: what it does sooner is done then, however busy the machine is. */
export const pause = (page, milliseconds) => page.evaluate((span) => new Promise((resolve) => {
  setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(resolve)), span);
}), milliseconds);

/** Where the top of an element is, once it has stayed there for ten frames. */
export const rests = (page, selector) => page.evaluate(async (wanted) => {
  let [top, frames] = [null, 0];
  while (frames < 10) {
    await new Promise(requestAnimationFrame);
    const now = document.querySelector(wanted)?.getBoundingClientRect().top ?? null;
    [top, frames] = now !== null && now === top ? [top, frames + 1] : [now, 0];
  }
  return top;
}, selector);

export async function context(browser, options = {}) {
  const { width = 1280, height = 800, ...others } = options;
  const all = await browser.newContext({ viewport: { width, height }, colorScheme: "light", reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"], ...others });
  all.setDefaultTimeout(60_000);
  return all;
}

/** What a page did and must not have done. */
export async function misdeeds(page) {
  const inside = await page.evaluate(() => [
    ...(window.reached ?? []).map((place) => `ran what was planted: ${place}`),
    ...[...document.querySelectorAll("*")].flatMap((element) => [...element.attributes].filter(({ name }) => name.startsWith("on")).map(({ name }) => `has ${name} on ${element.tagName}`)),
    ...[...document.scripts].filter(({ src }) => !src.startsWith(location.origin)).map(() => "has a script of its own"),
    ...[...document.querySelectorAll("style, iframe, object, embed")].map(({ tagName }) => `has ${tagName}`),
    ...[...document.images].filter(({ src }) => !src.startsWith("blob:") && !src.startsWith(location.origin)).map(({ src }) => `has an image from ${src}`),
    ...[...document.links].filter(({ protocol }) => !["http:", "https:"].includes(protocol)).map(({ href }) => `has a link to ${href}`),
  ]);
  return [...inside, ...page.wrong];
}

const stamp = (start, at) => new Date(start + at * 1000).toISOString();

/** Lines of a Gemini CLI session: prompts and answers in turn. `text(at)` is the text of a message. */
export function* lines(id, count, text, start = Date.parse("2026-03-01T08:00:00Z")) {
  yield `${JSON.stringify({ sessionId: id, projectHash: "0".repeat(64), startTime: stamp(start, 0), lastUpdated: stamp(start, count), kind: "main" })}\n`;
  for (let at = 0; at < count; at += 1) yield `${JSON.stringify(record(id, at, text(at), start))}\n`;
}

/** One record of such a session. */
export function record(id, at, text, start = Date.parse("2026-03-01T08:00:00Z")) {
  const own = `${String(at).padStart(8, "0")}-${id.slice(9)}`;
  if (at % 2 === 0) return { id: own, timestamp: stamp(start, at), type: "user", content: [{ text }] };
  return { id: own, timestamp: stamp(start, at), type: "gemini", content: text, model: "gemini-3.5-flash", tokens: { input: 900, output: 100, cached: 0, thoughts: 0, tool: 0, total: 1000 } };
}

/** Writes a home with one session; returns its file. */
export function writeHome(home, id, count, text) {
  const folder = join(home, ".gemini/tmp/long/chats");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, ".gemini/tmp/long/.project_root"), "/home/dev/code/long");
  const file = join(folder, `session-2026-03-01T08-00-${id.slice(0, 8)}.jsonl`);
  const out = openSync(file, "w");
  let held = "";
  for (const row of lines(id, count, text)) {
    held += row;
    if (held.length > 1 << 20) {
      writeSync(out, held);
      held = "";
    }
  }
  writeSync(out, held);
  closeSync(out);
  return file;
}

/** The file of a session of a home, by the start of its id. */
export function sessionFile(home, id) {
  const found = readdirSync(join(home, ".gemini/tmp"), { recursive: true }).find((name) => name.endsWith(`-${id}.jsonl`));
  if (!found) throw new Error(`${home} has no session ${id}`);
  return join(home, ".gemini/tmp", found);
}

/** Appends a message to a session of Gemini CLI. */
export function append(file, at, text) {
  appendFileSync(file, `${JSON.stringify({ id: `append-${at}-${Date.now()}`, timestamp: new Date().toISOString(), type: at % 2 === 0 ? "user" : "gemini", content: at % 2 === 0 ? [{ text }] : text, ...(at % 2 === 0 ? {} : { model: "gemini-3.5-flash" }) })}\n`);
}
