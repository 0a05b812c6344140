// Beside a transcript: its prompts, what it cost up to where one reads, its errors and files.

import { html, useEffect, useRef, useState } from "../../vendor/preact-htm.js";
import { Sums } from "../chart.js";
import { line, money, plural, whole } from "../format.js";

/** Prompts listed at once; a session may have thousands. */
const SHOWN = 400;

export function Outline({ reader, at, onJump, filterRef }) {
  const { outline, prompts, facts, files } = reader;
  const [query, setQuery] = useState("");
  const [isFiles, showFiles] = useState(false);
  const list = useRef(null);
  const words = query.toLowerCase();
  const all = prompts ?? [];
  const matching = words === "" ? all : all.filter(({ text }) => (text ?? "").toLowerCase().includes(words));
  let current = -1;
  matching.forEach((prompt, number) => { if (prompt.at <= at) current = number; });
  const first = Math.max(0, Math.min(current - SHOWN / 2, matching.length - SHOWN));
  const shown = matching.slice(first, first + SHOWN);
  useEffect(() => {
    const entry = list.current?.querySelector("[aria-current]");
    if (!entry) return;
    const [box, own] = [list.current.getBoundingClientRect(), entry.getBoundingClientRect()];
    if (own.top < box.top || own.bottom > box.bottom) list.current.scrollTop += own.top - box.top - box.height / 3;
  }, [current]);
  const session = facts?.session;
  const sums = outline?.sum ?? [];
  const spent = sums.slice(0, at + 1).findLast?.((sum) => sum !== null) ?? null;
  const errors = outline ? outline.failed.reduce((sum, number) => sum + (number > 0 ? 1 : 0), 0) : 0;
  const undone = outline ? [...outline.fate].filter((letter) => letter === "r" || letter === "c").length : 0;
  return html`<aside class="outline" aria-label="Contents">
    <div class="outline-head"><h2>Prompts <span class="dim">${prompts ? whole(all.length) : ""}</span></h2>
      <input type="search" ref=${filterRef} placeholder="Filter" aria-label="Filter prompts" value=${query} onInput=${(event) => setQuery(event.target.value)} /></div>
    <ol class="prompts" ref=${list}>${first > 0 && html`<li class="dim">${plural(first, "earlier prompt")}</li>`}${shown.map((prompt, number) => {
      const fate = outline?.fate[prompt.at];
      const isUndone = fate === "r" || fate === "c";
      return html`<li key=${prompt.at}><button class=${isUndone ? "undone" : undefined} aria-current=${first + number === current ? "true" : undefined} onClick=${() => onJump(prompt.at)}>
        <span class="number">${first + number + 1}</span><span class="words">${line(prompt.text) || "…"}</span></button></li>`;
    })}${first + shown.length < matching.length && html`<li class="dim">${plural(matching.length - first - shown.length, "more prompt")}</li>`}</ol>
    <div class="outline-foot">
      ${sums.length > 0 && html`<div class="spent"><span>Cost so far</span><strong>${money(spent ?? 0, false, 3)}</strong><span class="dim">of ${money(session?.cost_usd, session?.cost_is_lower_bound, 3)}</span></div>
        <${Sums} sums=${sums} at=${at} onPick=${onJump} label="Cost up to each message" />`}
      ${outline && outline.total > 1 && html`<label class="scrub">Message ${whole(at + 1)} of ${whole(outline.total)}<input type="range" min="0" max=${outline.total - 1} value=${at} onChange=${(event) => onJump(Number(event.target.value))} /></label>`}
      <p class="tallies">${errors > 0 && html`<button class="quiet" onClick=${() => onJump("error")}>✗ ${plural(errors, "error")}</button>`}
        ${undone > 0 && html`<button class="quiet" onClick=${() => onJump("undone")}>↶ ${undone} undone</button>`}
        <button class="quiet" aria-expanded=${isFiles} onClick=${() => { showFiles(!isFiles); reader.loadFiles(); }}>▤ files</button></p>
      ${isFiles && files && html`<ul class="files">${distinct(files).slice(0, 100).map((file) => html`<li key=${file.path}><button class="quiet" onClick=${() => onJump(file.at)}>${file.changed ? "✎ " : ""}${line(file.path)}</button></li>`)}${files.length === 0 && html`<li class="dim">none</li>`}</ul>`}
    </div></aside>`;
}

/** Each file once: where it was changed first, else where it was read first. */
function distinct(files) {
  const found = new Map();
  for (const file of files) {
    const known = found.get(file.path);
    if (!known || (file.changed && !known.changed)) found.set(file.path, file);
  }
  return [...found.values()].sort((one, other) => Number(other.changed ?? false) - Number(one.changed ?? false) || one.path.localeCompare(other.path));
}
