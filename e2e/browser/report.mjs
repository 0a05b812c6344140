// Checks of a usage report.

import assert from "node:assert/strict";
import { faint, misdeeds, open, overflow, shown } from "./watch.mjs";

/** What text is drawn in, and what is behind it, of drawings: `faint` looks at HTML only. */
const faintMarks = (page) =>
  page.evaluate(() => {
    const light = (colour) => {
      const linear = colour.match(/[\d.]+/g).slice(0, 3).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const paper = light(getComputedStyle(document.body).backgroundColor);
    const found = [];
    for (const mark of document.querySelectorAll(".plot text, .plot rect:not(.hit, .grid), td.bar rect")) {
      const ink = light(getComputedStyle(mark).fill);
      const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      const least = mark.tagName === "text" ? 4.5 : 3;
      if (ratio < least) found.push(`${ratio.toFixed(2)}: ${mark.tagName}.${mark.getAttribute("class")}`);
    }
    return [...new Set(found)];
  });

/** Where names below a chart run into each other, or out of the page. */
const crowded = (page) =>
  page.evaluate(() => {
    const found = [];
    for (const plot of document.querySelectorAll(".plot")) {
      const names = [...plot.querySelectorAll("text")].filter((name) => name.checkVisibility());
      const boxes = names.map((name) => name.getBoundingClientRect());
      boxes.forEach((box, at) => {
        if (at > 0 && box.left < boxes[at - 1].right + 2) found.push(`${names[at - 1].textContent} and ${names[at].textContent}`);
        if (box.left < 0 || box.right > innerWidth) found.push(`${names[at].textContent} is out of the page`);
      });
    }
    return found;
  });

const unfold = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((fold) => { fold.open = true; }));

export const checks = {
  async "nothing runs, loads or asks"({ browser, files }) {
    const page = await open(browser, files.report);
    await unfold(page);
    for (const part of await page.locator("nav a").all()) await part.click();
    assert.deepEqual(await misdeeds(page), []);
    assert.ok((await page.evaluate(() => document.body.textContent)).includes("<script>pwned('title')</script>"));
  },

  async "bars are drawn, on their ground and no higher than the scale"({ browser, files }) {
    const page = await open(browser, files.report);
    assert.equal(await shown(page, ".plot"), 3);
    const wrong = await page.evaluate(() => {
      const found = [];
      for (const plot of document.querySelectorAll(".plot")) {
        const ground = plot.getBoundingClientRect();
        const bars = [...plot.querySelectorAll("g")].filter((bar) => bar.querySelector("rect:not(.hit)"));
        if (bars.length === 0) found.push("a chart without bars");
        for (const bar of bars) {
          const parts = [...bar.querySelectorAll("rect:not(.hit)")].map((part) => part.getBoundingClientRect());
          const bottom = Math.max(...parts.map((part) => part.bottom));
          const top = Math.min(...parts.map((part) => part.top));
          const sum = parts.reduce((height, part) => height + part.height, 0);
          const said = bar.querySelector("title").textContent;
          if (Math.abs(bottom - ground.bottom) > 1) found.push(`in the air: ${said}`);
          if (top < ground.top - 1) found.push(`too high: ${said}`);
          if (Math.abs(bottom - top - sum) > 1) found.push(`has gaps: ${said}`);
        }
      }
      return found;
    });
    assert.deepEqual(wrong, []);
  },

  async "without a script all of it is there"({ browser, files }) {
    const page = await open(browser, files.report, { javaScriptEnabled: false });
    assert.equal(await shown(page, ".plot"), 3);
    await page.locator("summary", { hasText: "Figures by day" }).click();
    assert.ok((await shown(page, "#time details[open] tbody tr")) > 1);
    await page.locator("label", { hasText: "Dark" }).click();
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark");
  },

  async "a phone needs no scrolling to the side, and names do not touch"({ browser, files }) {
    for (const width of [390, 1280]) {
      const page = await open(browser, files.report, { width });
      await unfold(page);
      assert.ok((await overflow(page)) <= 0, `${width}`);
      assert.deepEqual(await crowded(page), [], `${width}`);
    }
  },

  async "text and bars stand out from their paper, by day and by night"({ browser, files }) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(browser, files.report, { colorScheme });
      await unfold(page);
      assert.deepEqual(await faint(page), [], colorScheme);
      assert.deepEqual(await faintMarks(page), [], colorScheme);
    }
  },

  async "on paper nothing is cut off"({ browser, files }) {
    const page = await open(browser, files.report, { width: 720 });
    await page.emulateMedia({ media: "print" });
    await unfold(page);
    assert.equal(await shown(page, ".tools"), 0);
    assert.ok((await overflow(page)) <= 0);
  },
};
