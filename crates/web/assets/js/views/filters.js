// Filters of the list: in the address, as chips, with counts of what each choice would leave.

import { html, useEffect, useRef, useState } from "../../vendor/preact-htm.js";
import { line, plural, whole } from "../format.js";
import { focusOn } from "../parts.js";
import { setParams } from "../router.js";
import { isOpen } from "../store.js";

const DAY = 86_400_000;
/** Values of a facet in the menu. */
const CHOICES = 10;
const SPANS = { today: 0, "24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY, "90d": 90 * DAY, "365d": 365 * DAY };
const SPAN_WORDS = { today: "today", "24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "a year" };

export const FLAGS = { live: "running", doomed: "lost at next start", pinned: "pinned", new: "with new messages", problems: "with problems", undone: "with undone turns", failed: "with failed calls" };

/** Filters with a value, in the order of the menu. */
const FACETS = {
  project: { word: "Project", of: (row) => [row.project.name] },
  source: { word: "Agent", of: (row) => [row.source] },
  model: { word: "Model", of: (row) => row.models },
  branch: { word: "Branch", of: (row) => (row.branch ? [row.branch] : []) },
  tag: { word: "Tag", of: (row) => row.tags },
};

export const SORTS = {
  used: ["newest", (row) => row.used], started: ["started", (row) => row.started ?? 0], cost: ["cost", (row) => row.cost ?? 0],
  tokens: ["tokens", (row) => row.tokens], size: ["size", (row) => row.bytes ?? 0], prompts: ["prompts", (row) => row.prompts ?? 0],
  project: ["project", (row) => row.project.name],
};

function since(value) {
  if (value in SPANS) return value === "today" ? new Date().setHours(0, 0, 0, 0) : Date.now() - SPANS[value];
  const time = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00` : value);
  return Number.isNaN(time) ? null : time;
}

const test = (name, value) => {
  const facet = FACETS[name];
  const wanted = value.toLowerCase();
  // Part of a model's name is enough; a project may also be given by its folder.
  if (name === "model") return (row) => row.models.some((model) => model.toLowerCase().includes(wanted));
  if (name === "project") return (row) => row.project.name === value || row.project.path === value;
  return (row) => facet.of(row).some((one) => one.toLowerCase() === wanted);
};

/** The tests of an address, by name. */
function tests(params) {
  const all = {};
  for (const name of Object.keys(FACETS)) if (params[name]) all[name] = test(name, params[name]);
  if (params.since) {
    const from = since(params.since);
    if (from !== null) all.since = (row) => row.used >= from;
  }
  if (params.until) {
    const to = since(params.until);
    if (to !== null) all.until = (row) => (row.started ?? row.used) < to + (params.until.length === 10 ? DAY : 0);
  }
  for (const flag of (params.is ?? "").split(",").filter(Boolean)) {
    if (flag === "live") all["is:live"] = (row) => isOpen(row.key);
    else if (flag in FLAGS) all[`is:${flag}`] = (row) => (typeof row[flag] === "number" ? row[flag] > 0 : row[flag] === true);
  }
  const words = (params.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length > 0) {
    all.q = (row) => {
      row.haystack ??= `${row.title ?? ""} ${row.project.name} ${row.branch ?? ""} ${row.id} ${row.tags.join(" ")}`.toLowerCase();
      return words.every((word) => row.haystack.includes(word));
    };
  }
  return all;
}

/** Rows of the list: what the filters leave, sorted; and how many are folded away. */
export function select(rows, params) {
  const open = new Set((params.show ?? "").split(",").filter(Boolean));
  const checks = Object.values(tests(params));
  const hidden = { headless: 0, subagents: 0, empty: 0 };
  const shown = [];
  for (const row of rows.values()) {
    if (!checks.every((check) => check(row))) continue;
    const fold = row.kind === "subagent" ? "subagents" : row.headless ? "headless" : row.empty ? "empty" : null;
    if (fold) {
      hidden[fold] += 1;
      if (!open.has(fold)) continue;
    }
    shown.push(row);
  }
  const [, key] = SORTS[params.sort] ?? SORTS.used;
  const sign = params.order === "reverse" ? -1 : 1;
  if (params.sort === "project") shown.sort((one, other) => sign * (key(one).localeCompare(key(other)) || other.used - one.used));
  else shown.sort((one, other) => sign * (key(other) - key(one)) || other.used - one.used);
  return { shown, hidden, open };
}

/** Counts of a facet's values, over what all other filters leave. */
function counts(rows, params, name) {
  const { [name]: _, ...others } = tests(params);
  const checks = Object.values(others);
  const found = new Map();
  for (const row of rows.values()) {
    if (!checks.every((check) => check(row))) continue;
    for (const value of FACETS[name].of(row)) found.set(value, (found.get(value) ?? 0) + 1);
  }
  return [...found].sort((one, other) => other[1] - one[1]).slice(0, CHOICES);
}

/** Chips, the menu of filters, counts and the order. */
export function Filters({ rows, params, selection, total, isPart, field }) {
  const { shown, hidden, open } = selection;
  const chips = [];
  for (const [name, { word }] of Object.entries(FACETS)) if (params[name]) chips.push([name, params[name], word]);
  if (params.since) chips.push(["since", SPAN_WORDS[params.since] ?? `since ${params.since}`, "Since"]);
  if (params.until) chips.push(["until", `until ${params.until}`, "Until"]);
  const flags = (params.is ?? "").split(",").filter((flag) => flag in FLAGS);
  const toggle = (name) => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    setParams({ show: [...next].join(",") || null }, { replace: true });
  };
  const words = { headless: "headless", subagents: "sub-agents", empty: "empty" };
  return html`<div class="filters" role="search">
    <div class="filter-row"><input class="filter-field" type="search" ref=${field} placeholder="Filter by title, project, id" aria-label="Filter sessions" value=${params.q ?? ""}
      onInput=${(event) => setParams({ q: event.target.value || null }, { replace: true })}
      onKeyDown=${(event) => { if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); focusOn(".list"); } }} />
    <${Menu} rows=${rows} params=${params} />
    <select aria-label="Order" value=${params.sort ?? "used"} onChange=${(event) => setParams({ sort: event.target.value === "used" ? null : event.target.value })}>
      ${Object.entries(SORTS).map(([name, [word]]) => html`<option key=${name} value=${name}>${word}</option>`)}</select></div>
    <div class="filter-row">${chips.map(([name, value, word]) => html`<button key=${name} class="chip" title=${`Remove: ${word}`} onClick=${() => setParams({ [name]: null })}>${line(value)}<span aria-label="remove"> ✕</span></button>`)}
    ${flags.map((flag) => html`<button key=${flag} class="chip" onClick=${() => setParams({ is: flags.filter((one) => one !== flag).join(",") || null })}>${FLAGS[flag]} ✕</button>`)}
    ${params.q && html`<a class="chip link" href=${`/search?q=${encodeURIComponent(params.q)}`}>search all text for “${line(params.q)}”</a>`}
    <span class="count" role="status">${isPart && total === 0 ? "…" : isPart || shown.length === total ? plural(total, "session") : `${whole(shown.length)} of ${plural(total, "session")}`}</span><span class="space"></span>
    ${Object.entries(hidden).filter(([, number]) => number > 0 && !isPart).map(([name, number]) => html`<button key=${name} class="quiet fold-button" aria-pressed=${open.has(name)} onClick=${() => toggle(name)}>${whole(number)} ${words[name]} ${open.has(name) ? "shown" : "folded"}</button>`)}</div>
  </div>`;
}

function Menu({ rows, params }) {
  const [isOpen, open] = useState(false);
  const box = useRef(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const outside = (event) => !box.current?.contains(event.target) && open(false);
    const escape = (event) => { if (event.key === "Escape") { event.preventDefault(); open(false); } };
    document.addEventListener("pointerdown", outside);
    addEventListener("keydown", escape, true);
    return () => {
      document.removeEventListener("pointerdown", outside);
      removeEventListener("keydown", escape, true);
    };
  }, [isOpen]);
  const pick = (changes) => { open(false); setParams(changes); };
  const flags = (params.is ?? "").split(",").filter(Boolean);
  return html`<div class="menu" ref=${box}><button class="chip add" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>+ filter</button>
    ${isOpen && html`<div class="panel">
      ${Object.entries(FACETS).map(([name, { word }]) => {
        const found = counts(rows, params, name);
        return found.length > 0 && html`<section key=${name}><h3>${word}</h3>${found.map(([value, number]) => html`<button key=${value} class="choice" aria-pressed=${params[name] === value} onClick=${() => pick({ [name]: value })}><span>${line(value)}</span><span class="dim">${whole(number)}</span></button>`)}</section>`;
      })}
      <section><h3>When</h3>${Object.entries(SPAN_WORDS).map(([value, word]) => html`<button key=${value} class="choice" aria-pressed=${params.since === value} onClick=${() => pick({ since: value })}>${word}</button>`)}</section>
      <section><h3>Only</h3>${Object.entries(FLAGS).map(([value, word]) => html`<button key=${value} class="choice" aria-pressed=${flags.includes(value)} onClick=${() => pick({ is: [...new Set([...flags, value])].join(",") })}>${word}</button>`)}</section>
    </div>`}</div>`;
}
