// What was used and what it cost, over time and by project, model, tool or agent.

import { html, useEffect, useRef, useState } from "../../vendor/preact-htm.js";
import { get, newest } from "../api.js";
import { Columns, Share } from "../chart.js";
import { day, leaf, line, many, money, plural, roughly, whole } from "../format.js";
import { useKeys } from "../keys.js";
import { Failure, Hints, Loading, moves, useRowInView } from "../parts.js";
import { address, go, setParams } from "../router.js";
import { copy, useTitle } from "../store.js";

const BYS = ["day", "week", "month", "project", "model", "tool", "source"];
const TIMES = new Set(["day", "week", "month", "hour"]);
const RANGES = [["", "all time"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"], ["365d", "a year"]];
const MEASURES = {
  cost: ["cost", (row) => row.cost_usd ?? 0, (value) => money(value, false, 3)], tokens: ["tokens", (row) => row.tokens?.total ?? 0, many],
  requests: ["requests", (row) => row.requests ?? 0, many], calls: ["tool calls", (row) => row.tool_calls ?? row.calls ?? 0, many],
};

/** What a row of a table means in the list of sessions. */
function drill(by, key, params) {
  if (by === "project") return { project: key };
  if (by === "model") return { model: key };
  if (by === "source") return { source: key };
  if (by === "day") return { since: key, until: key };
  if (by === "month" && /^\d{4}-\d{2}$/.test(key)) return { since: `${key}-01`, until: day(new Date(Number(key.slice(0, 4)), Number(key.slice(5)), 0)) };
  return params.since ? { since: params.since } : {};
}

export function Stats({ route }) {
  const { params } = route;
  const by = BYS.includes(params.by) ? params.by : "day";
  const measure = params.measure in MEASURES ? params.measure : by === "tool" ? "calls" : "cost";
  const [document, setDocument] = useState(null);
  const [error, setError] = useState(null);
  const [at, move] = useState(0);
  const ask = useRef(null);
  ask.current ??= newest();
  const since = params.from ?? params.since;
  const until = params.to ?? params.until;
  useTitle("Stats");
  useEffect(() => {
    (async () => {
      const { answer, error: trouble } = await ask.current(async (signal) => {
        const [table, totals] = await Promise.all([get("/api/stats", { by, since, until, project: params.project }, signal), get("/api/stats", { since, until, project: params.project }, signal)]);
        return { ...table, by, today: totals.today, week: totals.week, month: totals.month, all: totals.total ?? table.total };
      });
      if (answer) setDocument(answer);
      if (answer || trouble) setError(trouble ?? null);
    })();
  }, [by, since, until, params.project]);

  const [word, value, write] = MEASURES[measure];
  const rows = document?.rows ?? [];
  const isTime = TIMES.has(document?.by);
  const sorted = isTime ? [...rows].sort((one, other) => other.key.localeCompare(one.key)) : [...rows].sort((one, other) => value(other) - value(one));
  const charted = isTime ? sorted.slice(0, 120).reverse() : sorted.slice(0, 24);
  const most = Math.max(1e-9, ...sorted.map(value));
  const open = (row = sorted[at]) => row && go(address("/sessions", drill(by, row.key, params)));
  const body = useRowInView(at);
  const shift = (step) => () => {
    const span = { "7d": 7, "30d": 30, "90d": 90, "365d": 365 }[params.since] ?? 30;
    const end = until ? new Date(`${until}T00:00:00`) : new Date();
    end.setDate(end.getDate() + step * span);
    const begin = new Date(end);
    begin.setDate(begin.getDate() - span);
    if (end > new Date()) setParams({ from: null, to: null });
    else setParams({ from: day(begin), to: day(end) });
  };
  useKeys("Stats", {
    ...moves(at, sorted.length, move),
    open: () => open(), in: () => open(), back: () => go("/sessions"), out: () => go("/sessions"),
    by: () => setParams({ by: BYS[(BYS.indexOf(by) + 1) % BYS.length] }), earlier: shift(-1), later: shift(1),
    everywhere: () => setParams({ project: null }),
    "copy-command": () => copy(`recount stats --all --by ${by}${since ? ` --since ${since}` : ""}${until ? ` --until ${until}` : ""}`, "command"),
  });
  if (error && !document) return html`<main><${Failure} error=${error} /></main>`;
  if (!document) return html`<main><${Loading} what="usage" /></main>`;
  const isTool = document.by === "tool";
  const name = (key) => (by === "project" ? leaf(key) || key : key);
  const total = document.all;
  return html`<main class="scroll page-main" id="content">
    <header class="page-head"><h1>Stats</h1><div class="segments" role="group" aria-label="By">${BYS.map((one) => html`<button key=${one} aria-pressed=${by === one} onClick=${() => { move(0); setParams({ by: one === "day" ? null : one, measure: null }); }}>${one === "source" ? "agent" : one}</button>`)}</div>
      <div class="segments" role="group" aria-label="Measure">${Object.entries(MEASURES).map(([one, [label]]) => html`<button key=${one} aria-pressed=${measure === one} onClick=${() => setParams({ measure: one })}>${label}</button>`)}</div><span class="space"></span>
      ${params.project && html`<button class="chip" onClick=${() => setParams({ project: null })}>${line(leaf(params.project))} ✕</button>`}
      ${params.from && html`<button class="chip" onClick=${() => setParams({ from: null, to: null })}>${line(params.from)} – ${line(params.to ?? "now")} ✕</button>`}
      <button class="quiet" aria-label="Earlier" onClick=${shift(-1)}>‹</button><select aria-label="Period" value=${params.since ?? ""} onChange=${(event) => setParams({ since: event.target.value || null, from: null, to: null })}>${RANGES.map(([span, label]) => html`<option key=${span} value=${span}>${label}</option>`)}</select><button class="quiet" aria-label="Later" onClick=${shift(1)}>›</button></header>
    <div class="cards">${[["Today", document.today], ["7 days", document.week], ["30 days", document.month], ["Shown", total]].map(([label, sums]) => sums && html`<div class="card" key=${label}><span class="label">${label}</span><strong>${money(sums.cost_usd, sums.cost_is_lower_bound)}</strong><span class="dim">${many(sums.tokens.total)} tokens · ${plural(sums.sessions, "session")} · ${roughly(sums.active_seconds)} active</span></div>`)}</div>
    ${charted.length === 0 ? html`<p class="empty">Nothing was used in this period.</p>` : html`<${Columns} label=${`${word} by ${by}`} write=${write} selected=${sorted[at]?.key} onPick=${(key) => open(rows.find((row) => row.key === key))}
      rows=${charted.map((row) => ({ key: row.key, label: line(name(row.key)).slice(isTime ? 5 : 0).slice(0, 14), value: value(row), title: `${line(name(row.key))}: ${write(value(row))}` }))} />
    <div class="wide"><table class="grid-table"><thead><tr><th>${by === "source" ? "agent" : by}</th><th></th><th class="right">Sessions</th>${!isTool && html`<th class="right">Requests</th><th class="right">Input</th><th class="right">Cached</th><th class="right">Output</th><th class="right">Tokens</th>`}<th class="right">Tool calls</th><th class="right">Failed</th>${!isTool && html`<th class="right">Cost</th>`}</tr></thead>
      <tbody ref=${body}>${sorted.slice(0, 500).map((row, index) => html`<tr key=${row.key} aria-selected=${index === at} onClick=${() => move(index)} onDblClick=${() => open(row)}><td><button class="as-link" title=${line(row.key)} onClick=${() => open(row)}>${line(name(row.key)) || "?"}</button></td><td><${Share} part=${value(row) / most} /></td>
        <td class="right">${whole(row.sessions)}</td>${!isTool && html`<td class="right">${whole(row.requests)}</td><td class="right">${many(row.tokens?.input)}</td><td class="right">${row.tokens?.input > 0 ? `${Math.round((100 * row.tokens.cached) / row.tokens.input)}%` : ""}</td><td class="right">${many(row.tokens?.output)}</td><td class="right">${many(row.tokens?.total)}</td>`}
        <td class="right">${whole(row.tool_calls ?? row.calls)}</td><td class="right">${row.tools_failed ?? row.failed ?? ""}</td>${!isTool && html`<td class="right">${money(row.cost_usd, row.cost_is_lower_bound, 3)}</td>`}</tr>`)}</tbody>
      ${total && !isTool && html`<tfoot><tr><td>total</td><td></td><td class="right">${whole(total.sessions)}</td><td class="right">${whole(total.requests)}</td><td class="right">${many(total.tokens.input)}</td><td></td><td class="right">${many(total.tokens.output)}</td><td class="right">${many(total.tokens.total)}</td><td class="right">${whole(total.tool_calls)}</td><td class="right">${total.tools_failed}</td><td class="right">${money(total.cost_usd, total.cost_is_lower_bound, 3)}</td></tr></tfoot>`}</table></div>`}
    <${Hints} names=${["open", "by", "earlier", "later", "copy-command", "palette", "help"]} /></main>`;
}
