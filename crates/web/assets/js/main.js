// Starts the page: token, keys, rows and events, then the view of the address.

import { html, render, useEffect, useErrorBoundary, useState } from "../vendor/preact-htm.js";
import { onLocked, unlock } from "./api.js";
import { change, Dialogs } from "./changes.js";
import { line } from "./format.js";
import { loadKeys, setCommon, useKeys } from "./keys.js";
import { startLive } from "./live.js";
import { overlay, overlayKeys, Overlays } from "./overlays.js";
import { Bar, needsYou, Notices, TAB_NAMES } from "./parts.js";
import { go, interceptLinks, sessionAddress, useRoute } from "./router.js";
import { copy, loadHello, loadRows, store, useStore } from "./store.js";
import { Board } from "./views/board.js";
import { History } from "./views/history.js";
import { Problems } from "./views/problems.js";
import { Projects } from "./views/projects.js";
import { Search } from "./views/search.js";
import { Sessions } from "./views/sessions.js";
import { Stats } from "./views/stats.js";
import { Transcript } from "./views/transcript.js";

const VIEWS = {
  sessions: Sessions, transcript: Transcript, search: Search, live: Board, projects: Projects, stats: Stats, problems: Problems, history: History,
};

function Locked() {
  return html`<main class="locked"><h1>This page is locked</h1>
    <p>Open the address that <code>recount serve</code> printed. It ends in <code>#k=…</code> and changes with every start of the server.</p></main>`;
}

function Nowhere() {
  useKeys("Sessions", {});
  return html`<main class="empty"><p><strong>There is no such page.</strong></p><p><a href="/sessions">Sessions</a></p></main>`;
}

/** A mistake of ours in one view must not take the others along. */
function Guarded({ children }) {
  const [error, reset] = useErrorBoundary();
  if (error) console.error(error);
  return error ? html`<main class="empty" role="alert"><p><strong>This view failed: ${line(error.message)}</strong></p><p><button onClick=${reset}>Try again</button></p></main>` : children;
}

function App() {
  const route = useRoute();
  const { board, title } = useStore();
  const [isLocked, setLocked] = useState(!isUnlocked);
  useEffect(() => onLocked(() => setLocked(true)), []);
  const need = needsYou(board);
  useEffect(() => { document.title = `${need > 0 ? `(${need}) ` : ""}${title ? `${title} · ` : ""}recount`; }, [need, title]);
  if (isLocked) return html`<div class="page"><header class="bar"><span class="brand"><span class="mark"></span>recount</span></header><${Locked} /></div>`;
  const View = VIEWS[route.page] ?? Nowhere;
  const act = (action) => (action.undo ? change({ change: "undo", receipt: action.undo }) : go(sessionAddress(action.to)));
  return html`<div class="page">
    <a class="skip" href="#content" onClick=${(event) => { event.preventDefault(); document.querySelector("main [tabindex='0'], main")?.focus(); }}>Skip to content</a>
    <${Bar} page=${route.page} onHelp=${() => overlayKeys().help()} onPalette=${() => overlayKeys().palette()} />
    <${Guarded} key=${route.page}><${View} key=${route.page === "transcript" ? route.key : route.page} route=${route} /><//>
    <${Notices} onOpen=${act} /><${Overlays} /><${Dialogs} />
  </div>`;
}

setCommon(() => ({
  ...Object.fromEntries(TAB_NAMES.map((page) => [`tab-${page}`, () => go(`/${page}`)])),
  ...overlayKeys(),
  undo: () => change({ change: "undo" }),
  "copy-command": () => copy(`${location.origin}${location.pathname}${location.search}`),
}));

const isUnlocked = unlock();
addEventListener("hashchange", () => {
  // A pasted address with a new token reloads nothing by itself.
  if (/^#k=/.test(location.hash) && unlock()) location.reload();
});
interceptLinks(document);
const app = document.getElementById("app");
const rows = isUnlocked ? Promise.all([loadHello().catch(() => {}), loadRows()]) : null;
await loadKeys();
app.replaceChildren();
render(html`<${App} />`, app);
if (isUnlocked) startLive();
await rows;
Object.assign(globalThis, { recount: { store, overlay } });
