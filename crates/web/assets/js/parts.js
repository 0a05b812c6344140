// Parts of every page: the bar, hints, notices, states, and lists with one cursor.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";
import { line } from "./format.js";
import { available, keyLabel } from "./keys.js";
import { address } from "./router.js";
import { dismiss, store, useStore } from "./store.js";

export const STATES = {
  approve: ["!", "waits for your permission"], yours: ["›", "your turn"], tool: ["▶", "runs a tool"], working: ["●", "works"],
  idle: ["·", "idle"], done: ["✓", "done"], failed: ["✗", "failed"], gone: ["○", "its process is gone"],
};

const TABS = [
  ["sessions", "Sessions"], ["search", "Search"], ["live", "Live"], ["projects", "Projects"], ["stats", "Stats"],
  ["problems", "Problems"], ["history", "History"],
];
/** Who says a message of a kind. */
export const WHO = { prompt: "you", answer: "agent", context: "context", hook: "hook", "tool-result": "result", shell: "shell", notice: "notice", summary: "summary", nudge: "nudge" };

export const TAB_NAMES = TABS.map(([page]) => page);

/** Moves the focus to the first element of a selector. */
export const focusOn = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus();

/** How many sessions need a person. */
export const needsYou = (board) => (board?.sessions ?? []).filter(({ state }) => state === "approve" || state === "yours").length;

/** The bar at the top. */
export function Bar({ page, onHelp, onPalette }) {
  const { board, connection, hello } = useStore();
  const need = needsYou(board);
  const doomed = store.doomedCount ?? 0;
  const badge = { live: need, problems: doomed };
  const tabs = useRef(null);
  // On a phone not all tabs fit.
  useLayoutEffect(() => { if (innerWidth < 720) tabs.current?.querySelector("[aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" }); }, [page]);
  return html`<header class="bar">
    <a class="brand" href="/sessions"><span class="mark" aria-hidden="true"></span>recount</a>
    <nav ref=${tabs} aria-label="Pages">${TABS.map(([name, label], at) => html`<a key=${name} href=${`/${name}`} title=${`${label} (${at + 1})`}
      aria-current=${page === name || (page === "transcript" && name === "sessions") ? "page" : undefined}>${label}${badge[name] > 0 &&
      html`<span class=${`badge ${name === "live" ? "alert" : ""}`}>${badge[name]}</span>`}</a>`)}</nav>
    <span class="space"></span>
    ${hello?.is_demo && html`<span class="tag">demo data</span>`}
    ${hello?.changes && html`<span class="tag warn" title="This page may change session files; every change shows its plan first">changes on</span>`}
    ${(hello?.mask ?? []).length > 0 && html`<span class="tag">masked</span>`}
    <${Connection} state=${connection} />
    <button class="quiet" onClick=${onPalette} title="Every action by name (:)" aria-label="Actions">⌘</button>
    <button class="quiet" onClick=${onHelp} title="Keys of this page (?)" aria-label="Help">?</button>
  </header>`;
}

function Connection({ state }) {
  const words = { live: "live", connecting: "connecting", off: "not live", paused: "paused" };
  return html`<span class=${`connection ${state}`} role="status" title=${state === "off" ? "The server does not answer; trying again" : "Changes appear by themselves"}>
    <span class="dot" aria-hidden="true"></span>${words[state] ?? state}</span>`;
}

/** Messages at the foot. */
export function Notices({ onOpen }) {
  const { notices } = useStore();
  return html`<div class="toasts" aria-live="polite">${notices.map(({ number, text, kind, action }) => html`<div key=${number} class=${`toast ${kind}`}>
    <span>${line(text)}</span>
    ${action && html`<button onClick=${() => { onOpen(action); dismiss(number); }}>${action.label}</button>`}
    <button class="quiet" aria-label="Dismiss" onClick=${() => dismiss(number)}>✕</button></div>`)}</div>`;
}

/** The keys in force, at the foot. */
export function Hints({ names }) {
  const rows = available();
  const wanted = names.map((name) => rows.find((row) => row.name === name)).filter(Boolean);
  return html`<footer class="hints" aria-hidden="true">${wanted.map((row) => html`<span key=${row.name}><kbd>${keyLabel(row.keys[0] ?? "")}</kbd>${SHORT[row.name] ?? row.name}</span>`)}</footer>`;
}

const SHORT = {
  open: "open", resume: "resume", filter: "filter", delete: "delete", move: "move", rename: "rename", "copy-command": "copy command",
  everywhere: "project only", "next-prompt": "next prompt", "find-next": "next match", less: "less", more: "more", view: "strict/full",
  prompts: "prompts", follow: "follow", help: "keys", palette: "actions", back: "back", undo: "undo", apply: "fix", by: "by", earlier: "earlier",
  later: "later", info: "facts", "needs-me": "needs me", "fold-headless": "headless", mark: "mark", export: "export", fork: "fork", tag: "tag", pin: "pin",
};

/** The sign of a live state. */
export function State({ state, certain = true, short = false }) {
  const [sign, words] = STATES[state] ?? ["·", state];
  return html`<span class=${`state ${state}`} title=${words}><span aria-hidden="true">${sign}</span>${short ? html`<span class="unseen">${words}</span>` : html` ${state}${certain ? "" : "?"}`}</span>`;
}

/** The letter of an agent. */
export const Agent = ({ source }) => html`<span class=${`agent ${source}`} title=${source}>${source}</span>`;

/** An error in place of what could not be shown. */
export function Failure({ error, onRetry }) {
  return html`<div class="empty" role="alert"><p><strong>${line(error.message)}</strong></p>${error.hint && html`<p>${line(error.hint)}</p>`}
    ${onRetry && html`<p><button onClick=${onRetry}>Try again</button></p>`}</div>`;
}

/** Shown only when something takes long enough to be noticed. */
export function Loading({ what }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="empty" role="status">${isLate && `Reading ${what}…`}</div>`;
}

/** A link that looks like text, to sessions with a filter. */
export const Filtered = ({ params, children }) => html`<a class="plain" href=${address("/sessions", params)}>${children}</a>`;

/** The time, again every `seconds`, while something on the page counts. */
export function useClock(seconds, isOn = true) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => document.visibilityState === "visible" && set(Date.now()), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds, isOn]);
  return now;
}

/** Rows drawn beyond what is in view, at each side. */
const MORE = 8;
/** Rows that are scrolled before the list is drawn again. */
const STEP = 4;

/**
 * The list. `count` rows of `height` pixels; `draw(index, isSelected)` returns the content of one; `at` is the selected index.
 * `onMove(index)` and `onOpen(index)` are called by mouse; keys are handled by the page through `moves`.
 */
export function VirtualList({ count, height, draw, keyOf, at, onMove, onOpen, label, scroll = 0, onScroll, className = "", controls }) {
  const box = useRef(null);
  const [top, setTop] = useState(scroll);
  // At first the largest that it can be. The observer tells its size before the first frame, without another layout.
  const [size, setSize] = useState(innerHeight);
  const wanted = useRef(scroll);

  useLayoutEffect(() => {
    const element = box.current;
    const observer = new ResizeObserver(() => setSize(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // The place of an earlier visit, as soon as there are rows to scroll over.
  useLayoutEffect(() => {
    if (wanted.current > 0 && count * height > wanted.current) {
      box.current.scrollTop = wanted.current;
      wanted.current = 0;
    }
  }, [count]);

  const shown = useRef(at);
  useLayoutEffect(() => {
    const element = box.current;
    if (shown.current === at || at < 0) return;
    shown.current = at;
    const [from, to] = [at * height, (at + 1) * height];
    if (from < element.scrollTop) element.scrollTop = from;
    else if (to > element.scrollTop + element.clientHeight) element.scrollTop = to - element.clientHeight;
  }, [at]);

  const first = Math.max(0, Math.floor(top / height) - MORE);
  const last = Math.min(count, Math.ceil((top + size) / height) + STEP + MORE);
  const rows = [];
  for (let index = first; index < last; index += 1) {
    const isSelected = index === at;
    rows.push(html`<div key=${keyOf(index)} id=${`row-${index}`} role="option" aria-selected=${isSelected} aria-posinset=${index + 1} aria-setsize=${count}
      class=${isSelected ? "row selected" : "row"} style=${{ transform: `translateY(${index * height}px)`, height: `${height}px` }}
      onClick=${() => onMove(index)} onDblClick=${() => onOpen(index)}>${draw(index, isSelected)}</div>`);
  }
  const scrolled = (event) => {
    // Rows beyond the view allow for some steps without drawing.
    setTop(Math.floor(event.currentTarget.scrollTop / (height * STEP)) * height * STEP);
    onScroll?.(event.currentTarget.scrollTop);
  };
  return html`<div class=${`list ${className}`} ref=${box} role="listbox" tabindex="0" aria-label=${label} aria-controls=${controls}
    aria-activedescendant=${at >= first && at < last ? `row-${at}` : undefined} onScroll=${scrolled}>
    <div class="rows" role="presentation" style=${{ height: `${count * height}px` }}>${rows}</div>
  </div>`;
}

/** Handlers of the keys that move the cursor of a list. */
export function moves(at, count, move, page = 12) {
  const to = (index) => count > 0 && move(Math.max(0, Math.min(count - 1, index)));
  return {
    down: () => to(at + 1),
    up: () => to(at - 1),
    "half-page-down": () => to(at + Math.ceil(page / 2)),
    "half-page-up": () => to(at - Math.ceil(page / 2)),
    "page-down": () => to(at + page),
    "page-up": () => to(at - page),
    first: () => to(0),
    last: () => to(count - 1),
  };
}

/** A table whose rows are few: all are drawn. `at` is the selected row, which is kept in view. */
export function useRowInView(at) {
  const body = useRef(null);
  useEffect(() => {
    body.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return body;
}
