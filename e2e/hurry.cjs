// Preloaded into Claude Code: its clock goes a hundred times faster, so that what it does after ten minutes happens after six seconds.

const { setTimeout: wait } = globalThis;
const { now } = Date;
const began = now();
Date.now = () => Math.round(began + (now() - began) * 100);
globalThis.setTimeout = (call, delay, ...rest) => wait(call, delay === 600_000 ? delay / 100 : delay, ...rest);
