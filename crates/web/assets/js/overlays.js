// What lies over a page: its keys, every action by name, the second key of a pair, facts about a session.

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { get, sessionPath } from "./api.js";
import { Modal } from "./changes.js";
import { bytes, line, many, moment, money, plural, safe, tilde } from "./format.js";
import { available, keyLabel, run, watchPrefix } from "./keys.js";
import { go } from "./router.js";
import { moves, TAB_NAMES } from "./parts.js";

let set = (_value) => {};

export const overlay = (value) => set(value);

export function Overlays() {
  const [current, setCurrent] = useState(null);
  const [prefix, setPrefix] = useState(null);
  set = setCurrent;
  useEffect(() => watchPrefix(setPrefix), []);
  const close = () => setCurrent(null);
  return html`<div>
    ${prefix && html`<div class="prefix" role="status"><kbd>${keyLabel(prefix.first)}</kbd>${prefix.choices.map(({ key, row }) =>
      html`<span key=${key}><kbd>${keyLabel(key)}</kbd>${row.help}</span>`)}</div>`}
    ${current?.type === "help" && html`<${Help} rows=${current.rows} close=${close} />`}
    ${current?.type === "palette" && html`<${Palette} rows=${current.rows} close=${close} />`}
    ${current?.type === "facts" && html`<${Facts} session=${current.key} close=${close} />`}
    ${current?.type === "record" && html`<${Raw} ...${current} close=${close} />`}
    ${current?.type === "signals" && html`<${Signals} row=${current.row} close=${close} />`}
  </div>`;
}

/** The keys of the page below. */
function Help({ rows, close }) {
  const [query, setQuery] = useState("");
  const words = query.toLowerCase();
  const shown = rows.filter((row) => row.keys.length > 0 && `${row.name} ${row.help}`.toLowerCase().includes(words));
  return html`<${Modal} title="Keys" close=${close} place="Help" className="help"><input type="search" autofocus placeholder="Filter" aria-label="Filter keys" value=${query} onInput=${(event) => setQuery(event.target.value)} />
    <div class="wide"><table><tbody>${shown.map((row) => html`<tr key=${row.name}><td>${row.keys.map((key) => html`<kbd key=${key}>${keyLabel(key)}</kbd> `)}</td><td>${row.help}</td></tr>`)}</tbody></table></div><//>`;
}

/** Every action by name. */
function Palette({ rows, close }) {
  const [query, setQuery] = useState("");
  const [at, move] = useState(0);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const pages = TAB_NAMES.map((page) => ({ name: `go to ${page}`, help: "page", keys: [], page }));
  const shown = [...rows, ...pages].filter((row) => words.every((word) => `${row.name} ${row.help}`.toLowerCase().includes(word)));
  const take = (row) => {
    if (!row) return;
    close();
    // Only when the dialog is gone do the keys belong to the page again.
    requestAnimationFrame(() => (row.page ? go(`/${row.page}`) : run(row.name)));
  };
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) move(Math.max(0, Math.min(shown.length - 1, at + step)));
    else if (event.key === "Enter") take(shown[at]);
    else return;
    event.preventDefault();
  };
  return html`<${Modal} title="Actions" close=${close} place="Palette" className="palette" handlers=${moves(at, shown.length, move)}>
    <input type="search" autofocus placeholder="Type the name of an action" aria-label="Action" value=${query} onKeyDown=${press}
      onInput=${(event) => { setQuery(event.target.value); move(0); }} />
    <ul role="listbox" aria-label="Actions">${shown.slice(0, 60).map((row, index) => html`<li key=${row.name} role="option" aria-selected=${index === at} onClick=${() => take(row)}>
      <span>${row.name}</span><span class="dim">${row.help}</span><span class="space"></span>${row.keys.slice(0, 1).map((key) => html`<kbd key=${key}>${keyLabel(key)}</kbd>`)}</li>`)}</ul><//>`;
}

/** A table of names and values. */
const Pairs = ({ rows }) => html`<dl class="pairs">${rows.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/** What is known about a session. */
function Facts({ session: key, close }) {
  const [document, setDocument] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => { get(sessionPath(key)).then(setDocument, setError); }, [key]);
  const facts = document?.session;
  return html`<${Modal} title=${facts ? line(facts.title) : "Facts"} close=${close} place="Info" className="facts">
    ${error && html`<p role="alert">${line(error.message)}</p>`}
    ${facts && html`<${Pairs} rows=${[
      ["Id", html`<code>${line(facts.id)}</code>`], ["Agent", line(facts.source)], ["Kind", line(facts.kind)],
      ["Folder", facts.project && html`${tilde(facts.project.path ?? "?")} <span class="dim">${line(facts.project.state)}</span>`],
      ["Branch", line(facts.branch)], ["Started", moment(facts.started)], ["Last used", moment(facts.updated)],
      ["Messages", `${plural(facts.messages, "message")}, ${plural(facts.prompts, "prompt")}, ${facts.undone} undone`],
      ["Tool calls", facts.tool_calls && `${facts.tool_calls.total}, ${facts.tool_calls.failed} failed`],
      ["Models", (facts.models ?? []).map(line).join(", ")],
      ["Tokens", facts.tokens && `${many(facts.tokens.total)}: ${many(facts.tokens.input)} in (${many(facts.tokens.cached)} cached), ${many(facts.tokens.output)} out, ${many(facts.tokens.thoughts)} thoughts`],
      ["Cost", money(facts.cost_usd, facts.cost_is_lower_bound, 3)], ["Tags", (facts.tags ?? []).map(line).join(", ")],
      ["Resume", document.resume?.command ? html`<code>${safe(document.resume.command)}</code>` : line(document.resume?.why_not)],
    ]} />
    <h3>Files</h3><ul class="files">${(facts.files ?? []).map((file, at) => html`<li key=${at}><code>${tilde(file.path)}</code> <span class="dim">${line(file.role)}, ${bytes(file.bytes)}</span></li>`)}</ul>
    ${facts.project?.evidence?.length > 0 && html`<h3>Why this folder</h3><ul>${facts.project.evidence.map((clue, at) => html`<li key=${at}>${clue.proves ? "✓" : "·"} ${line(clue.detail)} <span class="dim">${line(clue.clue)}</span></li>`)}</ul>`}
    ${document.problems?.length > 0 && html`<h3>Problems</h3><ul>${document.problems.map((problem, at) => html`<li key=${at}>${line(problem.what ?? problem.message ?? JSON.stringify(problem))}</li>`)}</ul>`}`}<//>`;
}

/** Why a live state is believed. */
function Signals({ row, close }) {
  return html`<${Modal} title=${line(row.title ?? row.project?.path ?? "session")} close=${close} place="Info" className="facts"><${Pairs} rows=${[
    ["State", `${row.state}${row.certain ? "" : "? (inferred)"}`], ["Model", line(row.model)], ["Process", row.pid && String(row.pid)],
    ["Context", row.context && `${many(row.context.used)} of ${many(row.context.window)}`], ["Cost", money(row.cost_usd, false, 3)],
  ]} /><h3>Signals</h3><ul>${(row.signals ?? []).map((signal, at) => html`<li key=${at}>${line(signal.from)}: ${line(signal.says)} <span class="dim">${(signal.age_ms / 1000).toFixed(1)} s ago</span></li>`)}</ul><//>`;
}

/** A record as it is on disk. */
function Raw({ session, at, close }) {
  const [record, setRecord] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => { get(`${sessionPath(session)}/record`, { at }).then(setRecord, setError); }, []);
  return html`<${Modal} title="The record on disk" close=${close} place="Info" className="facts">${error && html`<p role="alert">${line(error.message)}</p>`}
    ${record && html`<p class="dim">${tilde(record.file)}, line ${record.line}, byte ${record.offset}, ${bytes(record.bytes)}</p><pre class="verbatim raw">${safe(record.text)}</pre>`}<//>`;
}

/** Handlers for what every page has. */
export const overlayKeys = () => ({
  help: () => overlay({ type: "help", rows: available() }),
  palette: () => overlay({ type: "palette", rows: available() }),
});
