
{
  const MOST = 2000;
  const field = document.getElementById("find");
  const found = document.getElementById("found");
  const marks = CSS.highlights && new Highlight();
  const here = CSS.highlights && new Highlight();
  if (marks) {
    here.priority = 1;
    CSS.highlights.set("hit", marks);
    CSS.highlights.set("here", here);
  }
  let hits = [];
  let at = -1;
  let run = 0;

  /** The texts of a turn that are shown, or would be if a fold were open. */
  function* texts(turn, isLeftOut) {
    const walker = document.createTreeWalker(turn, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
      if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
      return node.classList.contains("again") || isLeftOut(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    while (walker.nextNode()) yield walker.currentNode;
  }

  function search(turn, words, isLeftOut) {
    let any = false;
    for (const node of texts(turn, isLeftOut)) {
      const text = node.data.toLowerCase();
      // Letters that change their length with their case would move what is marked.
      if (text.length !== node.data.length) continue;
      for (let from = text.indexOf(words); from >= 0 && hits.length < MOST; from = text.indexOf(words, from + words.length)) {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, from + words.length);
        hits.push(range);
        marks?.add(range);
        any = true;
      }
    }
    return any;
  }

  function tell() {
    const many = hits.length >= MOST ? MOST + "+" : hits.length;
    found.textContent = field.value.trim() === "" ? "" : at < 0 ? many + (hits.length === 1 ? " hit" : " hits") : at + 1 + "/" + many;
  }

  function clear() {
    run += 1;
    hits = [];
    at = -1;
    marks?.clear();
    here?.clear();
    for (const item of prompts.querySelectorAll(".without")) item.classList.remove("without");
    found.textContent = "";
  }

  async function find() {
    clear();
    const words = field.value.trim().toLowerCase();
    if (words === "") return;
    const own = run;
    const isLeftOut = choice();
    const items = new Map(links.map((link) => [link.hash.slice(1), link.parentElement]));
    let paused = performance.now();
    for (const turn of session.querySelectorAll(".turn")) {
      const any = search(turn, words, isLeftOut);
      items.get(turn.id)?.classList.toggle("without", !any);
      if (performance.now() - paused > 30) {
        tell();
        await new Promise((resume) => setTimeout(resume));
        if (own !== run) return;
        paused = performance.now();
      }
    }
    tell();
  }

  function go(by) {
    if (hits.length === 0) return;
    at = (at + by + hits.length) % hits.length;
    const range = hits[at];
    const element = range.startContainer.parentElement;
    for (let fold = element.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
    here?.clear();
    here?.add(range);
    const box = element.closest(".said, .code, pre, p, li") ?? element;
    box.scrollIntoView({ block: "nearest" });
    requestAnimationFrame(() => {
      const { top, bottom } = range.getBoundingClientRect();
      if (top < 90 || bottom > innerHeight - 40) scrollBy(0, top - innerHeight / 3);
    });
    tell();
  }

  field.addEventListener("input", settled(find, 120));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      field.value = "";
      clear();
      field.blur();
    }
  });
  document.querySelector(".tools").addEventListener("change", (event) => {
    if (event.target !== field && field.value.trim() !== "") find();
  });
}
