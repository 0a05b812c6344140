// Opens exported files in a real browser, and records forbidden actions of a page.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** What drives the browser, from e2e/node_modules or the folder that RECOUNT_E2E_MODULES names. */
async function driver() {
  const given = process.env.RECOUNT_E2E_MODULES;
  const own = join(dirname(fileURLToPath(import.meta.url)), "../node_modules");
  const folders = given ? [given, join(given, "node_modules")] : [own];
  const found = folders.map((folder) => join(folder, "playwright-core/index.mjs")).find((file) => existsSync(file));
  if (!found) throw new Error(`no playwright-core in ${folders.join(" or ")}; run: npm ci --prefix e2e`);
  return import(pathToFileURL(found));
}

/** Starts the browser. */
export async function launch() {
  const { chromium } = await driver();
  const executablePath = process.env.RECOUNT_CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** Opens a file, and watches it. What the page does is in `page.seen`. */
export async function open(browser, file, options = {}) {
  const { width = 1280, height = 900, ...others } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: "light", ...others });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const seen = { requests: [], errors: [], dialogs: [] };
  page.seen = seen;
  const address = pathToFileURL(file).href;
  page.on("request", (request) => {
    const url = request.url();
    // Links may lead to other pages of the same export.
    const isOurs = request.isNavigationRequest() && url.startsWith("file:") && /\.html(#.*)?$/.test(url);
    if (!isOurs) seen.requests.push(url);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.errors.push(message.text());
  });
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("dialog", async (dialog) => {
    seen.dialogs.push(dialog.message());
    await dialog.dismiss();
  });
  // Planted scripts call this.
  await page.addInitScript(() => {
    window.reached = [];
    window.pwned = (place) => window.reached.push(place);
  });
  await page.goto(address);
  return page;
}

/** Everything that the page did and must not have done, as text; empty when it did nothing. */
export async function misdeeds(page) {
  const inside = await page.evaluate(() => {
    const found = (window.reached ?? []).map((place) => `ran what was planted: ${place}`);
    for (const element of document.querySelectorAll("*")) {
      for (const { name } of element.attributes) {
        if (name.startsWith("on") || name === "style") found.push(`has ${name} on ${element.tagName}`);
      }
    }
    if (document.scripts.length !== 1) found.push(`has ${document.scripts.length} scripts`);
    if (document.styleSheets.length !== 1) found.push(`has ${document.styleSheets.length} styles`);
    for (const { src } of document.images) {
      if (!/^data:image\/(png|jpeg|gif|webp|avif|bmp);base64,[A-Za-z0-9+/=]+$/.test(src)) found.push(`has an image from ${src}`);
    }
    return found;
  });
  const { requests, errors, dialogs } = page.seen;
  return [
    ...inside,
    ...requests.map((url) => `asked for ${url}`),
    ...errors.map((text) => `said ${text}`),
    ...dialogs.map((text) => `asked ${text}`),
  ];
}

/** How far the page is wider than its window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/** How many elements of a selector can be seen. */
export const shown = (page, selector) =>
  page.evaluate((wanted) => [...document.querySelectorAll(wanted)].filter((one) => one.checkVisibility()).length, selector);

/** Text that is hard to tell from what is behind it: less than 4.5 to 1. */
export function faint(page) {
  return page.evaluate(() => {
    const channels = (colour) => {
      const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
      return { rgb: [r, g, b], a };
    };
    const light = ([r, g, b]) => {
      const linear = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const { rgb, a } = channels(getComputedStyle(at).backgroundColor);
        if (a > 0) return rgb;
      }
      return [255, 255, 255];
    };
    const found = [];
    for (const element of document.querySelectorAll("body *:not(script, style)")) {
      const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
      if (!says || !element.checkVisibility({ contentVisibilityAuto: false }) || element.matches(".unseen, .unseen *, svg *, .skip")) continue;
      const [one, other] = [light(channels(getComputedStyle(element).color).rgb), light(behind(element))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (ratio < 4.5) found.push(`${ratio.toFixed(2)}: ${element.tagName}.${element.className} "${element.textContent.slice(0, 40)}"`);
    }
    return found;
  });
}
