// Asks for what the first screen needs, while the rest of the page is still loading.

import { askEarly, redeem, sessionPath, unlock } from "./api.js";

/** Sessions that are drawn before all others are there. */
export const FIRST_ROWS = 100;
export const LEVELS = ["talk", "actions", "full", "trace"];
/** Messages of a first screen. */
const FIRST_MESSAGES = 40;

await redeem();
/** Whether there is a token. */
export const isUnlocked = unlock();

/** Views by page. Each is loaded when it is first shown. */
export const VIEWS = {
  sessions: () => import("./views/sessions.js").then(({ Sessions }) => Sessions),
  transcript: () => import("./views/transcript.js").then(({ Transcript }) => Transcript),
  search: () => import("./views/search.js").then(({ Search }) => Search),
  live: () => import("./views/board.js").then(({ Board }) => Board),
  projects: () => import("./views/projects.js").then(({ Projects }) => Projects),
  stats: () => import("./views/stats.js").then(({ Stats }) => Stats),
  problems: () => import("./views/problems.js").then(({ Problems }) => Problems),
  history: () => import("./views/history.js").then(({ History }) => History),
};

const PAGES = Object.keys(VIEWS).filter((page) => page !== "transcript");

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What the address names. */
export function readAddress() {
  const parts = location.pathname.split("/").filter(Boolean);
  const params = Object.fromEntries(new URLSearchParams(location.search));
  const anchor = decode(location.hash.slice(1));
  if (parts[0] === "s" && parts.length >= 3) {
    return { page: "transcript", key: `${decode(parts[1])}/${decode(parts.slice(2).join("/"))}`, params, anchor };
  }
  const page = parts.length === 0 ? "sessions" : parts[0];
  return { page: PAGES.includes(page) ? page : "nowhere", key: null, params, anchor };
}

/** How a transcript is shown. */
export function readingOptions(params) {
  return { view: params.view === "strict" ? "strict" : "full", level: LEVELS.includes(params.level) ? params.level : "actions", thoughts: params.thoughts === "1" };
}

/** The place that an address names: `m-<id>`, `m-<id>/call-2`. */
export function target(anchor) {
  const parts = /^m-(.+?)(?:\/call-(\d+))?$/.exec(anchor ?? "");
  return parts && { at: `${/^\d+-\d+$/.test(parts[1]) ? "key" : "id"}:${parts[1]}`, call: parts[2] ?? null };
}

/** The question for a page of messages. */
export const pageQuestion = ({ view, level, thoughts }, place) => ({ view, level, thoughts: thoughts ? 1 : null, ...place });

/** The first messages. */
export const START = { from: 0, count: FIRST_MESSAGES };

const { page, key, params, anchor } = readAddress();
/** Whether a few sessions are enough for the first screen: no filter, no place to go back to. */
export const isFewEnough = page === "sessions" && Object.keys(params).length === 0 && !history.state?.scroll && !history.state?.selected;

if (isUnlocked) {
  if (page === "transcript") {
    const place = history.state?.place ? null : (target(anchor) ?? START);
    if (place) askEarly(`${sessionPath(key)}/messages`, pageQuestion(readingOptions(params), "at" in place ? { at: place.at } : place));
  } else askEarly("/api/rows", isFewEnough ? { first: FIRST_ROWS } : {});
  askEarly("/api/hello");
  VIEWS[page]?.().catch(() => {});
}
