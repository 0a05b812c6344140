// Questions to the server. The token comes in the fragment of the address and is sent with every question.

const STORED = "recount.token";

let token = null;
const locked = new Set();

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

/** Asks and returns the raw response; throws `ApiError` unless it succeeded. */
export async function ask(path, options = {}) {
  const { params, body, signal, headers } = options;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, one);
  }
  const address = query.size > 0 ? `${path}?${query}` : path;
  const response = await fetch(address, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal,
  });
  if (response.ok) return response;
  const document = await response.json().catch(() => null);
  if (response.status === 401) {
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

/** Asks for a JSON document. */
export const get = async (path, params, signal) => (await ask(path, { params, signal })).json();

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
