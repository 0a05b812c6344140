// Find in a transcript: over the whole session, on the server; matches on the page are marked.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact-htm.js";
import { line, whole } from "../format.js";
import { setParams } from "../router.js";

const WAIT = 180;
/** Ranges that are marked at once. */
const MARKED = 2000;

export function useFind({ reader, key, view, level, query, at, goTo, box, items }) {
  const [isOpen, setOpen] = useState(query !== "");
  const [result, setResult] = useState({ matches: [], isDone: true, error: null, query: "" });
  const [current, setCurrent] = useState(-1);
  const field = useRef(null);
  const [text, setText] = useState(query);
  const [, setTurn] = useState(0);

  useEffect(() => {
    if (text !== query) setText(query);
    if (query !== "") setOpen(true);
  }, [query]);

  // The newest question wins.
  useEffect(() => {
    setCurrent(-1);
    if (query.trim() === "") {
      setResult({ matches: [], isDone: true, error: null, query: "" });
      return undefined;
    }
    const own = new AbortController();
    const timer = setTimeout(async () => {
      let isFirst = true;
      try {
        await reader.current.find(query, own.signal, (matches, isDone) => {
          setResult({ matches, isDone, error: null, query });
          if (!isFirst || matches.length === 0) return;
          isFirst = false;
          const next = Math.max(0, matches.findIndex((number) => number >= at));
          setCurrent(next);
          goTo(matches[next]);
        });
      } catch (error) {
        if (error.name !== "AbortError") setResult({ matches: [], isDone: true, error, query });
      }
    }, WAIT);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [query, key, view, level]);

  // Marks without changing the document.
  useEffect(() => {
    if (!globalThis.CSS?.highlights) return undefined;
    const words = query.trim().toLowerCase();
    if (words === "" || !box.current) {
      CSS.highlights.delete("match");
      return undefined;
    }
    const timer = setTimeout(() => {
      const ranges = [];
      const walker = document.createTreeWalker(box.current, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node && ranges.length < MARKED; node = walker.nextNode()) {
        const lower = (node.nodeValue ?? "").toLowerCase();
        for (let place = lower.indexOf(words); place >= 0 && ranges.length < MARKED; place = lower.indexOf(words, place + words.length)) {
          if (place + words.length > node.nodeValue.length) break;
          const range = new Range();
          range.setStart(node, place);
          range.setEnd(node, place + words.length);
          ranges.push(range);
        }
      }
      CSS.highlights.set("match", new Highlight(...ranges));
    }, 60);
    return () => clearTimeout(timer);
  }, [query, items, result]);
  useEffect(() => () => globalThis.CSS?.highlights?.delete("match"), []);

  // The field has the focus before the next key comes.
  const isWanted = useRef(false);
  useLayoutEffect(() => {
    if (!isWanted.current || !field.current) return;
    isWanted.current = false;
    field.current.focus();
    field.current.select();
  });
  const open = () => {
    isWanted.current = true;
    setOpen(true);
    setTurn((number) => number + 1);
  };
  const close = () => {
    setOpen(false);
    setParams({ find: null }, { replace: true });
    box.current?.focus();
  };
  const step = (by) => {
    const { matches } = result;
    if (matches.length === 0) return;
    const next = (((current < 0 ? (by > 0 ? -1 : 0) : current) + by) % matches.length + matches.length) % matches.length;
    setCurrent(next);
    goTo(matches[next]);
  };
  useEffect(() => {
    // Ctrl-F finds in the whole session; pressed again, it is the browser's.
    const press = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== "f" || document.activeElement === field.current) return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return { isOpen, open, close, step, result, current, field, text, setText };
}

export function FindBar({ find }) {
  const { isOpen, close, step, result, current, field, text, setText } = find;
  const timer = useRef(0);
  if (!isOpen) return null;
  const input = (event) => {
    const { value } = event.target;
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setParams({ find: value || null }, { replace: true }), 60);
  };
  const press = (event) => {
    if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); }
  };
  const { matches, isDone, error } = result;
  const count = text === "" ? "" : error ? line(error.message) : `${matches.length > 0 && current >= 0 ? `${whole(current + 1)} of ` : ""}${whole(matches.length)}${isDone ? "" : "…"} ${matches.length === 1 ? "message" : "messages"}`;
  return html`<div class="find" role="search"><input type="search" ref=${field} value=${text} placeholder="Find in the whole session" aria-label="Find in the whole session" onInput=${input} onKeyDown=${press} />
    <span class="count" role="status">${count}</span>
    <button class="quiet" onClick=${() => step(-1)} aria-label="Previous match" disabled=${matches.length === 0}>↑</button><button class="quiet" onClick=${() => step(1)} aria-label="Next match" disabled=${matches.length === 0}>↓</button>
    <button class="quiet" onClick=${close} aria-label="Close">✕</button></div>`;
}
