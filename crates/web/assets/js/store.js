// What every page shares: the rows of all sessions, what runs, and what the server is.

import { useEffect, useState } from "../vendor/preact-htm.js";
import { get, splitKey } from "./api.js";

export const store = {
  /** Every session by key. */
  rows: new Map(),
  /** Whether the rows were loaded once. */
  isLoaded: false,
  /** Whether the rows come from memory while the disk is still being read. */
  isRemembered: false,
  /** What the server is: version, whether it changes anything, masks. */
  hello: null,
  /** The board: `recount.watch/1`. */
  board: null,
  /** Whether changes arrive: `live`, `connecting`, `off`. */
  connection: "connecting",
  /** Why the last question of the list failed. */
  error: null,
  /** Short messages at the foot. */
  notices: [],
  /** The title of the tab. */
  title: null,
  /** Sessions that the next start of their agent deletes; known when problems were looked at. */
  doomedCount: 0,
  /** Raised when rows, board or connection change. */
  version: 0,
  rowsVersion: 0,
};

const watchers = new Set();
let isPending = false;

/** Tells every view, at most once a frame. */
export function changed() {
  store.version += 1;
  if (isPending) return;
  isPending = true;
  queueMicrotask(() => {
    isPending = false;
    for (const watcher of watchers) watcher(store.version);
  });
}

/** Renders again whenever what is shared changes. */
export function useStore() {
  const [, set] = useState(0);
  useEffect(() => {
    watchers.add(set);
    set(store.version);
    return () => watchers.delete(set);
  }, []);
  return store;
}

const NOWHERE = { name: "?", path: null, state: "unknown" };

/** Adds what a row leaves out, so that views need not ask. */
function complete(row, projects) {
  const [source, id] = splitKey(row.key);
  const project = (row.project !== null && row.project !== undefined && projects[row.project]) || NOWHERE;
  return {
    calls: 0, failed: 0, undone: 0, tokens: 0, models: [], tags: [], problems: 0, title: "", cost: null,
    ...row, source, id, project, used: row.updated ?? row.started ?? 0,
  };
}

/** Replaces all rows. */
export async function loadRows() {
  try {
    const document = await get("/api/rows");
    const rows = new Map();
    for (const row of document.rows) rows.set(row.key, complete(row, document.projects));
    store.rows = rows;
    store.isLoaded = true;
    store.isRemembered = document.is_remembered === true;
    store.error = null;
  } catch (error) {
    store.error = error;
  }
  store.rowsVersion += 1;
  changed();
}

/** Changes some rows. */
export function patchRows({ rows = [], projects = [], gone = [] }) {
  for (const row of rows) store.rows.set(row.key, complete(row, projects));
  for (const key of gone) store.rows.delete(key);
  store.isRemembered = false;
  store.rowsVersion += 1;
  changed();
}

export async function loadHello() {
  store.hello = await get("/api/hello");
  changed();
}

/** Sets the title of the tab while a view is on the page. */
export function useTitle(title) {
  useEffect(() => {
    if (store.title === title) return;
    store.title = title;
    changed();
  }, [title]);
}

let noticeNumber = 0;

/** Shows a short message for some seconds. */
export function notify(text, kind = "info", action = null) {
  noticeNumber += 1;
  const notice = { number: noticeNumber, text, kind, action };
  store.notices = [...store.notices.slice(-3), notice];
  changed();
  setTimeout(() => dismiss(notice.number), kind === "error" ? 12_000 : 6_000);
}

export function dismiss(number) {
  const left = store.notices.filter((notice) => notice.number !== number);
  if (left.length === store.notices.length) return;
  store.notices = left;
  changed();
}

/** Copies text, and says so. */
export async function copy(text, what = "copied") {
  try {
    await navigator.clipboard.writeText(text);
    notify(`${what}: ${text.length > 120 ? `${text.slice(0, 120)}…` : text}`);
  } catch {
    notify(`the browser refused to copy: ${text}`, "error");
  }
}

/** Settings of this browser. */
export function setting(name, fallback) {
  try {
    return localStorage.getItem(`recount.${name}`) ?? fallback;
  } catch {
    return fallback;
  }
}

export function set(name, value) {
  try {
    if (value === null) localStorage.removeItem(`recount.${name}`);
    else localStorage.setItem(`recount.${name}`, value);
  } catch {
    // The setting lasts as long as the page.
  }
  changed();
}
