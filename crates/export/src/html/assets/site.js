
{
  const table = document.querySelector("table");
  const field = document.getElementById("find");
  const choice = (id) => document.getElementById(id);
  const none = document.querySelector(".none");

  const bodies = [...table.tBodies];

  /** Rows with those below them, as they stand at first: by project. Read when they are first needed. */
  let read;
  function families() {
    read ??= bodies.flatMap((body) => {
      const found = [];
      for (const row of body.querySelectorAll("tr:not(.group)")) {
        const entry = { ...facts(row), row, body };
        if (row.classList.contains("child") && found.length > 0) found.at(-1).children.push(entry);
        else found.push({ top: entry, children: [] });
      }
      return found;
    });
    return read;
  }

  function facts(row) {
    const cell = (name) => row.querySelector("." + name);
    const day = (name) => cell(name).firstChild?.dateTime ?? "";
    const number = (name) => Number(cell(name).textContent.replaceAll(",", ""));
    const head = row.firstChild;
    const project = cell("project").textContent.toLowerCase();
    const models = [...cell("models").children].map((model) => model.textContent);
    return {
      title: head.firstChild.textContent.toLowerCase(),
      project,
      folder: row.dataset.project,
      models,
      started: day("started"),
      updated: day("updated"),
      prompts: number("prompts"),
      tokens: number("tokens"),
      text: [head.textContent, project, row.dataset.id ?? "", ...models].join("\n").toLowerCase(),
    };
  }

  function filter() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [folder, model, since, until] = ["project", "model", "since", "until"].map((id) => choice(id).value);
    const fits = (entry) =>
      (folder === "" || entry.folder === folder) &&
      (model === "" || entry.models.includes(model)) &&
      (since === "" || entry.updated.slice(0, 10) >= since) &&
      (until === "" || (entry.started !== "" && entry.started.slice(0, 10) <= until)) &&
      words.every((word) => entry.text.includes(word));
    let shown = 0;
    let all = 0;
    for (const { top, children } of families()) {
      const fitting = children.filter((child) => {
        child.row.hidden = !fits(child);
        return !child.row.hidden;
      });
      const fit = fits(top);
      top.row.hidden = !fit && fitting.length === 0;
      shown += fitting.length + (fit ? 1 : 0);
      all += children.length + 1;
    }
    const sorted = table.classList.contains("sorted");
    for (const body of bodies) {
      const head = body.querySelector(".group");
      if (head) head.hidden = sorted || body.querySelector("tr:not(.group, [hidden])") === null;
    }
    choice("found").textContent = shown === all ? "" : `${shown} of ${all}`;
    none.hidden = shown > 0;
  }

  const compare = (one, other) => (typeof one === "number" ? one - other : one.localeCompare(other));

  function sort(head) {
    const key = head.dataset.sort;
    const first = ["title", "project", "models"].includes(key) ? "ascending" : "descending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = { none: first, [first]: second, [second]: "none" }[head.getAttribute("aria-sort") ?? "none"];
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    const value = (entry) => (key === "models" ? entry.models.join(" ") : entry[key]);
    table.classList.toggle("sorted", order !== "none");
    if (order === "none") {
      for (const { top, children } of families()) for (const entry of [top, ...children]) entry.body.append(entry.row);
    } else {
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const sorted = [...families()].sort((one, other) => sign * compare(value(one.top), value(other.top)));
      bodies[0]?.append(...sorted.flatMap(({ top, children }) => [top, ...children].map((entry) => entry.row)));
    }
    filter();
  }

  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head));
    head.replaceChildren(button);
  }
  field.addEventListener("input", settled(filter, 80));
  for (const id of ["project", "model", "since", "until"]) choice(id).addEventListener("change", filter);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      filter();
      field.blur();
    }
    if (event.key === "/" && !isTyping(event)) {
      event.preventDefault();
      field.select();
    }
  });
  // A browser may bring back what was typed before.
  if (["find", "project", "model", "since", "until"].some((id) => choice(id).value !== "")) filter();
}
