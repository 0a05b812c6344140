// Blocks of a message as elements. Session text is only ever a text node; markup comes from this file alone.

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { ask, sessionPath } from "./api.js";
import { bytes, line, safe } from "./format.js";

/** Longer code is folded to its first lines. */
const LINES = 30;

/** All blocks of a message. */
export function Blocks({ message, session, unfold }) {
  let media = 0;
  const own = (message.media ?? []).filter(({ call }) => call === null || call === undefined);
  let call = -1;
  return (message.blocks ?? []).map((block, at) => {
    if (block.type === "media") {
      const picture = own[media];
      media += 1;
      return html`<${Picture} key=${at} session=${session} message=${message} block=${block} hash=${picture?.hash} />`;
    }
    if (block.type === "call") {
      call += 1;
      return html`<${Call} key=${at} block=${block} number=${call} message=${message} session=${session} unfold=${unfold} />`;
    }
    return html`<${Block} key=${at} block=${block} />`;
  });
}

function Block({ block }) {
  switch (block.type) {
    case "markdown":
      return html`<div class="prose" dir="auto">${block.blocks.map(prose)}</div>`;
    case "text":
      return html`<${Long} className="typed" text=${block.text} />`;
    case "verbatim":
      return html`<${Long} className="verbatim" text=${block.text} />`;
    case "notice":
      return html`<p class=${`notice-block ${block.level ?? ""}`}>${safe(block.text)}</p>`;
    case "sent":
      return html`<details class="fold"><summary>As it was sent to the model</summary><${Long} className="verbatim" text=${block.text} /></details>`;
    case "thought":
      return html`<div class="thought"><strong>${line(block.subject)}</strong> ${safe(block.description)}</div>`;
    case "file":
      return html`<details class="fold"><summary>${line(block.path)} <span class="dim">${bytes(block.bytes)}</span></summary>${block.content && html`<${Code} code=${block.content} />`}</details>`;
    case "damage":
      return html`<p class="notice-block error">${line(block.what)}</p>`;
    default:
      return null;
  }
}

/** Text that may be very long: only its start is laid out at first. */
function Long({ text, className }) {
  const [isOpen, open] = useState(false);
  const limit = 20_000;
  const isCut = !isOpen && text.length > limit;
  return html`<pre class=${className} dir="auto">${safe(isCut ? text.slice(0, limit) : text)}</pre>${isCut &&
    html`<button class="more" onClick=${() => open(true)}>Show all of it (${bytes(text.length)})</button>`}`;
}

function prose(block, at) {
  switch (block.type) {
    case "paragraph":
      return html`<p key=${at} class=${block.tight ? "tight" : undefined}>${block.content.map(inline)}</p>`;
    case "heading":
      return html`<${`h${Math.min(6, block.level + 2)}`} key=${at}>${block.content.map(inline)}<//>`;
    case "list": {
      const items = block.items.map((item, number) => html`<li key=${number} class=${item.task === undefined ? undefined : "task"}>
        ${item.task !== undefined && html`<span class="box" aria-label=${item.task ? "done" : "open"}>${item.task ? "☑" : "☐"}</span> `}${item.blocks.map(prose)}</li>`);
      return block.start === undefined ? html`<ul key=${at}>${items}</ul>` : html`<ol key=${at} start=${block.start}>${items}</ol>`;
    }
    case "quote":
      return html`<blockquote key=${at}>${block.blocks.map(prose)}</blockquote>`;
    case "table": {
      const cell = (tag) => (content, column) => html`<${tag} key=${column} class=${block.alignments[column] ?? "none"}>${content.map(inline)}<//>`;
      return html`<div class="wide" key=${at} tabindex="0" role="region" aria-label="Table"><table><thead><tr>${block.head.map(cell("th"))}</tr></thead>
        <tbody>${block.rows.map((row, number) => html`<tr key=${number}>${row.map(cell("td"))}</tr>`)}</tbody></table></div>`;
    }
    case "code":
      return html`<${Code} key=${at} code=${block} />`;
    case "html":
      return html`<pre key=${at} class="verbatim">${safe(block.text)}</pre>`;
    case "rule":
      return html`<hr key=${at} />`;
    default:
      return null;
  }
}

function inline(part, at) {
  switch (part.type) {
    case "text":
      return safe(part.text);
    case "code":
      return html`<code key=${at}>${safe(part.text)}</code>`;
    case "soft_break":
      return " ";
    case "line_break":
      return html`<br key=${at} />`;
    case "emphasis":
      return html`<em key=${at}>${part.content.map(inline)}</em>`;
    case "strong":
      return html`<strong key=${at}>${part.content.map(inline)}</strong>`;
    case "strike":
      return html`<s key=${at}>${part.content.map(inline)}</s>`;
    case "link":
      return link(part, at);
    case "image":
      return html`<span key=${at} class="picture-name">${part.content.map(inline)} <span class="dim">${line(part.target)}</span></span>`;
    default:
      return null;
  }
}

/** Only web addresses become links, and a link shows its host when its text does not. */
function link({ target, content }, at) {
  let url = null;
  try {
    url = new URL(target);
  } catch {
    // Not an address on its own.
  }
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    return html`<span key=${at} class="no-link" title=${line(target)}>${content.map(inline)}</span>`;
  }
  const said = content.map((part) => part.text ?? "").join("");
  return html`<a key=${at} href=${url.href} target="_blank" rel="noreferrer noopener nofollow" title=${line(url.href)}>${content.map(inline)}${!said.includes(url.host) &&
    html`<span class="host"> ${line(url.host)}</span>`}</a>`;
}

/** Code with its tokens. */
export function Code({ code }) {
  const [isOpen, open] = useState(false);
  const { lines, language } = code;
  const isCut = !isOpen && lines.length > LINES + 10;
  const shown = isCut ? lines.slice(0, LINES) : lines;
  return html`<div class="code">${language && html`<span class="language">${line(language)}</span>`}<pre tabindex="0"><code>${shown.map((tokens, at) =>
    html`<span key=${at} class="code-line">${tokens.map((token, number) => (token.class === "plain" ? safe(token.text) : html`<span key=${number} class=${`t-${token.class}`}>${safe(token.text)}</span>`))}${"\n"}</span>`)}</code></pre>
    ${isCut && html`<button class="more" onClick=${() => open(true)}>Show all ${lines.length} lines</button>`}</div>`;
}

/** A change, line by line. */
function Diff({ diff }) {
  const [isOpen, open] = useState(false);
  const lines = diff.lines.filter(({ kind }) => kind !== "header");
  const isCut = !isOpen && lines.length > LINES + 10;
  const shown = isCut ? lines.slice(0, LINES) : lines;
  return html`<div class="diff"><table><tbody>${shown.map((row, at) => html`<tr key=${at} class=${row.kind}><td class="number">${row.old ?? ""}</td><td class="number">${row.new ?? ""}</td><td class="text">${safe(row.text)}</td></tr>`)}</tbody></table>
    ${isCut && html`<button class="more" onClick=${() => open(true)}>Show all ${lines.length} lines</button>`}</div>`;
}

const SIGNS = { success: "✓", error: "✗", cancelled: "⊘" };

/** A tool call: one line, its change, and its output on request. */
function Call({ block, number, message, session, unfold }) {
  const isLarge = (block.diff?.lines.length ?? 0) > 200;
  const [isOpen, open] = useState(Boolean(block.diff) && !isLarge);
  const [whole, setWhole] = useState(null);
  const status = block.status ?? "unknown";
  const shown = whole ?? block;
  const toggle = async () => {
    open(!isOpen);
    if (isOpen || whole || block.output || !unfold) return;
    const full = await unfold(message);
    const calls = (full?.blocks ?? []).filter(({ type }) => type === "call");
    setWhole(calls[number] ?? { ...block, nothing: true });
  };
  const pictures = (message.media ?? []).filter(({ call }) => call === number);
  const rest = shown.output || shown.arguments || shown.nothing;
  return html`<div class=${`call ${status}`} id=${`call-${message.key}-${number + 1}`}>
    <button class="call-line" aria-expanded=${isOpen} onClick=${toggle}>
      <span class="sign" aria-hidden="true">${SIGNS[status] ?? "●"}</span><span class="name">${line(block.name)}</span>
      ${block.key_argument && html`<span class="argument">${line(block.key_argument)}</span>`}
      ${status !== "success" && html`<span class="ending">${status === "error" ? "failed" : line(status)}</span>`}
      ${block.error && html`<span class="why">${line(block.error)}</span>`}
      <span class="arrow" aria-hidden="true">${isOpen ? "▾" : "▸"}</span>
    </button>
    ${isOpen && shown.diff && html`<${Diff} diff=${shown.diff} />`}
    ${isOpen && shown.arguments && html`<${Code} code=${shown.arguments} />`}
    ${isOpen && shown.output && html`<${Long} className="verbatim output" text=${shown.output.text} />`}
    ${isOpen && (shown.is_cut) && html`<p class="dim">The agent cut the output; the rest is lost.</p>`}
    ${isOpen && !rest && !shown.diff && (unfold && !whole ? html`<p class="dim">…</p>` : html`<p class="dim">No output.</p>`)}
    ${isOpen && pictures.map((picture, at) => html`<${Picture} key=${at} session=${session} message=${message} block=${picture} hash=${picture.hash} />`)}
  </div>`;
}

/** A picture, asked for when it is on the page: its bytes need the token. */
function Picture({ session, message, block, hash }) {
  const [source, setSource] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    if (!hash || !session) return undefined;
    let made = null;
    const own = new AbortController();
    ask(`${sessionPath(session)}/image/${encodeURIComponent(hash)}`, { params: { at: message.at }, signal: own.signal })
      .then((response) => response.blob())
      .then((blob) => {
        made = URL.createObjectURL(blob);
        setSource(made);
      })
      .catch((trouble) => trouble.name !== "AbortError" && setError(trouble.message));
    return () => {
      own.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [hash, session]);
  const name = `${block.mime ?? "file"}, ${bytes(block.bytes)}`;
  if (source) return html`<img class="picture" src=${source} alt=${name} loading="lazy" />`;
  return html`<p class="dim picture-name">▣ ${line(name)}${error && ` · ${line(error)}`}</p>`;
}
