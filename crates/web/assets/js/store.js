// What every page shares: the rows of all sessions, what runs, and what the server is.

import { useEffect, useState } from "../vendor/preact-htm.js";
import { get, splitKey } from "./api.js";
import { FIRST_ROWS } from "./early.js";

export const store = {
  /** Every session by key. */
  rows: new Map(),
  /** Whether rows were loaded. */
  isLoaded: false,
  /** The number of the snapshot that the rows are from; 0 if they come from memory. */
  number: 0,
  /** While only the newest rows are there: how many there are in all, 0 if that is not known yet. */
  total: null,
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
    calls: 0, failed: 0, undone: 0, tokens: 0, models: [], tags: [], problems: 0, new: 0, title: "", cost: null,
    ...row, source, id, project, used: row.updated ?? row.started ?? 0,
  };
}

/** Changes that came while rows were asked for: the answer may be older. */
let [loading, missed] = [0, []];
/** The number of the newest snapshot, as the server said when its stream began. */
let newest = 0;

/** Replaces all rows, and returns whether they are those of the last visit. */
async function replaceRows(params) {
  let isRemembered = false;
  loading += 1;
  try {
    const document = await get("/api/rows", params);
    const rows = new Map();
    for (const row of document.rows) rows.set(row.key, complete(row, document.projects));
    store.rows = rows;
    store.isLoaded = true;
    store.number = document.number;
    store.total = document.is_part ? (document.total ?? 0) : null;
    isRemembered = document.is_remembered === true;
    store.isRemembered = isRemembered;
    store.error = null;
    for (const change of missed.splice(0)) if (!(change.number <= document.number)) patchRows(change);
  } catch (error) {
    store.error = error;
  }
  loading -= 1;
  if (loading === 0) missed = [];
  store.rowsVersion += 1;
  changed();
  return isRemembered;
}

/** Replaces all rows: by those of the last visit if the disk is not read yet, and then by those on disk. */
export async function loadRows() {
  if (await replaceRows({}) || store.number < newest) await replaceRows({ fresh: 1 });
}

/** A stream of events begins behind a snapshot. No event tells how older rows differ from it. */
export function setNewest(number) {
  newest = number ?? 0;
  if (loading === 0 && store.isLoaded && store.number < newest) loadRows();
}

/** When what was asked for first is on the page, or that takes too long. */
export let firstShown = () => {};
const isShown = new Promise((resolve) => { firstShown = () => resolve(true); });
/** When what was rendered is on the screen. */
export const drawn = () => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve, 0)); setTimeout(resolve, 400); });
const PATIENCE = 3_000;

/** Loads rows when the page opens: the newest first if those fill the screen, after the transcript if one is shown. */
export async function loadFirstRows(page, isFewEnough) {
  if (page === "transcript") {
    await Promise.race([isShown, new Promise((resolve) => { setTimeout(resolve, PATIENCE); })]);
    await drawn();
  }
  if (isFewEnough) {
    const isRemembered = await replaceRows({ first: FIRST_ROWS });
    if (store.isLoaded && store.total === null && !isRemembered && store.number >= newest) return;
    await drawn();
  }
  await loadRows();
}

/** Whether an agent has a session open now. */
export const isOpen = (key) => (store.board?.sessions ?? []).some((one) => `${one.source}/${one.id}` === key && !["done", "failed", "gone"].includes(one.state));

/** Changes some rows. */
export function patchRows(change) {
  const { rows = [], projects = [], gone = [] } = change;
  store.number = Math.max(store.number, change.number ?? 0);
  if (loading > 0) missed.push(change);
  for (const row of rows) store.rows.set(row.key, complete(row, projects));
  for (const key of gone) store.rows.delete(key);
  store.isRemembered = false;
  store.rowsVersion += 1;
  changed();
}

/** A session was read to its end, when it had this number of messages. */
export function setRead({ key, messages }) {
  const row = store.rows.get(key);
  if (!row) return;
  store.rows.set(key, { ...row, new: Math.max(0, (row.messages ?? 0) - messages) });
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
