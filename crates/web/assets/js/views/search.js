// Full-text search over all sessions, as one types.

import { html, useEffect, useRef, useState } from "../../vendor/preact-htm.js";
import { get, newest } from "../api.js";
import { ago, clock, leaf, line, plural, safe, whole } from "../format.js";
import { useKeys } from "../keys.js";
import { overlay } from "../overlays.js";
import { Agent, focusOn, Hints, moves, VirtualList } from "../parts.js";
import { arrival, go, remember, remembered, sessionAddress, setParams } from "../router.js";
import { copy, drawn, useTitle } from "../store.js";

/** While one types, a question waits for as long as the last one took, but no longer than this. */
const WAIT = 70;
/** Hits of a first screen: each is read from its file. */
const FIRST = 20;
const LIMIT = 200;
const ROW = 76;
/** Letters before the first match on a narrow screen. */
const LEAD = 16;
const FIELDS = ["prompt", "answer", "thought", "tool", "output", "context", "title"];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A snippet with its matches marked. Offsets count bytes of UTF-8. */
function Snippet({ text, highlights }) {
  const all = encoder.encode(text);
  const cut = (from, to) => safe(decoder.decode(all.subarray(from, to)).replace(/\s+/g, " "));
  const parts = [];
  let place = 0;
  for (const [from, to] of highlights ?? []) {
    if (from < place || to > all.length) continue;
    const before = cut(place, from);
    // On a phone the match would be behind the end of the line.
    parts.push(place === 0 && innerWidth < 720 && before.length > LEAD ? `…${before.slice(-LEAD)}` : before, html`<mark key=${from}>${cut(from, to)}</mark>`);
    place = to;
  }
  return html`<span class="snippet">${parts}${cut(place, all.length)}</span>`;
}

/** The message of a hit in its session. */
const hitAddress = ({ session, message_id: id }, query) => sessionAddress(`${session.source}/${session.id}`, { find: plain(query) }, id ? `m-${id}` : "");

/** A query without its fields, to find again in the transcript. */
const plain = (query) => (/[:"()~*]| (AND|OR|NOT) /.test(query) || query.trim().includes(" ") ? null : query.trim());

/** The last word with a star, if it may be the start of one. */
const unfinished = (query) => { const word = /(?:^|\s)([\p{L}\p{N}]{2,})$/u.exec(query)?.[1]; return word && !["AND", "OR", "NOT"].includes(word) ? `${word}*` : null; };
const isPoor = ({ total, relaxed }) => total === 0 || relaxed;

const hitKey = ({ session, message_id: id, field, snippet }) => [session.source, session.id, id, field, snippet].join("\n");

/** All hits, those that are shown first: what is read does not move. */
function behind(shown, all) {
  const known = new Set(shown.map(hitKey));
  return [...shown, ...all.filter((hit) => !known.has(hitKey(hit)))];
}

export function Search({ route }) {
  const { params } = route;
  const narrowed = (words) => [words, params.in && `in:${params.in}`, params.project && `project:${/\s/.test(params.project) ? `"${params.project}"` : params.project}`].filter(Boolean).join(" ");
  const query = narrowed(params.q ?? "");
  const [result, setResult] = useState(null);
  const [error, setError] = useState(null);
  const [took, setTook] = useState(null);
  const kept = arrival === "go" ? {} : remembered();
  const [at, setAt] = useState(kept.at ?? 0);
  const field = useRef(null);
  const ask = useRef(null);
  ask.current ??= newest();
  const isFirst = useRef(true);
  const lastTook = useRef(0);
  useTitle(params.q ? `${line(params.q)} · Search` : "Search");

  useEffect(() => {
    if ((params.q ?? "").trim() === "") {
      ask.current(async () => null);
      setResult(null);
      setError(null);
      return undefined;
    }
    let isOld = false;
    const find = (words, limit) => ask.current((signal) => get("/api/search", { q: narrowed(words), limit, sort: params.sort, "all-hits": params.all ? 1 : null }, signal));
    const timer = setTimeout(async () => {
      const begun = performance.now();
      // A cursor that is kept may be on a later hit.
      const limit = isFirst.current && kept.at >= FIRST ? LIMIT : FIRST;
      let words = params.q;
      let { answer, error: trouble } = await find(words, limit);
      const begin = unfinished(words);
      if (answer && isPoor(answer) && begin && !isOld) {
        const { answer: better, stale } = await find(`${words}*`, limit);
        if (stale) return;
        if (better && !isPoor(better)) [answer, words] = [{ ...better, begin }, `${words}*`];
      }
      if (answer) {
        setResult(answer);
        lastTook.current = performance.now() - begun;
        setTook(lastTook.current);
        if (!isFirst.current) setAt(0);
        isFirst.current = false;
      }
      // A query that is not understood keeps the last hits.
      if (answer || trouble) setError(trouble ?? null);
      if (isOld || !answer || limit === LIMIT || answer.hits.length < limit) return;
      await drawn();
      if (isOld) return;
      const { answer: more } = await find(words, LIMIT);
      if (more) setResult({ ...more, begin: answer.begin, hits: behind(answer.hits, more.hits) });
    }, isFirst.current ? 0 : Math.min(WAIT, lastTook.current));
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [query, params.sort, params.all]);
  useEffect(() => { if (!params.q) field.current?.focus(); }, []);

  // An empty field has no hits, also while the last ones are still there.
  const hits = params.q ? (result?.hits ?? []) : [];
  const hit = hits[at];
  const move = (index) => { setAt(index); remember({ at: index }); };
  const open = (index = at) => hits[index] && go(hitAddress(hits[index], params.q));
  const back = () => (params.q ? setParams({ q: null }) : go("/sessions"));
  useKeys("Search", {
    ...moves(at, hits.length, move, Math.max(3, Math.floor(innerHeight / ROW) - 3)),
    open: () => open(), in: () => open(), back, out: back,
    filter: () => { field.current?.focus(); field.current?.select(); },
    everywhere: () => setParams({ project: params.project || !hit ? null : leaf(hit.session.project?.path) }),
    info: () => hit && overlay({ type: "facts", key: `${hit.session.source}/${hit.session.id}` }),
    "copy-id": () => hit && copy(hit.session.id, "id"),
    "copy-command": () => copy(`recount search '${query.replaceAll("'", "'\\''")}'`, "command"),
  });
  const press = (event) => {
    if (["Enter", "ArrowDown"].includes(event.key) && hits.length > 0) {
      event.preventDefault();
      if (event.key === "Enter") open();
      else focusOn(".list");
    }
  };
  return html`<main class="search" id="content">
    <div class="search-head" role="search"><input type="search" ref=${field} class="big-field" value=${params.q ?? ""} placeholder="Search every prompt, answer, thought and tool call" aria-label="Search" spellcheck="false"
        onInput=${(event) => setParams({ q: event.target.value || null }, { replace: true })} onKeyDown=${press} />
      <div class="search-options"><div class="segments" role="group" aria-label="Where">${[null, ...FIELDS].map((name) => html`<button key=${name ?? "all"} aria-pressed=${(params.in ?? null) === name} onClick=${() => setParams({ in: name }, { replace: true })}>${name ?? "everything"}</button>`)}</div>
        ${params.project && html`<button class="chip" onClick=${() => setParams({ project: null })}>${line(params.project)} ✕</button>`}
        <label><input type="checkbox" checked=${params.all === "1"} onChange=${(event) => setParams({ all: event.target.checked ? "1" : null }, { replace: true })} /> every hit of a session</label>
        <select aria-label="Order" value=${params.sort ?? "relevance"} onChange=${(event) => setParams({ sort: event.target.value === "relevance" ? null : event.target.value })}><option value="relevance">best first</option><option value="time">newest first</option></select>
        <span class="space"></span>
        <span class="count" role="status">${result && `${result.begin ? `${line(result.begin)} ` : ""}${result.is_exact === false ? "about " : ""}${plural(result.total, "hit")} in ${plural(result.sessions, "session")}${took === null ? "" : ` · ${whole(Math.round(took))} ms`}`}</span></div>
      ${error && html`<p class="query-error" role="alert">${line(error.message)}${error.hint && html` <span class="dim">${line(error.hint)}</span>`}</p>`}
      ${result?.relaxed && html`<p class="dim">Nothing has all of these words; these have some of them.</p>`}
      ${(result?.notes ?? []).map(({ code, text }) => html`<p key=${code} class="dim">${line(text)}</p>`)}</div>
    ${params.q && result && hits.length === 0 && !error && html`<div class="empty"><p><strong>Nothing found.</strong></p><p>${params.in || params.project ? html`<a href=${`/search?q=${encodeURIComponent(params.q)}`}>Search everything</a>` : "A word with ~ allows another letter; a prefix with * allows more."}</p></div>`}
    ${!params.q && html`<div class="empty tips"><p>Words must all be in a message. Fields narrow it down:</p>
      <p><code>project:shop</code> <code>in:answer</code> <code>tool:edit</code> <code>model:flash</code> <code>since:7d</code> <code>is:error</code> <code>"exact words"</code> <code>-not</code></p></div>`}
    ${hits.length > 0 && html`<${VirtualList} className="hits" count=${hits.length} height=${ROW} at=${at} label="Hits" keyOf=${(index) => `${hits[index].session.id} ${hits[index].message_id} ${index}`} onMove=${(index) => { move(index); if (innerWidth < 720) open(index); }} onOpen=${open}
      draw=${(index) => {
        const { session, snippet, highlights, field: where, fate, time } = hits[index];
        return html`<div class="line-1"><a class="title" href=${hitAddress(hits[index], params.q)} tabindex="-1">${line(session.title) || "no title"}</a><span class="dim">${ago(time ?? session.updated)} ${clock(time)}</span></div>
          <div class="line-2 two">${html`<${Snippet} text=${snippet} highlights=${highlights} />`}</div>
          <div class="line-2"><${Agent} source=${session.source} /><span class="project">${line(leaf(session.project?.path) || "?")}</span><span class="field">${line(where)}</span>${fate && fate !== "kept" && html`<span class="fate">${line(fate)}</span>`}${session.gone && html`<span class="note doomed">gone</span>`}</div>`;
      }} />`}
    <${Hints} names=${["open", "filter", "everywhere", "info", "copy-command", "palette", "help"]} />
  </main>`;
}
