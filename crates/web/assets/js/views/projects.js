// Projects and the folder that each belongs to.

import { html, useEffect, useMemo, useState } from "../../vendor/preact-htm.js";
import { get } from "../api.js";
import { change } from "../changes.js";
import { ago, bytes, line, many, money, plural, tilde } from "../format.js";
import { useKeys } from "../keys.js";
import { Agent, Failure, focusOn, Hints, Loading, moves, useRowInView } from "../parts.js";
import { address, go, setParams } from "../router.js";
import { copy, useStore, useTitle } from "../store.js";

const SORTS = { used: (one, other) => (other.last_used ?? "").localeCompare(one.last_used ?? ""), tokens: (one, other) => other.tokens.total - one.tokens.total, size: (one, other) => other.bytes - one.bytes, project: (one, other) => (one.name ?? "").localeCompare(other.name ?? "") };
const STATE_WORDS = { present: "", missing: "its folder is no longer there", unknown: "its folder is not known" };

export function Projects({ route }) {
  const { rows, rowsVersion } = useStore();
  const [document, setDocument] = useState(null);
  const [error, setError] = useState(null);
  const [at, move] = useState(0);
  const [query, setQuery] = useState("");
  useTitle("Projects");
  useEffect(() => { get("/api/projects").then((found) => { setDocument(found); setError(null); }, setError); }, [rowsVersion]);
  // The list knows what each session cost; projects are the sum of theirs.
  const costs = useMemo(() => {
    const found = new Map();
    for (const { project, cost, cost_min: isLeast } of rows.values()) {
      const sum = found.get(project.path) ?? { cost: 0, isLeast: false };
      found.set(project.path, { cost: sum.cost + (cost ?? 0), isLeast: sum.isLeast || isLeast === true });
    }
    return found;
  }, [rowsVersion]);
  const sort = route.params.sort in SORTS ? route.params.sort : "used";
  const words = query.toLowerCase();
  const shown = (document?.projects ?? []).filter(({ name, path }) => `${name} ${path}`.toLowerCase().includes(words)).sort(SORTS[sort]);
  const project = shown[Math.min(at, shown.length - 1)];
  const body = useRowInView(at);
  const open = (which = project) => which && go(address("/sessions", { project: which.path ?? which.name }));
  useKeys("Projects", {
    ...moves(at, shown.length, move),
    open: () => open(), in: () => open(), back: () => go("/sessions"), out: () => go("/sessions"),
    filter: () => focusOn(".page-head input"),
    "sort-used": () => setParams({ sort: null }), "sort-tokens": () => setParams({ sort: "tokens" }), "sort-size": () => setParams({ sort: "size" }), "sort-project": () => setParams({ sort: "project" }),
    apply: () => project?.moved_to && change({ change: "relocate", from: project.path, to: project.moved_to }),
    "copy-folder": () => project?.path && copy(project.path, "folder"), "copy-command": () => copy("recount projects", "command"),
  });
  if (error) return html`<main><${Failure} error=${error} /></main>`;
  if (!document) return html`<main><${Loading} what="projects" /></main>`;
  const head = (name, label, side) => html`<th class=${side}><button class="as-head" aria-pressed=${sort === name} onClick=${() => setParams({ sort: name === "used" ? null : name })}>${label}</button></th>`;
  return html`<main class="scroll page-main" id="content">
    <header class="page-head"><h1>Projects</h1><input type="search" placeholder="Filter" aria-label="Filter projects" value=${query} onInput=${(event) => setQuery(event.target.value)} /><span class="space"></span><span class="count" role="status">${plural(shown.length, "project")}</span></header>
    <div class="wide"><table class="grid-table"><thead><tr>${head("project", "Project")}<th>Agents</th><th class="right">Sessions</th><th class="right">Prompts</th>${head("tokens", "Tokens", "right")}<th class="right">Cost</th>${head("size", "Size", "right")}${head("used", "Used", "right")}<th>Folder</th></tr></thead>
      <tbody ref=${body}>${shown.map((one, index) => {
        const cost = costs.get(one.path);
        return html`<tr key=${one.path ?? one.hash ?? index} aria-selected=${one === project} onClick=${() => move(index)} onDblClick=${() => open(one)}>
          <td><button class="as-link strong" onClick=${() => open(one)}>${line(one.name ?? one.slug ?? "?")}</button></td><td>${one.sources.map((source) => html`<${Agent} key=${source} source=${source} /> `)}</td>
          <td class="right">${one.sessions}</td><td class="right">${one.prompts}</td><td class="right">${many(one.tokens.total)}</td><td class="right">${cost ? money(cost.cost, cost.isLeast) : ""}</td><td class="right">${bytes(one.bytes)}</td><td class="right">${ago(one.last_used)}</td>
          <td class="path" title=${line(one.path ?? "")}>${tilde(one.path ?? "unknown")}${one.state !== "present" && html` <span class="note doomed" title=${STATE_WORDS[one.state] ?? ""}>${one.state}</span>`}${one.moved_to && html`<br /><button class="quiet" onClick=${() => change({ change: "relocate", from: one.path, to: one.moved_to })}>found at ${tilde(one.moved_to)}: relocate</button>`}</td></tr>`;
      })}</tbody></table></div>
    <${Hints} names=${["open", "filter", "apply", "palette", "help"]} /></main>`;
}
