// Messages on the page. They are drawn again only when they change: scrolling draws nothing.

import { Component, html } from "../../vendor/preact-htm.js";
import { Blocks } from "../blocks.js";
import { bytes, clock, line, moment, money, percent, plural, roughly, whole } from "../format.js";
import { WHO } from "../parts.js";

const UNDONE = new Set(["rewound", "cancelled"]);

class Message extends Component {
  shouldComponentUpdate(next) {
    const { message, isTarget, branch, session, fresh } = this.props;
    return next.fresh !== fresh || next.message !== message || next.isTarget !== isTarget || next.branch !== branch || next.session !== session;
  }

  render({ message, isTarget, branch, session, unfold, address, isSameTime, fresh }) {
    const isUndone = UNDONE.has(message.fate);
    const who = message.kind === "answer" ? "agent" : (WHO[message.kind] ?? message.kind);
    const sum = isUndone ? "undone" : money(message.sum, false, 3);
    return html`<article class=${`message ${message.kind} ${message.fate === "kept" ? "" : `undone ${message.fate}`} ${isTarget ? "target" : ""}`} data-key=${message.key} data-at=${message.at} id=${`m-${message.id ?? message.key}`} aria-label=${`${who}, ${clock(message.time)}`}>
      ${fresh > 0 && html`<div class="gap fresh"><span>${whole(fresh)} new</span></div>`}
      ${message.gap > 0 && html`<div class="gap"><span>${roughly(message.gap)} later</span></div>`}
      ${branch && html`<div class="branch">↶ ${branch}</div>`}
      <div class="margin"><a class=${isSameTime ? "time same" : "time"} href=${address(`m-${message.id ?? message.key}`)} title=${`${moment(message.time)} · link to this message`}>${clock(message.time) || "·"}</a>
        <span class="sum" title="Cost up to this message">${message.kind === "answer" || isUndone ? sum : ""}</span>
        <span class="filled" title="How full the context was">${percent(message.context)}</span></div>
      <div class="body"><div class="who"><span class="speaker">${who}</span>${message.model && html` <span class="dim">${line(message.model)}</span>`}${message.fate !== "kept" && html` <span class="fate">${message.fate}</span>`}</div>
        ${message.error ? html`<p class="notice-block error">${line(message.error)}</p>` : html`<${Blocks} message=${message} session=${session} unfold=${unfold} />`}
        ${(message.cut ?? []).map((cut, at) => html`<p key=${at} class="dim">The ${line(cut.where)} is cut here; all of it is ${bytes(cut.bytes)}.</p>`)}</div>
    </article>`;
  }
}

/** What a run of undone messages holds, at its first message. */
function branchAt(outline, at) {
  if (!outline) return "undone from here";
  let end = at;
  while (end < outline.total && "rc".includes(outline.fate[end])) end += 1;
  const before = at > 0 ? (outline.sum[at - 1] ?? 0) : 0;
  const cost = (outline.sum[end - 1] ?? before) - before;
  return `${plural(end - at, "message")} undone${cost > 0 ? `, ${money(cost, false, 3)}` : ""}`;
}

export class Messages extends Component {
  shouldComponentUpdate(next) {
    const { items, targetKey, outline, session, isEnd, newFrom, total } = this.props;
    return next.newFrom !== newFrom || (newFrom !== null && next.total !== total) || next.items !== items || next.targetKey !== targetKey || next.session !== session || next.isEnd !== isEnd || (next.outline !== outline && next.items.some(({ fate }) => fate !== "kept"));
  }

  render({ items, outline, session, targetKey, unfold, from, isEnd, address, newFrom, total }) {
    let [wasUndone, time] = [false, ""];
    // Where new messages begin, unless that is before what is on the page.
    const firstNew = newFrom > from ? items.find(({ at }) => at >= newFrom) : null;
    return html`${from > 0 && html`<p class="dim earlier">${plural(from, "earlier message")}</p>`}
      ${items.map((message) => {
        const isUndone = UNDONE.has(message.fate);
        const branch = isUndone && !wasUndone ? branchAt(outline, message.at) : null;
        wasUndone = isUndone;
        const isSameTime = time === clock(message.time);
        time = clock(message.time);
        return html`<${Message} key=${message.key} message=${message} session=${session} isTarget=${message.key === targetKey} branch=${branch} isSameTime=${isSameTime} fresh=${message === firstNew ? total - newFrom : 0} unfold=${unfold} address=${address} />`;
      })}
      ${items.length === 0 && html`<p class="dim earlier">No message is shown at this level of detail.</p>`}
      ${isEnd && items.length > 0 && html`<p class="end dim">end of the session · ${whole(items.at(-1).at + 1)}</p>`}`;
  }
}
