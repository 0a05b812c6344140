// Changes: a plan is shown first; applying it names its digest. A server without --changes gives the command line instead.

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";
import { get, post } from "./api.js";
import { bytes, line, plural, tilde } from "./format.js";
import { useKeys } from "./keys.js";
import { copy, loadRows, notify, store } from "./store.js";

let show = (_dialog) => {};

/** Where dialogs are shown. */
export function Dialogs() {
  const [current, set] = useState(null);
  show = set;
  const close = () => set(null);
  if (!current) return null;
  if (current.type === "ask") return html`<${Ask} ...${current} close=${close} />`;
  if (current.type === "command") return html`<${Command} ...${current} close=${close} />`;
  return html`<${Plan} ...${current} close=${close} />`;
}

/** A modal dialog; the element keeps the focus inside it. */
export function Modal({ title, close, className = "", children, place = "Plan", handlers = {} }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    box.current.showModal();
    return () => before?.focus?.();
  }, []);
  useKeys(place, { back: close, close, ...handlers });
  return html`<dialog ref=${box} class=${`modal ${className}`} aria-label=${title} onCancel=${(event) => { event.preventDefault(); close(); }}
    onClick=${(event) => event.target === box.current && close()}><div class="inside">
    <h2>${title}</h2>${children}</div></dialog>`;
}

/** Asks for a line of text. */
function Ask({ title, label, value = "", choices = [], onDone, close }) {
  const [text, set] = useState(value);
  const done = (event) => {
    event.preventDefault();
    if (text.trim() === "") return;
    close();
    onDone(text.trim());
  };
  return html`<${Modal} title=${title} close=${close}><form onSubmit=${done}>
    <label>${label}<input autofocus value=${text} list="choices" onInput=${(event) => set(event.target.value)} /></label>
    <datalist id="choices">${choices.map((choice) => html`<option key=${choice} value=${choice} />`)}</datalist>
    <div class="buttons"><button type="button" onClick=${close}>Cancel</button><button class="primary" type="submit">Continue</button></div></form><//>`;
}

/** The command line that does the same in a terminal. */
function Command({ command, close, why }) {
  return html`<${Modal} title="Run this in a terminal" close=${close}><p class="dim">${why}</p><pre class="command">${command}</pre>
    <div class="buttons"><button onClick=${close}>Close</button><button class="primary" autofocus onClick=${() => { copy(command); close(); }}>Copy</button></div><//>`;
}

function Plan({ document, close }) {
  const { plan, left_out: leftOut = [], must_type: mustType, verb } = document;
  const [typed, type] = useState("");
  const [state, setState] = useState({});
  const opened = useRef(Date.now());
  const files = plan.files ?? [];
  const isReady = files.length > 0 && !state.busy && (mustType === null || mustType === undefined || Number(typed) === mustType);
  const apply = async () => {
    // A key that was meant for the list must not carry out a plan.
    if (!isReady || Date.now() - opened.current < 150) return;
    setState({ busy: true });
    try {
      const receipt = await post("/api/apply", { digest: document.digest, ...(mustType ? { typed: mustType } : {}) });
      close();
      notify(receipt.done ?? "done", "success", { label: "undo", undo: receipt.receipt });
      loadRows();
      dispatchEvent(new Event("recount-changed"));
    } catch (error) {
      setState({ error: error.document?.refusal ?? error.message });
    }
  };
  return html`<${Modal} title=${line(document.title)} close=${close} className="plan" handlers=${{ accept: apply }}>
    <p class="dim">Nothing is done yet. ${plural(files.length, "file")} would change.</p>
    ${document.about && html`<p>${line(document.about)}</p>`}
    <div class="wide"><table><thead><tr><th>Change</th><th class="right">Before</th><th class="right">After</th><th>File</th></tr></thead>
      <tbody>${files.slice(0, 200).map((file, at) => html`<tr key=${at}><td>${line(file.what ?? "")}</td><td class="right">${file.before ? bytes(file.before.bytes) : "–"}</td>
        <td class="right">${file.after ? bytes(file.after.bytes) : "–"}</td><td class="path" title=${line(file.path)}>${tilde(file.path)}${file.moved_to && html`<br />→ ${tilde(file.moved_to)}`}</td></tr>`)}</tbody></table></div>
    ${files.length > 200 && html`<p class="dim">and ${plural(files.length - 200, "more file")}</p>`}
    ${files.length === 0 && html`<p>There is nothing to do.</p>`}
    ${leftOut.map((words, at) => html`<p key=${at} class="refused">✗ ${line(words)}</p>`)}
    ${(plan.notes ?? []).map((words, at) => html`<p key=${at} class="dim">· ${line(words)}</p>`)}
    ${mustType !== null && mustType !== undefined && html`<label>Type ${mustType} to confirm <input inputmode="numeric" value=${typed} onInput=${(event) => type(event.target.value)} /></label>`}
    ${state.error && html`<p class="refused" role="alert">${line(state.error)}</p>`}
    <div class="buttons"><button class="quiet" onClick=${() => copy(document.command)}>Copy the command</button><span class="space"></span>
      <button autofocus onClick=${close}>Cancel</button><button class="danger" disabled=${!isReady} onClick=${apply}>${line(verb ?? "apply")} <kbd>y</kbd></button></div>
  <//>`;
}

/** The line that does it in a terminal, for servers that only read. */
async function commandFor({ change, sessions, ...others }) {
  const { command } = await get("/api/command", { change, session: sessions, ...others });
  return command;
}

/** Plans a change and shows the plan, or the command line. */
export async function change(request) {
  try {
    if (!store.hello?.changes) {
      show({ type: "command", command: await commandFor(request), why: "This page only reads. `recount serve --changes` lets it show plans and carry them out." });
      return;
    }
    show({ type: "plan", document: await post("/api/plan", request) });
  } catch (error) {
    notify(`${error.document?.refusal ?? error.message}${error.hint ? ` · ${error.hint}` : ""}`, "error");
  }
}

async function label(request, done) {
  try {
    if (store.hello?.changes) {
      await post("/api/labels", request);
      notify(done, "success");
      loadRows();
    } else {
      const change = request.pinned === undefined ? "tag" : request.pinned ? "pin" : "unpin";
      show({ type: "command", command: await commandFor({ change, sessions: request.sessions, add: request.add, remove: request.remove }), why: "This page only reads." });
    }
  } catch (error) {
    notify(error.message, "error");
  }
}

const projectPaths = () => [...new Set([...store.rows.values()].map(({ project }) => project.path).filter(Boolean))];

/** Handlers of the keys that change sessions. `rows()` are the chosen ones. */
export function changeKeys(rows) {
  const keys = () => rows().map(({ key }) => key);
  const some = (action) => () => (rows().length > 0 ? action() : notify("no session is selected"));
  const one = (action) => () => (rows().length === 1 ? action(rows()[0]) : notify("choose one session"));
  return {
    delete: some(() => change({ change: "delete", sessions: keys() })),
    move: some(() => show({ type: "ask", title: "Move to another project", label: "Folder or project", choices: projectPaths(), onDone: (to) => change({ change: "move", sessions: keys(), to }) })),
    rename: one((row) => show({ type: "ask", title: "Rename", label: "New title", value: line(row.title), onDone: (title) => change({ change: "rename", sessions: [row.key], title }) })),
    fork: one((row) => change({ change: "fork", sessions: [row.key] })),
    tag: some(() => show({ type: "ask", title: "Tags", label: "Tags to add; with a minus, to remove", onDone: (text) => {
      const words = text.split(/[\s,]+/).filter(Boolean);
      label({ sessions: keys(), add: words.filter((word) => !word.startsWith("-")), remove: words.filter((word) => word.startsWith("-")).map((word) => word.slice(1)) }, "tags changed");
    } })),
    pin: some(() => {
      const pinned = !rows().every((row) => row.pinned);
      label({ sessions: keys(), pinned }, pinned ? "pinned" : "unpinned");
    }),
    export: some(async () => {
      const command = await commandFor({ change: "export", sessions: keys() }).catch((error) => { notify(error.message, "error"); return null; });
      if (command) show({ type: "command", command, why: "Exports are written by the command line." });
    }),
    resume: one(async (row) => {
      const command = await commandFor({ change: "resume", sessions: [row.key] }).catch((error) => { notify(error.message, "error"); return null; });
      if (command) show({ type: "command", command, why: "An agent runs in a terminal." });
    }),
    undo: () => change({ change: "undo" }),
  };
}
