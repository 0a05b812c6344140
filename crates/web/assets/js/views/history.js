// Changes that recount made, what is in the trash, and what the vault keeps.

import { html, useEffect, useState } from "../../vendor/preact-htm.js";
import { get } from "../api.js";
import { change } from "../changes.js";
import { ago, bytes, leaf, line, moment, plural, tilde } from "../format.js";
import { useKeys } from "../keys.js";
import { on } from "../live.js";
import { Agent, Failure, Hints, Loading, moves, useRowInView } from "../parts.js";
import { go, setParams } from "../router.js";
import { copy, store, useTitle } from "../store.js";

const PARTS = ["changes", "trash", "vault"];

const names = (sessions) => `${line(sessions[0]?.title ?? sessions[0]?.id ?? "")}${sessions.length > 1 ? ` and ${plural(sessions.length - 1, "more session")}` : ""}`;

export function History({ route }) {
  const part = PARTS.includes(route.params.part) ? route.params.part : "changes";
  const [documents, setDocuments] = useState(null);
  const [error, setError] = useState(null);
  const [at, move] = useState(0);
  const [turn, again] = useState(0);
  useTitle("History");
  useEffect(() => {
    Promise.all([get("/api/history"), get("/api/trash"), get("/api/vault")]).then(([history, trash, vault]) => {
      setDocuments({ changes: history.changes, trash: trash.sessions ?? [], vault: vault.sessions ?? [] });
      setError(null);
    }, setError);
  }, [turn]);
  useEffect(() => {
    const refresh = () => again((number) => number + 1);
    addEventListener("recount-changed", refresh);
    const stop = on("changed", refresh);
    return () => { removeEventListener("recount-changed", refresh); stop(); };
  }, []);
  const list = documents?.[part] ?? [];
  const entry = list[Math.min(at, list.length - 1)];
  const body = useRowInView(at);
  const take = (one = entry) => {
    if (!one) return;
    if (part === "changes") change({ change: "undo", receipt: one.receipt });
    else if (part === "trash") change({ change: "restore", session: one.session.id, sessions: [`${one.session.source}/${one.session.id}`] });
    else change({ change: "restore", session: one.id, sessions: [`${one.source}/${one.id}`] });
  };
  const switchPart = (step) => () => { move(0); setParams({ part: PARTS[(PARTS.indexOf(part) + step + PARTS.length) % PARTS.length] }); };
  useKeys("History", {
    ...moves(at, list.length, move), "next-part": switchPart(1), "previous-part": switchPart(-1), undo: () => part === "changes" && take(), apply: () => take(), back: () => go("/sessions"),
    "copy-command": () => copy(part === "changes" ? (entry ? `recount undo ${entry.receipt}` : "recount history") : `recount ${part}`, "command"),
  });
  if (error) return html`<main><${Failure} error=${error} onRetry=${() => again(turn + 1)} /></main>`;
  if (!documents) return html`<main><${Loading} what="changes" /></main>`;
  const act = store.hello?.changes ? "Undo" : "Undo…";
  return html`<main class="scroll page-main" id="content"><header class="page-head"><h1>History</h1>
      <div class="segments" role="group" aria-label="Part">${PARTS.map((name) => html`<button key=${name} aria-pressed=${part === name} onClick=${() => { move(0); setParams({ part: name === "changes" ? null : name }); }}>${name} ${documents[name].length}</button>`)}</div><span class="space"></span>
      <span class="count" role="status">${part === "changes" && `${plural(list.filter(({ undoable }) => undoable).length, "change")} can be undone`}</span></header>
    ${list.length === 0 && html`<div class="empty"><p><strong>${{ changes: "recount has changed nothing yet.", trash: "The trash is empty.", vault: "The vault is empty." }[part]}</strong></p>${part === "vault" && html`<p><code>recount guard --keep</code> copies sessions that an agent would delete.</p>`}</div>`}
    ${list.length > 0 && html`<div class="wide"><table class="grid-table">
      ${part === "changes" && html`<thead><tr><th>When</th><th>Change</th><th>State</th><th class="right">Files</th><th class="right">Size</th><th>Sessions</th><th>Receipt</th><th></th></tr></thead>`}
      ${part === "trash" && html`<thead><tr><th>When</th><th>Session</th><th>Project</th><th class="right">Files</th><th class="right">Size</th><th>Receipt</th><th></th></tr></thead>`}
      ${part === "vault" && html`<thead><tr><th>Kept</th><th>Session</th><th>Project</th><th>Agent</th><th class="right">Files</th><th class="right">Size</th><th class="right">Packed</th><th></th></tr></thead>`}
      <tbody ref=${body}>${list.map((one, index) => html`<tr key=${`${part} ${one.receipt ?? one.id} ${index}`} aria-selected=${index === at} onClick=${() => move(index)}>
        ${part === "changes" && html`<td title=${moment(one.time)}>${ago(one.time)}</td><td><strong>${line(one.command)}</strong></td><td><span class=${`note ${one.state === "done" ? "" : "doomed"}`}>${line(one.state)}</span></td><td class="right">${one.files}</td><td class="right">${bytes(one.bytes)}</td><td class="path">${names(one.sessions ?? [])}</td><td><code>${line(one.receipt)}</code></td><td class="right">${one.undoable && html`<button onClick=${() => take(one)}>${act}</button>`}</td>`}
        ${part === "trash" && html`<td title=${moment(one.time)}>${ago(one.time)}</td><td class="path">${line(one.session.title)}</td><td title=${tilde(one.session.project)}>${line(leaf(one.session.project))}</td><td class="right">${one.files.length}</td><td class="right">${bytes(one.bytes)}</td><td><code>${line(one.receipt)}</code></td><td class="right"><button onClick=${() => take(one)}>Restore</button></td>`}
        ${part === "vault" && html`<td title=${moment(one.kept)}>${ago(one.kept)}</td><td class="path">${line(one.title)}</td><td>${line(leaf(one.project))}</td><td><${Agent} source=${one.source} /></td><td class="right">${one.files}</td><td class="right">${bytes(one.bytes)}</td><td class="right">${bytes(one.packed)}</td><td class="right">${one.gone ? html`<button onClick=${() => take(one)}>Restore</button>` : html`<span class="dim">still there</span>`}</td>`}
      </tr>`)}</tbody></table></div>`}
    <${Hints} names=${["undo", "apply", "next-part", "palette", "help"]} /></main>`;
}
