// Addresses. Filters are in the query; what was selected and how far it was scrolled is in the history entry.

import { useEffect, useState } from "../vendor/preact-htm.js";
import { readAddress } from "./early.js";

const listeners = new Set();

let current = readAddress();

function announce() {
  current = readAddress();
  for (const listener of listeners) listener(current);
}

/** How the current entry was reached: a new one, or back and forward to an old one. */
export let arrival = "load";

addEventListener("popstate", () => {
  arrival = "back";
  announce();
});

export const route = () => current;

/** The address of a page with a query; empty values are left out. */
export function address(path, params = {}, anchor = "") {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  return path + (query.size > 0 ? `?${query}` : "") + (anchor ? `#${encodeURIComponent(anchor)}` : "");
}

/** The address of a session. */
export function sessionAddress(key, params = {}, anchor = "") {
  const at = key.indexOf("/");
  return address(`/s/${encodeURIComponent(key.slice(0, at))}/${encodeURIComponent(key.slice(at + 1))}`, params, anchor);
}

/** Goes to an address. */
export function go(to, { replace = false, state = null } = {}) {
  const url = new URL(to, location.href);
  if (url.origin !== location.origin) return;
  arrival = "go";
  const isSame = url.href === location.href;
  if (replace || isSame) history.replaceState(state ?? history.state, "", url);
  else history.pushState(state, "", url);
  announce();
}

/** Changes the query of this page; `null` removes a value. */
export function setParams(changes, { replace = false } = {}) {
  const params = { ...current.params, ...changes };
  go(address(location.pathname, params), { replace, state: replace ? history.state : null });
}

/** Whether there is an entry of ours to go back to. */
export function back() {
  if (history.state?.depth > 0 || history.length > 1) history.back();
  else go("/sessions");
}

/** Remembers something with the current entry, for when somebody comes back to it. */
export function remember(part) {
  history.replaceState({ ...history.state, ...part }, "");
}

export const remembered = () => history.state ?? {};

/** Renders again when the address changes. */
export function useRoute() {
  const [value, set] = useState(current);
  useEffect(() => {
    listeners.add(set);
    set(current);
    return () => listeners.delete(set);
  }, []);
  return value;
}

/** Follows links within the page without loading it again. */
export function interceptLinks(root) {
  root.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.("a[href]");
    if (!link || link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
    event.preventDefault();
    go(link.href);
  });
}
