// How numbers, times and untrusted text are written.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** @type {[number, string][]} */
const MANY = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
/** @type {[number, string][]} */
const BYTES = [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"]];
const two = (number) => String(number).padStart(2, "0");

/** A time as milliseconds, from milliseconds or RFC 3339; null if there is none. */
export function instant(time) {
  if (time === null || time === undefined) return null;
  const value = typeof time === "number" ? time : Date.parse(time);
  return Number.isFinite(value) ? value : null;
}

export function day(time) {
  const date = new Date(instant(time) ?? NaN);
  return Number.isNaN(date.getTime()) ? "" : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function clock(time, seconds = false) {
  const date = new Date(instant(time) ?? NaN);
  if (Number.isNaN(date.getTime())) return "";
  return `${two(date.getHours())}:${two(date.getMinutes())}${seconds ? `:${two(date.getSeconds())}` : ""}`;
}

export const moment = (time) => (instant(time) === null ? "" : `${day(time)} ${clock(time)}`);

/** How long ago: `now`, `5m ago`, `3d ago`, then the date. */
export function ago(time, now = Date.now()) {
  const then = instant(time);
  if (then === null) return "?";
  const past = now - then;
  if (past < MINUTE) return "now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)}m ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)}h ago`;
  if (past < 7 * DAY) return `${Math.floor(past / DAY)}d ago`;
  return day(then);
}

/** A running time: `0:14`, `2:31`, `1:02:05`. */
export function elapsed(milliseconds) {
  const all = Math.max(0, Math.floor(milliseconds / 1000));
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** A rough duration in words: `3 hours`. */
export function roughly(seconds) {
  const unit = (many, name) => `${many} ${name}${many === 1 ? "" : "s"}`;
  if (seconds < 90) return unit(Math.round(seconds), "second");
  if (seconds < 90 * 60) return unit(Math.round(seconds / 60), "minute");
  if (seconds < 36 * 3600) return unit(Math.round(seconds / 3600), "hour");
  return unit(Math.round(seconds / 86_400), "day");
}

/** Many: `71k`, `1.2M`. */
export function many(number) {
  if (number === null || number === undefined) return "";
  if (number < 1000) return String(number);
  for (const [size, letter] of MANY) {
    if (number >= size * 0.9995) {
      const value = number / size;
      return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${letter}`;
    }
  }
  return String(number);
}

/** A whole number with separators. `toLocaleString` loads the data of all locales when it is first called: 12 ms before the first row. */
export const whole = (number) => String(number ?? 0).replace(/\B(?=(\d{3})+$)/g, ",");

export const plural = (number, one, several = `${one}s`) => `${whole(number)} ${number === 1 ? one : several}`;

export function bytes(number) {
  if (number === null || number === undefined) return "";
  if (number < 1000) return `${number} B`;
  for (const [size, unit] of BYTES) {
    if (number >= size * 0.9995) {
      const value = number / size;
      return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
    }
  }
  return `${number} B`;
}

/** Dollars; `least` marks a lower bound. With `digits` of 3, small sums have tenths of a cent. */
export function money(dollars, least = false, digits = 2) {
  if (dollars === null || dollars === undefined) return "";
  const places = digits > 2 && dollars !== 0 && Math.abs(dollars) < 9.9995 ? 3 : 2;
  const text = dollars >= 1000 ? whole(Math.round(dollars)) : dollars.toFixed(places);
  return `${least ? "≥" : ""}$${text}`;
}

export const percent = (number) => (number === null || number === undefined ? "" : `${Math.round(number)} %`);

// Controls other than tab and line feed, and characters that reorder or hide what surrounds them.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const UNSAFE_ONCE = new RegExp(UNSAFE.source);

/** Untrusted text with its invisible characters made visible. */
export function safe(text) {
  if (text === null || text === undefined) return "";
  if (!UNSAFE_ONCE.test(text)) return text;
  return text.replaceAll("\r\n", "\n").replace(UNSAFE, (character) => {
    const code = character.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "␡";
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** The same on one line. */
export const line = (text) => safe((text ?? "").replace(/\s+/g, " ").trim());

/** The last part of a path. */
export const leaf = (path) => (path ?? "").replace(/\/+$/, "").split("/").pop() || path || "";

/** A folder with the home written as `~`. */
export const tilde = (path) => safe((path ?? "").replace(/^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, "~"));
