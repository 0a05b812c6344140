// Starts the page: token, keys, rows and events, then the view of the address.

import { html, render, useEffect, useErrorBoundary, useLayoutEffect, useState } from "../vendor/preact-htm.js";
import { onLocked, unlock } from "./api.js";
import { change, Dialogs } from "./changes.js";
import { isFewEnough, isUnlocked, VIEWS } from "./early.js";
import { line } from "./format.js";
import { loadKeys, setCommon, useKeys } from "./keys.js";
import { startLive } from "./live.js";
import { overlay, overlayKeys, Overlays } from "./overlays.js";
import { Bar, Failure, focusOn, Loading, needsYou, Notices, TAB_NAMES } from "./parts.js";
import { go, interceptLinks, route as currentRoute, sessionAddress, useRoute } from "./router.js";
import { copy, loadFirstRows, loadHello, store, useStore } from "./store.js";

/** Views that are loaded, by page. */
const loaded = {};

async function loadView(page) {
  loaded[page] ??= VIEWS[page] ? await VIEWS[page]() : Nowhere;
}

/** The view of a page: loaded if it was never shown. */
function View({ route }) {
  const { page, key } = route;
  const [error, setError] = useState(null);
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    if (!loaded[page]) loadView(page).then(() => redraw((number) => number + 1), setError);
  }, [page]);
  if (error) return html`<main class="empty"><${Failure} error=${new Error("This part of the page could not be loaded.")} onRetry=${() => location.reload()} /></main>`;
  const Own = loaded[page];
  return Own ? html`<${Own} key=${page === "transcript" ? key : page} route=${route} />` : html`<main><${Loading} what=${page} /></main>`;
}

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
  const act = (action) => (action.undo ? change({ change: "undo", receipt: action.undo }) : go(sessionAddress(action.to)));
  return html`<div class="page">
    <a class="skip" href="#content" onClick=${(event) => { event.preventDefault(); focusOn("main [tabindex='0'], main"); }}>Skip to content</a>
    <${Bar} page=${route.page} onHelp=${() => overlayKeys().help()} onPalette=${() => overlayKeys().palette()} />
    <${Guarded} key=${route.page}><${View} route=${route} /><//>
    <${Notices} onOpen=${act} /><${Overlays} /><${Dialogs} />
  </div>`;
}

setCommon(() => ({
  ...Object.fromEntries(TAB_NAMES.map((page) => [`tab-${page}`, () => go(`/${page}`)])),
  ...overlayKeys(),
  undo: () => change({ change: "undo" }),
  "copy-command": () => copy(`${location.origin}${location.pathname}${location.search}`),
}));

addEventListener("hashchange", () => {
  // A pasted address with a new token reloads nothing by itself.
  if (/^#o=/.test(location.hash) || (/^#k=/.test(location.hash) && unlock())) location.reload();
});
interceptLinks(document);
const app = document.getElementById("app");
const { page } = currentRoute();
const rows = isUnlocked ? Promise.all([loadHello().catch(() => {}), loadFirstRows(page, isFewEnough)]) : null;
await Promise.all([loadKeys(), loadView(page).catch(() => {})]);
app.replaceChildren();
render(html`<${App} />`, app);
if (isUnlocked) startLive();
await rows;
Object.assign(globalThis, { recount: { store, overlay } });
// The other views, so that going there need not wait.
for (const other of Object.keys(VIEWS)) await loadView(other).catch(() => {});
