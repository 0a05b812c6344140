// The transcript of a session.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact-htm.js";
import { changeKeys } from "../changes.js";
import { LEVELS, readingOptions, target } from "../early.js";
import { line, many, money, plural, tilde, whole } from "../format.js";
import { useKeys } from "../keys.js";
import { on } from "../live.js";
import { overlay } from "../overlays.js";
import { Agent, Failure, Hints, Loading, State } from "../parts.js";
import { Reader } from "../reader.js";
import { arrival, back, remember, remembered, sessionAddress, setParams } from "../router.js";
import { copy, drawn, firstShown, isOpen, notify, useStore, useTitle } from "../store.js";
import { FindBar, useFind } from "./find.js";
import { Messages } from "./messages.js";
import { Outline } from "./outline.js";

/** This close to an end of what is on the page, more is fetched. */
const NEAR = 2500;
/** This close to its end, a transcript follows what is appended. */
const END = 48;

export function Transcript({ route }) {
  const { key, params, anchor } = route;
  const { board, rows } = useStore();
  const [, redraw] = useState(0);
  const [at, setAt] = useState(0);
  const [targetKey, setTarget] = useState(null);
  const [isSide, showSide] = useState(false);
  const [isFollowing, setFollowing] = useState(false);
  const reader = useRef(null);
  const box = useRef(null);
  const prompts = useRef(null);
  /** What stays where it is while things around it change: a message and its distance from the top, or the end. */
  const pin = useRef(null);
  /** Between a scroll event and its frame, what is pinned is out of date. */
  const isMoving = useRef(false);
  const { view, level, thoughts } = readingOptions(params);

  const element = (messageKey) => box.current?.querySelector(`[data-key="${CSS.escape(messageKey)}"]`);

  /** Puts what is pinned back to its place. */
  const settle = () => {
    if (!box.current || !pin.current || isMoving.current) return;
    if (pin.current.end) {
      box.current.scrollTop = box.current.scrollHeight;
      return;
    }
    const message = (pin.current.call && document.getElementById(`call-${pin.current.key}-${pin.current.call}`)) || element(pin.current.key);
    if (!message) return;
    const now = message.getBoundingClientRect().top - box.current.getBoundingClientRect().top;
    if (Math.abs(now - pin.current.offset) > 1) box.current.scrollTop += now - pin.current.offset;
  };

  const show = (message, call = null, isTarget = true) => {
    if (!message) return;
    pin.current = { key: message.key, offset: 12, call };
    setFollowing(false);
    if (isTarget) setTarget(message.key);
    setAt(message.at);
    redraw((number) => number + 1);
  };

  /** Goes to a message by its number; `isExact` raises the level if that one is hidden. */
  const goTo = async (number, isTarget = true, isExact = false) => {
    const it = reader.current;
    if (number >= it.from && number < it.to) {
      const message = it.items.find((one) => one.at >= number);
      if (message && (message.at === number || !isExact)) {
        show(message, null, isTarget);
        return;
      }
    }
    show(await (isExact ? it.openAt(number) : it.openNear(number)), null, isTarget);
  };

  const goToEnd = async () => {
    const it = reader.current;
    if (!it.isOpen || it.to < it.total) await it.openEnd();
    it.newBelow = 0;
    pin.current = { end: true };
    setFollowing(true);
    redraw((number) => number + 1);
  };

  /** Goes to the first new message, from there to the end. */
  const goToNew = () => {
    const { newFrom } = reader.current;
    return newFrom !== null && newFrom > at ? goTo(newFrom, false) : goToEnd();
  };

  // A reader for each session and set of options; the place is kept when only options change. Made before the first frame: the
  // messages may be there already.
  useLayoutEffect(() => {
    const onChange = ({ raised = null, isMissing = false } = {}) => {
      if (raised) notify(`shown with more detail: ${raised}`);
      if (isMissing && anchor) notify("that message is not in this session", "warning");
      redraw((number) => number + 1);
    };
    const before = reader.current?.key === key ? reader.current : null;
    const it = new Reader(key, { view, level, thoughts }, onChange);
    if (before) [it.marked, it.newFrom] = [before.marked, view === "full" ? before.newFrom : null];
    if (before) [it.facts, it.prompts] = [before.facts, view === before.options.view ? before.prompts : null];
    reader.current = it;
    const kept = arrival === "go" ? {} : remembered();
    const place = target(anchor);
    const isRunning = isOpen(key);
    const begin = async () => {
      if (before && pin.current?.key) await it.openAt(`key:${pin.current.key}`);
      else if (!before && kept.place) {
        pin.current = kept.place;
        await (kept.place.end ? it.openEnd() : it.openAt(`key:${kept.place.key}`));
      } else if (place) show(await it.openAt(place.at), place.call);
      else if (isRunning && !params.find) await goToEnd();
      else await it.openStart();
      firstShown();
      // The first screen does not wait for what is beside it.
      await drawn();
      if (it.isClosed) return;
      if (!it.facts) it.loadFacts();
      if (!it.prompts) it.loadIndex();
      it.refreshOutline();
    };
    begin();
    return () => it.close();
  }, [key, view, level, thoughts]);

  // Another message of the same session was asked for.
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    const place = target(anchor);
    const known = place && reader.current?.items.find((one) => `id:${one.id}` === place.at || `key:${one.key}` === place.at);
    if (known) show(known, place.call);
    else if (place) reader.current?.openAt(place.at).then((message) => show(message, place.call));
  }, [anchor]);

  useEffect(() => on("tail", (event) => {
    // The address may have only the start of the id.
    const own = reader.current?.facts?.key;
    if (own ? event.key !== own : !event.key.startsWith(key)) return;
    reader.current?.grown(() => pin.current?.end === true);
  }), [key]);
  // A stream that begins, or begins again, does not tell what was appended before.
  for (const type of ["reset", "hello"]) useEffect(() => on(type, () => reader.current?.grown(() => pin.current?.end === true)), [key]);

  const it = reader.current;
  useLayoutEffect(settle);
  useLayoutEffect(() => {
    if (!box.current) return undefined;
    const observer = new ResizeObserver(settle);
    observer.observe(box.current.firstElementChild);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [it?.isOpen]);

  const near = () => {
    const own = box.current;
    if (!own || !it?.isOpen || it.isBusy || it.isWhole) return;
    if (own.scrollHeight - own.scrollTop - own.clientHeight < NEAR && it.to < it.total) it.more(1);
    else if (own.scrollTop < NEAR && it.from > 0) it.more(-1);
  };
  useEffect(near);

  // Once its end was on the screen, a session is read. The browser says so when a frame is drawn: before that, the height of new
  // messages is an estimate, and a tab that draws no frames shows nothing.
  const isEnd = it?.isOpen && it.to >= it.total;
  useLayoutEffect(() => {
    const end = isEnd && it.facts && box.current?.querySelector(".transcript > .end");
    if (!end) return undefined;
    const observer = new IntersectionObserver((changes) => changes.at(-1).isIntersecting && it.shownToEnd(), { root: box.current });
    observer.observe(end);
    return () => observer.disconnect();
  }, [it, isEnd, it?.facts, it?.counted]);

  const frame = useRef(0);
  const memory = useRef(0);
  const onScroll = () => {
    isMoving.current = true;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      isMoving.current = false;
      const own = box.current;
      if (!own || !it?.isOpen) return;
      const isAtEnd = it.to >= it.total && own.scrollHeight - own.scrollTop - own.clientHeight < END;
      const top = own.getBoundingClientRect().top;
      const articles = own.firstElementChild.querySelectorAll(":scope > article");
      let [low, high] = [0, articles.length - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (articles[middle].getBoundingClientRect().bottom > top + 8) high = middle;
        else low = middle + 1;
      }
      const first = articles[low];
      if (isAtEnd) pin.current = { end: true };
      else if (first && !pinned(pin.current, own, element)) pin.current = { key: first.dataset.key, offset: first.getBoundingClientRect().top - top };
      if (isAtEnd) it.newBelow = 0;
      setFollowing(isAtEnd);
      // A message that was jumped to is where one reads, as long as it is in view.
      const aim = own.querySelector(":scope article.target");
      const place = aim?.getBoundingClientRect();
      const isAimed = place && place.bottom > top + 8 && place.top < top + own.clientHeight * 0.9;
      if (first) setAt(Number((isAimed ? aim : isAtEnd ? articles[articles.length - 1] : first).dataset.at));
      near();
      clearTimeout(memory.current);
      memory.current = setTimeout(() => remember({ place: pin.current }), 200);
    });
  };
  useEffect(() => () => { clearTimeout(memory.current); cancelAnimationFrame(frame.current); }, []);

  const find = useFind({ reader, key, view, level, query: params.find ?? "", at, goTo, box, items: it?.items });
  const jump = (what, step) => async () => {
    const number = await reader.current.next(what, at, step);
    if (number === null) notify(`no ${step > 0 ? "later" : "earlier"} ${what}`);
    else await goTo(number, true, true);
  };
  const onJump = (what) => (typeof what === "number" ? goTo(what) : jump(what, 1)());
  const scroll = (pixels) => () => box.current?.scrollBy({ top: pixels });
  const half = () => (box.current?.clientHeight ?? 600) / 2;
  const current = () => it?.items.find((one) => one.key === targetKey && Math.abs(one.at - at) < 30) ?? it?.items.find((one) => one.at >= at) ?? null;
  const raise = (step) => () => {
    const next = LEVELS[LEVELS.indexOf(level) + step];
    if (next) setParams({ level: next === "actions" ? null : next }, { replace: true });
  };
  const leave = () => (find.isOpen ? find.close() : back());
  const row = rows.get(it?.facts?.key ?? key) ?? (it?.facts?.session && { key: it.facts.key, title: it.facts.session.title, pinned: it.facts.session.pinned });
  useKeys("Reader", {
    ...changeKeys(() => (row ? [row] : [])),
    down: scroll(60), up: scroll(-60), "half-page-down": () => scroll(half())(), "half-page-up": () => scroll(-half())(),
    "page-down": () => scroll(half() * 1.8)(), "page-up": () => scroll(-half() * 1.8)(), "page-forward": () => scroll(half() * 1.8)(), "page-backward": () => scroll(-half() * 1.8)(),
    first: () => goTo(0, false), last: goToEnd, back: leave, out: leave, close: leave, follow: goToEnd,
    filter: find.open, "find-next": () => find.step(1), "find-previous": () => find.step(-1),
    "next-prompt": jump("prompt", 1), "previous-prompt": jump("prompt", -1), "jump-prompt-next": jump("prompt", 1), "jump-prompt-previous": jump("prompt", -1),
    "next-error": jump("error", 1), "previous-error": jump("error", -1), "next-call": jump("call", 1), "previous-call": jump("call", -1),
    "next-file": jump("file", 1), "previous-file": jump("file", -1), "next-undone": jump("undone", 1), "previous-undone": jump("undone", -1),
    "next-gap": jump("gap", 1), "previous-gap": jump("gap", -1),
    prompts: () => { showSide(true); requestAnimationFrame(() => prompts.current?.focus()); },
    less: raise(-1), more: raise(1), view: () => setParams({ view: view === "full" ? "strict" : null }, { replace: true }),
    raw: () => current() && overlay({ type: "record", session: key, at: current().at }),
    info: () => overlay({ type: "facts", key: it?.facts?.key ?? key }),
    "copy-id": () => copy(it?.facts?.session.id ?? key, "id"),
    "copy-folder": () => it?.facts?.session.project?.path && copy(it.facts.session.project.path, "folder"),
    "copy-path": () => it?.facts?.session.files?.[0] && copy(it.facts.session.files[0].path, "file"),
    "copy-resume": () => it?.facts?.resume?.command && copy(it.facts.resume.command, "command"),
    "copy-message": () => current() && copy(element(current().key)?.querySelector(".body")?.innerText ?? "", "message"),
    "copy-command": () => copy(`recount show ${it?.facts?.session.id ?? key.slice(key.indexOf("/") + 1)}${level === "actions" ? "" : ` --level ${level === "full" ? "details" : level}`}${view === "strict" ? " --view strict" : ""}`, "command"),
  });

  const facts = it?.facts?.session;
  const title = facts?.title ?? rows.get(key)?.title ?? "";
  useTitle(line(title).slice(0, 80) || "Session");
  const state = (board?.sessions ?? []).find((one) => `${one.source}/${one.id}` === (it?.facts?.key ?? key));
  if (it?.error && !it.isOpen) return html`<main class="reader"><${Unfound} error=${it.error} /></main>`;
  const level1 = it?.options.level ?? level;
  return html`<main class=${isSide ? "reader side" : "reader"} id="content">
    <header class="reader-head"><button class="quiet back" onClick=${back} aria-label="Back">←</button>
      <div class="reader-title"><h1 title=${line(title)}>${line(title) || "no title"}</h1>
        <p class="facts-line"><${Agent} source=${key.slice(0, key.indexOf("/"))} />${facts && html`<span>${tilde(facts.project?.path ?? "folder unknown")}</span>${facts.branch && html`<span>${line(facts.branch)}</span>`}
          <span>${plural(facts.messages, "message")}</span><span>${many(facts.tokens?.total ?? 0)} tokens</span><span>${money(facts.cost_usd, facts.cost_is_lower_bound, 3)}</span>`}${state && html`<${State} state=${state.state} certain=${state.certain} />`}</p></div>
      <div class="reader-tools"><div class="segments" role="group" aria-label="Level of detail">${LEVELS.map((name) => html`<button key=${name} aria-pressed=${level1 === name} onClick=${() => setParams({ level: name === "actions" ? null : name }, { replace: true })}>${name}</button>`)}</div>
        <label><input type="checkbox" checked=${view === "full"} onChange=${(event) => setParams({ view: event.target.checked ? null : "strict" }, { replace: true })} /> undone${facts?.undone > 0 ? ` ${facts.undone}` : ""}</label>
        <label><input type="checkbox" checked=${thoughts} onChange=${(event) => setParams({ thoughts: event.target.checked ? "1" : null }, { replace: true })} /> thoughts</label>
        <button class="quiet" onClick=${find.open} title="Find (/)">Find</button>
        <button class="quiet only-phone" aria-expanded=${isSide} onClick=${() => showSide(!isSide)}>Prompts</button></div></header>
    <${FindBar} find=${find} />
    <div class="reader-body"><div class="scroller" ref=${box} tabindex="0" onScroll=${onScroll} aria-label="Messages" role="region">
      <div class="transcript">${it?.isOpen ? html`<${Messages} items=${it.items} outline=${it.outline} session=${it.facts?.key ?? key} targetKey=${targetKey} newFrom=${it.newFrom} total=${it.total} unfold=${(message) => it.whole(message)} from=${it.from} isEnd=${isEnd} address=${address(key, params)} />` : html`<${Loading} what="messages" />`}
        ${it?.error && html`<${Failure} error=${it.error} />`}</div></div>
      ${it?.newBelow > 0 && !isFollowing && html`<button class="new-below" onClick=${goToNew}>${whole(it.newBelow)} new below ↓</button>`}
      ${isFollowing && state && html`<span class="following" role="status">following</span>`}</div>
    ${it && html`<${Outline} reader=${it} at=${at} onJump=${(what) => { showSide(false); onJump(what); }} filterRef=${prompts} />`}
    <${Hints} names=${["back", "filter", "next-prompt", "more", "less", "view", "prompts", "follow", "resume", "info", "palette", "help"]} />
  </main>`;
}

const address = (key, params) => (anchor) => sessionAddress(key, params, anchor);

/** Whether what is pinned is still where it was put: then it stays pinned. */
function pinned(pin, box, element) {
  if (!pin?.key) return false;
  const message = element(pin.key);
  if (!message) return false;
  return Math.abs(message.getBoundingClientRect().top - box.getBoundingClientRect().top - pin.offset) <= 2;
}

function Unfound({ error }) {
  const candidates = error.document?.candidates;
  if (!candidates) return html`<${Failure} error=${error} />`;
  return html`<div class="empty"><p><strong>Several sessions begin like this.</strong></p><ul>${candidates.map((one) => html`<li key=${one.key}><a href=${sessionAddress(one.key)}>${line(one.title) || one.key}</a></li>`)}</ul></div>`;
}
