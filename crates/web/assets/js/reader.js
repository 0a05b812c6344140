// The messages of one session: which of them are on the page, and how more are fetched.

import { ask, get, sessionPath } from "./api.js";
import { pageQuestion, START } from "./early.js";

/** Messages asked for at once. */
const PAGE = 200;
/** Sessions up to this size are on the page as a whole. */
const WHOLE = 1000;
/** Of larger ones, at most so many messages are on the page. */
const MOST = 600;

/** While a session grows, what was read of it is told this often, in milliseconds. */
const MARK = 500;

const FATES = { k: "kept", r: "rewound", c: "cancelled", p: "compressed", x: "replaced" };

export class Reader {
  constructor(key, options, onChange) {
    this.key = key;
    this.options = options;
    this.onChange = onChange;
    this.own = new AbortController();
    /** Messages on the page, and the range of message numbers that they cover. */
    this.items = [];
    [this.from, this.to, this.total] = [0, 0, 0];
    this.outline = null;
    this.prompts = null;
    this.facts = null;
    this.files = null;
    this.error = null;
    this.version = null;
    this.isBusy = false;
    this.isOpen = false;
    /** Set if something was appended while it was being opened. */
    this.late = null;
    this.newBelow = 0;
    /** The first message that came after the end was shown last; null if there is none. */
    this.newFrom = null;
    /** How many messages the session has, as rows count them, and with how many it was marked as read. */
    [this.counted, this.marked] = [0, null];
    /** Set while a mark waits to be sent. */
    this.markTimer = null;
    this.generation = 0;
    addEventListener("pagehide", () => this.flushMark(), { signal: this.own.signal });
  }

  close() {
    this.flushMark();
    clearTimeout(this.outlineTimer);
    this.own.abort();
  }

  get isClosed() {
    return this.own.signal.aborted;
  }

  get path() {
    return sessionPath(this.key);
  }

  get isWhole() {
    return this.total <= WHOLE;
  }

  ask(what, params = {}) {
    return get(`${this.path}${what}`, { view: this.options.view, ...params }, this.own.signal);
  }

  pageOf(place) {
    return this.ask("/messages", pageQuestion(this.options, place));
  }

  /** Shows the first messages. */
  openStart() {
    return this.open(START);
  }

  /** Shows the last messages. */
  openEnd() {
    return this.open({ before: 1e12, count: PAGE });
  }

  /** Shows the messages around a number; if the level hides that one, the next is returned. */
  openNear(number) {
    return this.open({ from: Math.max(0, number - 24), count: PAGE }, number);
  }

  /** Shows a message and those around it, with more detail if it needs that: a number, `id:…` or `key:…`. */
  openAt(at) {
    return this.open({ at });
  }

  /** Asks for messages to begin with. Returns the one that was wanted, or null. */
  async open(place, number = null) {
    const generation = (this.generation += 1);
    this.isBusy = true;
    try {
      const page = await this.pageOf(place);
      if (generation !== this.generation) return null;
      if (page.raised) this.options = { ...this.options, level: page.raised };
      this.items = page.messages;
      [this.from, this.to, this.total, this.version] = [page.from, page.to, page.total, page.version];
      const isUnseen = !this.isOpen && page.new_from !== null && page.to < page.total;
      if (!this.isOpen) this.newFrom ??= page.new_from;
      this.counted = page.counted;
      [this.error, this.isOpen, this.newBelow] = [null, true, isUnseen ? page.total - this.newFrom : 0];
      const wanted = page.at ?? number;
      const found = wanted === null ? null : (this.items.find((one) => one.at >= wanted) ?? this.items.at(-1) ?? null);
      this.isBusy = false;
      this.onChange({ raised: page.raised ?? null, isMissing: place.at !== undefined && wanted === null });
      this.rest(generation);
      if (this.late) this.grown(this.late);
      this.late = null;
      return found;
    } catch (error) {
      if (error.name === "AbortError" || generation !== this.generation) return null;
      [this.error, this.isBusy] = [error, false];
      this.onChange({});
      return null;
    }
  }

  /** Fetches what is still missing of a session that fits on the page. */
  async rest(generation) {
    while (this.isWhole && generation === this.generation && !this.error) {
      if (this.to < this.total) await this.more(1);
      else if (this.from > 0) await this.more(-1);
      else return;
    }
  }

  /** Fetches the messages after (1) or before (-1) those on the page. */
  async more(direction) {
    const isDone = direction > 0 ? this.to >= this.total : this.from <= 0;
    if (this.isBusy || isDone || !this.isOpen) return false;
    const generation = this.generation;
    this.isBusy = true;
    try {
      const page = await this.pageOf(direction > 0 ? { from: this.to, count: PAGE } : { before: this.from, count: PAGE });
      if (generation !== this.generation) return false;
      this.total = page.total;
      if (direction > 0) {
        this.items = [...this.items, ...page.messages];
        this.to = Math.max(page.to, this.to + 1);
      } else {
        this.items = [...page.messages, ...this.items];
        this.from = Math.min(page.from, this.from - 1);
      }
      this.to = Math.min(this.to, this.total);
      this.from = Math.max(this.from, 0);
      this.trim(direction);
      return true;
    } catch (error) {
      if (error.name !== "AbortError" && generation === this.generation) this.error = error;
      return false;
    } finally {
      if (generation === this.generation) {
        this.isBusy = false;
        this.onChange({});
      }
    }
  }

  /** Drops messages at the other side. */
  trim(direction) {
    const over = this.items.length - MOST;
    if (this.isWhole || over <= 0) return;
    if (direction > 0) {
      this.items = this.items.slice(over);
      this.from = this.items[0].at;
    } else {
      this.items = this.items.slice(0, MOST);
      this.to = this.items[MOST - 1].at + 1;
    }
  }

  /** Takes up what was appended; `isFollowing()` says whether the reader is at the end. */
  async grown(isFollowing) {
    if (!this.isOpen) {
      this.late = isFollowing;
      return;
    }
    this.isStale = true;
    if (this.isGrowing) return;
    this.isGrowing = true;
    while (this.isStale && !this.own.signal.aborted) {
      this.isStale = false;
      await this.takeNew(isFollowing()).catch(() => {});
    }
    this.isGrowing = false;
    clearTimeout(this.outlineTimer);
    this.outlineTimer = setTimeout(() => { this.refreshOutline(); this.loadIndex(); }, this.total > 5000 ? 3000 : 400);
  }

  async takeNew(isFollowing) {
    const [generation, before] = [this.generation, this.total];
    const isAtEnd = this.to >= before;
    // The last message may have been written further, so it is asked for again too.
    const from = isAtEnd ? (this.items.at(-1)?.at ?? 0) : Math.max(0, before - 1);
    const page = await this.pageOf({ from, count: isAtEnd ? PAGE : 1 });
    if (generation !== this.generation) return;
    if (page.total < before) {
      this.total = page.total;
      await this.again();
      return;
    }
    [this.total, this.version, this.counted] = [page.total, page.version, page.counted];
    if (isAtEnd) {
      this.items = [...this.items.filter(({ at }) => at < from), ...page.messages];
      this.to = page.to;
      if (isFollowing) this.trim(1);
    }
    if (!isFollowing && page.total > before) {
      this.newBelow += page.total - before;
      if (this.options.view === "full") this.newFrom ??= before;
    }
    this.onChange({});
  }

  /** The end is on the screen: says so to the server, which remembers it for the terminal, too. */
  shownToEnd() {
    if (this.isClosed || !this.facts || this.counted === this.marked) return;
    this.marked = this.counted;
    this.markTimer ??= setTimeout(() => this.flushMark(), MARK);
  }

  /** Sends a mark that waits. */
  flushMark() {
    if (!this.markTimer) return;
    clearTimeout(this.markTimer);
    this.markTimer = null;
    // It is only a mark: if it is lost, messages are shown as new once more. The page may be about to close.
    ask("/api/read", { body: { session: this.facts.key, messages: this.marked }, keepalive: true }).catch(() => {});
  }

  /** Asks once more for what is on the page. */
  async again() {
    const generation = this.generation;
    const page = await this.pageOf({ from: this.from, count: Math.min(400, Math.max(1, this.to - this.from)) }).catch(() => null);
    if (!page || generation !== this.generation) return;
    const kept = this.items.filter(({ at }) => at >= page.to);
    this.items = [...page.messages, ...kept];
    [this.total, this.version] = [page.total, page.version];
    this.to = Math.min(Math.max(this.to, page.to), this.total);
    this.onChange({});
  }

  /** One message with everything in it. */
  async whole(message, level = "full") {
    const page = await this.ask("/messages", { from: message.at, count: 1, level, thoughts: 1 });
    return page.messages.find(({ key }) => key === message.key) ?? page.messages[0] ?? null;
  }

  async loadFacts() {
    this.facts = await this.ask("").catch(() => null);
    this.onChange({});
  }

  async refreshOutline() {
    const outline = await this.ask("/outline").catch(() => null);
    if (!outline) return;
    this.outline = outline;
    // A rewind changes messages that are already on the page.
    const isOther = this.items.some(({ at, fate }) => at < outline.total && FATES[outline.fate[at]] !== fate);
    if (isOther) await this.again();
    this.onChange({});
  }

  async loadIndex() {
    const index = await this.ask("/index", { what: "prompts" }).catch(() => null);
    this.prompts = index?.entries ?? [];
    this.onChange({});
  }

  async loadFiles() {
    this.files ??= (await this.ask("/index", { what: "files" }).catch(() => ({ entries: [] }))).entries;
    this.onChange({});
    return this.files;
  }

  /** The next message of a sort, from a number on; null if there is none. */
  async next(what, from, step) {
    const is = await this.test(what);
    if (!is) return null;
    for (let at = from + step; at >= 0 && at < this.outline.total; at += step) if (is(at)) return at;
    return null;
  }

  async test(what) {
    if (!this.outline) await this.refreshOutline();
    const { outline } = this;
    if (!outline) return null;
    const isUndone = (at) => at >= 0 && "rc".includes(outline.fate[at]);
    switch (what) {
      case "prompt":
        return (at) => outline.kind[at] === "p";
      case "error":
        return (at) => outline.failed[at] > 0;
      case "call":
        return (at) => outline.calls[at] > 0;
      case "file": {
        const changed = new Set((await this.loadFiles()).filter((file) => file.changed).map((file) => file.at));
        return (at) => changed.has(at);
      }
      case "undone":
        return (at) => isUndone(at) && !isUndone(at - 1);
      case "gap":
        return (at) => at > 0 && outline.time[at] !== null && outline.time[at - 1] !== null && outline.time[at] - outline.time[at - 1] >= 900_000;
      default:
        return null;
    }
  }

  /** Searches the whole session. `onMatches` is called as they come. */
  async find(query, signal, onMatches) {
    let [matches, from] = [[], 0];
    for (;;) {
      const { level } = this.options;
      const answer = await get(`${this.path}/find`, { q: query, view: this.options.view, level, from }, signal);
      matches = [...matches, ...answer.matches];
      onMatches(matches, answer.next === null || answer.next === undefined);
      if (answer.next === null || answer.next === undefined || matches.length > 100_000) return matches;
      from = answer.next;
    }
  }
}
