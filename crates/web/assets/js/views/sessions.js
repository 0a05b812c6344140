// The list of sessions, with a preview of the selected one.

import { Component, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact-htm.js";
import { get, newest, sessionPath } from "../api.js";
import { Blocks } from "../blocks.js";
import { changeKeys } from "../changes.js";
import { ago, clock, line, many, moment, money, plural, tilde, whole } from "../format.js";
import { useKeys } from "../keys.js";
import { overlay } from "../overlays.js";
import { Agent, Failure, Hints, Loading, moves, State, useClock, VirtualList, WHO } from "../parts.js";
import { arrival, go, remember, remembered, sessionAddress, setParams } from "../router.js";
import { copy, loadRows, set, setting, store, useStore, useTitle } from "../store.js";
import { Filters, select } from "./filters.js";

const ROW = 54;

/** What deserves a look: state, doom, new messages, problems, undone turns. */
export function Notes({ row, state }) {
  return html`${state && html`<${State} state=${state.state} certain=${state.certain} />`}
    ${row.doomed && html`<span class="note doomed" title="The next start of its agent deletes it">⌖ doomed</span>`}
    ${row.new > 0 && html`<span class="note fresh" title="Messages since you read it to its end">${whole(row.new)} new</span>`}
    ${row.problems > 0 && html`<span class="note broken">${plural(row.problems, "problem")}</span>`}
    ${row.undone > 0 && html`<span class="note">${row.undone} undone</span>`}
    ${row.pinned && html`<span class="note">pinned</span>`}
    ${row.tags.map((tag) => html`<span key=${tag} class="tag">${line(tag)}</span>`)}`;
}

/** A row of the list; drawn again only when it changes. */
class Row extends Component {
  shouldComponentUpdate(next) {
    const { row, now, state, isMarked } = this.props;
    return next.row !== row || next.now !== now || next.state !== state || next.isMarked !== isMarked;
  }

  render({ row, now, state, isMarked }) {
    return html`<div class="line-1">${isMarked && html`<span class="marked" aria-label="marked">✓</span>`}
      <span class="title">${line(row.title) || html`<em>no title</em>`}</span>
      <span class="cost">${money(row.cost, row.cost_min)}</span></div>
    <div class="line-2"><${Agent} source=${row.source} /><span class="project">${line(row.project.name)}</span><span title=${moment(row.used)}>${ago(row.used, now)}</span>
      <span>${plural(row.prompts ?? 0, "prompt")}</span>${row.tokens > 0 && html`<span class="tokens">${many(row.tokens)}</span>`}<span class="space"></span><${Notes} row=${row} state=${state} /></div>`;
  }
}

export function Sessions({ route }) {
  const { rows, rowsVersion, isLoaded, isRemembered, error, board, total } = useStore();
  const { params } = route;
  const now = useClock(30);
  const field = useRef(null);
  const kept = arrival === "go" ? {} : remembered();
  const [selectedKey, setSelected] = useState(kept.selected ?? null);
  const [marked, setMarked] = useState(new Set());
  const rangeStart = useRef(null);
  const lastAt = useRef(0);
  const layout = setting("layout", "right");
  useTitle("Sessions");

  const query = JSON.stringify(params);
  const selection = useMemo(() => select(rows, params), [rowsVersion, query, (params.is ?? "").includes("live") && board]);
  const { shown } = selection;
  // The cursor stays on its session; if that is gone, on its place.
  const found = shown.findIndex(({ key }) => key === selectedKey);
  const at = found >= 0 ? found : shown.length === 0 ? -1 : Math.min(lastAt.current, shown.length - 1);
  lastAt.current = Math.max(at, 0);
  const row = shown[at] ?? null;
  const states = useMemo(() => new Map((board?.sessions ?? []).map((one) => [`${one.source}/${one.id}`, one])), [board]);

  const move = (index) => {
    lastAt.current = index;
    setSelected(shown[index]?.key ?? null);
    remember({ selected: shown[index]?.key });
  };
  const scrolled = useRef(0);
  const onScroll = (top) => {
    clearTimeout(scrolled.current);
    scrolled.current = setTimeout(() => remember({ scroll: top }), 150);
  };
  useEffect(() => () => clearTimeout(scrolled.current), []);
  const open = (index = at) => {
    const wanted = shown[index];
    if (!wanted) return;
    clearTimeout(scrolled.current);
    remember({ selected: wanted.key, scroll: document.querySelector(".list")?.scrollTop ?? 0 });
    go(sessionAddress(wanted.key));
  };
  const chosen = () => (marked.size > 0 ? shown.filter(({ key }) => marked.has(key)) : row ? [row] : []);
  const toggle = (name) => () => {
    const next = new Set(selection.open);
    if (!next.delete(name)) next.add(name);
    setParams({ show: [...next].join(",") || null }, { replace: true });
  };
  const mark = () => {
    if (!row) return;
    const next = new Set(marked);
    if (!next.delete(row.key)) next.add(row.key);
    setMarked(next);
    if (at + 1 < shown.length) move(at + 1);
  };
  const markRange = () => {
    if (rangeStart.current === null) {
      rangeStart.current = at;
      setMarked(new Set([...marked, row?.key].filter(Boolean)));
      return;
    }
    const [from, to] = [Math.min(rangeStart.current, at), Math.max(rangeStart.current, at)];
    rangeStart.current = null;
    setMarked(new Set([...marked, ...shown.slice(from, to + 1).map(({ key }) => key)]));
  };
  const back = () => {
    if (marked.size > 0) setMarked(new Set());
    else if (Object.keys(params).length > 0) go("/sessions");
  };
  const sorts = { used: "sort-used", started: "sort-started", cost: "sort-cost", tokens: "sort-tokens", size: "sort-size", prompts: "sort-prompts", project: "sort-project" };
  const cycle = { right: "below", below: "off", off: "right" };
  const scrollPreview = (step) => () => document.querySelector(".preview .scroller")?.scrollBy({ top: step * 240 });
  useKeys("Sessions", {
    ...moves(at, shown.length, move, Math.max(4, Math.floor(innerHeight / ROW) - 4)),
    ...changeKeys(chosen),
    ...Object.fromEntries(Object.entries(sorts).map(([sort, name]) => [name, () => setParams({ sort: sort === "used" ? null : sort })])),
    open: () => open(), in: () => open(), back, out: back,
    filter: () => field.current?.focus(),
    reverse: () => setParams({ order: params.order === "reverse" ? null : "reverse" }),
    everywhere: () => setParams({ project: params.project ? null : row?.project.name }),
    "fold-headless": toggle("headless"), "fold-subagents": toggle("subagents"), "fold-empty": toggle("empty"),
    mark, "mark-range": markRange,
    "mark-all": () => setMarked(marked.size === shown.length ? new Set() : new Set(shown.map(({ key }) => key))),
    "next-prompt": scrollPreview(1), "previous-prompt": scrollPreview(-1),
    info: () => row && overlay({ type: "facts", key: row.key }),
    layout: () => set("layout", cycle[layout]),
    "copy-id": () => row && copy(row.id, "id"), "copy-folder": () => row?.project.path && copy(row.project.path, "folder"),
    "copy-command": () => copy(commandLine(params), "command"),
  });

  if (error && !isLoaded) return html`<main class="empty"><${Failure} error=${error} onRetry=${loadRows} /></main>`;
  if (!isLoaded || (total !== null && shown.length === 0)) return html`<main><${Loading} what="sessions" /></main>`;
  return html`<main class=${`split preview-${layout}`} id="content">
    <section class="pane list-pane" aria-label="Sessions">
      <${Filters} rows=${rows} params=${params} selection=${selection} total=${total ?? rows.size} isPart=${total !== null} field=${field} />
      ${marked.size > 0 && html`<div class="marks" role="status">${plural(marked.size, "session")} marked <button class="quiet" onClick=${() => setMarked(new Set())}>clear</button></div>`}
      ${shown.length === 0 ? html`<${Nothing} isEmpty=${rows.size === 0} selection=${selection} />`
        : html`<${VirtualList} count=${shown.length} height=${ROW} at=${at} label="Sessions" scroll=${kept.scroll ?? 0} onScroll=${onScroll} keyOf=${(index) => shown[index].key}
          onMove=${(index) => { move(index); if (innerWidth < 720) open(index); }} onOpen=${open} controls="preview"
          draw=${(index) => html`<${Row} row=${shown[index]} now=${now} state=${states.get(shown[index].key)} isMarked=${marked.has(shown[index].key)} />`} />`}
      ${isRemembered && html`<p class="remembered" role="status">From the last visit; the disk is being read.</p>`}
    </section>
    ${layout !== "off" && html`<${Preview} row=${row} onOpen=${() => open()} />`}
    <${Hints} names=${["open", "filter", "mark", "resume", "delete", "move", "rename", "everywhere", "info", "undo", "palette", "help"]} />
  </main>`;
}

function Nothing({ isEmpty, selection }) {
  const folded = Object.values(selection.hidden).reduce((sum, number) => sum + number, 0);
  if (isEmpty) return html`<div class="empty"><p><strong>There are no sessions yet.</strong></p><p>recount looks where the agents that it reads keep theirs.</p></div>`;
  return html`<div class="empty"><p><strong>No session matches.</strong></p>${folded > 0 && html`<p>${plural(folded, "session")} folded away.</p>`}<p><a href="/sessions">Show all</a></p></div>`;
}

/** The same list in a terminal. */
export function commandLine(params) {
  const quote = (text) => (/^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const flags = ["project", "model", "since", "until", "tag", "sort"].filter((name) => params[name]).map((name) => `--${name} ${quote(params[name])}`);
  return ["recount", ...(params.source ? ["--source", quote(params.source)] : []), "list", ...(params.project ? [] : ["--all"]), ...flags].join(" ");
}

/** Previews that were shown, the latest last; moving back and forth asks nothing again. */
const known = new Map();
const KNOWN = 24;
const WAIT = 60;

/** The end of a conversation beside the list. */
function Preview({ row, onOpen }) {
  const [page, setPage] = useState(null);
  const [error, setError] = useState(null);
  const ask = useRef(null);
  ask.current ??= newest();
  const box = useRef(null);
  const key = row?.key;
  const stamp = row ? `${row.key} ${row.updated} ${row.messages}` : null;
  useEffect(() => {
    if (!key) {
      setPage(null);
      return undefined;
    }
    if (known.has(stamp)) {
      setPage({ key, ...known.get(stamp) });
      setError(null);
      return undefined;
    }
    const timer = setTimeout(async () => {
      const { answer, error: trouble } = await ask.current((signal) => get(`${sessionPath(key)}/messages`, { before: 1e12, count: 30, level: "actions" }, signal));
      if (answer) {
        known.delete(stamp);
        known.set(stamp, answer);
        if (known.size > KNOWN) known.delete(known.keys().next().value);
        setPage({ key, ...answer });
      }
      if (answer || trouble) setError(trouble ?? null);
    }, page === null ? 0 : WAIT);
    return () => clearTimeout(timer);
  }, [stamp]);
  useLayoutEffect(() => {
    if (page && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [page]);
  if (!row) return html`<aside class="pane preview" id="preview" aria-label="Preview"></aside>`;
  const state = (store.board?.sessions ?? []).find((one) => `${one.source}/${one.id}` === row.key);
  const isOld = page && page.key !== row.key;
  return html`<aside class="pane preview" id="preview" aria-label="Preview">
    <header class="head"><h2><a href=${sessionAddress(row.key)}>${line(row.title) || "no title"}</a></h2>
      <p class="facts-line"><${Agent} source=${row.source} /><span>${tilde(row.project.path ?? "folder unknown")}</span>${row.branch && html`<span>${line(row.branch)}</span>`}
        ${row.models.length > 0 && html`<span>${line(row.models.at(-1))}</span>`}<span>${many(row.tokens)} tokens</span><span>${money(row.cost, row.cost_min)}</span>
        <span>${plural(row.prompts ?? 0, "prompt")}</span><span>${ago(row.used)}</span>${state && html`<${State} state=${state.state} certain=${state.certain} />`}</p>
      <button class="primary" onClick=${onOpen}>Open <kbd>↵</kbd></button></header>
    <div class="scroller" ref=${box} tabindex="0" aria-label="End of the conversation">
      ${error && html`<${Failure} error=${error} />`}
      ${page && !error && html`<div class=${isOld ? "transcript small old" : "transcript small"}>${page.from > 0 && html`<p class="dim earlier">${plural(page.from, "earlier message")}</p>`}
        ${page.messages.map((message) => html`<article key=${message.key} class=${`message ${message.kind} ${message.fate === "kept" ? "" : "undone"}`}>
          <div class="who">${message.kind === "answer" ? line(message.model ?? "agent") : WHO[message.kind] ?? message.kind} <span class="dim">${clock(message.time)}</span>${message.fate !== "kept" && html` <span class="fate">${message.fate}</span>`}</div>
          <div class="body">${message.error ? html`<p class="notice-block error">${line(message.error)}</p>` : html`<${Blocks} message=${message} session=${row.key} />`}</div></article>`)}</div>`}
    </div></aside>`;
}
