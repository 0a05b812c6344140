// Keys: the table of the terminal app (keys.json is generated from it), and who handles them.

import { useLayoutEffect, useRef } from "../vendor/preact-htm.js";

/** Keys that stay with the browser: they reload, print, quit, or move the focus. */
const BROWSER = new Set(["tab", "shift-tab", "ctrl-p", "ctrl-c", "ctrl-z", "ctrl-l", "ctrl-r", "F1", "Q"]);
const NAMES = {
  ArrowDown: "down", ArrowUp: "up", ArrowLeft: "left", ArrowRight: "right", PageDown: "pgdn", PageUp: "pgup", Home: "home",
  End: "end", Enter: "enter", Escape: "esc", Tab: "tab", Delete: "del", " ": "space",
};

/** Rows of the table: name, keys, places, help. */
let table = [];
let byKey = new Map();
/** Who handles keys, the topmost last: `{ place, handlers }`. */
const layers = [];
let prefix = null;
let onPrefix = (_waiting) => {};

export async function loadKeys() {
  const response = await fetch(new URL("../keys.json", import.meta.url));
  table = (await response.json()).map(([name, keys, places, help]) => ({
    name, keys: keys.filter((key) => !BROWSER.has(key)), places, help,
  }));
  byKey = new Map();
  for (const row of table) {
    for (const key of row.keys) byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
}

/** The name of a pressed key in the table. */
export function chord(event) {
  const name = NAMES[event.key] ?? event.key;
  if (event.ctrlKey) return `ctrl-${name.toLowerCase()}`;
  if (event.shiftKey && event.key in NAMES && name !== "space") return `shift-${name}`;
  return name;
}

const top = () => layers[layers.length - 1];

/** The actions that work where one is, in the order of the table. */
export function available() {
  const layer = top();
  if (!layer) return [];
  return table.filter((row) => row.places.includes(layer.place) && layer.handlers[row.name]);
}

/** Runs an action by name; returns whether anybody took it. */
export function run(name) {
  const layer = top();
  const handler = layer?.handlers[name];
  if (!handler) return false;
  handler();
  return true;
}

function find(key) {
  const layer = top();
  return byKey.get(key)?.find((row) => row.places.includes(layer.place) && layer.handlers[row.name]);
}

/** The keys that may follow a prefix. */
const following = (first) => available().flatMap((row) =>
  row.keys.filter((key) => key.startsWith(`${first} `)).map((key) => ({ key: key.slice(first.length + 1), row })));

function setPrefix(first) {
  prefix = first;
  onPrefix(first === null ? null : { first, choices: following(first) });
}

/** Calls `listener` when a prefix waits for its second key. */
export function watchPrefix(listener) {
  onPrefix = listener;
}

const isField = (element) =>
  element?.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element?.tagName);

function press(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey || event.metaKey || layers.length === 0) return;
  if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  const key = chord(event);
  if (isField(event.target) && !["range", "checkbox", "radio"].includes(event.target.type)) {
    // Escape leaves a field, or closes the dialog around it; everything else belongs to the field.
    if (key === "esc" && !event.target.closest("dialog")) {
      event.preventDefault();
      event.target.blur();
    }
    return;
  }
  if (prefix !== null) {
    const both = `${prefix} ${key}`;
    setPrefix(null);
    event.preventDefault();
    const row = key === "esc" ? null : find(both);
    if (row) top().handlers[row.name]();
    return;
  }
  // Buttons and links keep what activates them.
  if (["enter", "space"].includes(key) && event.target.closest?.("button, a[href], summary, [role=tab], input")) return;
  // So does a slider with its arrows.
  if (event.target.type === "range" && ["left", "right", "up", "down"].includes(key)) return;
  if (key.length === 1 && following(key).length > 0 && !find(key)) {
    event.preventDefault();
    setPrefix(key);
    return;
  }
  const row = BROWSER.has(key) ? null : find(key);
  if (!row) return;
  event.preventDefault();
  top().handlers[row.name]();
}

addEventListener("keydown", press);

/**
 * Handles the keys of a place while the component is on the page. Handlers are named after actions of the table;
 * the component that came last gets the keys. `common` handlers are added below it.
 */
export function useKeys(place, handlers, isActive = true) {
  const layer = useRef({ place, handlers: {} }).current;
  layer.place = place;
  layer.handlers = { ...common(), ...handlers };
  useLayoutEffect(() => {
    if (!isActive) return undefined;
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      if (prefix !== null) setPrefix(null);
    };
  }, [isActive]);
}

let common = () => ({});

/** Sets handlers that every place has. */
export function setCommon(make) {
  common = make;
}

/** The place whose keys are in force. */
export const place = () => top()?.place ?? null;

/** How a key of the table is written. */
export function keyLabel(key) {
  const labels = { enter: "↵", esc: "Esc", space: "␣", down: "↓", up: "↑", left: "←", right: "→", pgdn: "PgDn", pgup: "PgUp", home: "Home", end: "End", del: "Del" };
  return key.split(" ").map((part) => part.split("-").map((word) => labels[word] ?? (word.length > 1 ? word[0].toUpperCase() + word.slice(1) : word)).join("-")).join(" ");
}
