// The live board: what every agent does now, the day as lanes, and any past day again.

import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact-htm.js";
import { ask } from "../api.js";
import { changeKeys } from "../changes.js";
import { Lanes } from "../chart.js";
import { clock, day, elapsed, instant, leaf, line, many, money, plural } from "../format.js";
import { useKeys } from "../keys.js";
import { allowNotifications, on } from "../live.js";
import { overlay } from "../overlays.js";
import { Agent, Hints, moves, State, STATES, useClock } from "../parts.js";
import { go, sessionAddress, setParams } from "../router.js";
import { notify, set, setting, useStore, useTitle } from "../store.js";

const SECTIONS = [["Needs you", ["approve", "yours"]], ["Working", ["tool", "working"]], ["Idle", ["idle"]], ["Ended", ["done", "failed", "gone"]]];
const HOUR = 3_600_000;
const keyOf = (row) => (row.id ? `${row.source}/${row.id}` : `${row.source} ${row.pid}`);

/** Reads the changes of a day; newest question wins. */
function useDay(date) {
  const [events, setEvents] = useState([]);
  const [error, setError] = useState(null);
  const [turn, again] = useState(0);
  useEffect(() => {
    const own = new AbortController();
    (async () => {
      try {
        const response = await ask("/api/replay", { params: { day: date }, signal: own.signal });
        const text = await response.text();
        const found = [];
        for (const row of text.split("\n")) {
          if (row === "") continue;
          try {
            const event = JSON.parse(row);
            if (event.session) found.push({ time: instant(event.time), event: event.event, session: event.session });
          } catch {
            // A broken line is skipped.
          }
        }
        setEvents(found);
        setError(null);
      } catch (trouble) {
        if (trouble.name !== "AbortError") setError(trouble);
      }
    })();
    return () => own.abort();
  }, [date, turn]);
  // Today goes on: it is read again when something has happened, at most once a minute.
  useEffect(() => {
    if (date !== "today") return undefined;
    let timer = null;
    const stop = on("tail", () => { timer ??= setTimeout(() => { timer = null; again((number) => number + 1); }, 60_000); });
    return () => { stop(); clearTimeout(timer); };
  }, [date]);
  return [events, error];
}

/** Events as lanes: each state lasts until the next change of its session. */
function lanesOf(events, end) {
  const lanes = new Map();
  for (const { time, session } of events) {
    const key = keyOf(session);
    if (!lanes.has(key)) lanes.set(key, { key, label: line(session.title || leaf(session.project?.path) || session.source), spans: [] });
    const { spans } = lanes.get(key);
    const last = spans.at(-1);
    if (last) last.to ??= time;
    if (!["done", "gone", "idle", "failed"].includes(session.state)) spans.push({ state: session.state, from: time, to: null });
  }
  for (const lane of lanes.values()) for (const span of lane.spans) span.to ??= Math.min(end, span.from + 60_000);
  return [...lanes.values()].filter(({ spans }) => spans.length > 0);
}

/** The board at a moment of a day. */
function boardAt(events, time) {
  const rows = new Map();
  for (const event of events) {
    if (event.time > time) break;
    rows.set(keyOf(event.session), event.session);
  }
  return [...rows.values()].filter((row) => !["done", "gone"].includes(row.state) || time - instant(row.since) < 600_000);
}

/** How long agents waited for a person and the other way round. */
function waits(lanes) {
  let [forYou, working] = [0, 0];
  for (const { spans } of lanes) {
    for (const { state, from, to } of spans) {
      if (state === "approve" || state === "yours") forYou += Math.min(to - from, HOUR);
      else working += to - from;
    }
  }
  return { forYou, working };
}

const UNITS = ["$/min", "$/h", "tokens/min"];
const rate = ({ per_minute: rates }, unit) => {
  if (!rates || (!rates.usd && !rates.tokens)) return "–";
  return unit === 2 ? `${many(rates.tokens)}/min` : unit === 1 ? `${money(rates.usd * 60)}/h` : `${money(rates.usd, false, 3)}/min`;
};

function Row({ row, now, unit, isSelected, onSelect, onOpen }) {
  const { context, tool, circling } = row;
  const does = tool ? `${line(tool.name)} ${line(tool.argument)}` : line(row.doing);
  return html`<tr class=${`board-row ${row.state}`} aria-selected=${isSelected} onClick=${onSelect} onDblClick=${onOpen}>
    <td><${State} state=${row.state} certain=${row.certain} /></td><td class="right time">${elapsed(now - (instant(row.since) ?? now))}</td>
    <td class="name"><button class="as-link" onClick=${onOpen}>${line(row.title) || line(leaf(row.project?.path)) || "session"}</button><span class="sub"><${Agent} source=${row.source} /> ${line(leaf(row.project?.path))}${row.headless ? " · headless" : ""}</span></td>
    <td class="doing" title=${does}>${does}${circling && html` <span class="note broken">×${circling.times}, the same</span>`}${row.subagents?.length > 0 && html` <span class="note">${plural(row.subagents.length, "sub-agent")}</span>`}</td>
    <td class="fill">${context && html`<meter min="0" max="100" low="70" high="85" optimum="20" value=${Math.min(100, context.percent ?? 0)} title=${`${many(context.used)} of ${many(context.window)}`}></meter><span>${context.percent === null || context.percent === undefined ? many(context.used) : `${Math.round(context.percent)} %`}</span>`}</td>
    <td class="right">${many(row.tokens?.total ?? 0)}</td><td class="right">${money(row.cost_usd, false, 3)}</td><td class="right">${rate(row, unit)}</td></tr>`;
}

export function Board({ route }) {
  const { board } = useStore();
  const replay = route.params.replay ?? null;
  const date = replay ? replay.slice(0, 10) : "today";
  const [events, dayError] = useDay(date);
  const [playing, setPlaying] = useState(0);
  const [selected, select] = useState(null);
  const [onlyMe, setOnlyMe] = useState(false);
  const [unit, setUnit] = useState(0);
  const [permission, setPermission] = useState(setting("notify", "off"));
  const ticking = useClock(1, !replay);
  const start = replay ? instant(replay.length > 10 ? replay : `${replay}T00:00:00`) : null;
  const [time, setTime] = useState(start);
  useEffect(() => { setTime(start); }, [replay]);
  useTitle(replay ? `Replay ${date}` : "Live");

  const [from, to] = useMemo(() => {
    const first = events[0]?.time ?? Date.now();
    const last = replay ? (events.at(-1)?.time ?? first) : Date.now();
    return [Math.floor(first / HOUR) * HOUR, Math.max(Math.ceil(last / HOUR) * HOUR, Math.floor(first / HOUR) * HOUR + HOUR)];
  }, [events, replay]);
  const lanes = useMemo(() => lanesOf(events, to).slice(0, 40), [events]);
  const times = useMemo(() => waits(lanes), [lanes]);
  const now = replay ? (time === null || time < from ? from : time) : ticking;

  // Playing a day: the clock of the page, faster.
  const last = useRef(0);
  useEffect(() => {
    if (playing === 0 || !replay) return undefined;
    last.current = performance.now();
    const timer = setInterval(() => {
      const passed = performance.now() - last.current;
      last.current = performance.now();
      setTime((value) => {
        const next = Math.max(value ?? from, from) + passed * playing;
        if (next >= to) setPlaying(0);
        return Math.min(next, to);
      });
    }, 100);
    return () => clearInterval(timer);
  }, [playing, replay, from, to]);

  const all = replay ? boardAt(events, now) : (board?.sessions ?? []);
  const shown = SECTIONS.map(([name, states]) => [name, all.filter(({ state }) => states.includes(state))]).filter(([name]) => !onlyMe || name === "Needs you");
  const flat = shown.flatMap(([, rows]) => rows);
  const at = Math.max(0, flat.findIndex((row) => keyOf(row) === selected));
  const row = flat[at];
  const open = (which = row) => which?.id && go(sessionAddress(`${which.source}/${which.id}`));
  const unitNext = () => setUnit((unit + 1) % UNITS.length);
  const step = (change) => { if (replay) { setPlaying(0); setTime(Math.max(from, Math.min(to, now + change))); } };
  useKeys("Live", {
    ...changeKeys(() => (row?.id ? [{ key: keyOf(row), title: row.title }] : [])),
    ...moves(at, flat.length, (index) => select(keyOf(flat[index]))),
    open: () => open(), in: () => (replay ? step(10_000) : open()), out: () => step(-10_000), back: () => (replay ? go("/live") : go("/sessions")),
    unit: unitNext, "needs-me": () => setOnlyMe(!onlyMe), info: () => row && overlay({ type: "signals", row }),
    mute: () => toggleNotify(),
  });
  const toggleNotify = async () => {
    const next = permission === "on" ? "off" : (await allowNotifications()) ? "on" : "off";
    if (next === "off" && permission === "off") notify("the browser does not allow notifications for this page", "warning");
    set("notify", next);
    setPermission(next);
  };
  const perMinute = all.reduce((sum, { per_minute: rates }) => sum + (rates?.usd ?? 0), 0);
  const need = all.filter(({ state }) => state === "approve" || state === "yours").length;
  const ticks = [];
  const every = HOUR * Math.max(1, Math.ceil((to - from) / HOUR / 12));
  for (let tick = from; tick <= to; tick += every) ticks.push({ time: tick, label: clock(tick) });
  return html`<main class="board scroll" id="content">
    <header class="board-head"><h1>${replay ? `Replay of ${date}` : "Live"}</h1><p class="facts-line" role="status"><span>${plural(all.filter(({ state }) => !["done", "failed", "gone"].includes(state)).length, "agent")}</span>
      ${need > 0 && html`<span class="state approve">${need} ${need === 1 ? "needs" : "need"} you</span>`}<span>${money(perMinute, false, 3)}/min</span>${replay && html`<strong>${clock(now, true)}</strong>`}</p>
      <span class="space"></span>
      <button aria-pressed=${onlyMe} onClick=${() => setOnlyMe(!onlyMe)}>needs me</button><button onClick=${unitNext}>${UNITS[unit]}</button>
      <button aria-pressed=${permission === "on"} onClick=${toggleNotify} title="Notifications of the browser when an agent needs you">notifications ${permission}</button></header>
    <div class="wide"><table class="board-table"><thead><tr><th>State</th><th class="right">For</th><th>Session</th><th>Doing</th><th>Context</th><th class="right">Tokens</th><th class="right">Cost</th><th class="right">Rate</th></tr></thead>
      ${shown.map(([name, rows]) => html`<tbody key=${name}><tr class="section"><th colspan="8" scope="rowgroup">${name} <span class="dim">${rows.length}</span></th></tr>
        ${rows.map((one) => html`<${Row} key=${keyOf(one)} row=${one} now=${now} unit=${unit} isSelected=${one === row} onSelect=${() => select(keyOf(one))} onOpen=${() => open(one)} />`)}</tbody>`)}</table></div>
    ${all.length === 0 && html`<p class="empty">No agent runs${replay ? " at this time" : " on this machine"}.</p>`}
    <section class="day" aria-label="Time line"><header><h2>${replay ? date : "Today"}</h2>
        ${lanes.length > 0 && html`<p class="dim">agents waited ${elapsed(times.forYou)} for you, you ${elapsed(times.working)} for them</p>`}<span class="space"></span>
        <label>Day <input type="date" value=${replay ? date : day(Date.now())} max=${day(Date.now())} onChange=${(event) => event.target.value && setParams({ replay: event.target.value })} /></label>
        ${replay && html`<button onClick=${() => setPlaying(playing === 0 ? 60 : 0)}>${playing === 0 ? "▶ play" : "❚❚ pause"}</button>
          <select aria-label="Speed" value=${String(playing || 60)} onChange=${(event) => setPlaying(Number(event.target.value))}>${[1, 10, 60, 600].map((speed) => html`<option key=${speed} value=${speed}>${speed}×</option>`)}</select><a href="/live">now</a>`}</header>
      ${dayError ? html`<p class="dim">${line(dayError.message)}</p>` : lanes.length === 0 ? html`<p class="dim">Nothing was recorded on this day.</p>`
        : html`<${Lanes} lanes=${lanes} from=${from} to=${to} at=${now} ticks=${ticks} onPick=${(moment) => (replay ? (setPlaying(0), setTime(moment)) : setParams({ replay: new Date(moment - new Date(moment).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) }))} />
          <p class="legend">${["working", "tool", "approve", "yours"].map((state) => html`<span key=${state}><i class=${`swatch ${state}`}></i>${STATES[state][1]}</span>`)}</p>`}</section>
    <${Hints} names=${["open", "needs-me", "unit", "info", "mute", "palette", "help"]} />
  </main>`;
}
