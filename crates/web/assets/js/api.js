// Questions to the server. The token comes in the fragment of the address and is sent with every question.

const STORED = "recount.token";

let token = null;
const locked = new Set();

/** Exchanges the ticket with which `recount serve --open` opens the page for the token. */
export async function redeem() {
  const given = /^#o=([0-9a-f]{16,128})$/.exec(location.hash);
  if (!given) return;
  const headers = { Authorization: `Ticket ${given[1]}` };
  const response = await fetch("/api/token", { headers, cache: "no-store", credentials: "omit", redirect: "error" }).catch(() => null);
  const answer = response?.ok ? await response.json().catch(() => null) : null;
  const hash = answer ? `#k=${answer.token}` : "";
  history.replaceState(history.state, "", location.pathname + location.search + hash);
}

/** Takes the token out of the address, or the one of an earlier visit. Returns whether there is one. */
export function unlock() {
  const given = /^#k=([0-9a-f]{16,128})$/.exec(location.hash);
  if (given) {
    token = given[1];
    try {
      localStorage.setItem(STORED, token);
    } catch {
      // Private windows may refuse: the token then lasts as long as the tab.
    }
    history.replaceState(history.state, "", location.pathname + location.search);
  } else {
    try {
      token = localStorage.getItem(STORED);
    } catch {
      token = null;
    }
  }
  return token !== null;
}

/** Calls `listener` when the server does not accept the token. */
export function onLocked(listener) {
  locked.add(listener);
}

/** What the server answers when something fails. */
export class ApiError extends Error {
  constructor(status, document) {
    super(document?.error ?? `the server answered ${status}`);
    this.status = status;
    this.hint = document?.hint ?? null;
    this.document = document ?? {};
  }
}

/** A path with a query; empty values are left out. */
function withQuery(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, one);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/** Asks and returns the raw response; throws `ApiError` unless it succeeded. */
export async function ask(path, options = {}) {
  const { params, body, signal, headers, keepalive } = options;
  const own = token;
  const response = await fetch(withQuery(path, params), {
    method: body === undefined ? "GET" : "POST",
    headers: {
      Authorization: `Bearer ${own}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    keepalive,
    signal,
  });
  if (response.ok) return response;
  const document = await response.json().catch(() => null);
  // An answer to an older token says nothing about the one that was given since.
  if (response.status === 401 && own === token) {
    try {
      // Another tab may have been given a newer one.
      if (localStorage.getItem(STORED) === token) localStorage.removeItem(STORED);
    } catch {
      // Nothing was stored.
    }
    for (const listener of locked) listener();
  }
  throw new ApiError(response.status, document);
}

/** Answers that were asked for early, by address. */
const early = new Map();
/** Those that nobody wanted are dropped after this time. */
const EARLY = 5_000;

/** Asks for a JSON document before anybody needs it: the first who asks the same gets the answer. */
export function askEarly(path, params) {
  const address = withQuery(path, params);
  const answer = ask(path, { params }).then((response) => response.json());
  answer.catch(() => {});
  early.set(address, answer);
  setTimeout(() => early.delete(address), EARLY);
}

/** Asks for a JSON document. */
export async function get(path, params, signal) {
  const address = withQuery(path, params);
  const known = early.get(address);
  if (!known) return (await ask(path, { params, signal })).json();
  early.delete(address);
  const answer = await known;
  signal?.throwIfAborted();
  return answer;
}

/** Sends a JSON document. */
export const post = async (path, body, signal) => (await ask(path, { body, signal })).json();

/** The address of a session in the API. `key` is `<source>/<id>`. */
export function sessionPath(key) {
  const [source, id] = splitKey(key);
  return `/api/session/${encodeURIComponent(source)}/${encodeURIComponent(id)}`;
}

/** Splits a key into source and id. */
export function splitKey(key) {
  const at = key.indexOf("/");
  return [key.slice(0, at), key.slice(at + 1)];
}

/** Runs only the newest of several questions: an older one is aborted, and its answer is never used. */
export function newest() {
  let running = null;
  return async (question) => {
    running?.abort();
    const own = new AbortController();
    running = own;
    try {
      const answer = await question(own.signal);
      return running === own ? { answer } : { stale: true };
    } catch (error) {
      if (running !== own || error.name === "AbortError") return { stale: true };
      return { error };
    }
  };
}
