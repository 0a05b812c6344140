// Charts as SVG. Every chart has its table on the same page; a chart alone is never the only form.

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";

/** The width of an element, as it changes. */
function useWidth(least = 280) {
  const box = useRef(null);
  const [width, set] = useState(800);
  useLayoutEffect(() => {
    const measure = () => set(Math.max(least, Math.floor(box.current.clientWidth)));
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    measure();
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

/** Round steps that reach the highest value. */
function scale(highest) {
  if (!(highest > 0)) return { top: 1, steps: [0] };
  const rough = highest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const count = Math.ceil(highest / step - 1e-9);
  return { top: count * step, steps: Array.from({ length: count + 1 }, (_, at) => at * step) };
}

/** Columns. `rows` are `{ key, label, value, title }`; `onPick(key)` makes them buttons. */
export function Columns({ rows, write, label, onPick, selected }) {
  const [box, width] = useWidth();
  const [height, left, bottom, above] = [220, 56, 24, 10];
  const { top, steps } = scale(Math.max(0, ...rows.map(({ value }) => value)));
  const inner = width - left - 8;
  const slot = inner / Math.max(1, rows.length);
  const bar = Math.max(1, Math.min(36, slot * 0.72));
  const y = (value) => above + (height - above - bottom) * (1 - value / top);
  const every = Math.max(1, Math.ceil(76 / slot));
  return html`<div class="chart" ref=${box}><svg width=${width} height=${height} role="img" aria-label=${label}>
    ${steps.map((step) => html`<g key=${step} class="grid"><line x1=${left} x2=${width - 8} y1=${y(step)} y2=${y(step)} /><text x=${left - 8} y=${y(step) + 4} text-anchor="end">${write(step)}</text></g>`)}
    ${rows.map((row, at) => {
      const x = left + slot * at + (slot - bar) / 2;
      return html`<g key=${row.key} class=${row.key === selected ? "column selected" : "column"} onClick=${onPick && (() => onPick(row.key))}>
        <rect class="hit" x=${left + slot * at} y=${above} width=${slot} height=${height - above - bottom}><title>${row.title}</title></rect>
        <rect class="value" x=${x} y=${y(row.value)} width=${bar} height=${Math.max(row.value > 0 ? 1.5 : 0, y(0) - y(row.value))} rx="2"></rect>
        ${(rows.length - 1 - at) % every === 0 && html`<text class="below" x=${Math.min(width - 34, x + bar / 2)} y=${height - 7} text-anchor="middle">${row.label}</text>`}
      </g>`;
    })}
  </svg></div>`;
}

/** A part of a row as a bar in a table. */
export const Share = ({ part }) => html`<svg class="share" width="80" height="10" aria-hidden="true"><rect class="track" width="80" height="10" rx="3"></rect><rect class="value" width=${Math.max(part > 0 ? 2 : 0, 80 * part)} height="10" rx="3"></rect></svg>`;

/** A line that only rises: what was spent up to each message. `onPick(index)` jumps there. */
export function Sums({ sums, at, onPick, label }) {
  const [box, width] = useWidth(120);
  const height = 56;
  const highest = sums.reduce((most, sum) => Math.max(most, sum ?? 0), 0);
  if (!(highest > 0)) return html`<div ref=${box}></div>`;
  const step = Math.max(1, Math.floor(sums.length / width));
  const points = [];
  let last = 0;
  for (let index = 0; index < sums.length; index += step) {
    last = Math.max(last, sums[index] ?? last);
    points.push(`${((index / Math.max(1, sums.length - 1)) * width).toFixed(1)},${(height - 4 - (last / highest) * (height - 10)).toFixed(1)}`);
  }
  const x = (at / Math.max(1, sums.length - 1)) * width;
  const pick = (event) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    onPick(Math.round(((event.clientX - left) / width) * (sums.length - 1)));
  };
  return html`<div class="sums" ref=${box}><svg width=${width} height=${height} role="img" aria-label=${label} onClick=${pick}>
    <polygon class="area" points=${`0,${height} ${points.join(" ")} ${width},${height}`}></polygon>
    <polyline class="edge" points=${points.join(" ")}></polyline><line class="now" x1=${x} x2=${x} y1="0" y2=${height} /></svg></div>`;
}

/** Lanes of a day: `{ key, label, spans: [{ state, from, to }] }`, all in milliseconds. */
export function Lanes({ lanes, from, to, at, onPick, ticks }) {
  const [box, width] = useWidth();
  const phone = width < 560;
  const [row, left, bottom] = [22, phone ? 84 : 180, 22];
  const height = lanes.length * row + bottom;
  const x = (time) => left + ((time - from) / Math.max(1, to - from)) * (width - left - 8);
  const pick = (event) => {
    const { left: edge } = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - edge - left) / (width - left - 8);
    onPick(from + Math.max(0, Math.min(1, part)) * (to - from));
  };
  return html`<div class="lanes" ref=${box}><svg width=${width} height=${height} role="img" aria-label="When each session worked" onClick=${pick}>
    ${ticks.map(({ time, label }) => html`<g key=${time} class="grid"><line x1=${x(time)} x2=${x(time)} y1="0" y2=${height - bottom} /><text x=${Math.min(x(time), width - 16)} y=${height - 6} text-anchor="middle">${label}</text></g>`)}
    ${lanes.map((lane, number) => html`<g key=${lane.key}>
      <text class="lane-name" x="0" y=${number * row + 15}>${lane.label.slice(0, phone ? 11 : 24)}</text>
      <line class="base" x1=${left} x2=${width - 8} y1=${number * row + 11} y2=${number * row + 11} />
      ${lane.spans.map((span, part) => html`<rect key=${part} class=${`span ${span.state}`} x=${x(span.from)} y=${number * row + 4} width=${Math.max(1.5, x(span.to) - x(span.from))} height="14" rx="2"><title>${`${lane.label}: ${span.state}`}</title></rect>`)}
    </g>`)}
    <line class="now" x1=${x(at)} x2=${x(at)} y1="0" y2=${height - bottom} />
  </svg></div>`;
}
