
const session = document.getElementById("session");
const prompts = document.getElementById("prompts");
const links = [...prompts.querySelectorAll("a")];

/**
 * Returns what tells whether an element is left out by what the reader has chosen: the same as the style has. The style itself is
 * not asked, as that would have turns laid out that nobody has looked at yet.
 */
function choice() {
  const isOff = (id) => document.getElementById(id)?.checked === false;
  const [withoutThoughts, withoutUndone] = [isOff("thoughts"), isOff("undone")];
  const levels = ["talk", "actions", "full", "trace"];
  const level = Math.max(0, levels.findIndex((id) => document.getElementById(id)?.checked));
  const above = levels.slice(level + 1);
  if (level === 1) above.push("but-at-actions");
  return (element) => {
    const { classList } = element;
    if (classList.contains("undone") && withoutUndone) return true;
    if (classList.contains("thought")) return withoutThoughts;
    if (classList.contains("thinks") && !withoutThoughts) return false;
    return above.some((name) => classList.contains(name));
  };
}

/** The prompts that are shown, in order. */
function shownPrompts() {
  const isLeftOut = choice();
  return [...session.querySelectorAll(".prompt")].filter((prompt) => !isLeftOut(prompt));
}

/** Goes to an element, for the eye and for the keyboard. */
function goTo(element) {
  if (!element.hasAttribute("tabindex")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  // Turns that were never seen have no height of their own yet: the second time it is right.
  element.scrollIntoView({ block: "start" });
  requestAnimationFrame(() => element.scrollIntoView({ block: "start" }));
}

function step(by) {
  const all = shownPrompts();
  const top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  const focused = all.indexOf(document.activeElement);
  // Where the keyboard is, else what is at the top of the window.
  const now = focused >= 0 ? focused : all.findLastIndex((prompt) => prompt.parentElement.getBoundingClientRect().top <= top + 4);
  const next = all[Math.max(0, Math.min(all.length - 1, now + by))];
  if (next) goTo(next);
}

const press = (id) => document.getElementById(id)?.click();
const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  1: () => press("talk"),
  2: () => press("actions"),
  3: () => press("full"),
  4: () => press("trace"),
  t: () => press("thoughts"),
  u: () => press("undone"),
  "?": () => document.getElementById("help").togglePopover(),
  "/": () => document.getElementById("find").select(),
};
document.addEventListener("keydown", (event) => {
  if (isTyping(event) || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});

// The list says which turn is at the top of the window.
{
  const byTurn = new Map(links.map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) seen.add(target); else seen.delete(target);
    }
    const first = [...seen].sort((one, other) => (one.compareDocumentPosition(other) & 4 ? -1 : 1))[0];
    const link = byTurn.get(first?.id);
    if (!link || link.hasAttribute("aria-current")) return;
    for (const other of prompts.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    const box = link.getBoundingClientRect();
    const list = prompts.getBoundingClientRect();
    if (box.top < list.top || box.bottom > list.bottom) prompts.scrollTop += box.top - list.top - list.height / 3;
  }, { rootMargin: "-72px 0px -55% 0px" });
  for (const turn of session.querySelectorAll(".turn[id]")) watcher.observe(turn);
}

prompts.addEventListener("click", (event) => {
  if (event.target.closest("a") && prompts.matches(":popover-open")) prompts.hidePopover();
});

// A link to a message that is not shown shows it.
function reveal() {
  const target = /^#[mp]\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  if (!target || !session.contains(target)) return;
  const undone = document.getElementById("undone");
  if (undone && (target.matches(".undone") || target.querySelector(".prompt.undone"))) undone.checked = true;
  if (choice()(target)) press("trace");
  if (location.hash.startsWith("#m")) goTo(target);
}
addEventListener("hashchange", reveal);
reveal();
