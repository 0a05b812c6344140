// What needs repair or protection.

import { html, useEffect, useState } from "../../vendor/preact-htm.js";
import { get } from "../api.js";
import { change } from "../changes.js";
import { line, plural, tilde } from "../format.js";
import { useKeys } from "../keys.js";
import { on } from "../live.js";
import { Failure, Hints, Loading, moves, useRowInView } from "../parts.js";
import { go, sessionAddress } from "../router.js";
import { changed, copy, store, useStore, useTitle } from "../store.js";

const ORDER = { error: 0, warning: 1, note: 2 };
const SIGNS = { error: "✗", warning: "!", note: "·" };
const GROUPS = {
  retention: "Lost at the next start", guard: "Lost at the next start", sessions: "Damaged", session: "Damaged", registry: "Registry",
  projects: "Folders that moved", orphans: "Orphans", permissions: "Other findings", records: "Unknown records",
};

/** Sessions that the next start of their agent deletes, from `recount.guard/1`. */
function doomed(guard) {
  return (guard?.projects ?? []).flatMap(({ source, sessions = [], project }) => sessions.map((one) => ({
    topic: "guard", severity: "warning", what: `the agent will delete it on its next start: ${one.why ?? one.reason ?? "by its retention policy"}`,
    session: one.id ?? one.session ?? null, source, path: project?.path ?? null, remedy: "recount guard --keep",
  })));
}

export function Problems() {
  const { rows } = useStore();
  const [documents, setDocuments] = useState(null);
  const [error, setError] = useState(null);
  const [at, move] = useState(0);
  const [turn, again] = useState(0);
  useTitle("Problems");
  useEffect(() => {
    Promise.all([get("/api/doctor"), get("/api/guard").catch(() => null)]).then(([doctor, guard]) => {
      setDocuments({ doctor, guard });
      setError(null);
      store.doomedCount = doctor.findings.filter(({ severity }) => severity !== "note").length;
      changed();
    }, setError);
  }, [turn]);
  useEffect(() => {
    const refresh = () => again((number) => number + 1);
    addEventListener("recount-changed", refresh);
    const stop = on("changed", refresh);
    return () => { removeEventListener("recount-changed", refresh); stop(); };
  }, []);
  const known = new Set((documents?.doctor.findings ?? []).map(({ session, topic }) => `${session} ${topic}`));
  const lost = documents ? doomed(documents.guard).filter(({ session }) => ![...known].some((entry) => entry.startsWith(`${session} `) && /guard|retention/.test(entry))) : [];
  const findings = [...lost, ...(documents?.doctor.findings ?? [])];
  const groups = new Map();
  for (const finding of findings) {
    const name = GROUPS[finding.topic] ?? finding.topic;
    groups.set(name, [...(groups.get(name) ?? []), finding]);
  }
  const sorted = [...groups].map(([name, list]) => [name, list.sort((one, other) => ORDER[one.severity] - ORDER[other.severity])]).sort((one, other) => ORDER[one[1][0].severity] - ORDER[other[1][0].severity]);
  const flat = sorted.flatMap(([, list]) => list);
  const finding = flat[Math.min(at, flat.length - 1)];
  const rowOf = (one) => one?.session && [...rows.values()].find(({ id }) => id === one.session);
  const open = (one = finding) => { const row = rowOf(one); if (row) go(sessionAddress(row.key)); };
  const body = useRowInView(at);
  const fix = (one = finding) => {
    if (!one) return;
    const row = rowOf(one);
    const verb = /^recount (repair|compact)\b/.exec(one.remedy ?? "")?.[1];
    if (verb && row) change({ change: verb, sessions: [row.key] });
    else if (/^recount doctor --fix|^recount guard --fix/.test(one.remedy ?? "")) change({ change: "fix" });
    else if (/^recount prune/.test(one.remedy ?? "")) change({ change: "prune" });
    else if (one.remedy) copy(one.remedy, "command");
  };
  useKeys("Problems", {
    ...moves(at, flat.length, move), open: () => open(), in: () => open(), back: () => go("/sessions"), out: () => go("/sessions"), apply: () => fix(),
    "copy-command": () => copy(finding?.remedy ?? "recount doctor", "command"), "copy-path": () => finding?.path && copy(finding.path, "path"),
  });
  if (error) return html`<main><${Failure} error=${error} onRetry=${() => again(turn + 1)} /></main>`;
  if (!documents) return html`<main><${Loading} what="every session" /></main>`;
  const count = (severity) => flat.filter((one) => one.severity === severity).length;
  return html`<main class="scroll page-main" id="content"><header class="page-head"><h1>Problems</h1><span class="space"></span><span class="count" role="status">${plural(count("error"), "error")} · ${plural(count("warning"), "warning")} · ${plural(count("note"), "note")}</span></header>
    ${flat.length === 0 && html`<div class="empty"><p><strong>Nothing to repair, nothing at risk.</strong></p></div>`}
    <div class="findings" ref=${body}>${sorted.map(([name, list]) => html`<section key=${name}><h2>${name} <span class="dim">${list.length}</span></h2>${list.map((one) => {
      const row = rowOf(one);
      return html`<div key=${`${one.topic} ${one.session} ${one.path} ${one.what}`} class=${`finding s-${one.severity}`} aria-selected=${one === finding} onClick=${() => move(flat.indexOf(one))}>
        <span class="sign" title=${one.severity}>${SIGNS[one.severity]}</span><div class="words"><p>${line(one.what)}</p><p class="dim">${row ? html`<a href=${sessionAddress(row.key)}>${line(row.title) || row.id}</a>` : one.path ? tilde(one.path) : line(one.session)}</p></div>
        ${one.remedy && html`<button onClick=${() => fix(one)} title=${line(one.remedy)}><code>${line(one.remedy)}</code></button>`}</div>`;
    })}</section>`)}</div>
    <${Hints} names=${["open", "apply", "undo", "palette", "help"]} /></main>`;
}
