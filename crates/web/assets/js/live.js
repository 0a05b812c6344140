// Changes as they happen. One tab of the browser reads the stream (it holds a lock); it passes events on to the others.

import { ask } from "./api.js";
import { changed, loadRows, notify, patchRows, setNewest, setRead, setting, store } from "./store.js";

const LOCK = "recount.stream";
const CHANNEL = "recount.events";
/** Hidden for this long, a tab gives the stream up. */
const HIDDEN = 5 * 60_000;
/** Without any byte for this long, the stream is dead: the server sends a comment every 15 s. */
const SILENT = 40_000;
const [FIRST_WAIT, LAST_WAIT] = [1_000, 30_000];

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(CHANNEL) : null;
const listeners = new Map();
let isLeader = false;
/** The number of the last event, in every tab: whichever takes over goes on from there. */
let after = null;
let stop = null;
let hiddenTimer = null;

/** Calls `listener` for events of a type; returns how to stop. */
export function on(type, listener) {
  if (!listeners.has(type)) listeners.set(type, new Set());
  listeners.get(type).add(listener);
  return () => listeners.get(type).delete(listener);
}

/** For tests and figures: whether this tab reads the stream. */
export const leads = () => isLeader;

function setConnection(state) {
  if (store.connection === state) return;
  store.connection = state;
  changed();
}

/** Applies an event, from the stream or from the tab that reads it. */
function receive(type, data) {
  switch (type) {
    case "hello":
      setConnection("live");
      store.board = data.live ?? store.board;
      changed();
      if (!data.isResumed) setNewest(data.number);
      break;
    case "rows":
      patchRows(data);
      break;
    case "read":
      setRead(data);
      break;
    case "live":
      store.board = data;
      changed();
      break;
    case "reset":
      loadRows();
      break;
    case "problem":
      notify(data.message ?? "the server reports a problem", "warning");
      break;
    case "alarm":
      if (isLeader) raise(data);
      break;
    case "state":
      setConnection(data);
      return;
    default:
      break;
  }
  for (const listener of listeners.get(type) ?? []) listener(data);
}

/** Shows a notification of the browser, if that was asked for. */
function raise({ key, title, text }) {
  notify(`${title ?? ""} ${text ?? ""}`.trim(), "warning", key ? { label: "open", to: key } : null);
  if (setting("notify", "off") !== "on" || globalThis.Notification?.permission !== "granted") return;
  const note = new Notification(title ?? "recount", { body: text ?? "", tag: key ?? "recount", icon: "/assets/icon.svg" });
  note.onclick = () => focus();
}

function pass(type, data) {
  channel?.postMessage({ type, data, after });
  receive(type, data);
}

/** Splits a stream of bytes into events. */
export function eventParser(onEvent) {
  let [text, id, type, data] = ["", null, "message", []];
  return (chunk) => {
    text += chunk;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      const line = text.slice(0, end).replace(/\r$/, "");
      text = text.slice(end + 1);
      if (line === "") {
        if (data.length > 0) onEvent({ id, type, data: data.join("\n") });
        [type, data] = ["message", []];
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "data") data.push(value);
      else if (name === "event") type = value;
      else if (name === "id") id = value;
    }
  };
}

async function readStream(signal, alive) {
  const isResumed = after !== null;
  const response = await ask("/api/watch", { params: { after }, signal });
  alive();
  const parse = eventParser((event) => {
    if (event.id !== null) after = event.id;
    let data;
    try {
      data = JSON.parse(event.data);
    } catch {
      return;
    }
    pass(event.type, event.type === "hello" ? { ...data, isResumed } : data);
  });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    parse(decoder.decode(value, { stream: true }));
  }
}

/** Reads the stream again and again, with growing pauses, until told to stop. */
async function lead(signal) {
  let wait = FIRST_WAIT;
  let wasLive = false;
  while (!signal.aborted) {
    const once = new AbortController();
    const quit = () => once.abort();
    signal.addEventListener("abort", quit);
    let dog = setTimeout(quit, SILENT);
    const alive = () => {
      clearTimeout(dog);
      dog = setTimeout(quit, SILENT);
      if (wait !== FIRST_WAIT || !wasLive) {
        // What changed while nobody read is not known otherwise.
        if (wasLive) loadRows();
        [wait, wasLive] = [FIRST_WAIT, true];
        pass("state", "live");
      }
    };
    try {
      await readStream(once.signal, alive);
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        pass("state", "off");
        return;
      }
      // Everything else is tried again.
    }
    clearTimeout(dog);
    signal.removeEventListener("abort", quit);
    if (signal.aborted) break;
    pass("state", "off");
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, wait);
      const now = () => { clearTimeout(timer); resolve(); };
      signal.addEventListener("abort", now, { once: true });
      addEventListener("online", now, { once: true });
    });
    wait = Math.min(wait * 2 + 1, LAST_WAIT);
  }
}

function begin() {
  if (stop) return;
  const own = new AbortController();
  stop = own;
  const run = async () => {
    if (own.signal.aborted) return;
    isLeader = true;
    await lead(own.signal);
    isLeader = false;
  };
  if (navigator.locks) navigator.locks.request(LOCK, { signal: own.signal }, run).catch(() => {});
  else run();
  // A tab that comes later asks how things are.
  channel?.postMessage({ type: "ask" });
}

function end() {
  stop?.abort();
  stop = null;
  setConnection("paused");
}

function visibility() {
  clearTimeout(hiddenTimer);
  if (document.visibilityState === "hidden") {
    hiddenTimer = setTimeout(end, HIDDEN);
    return;
  }
  if (!stop) {
    setConnection("connecting");
    loadRows();
    begin();
  }
}

/** Starts to follow changes. */
export function startLive() {
  channel?.addEventListener("message", ({ data: { type, data, after: number, rows } }) => {
    if (type === "ask") {
      if (isLeader) {
        channel.postMessage({ type: "state", data: store.connection, after, rows: store.number });
        if (store.board) channel.postMessage({ type: "live", data: store.board, after });
      }
    } else if (!isLeader && stop) {
      after = number ?? after;
      receive(type, data);
      // Changes may have been passed on after this tab asked for its rows and before it listened.
      if (rows) setNewest(rows);
    }
  });
  document.addEventListener("visibilitychange", visibility);
  begin();
  if (document.visibilityState === "hidden") visibility();
}

/** Asks for permission to show notifications. */
export async function allowNotifications() {
  if (!("Notification" in globalThis)) return false;
  return (await Notification.requestPermission()) === "granted";
}
