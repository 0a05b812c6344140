
// What needs a script is hidden until there is one.
for (const element of document.querySelectorAll("search[hidden], button[hidden]")) element.hidden = false;

// The colours that were chosen are remembered, where the browser lets pages remember anything.
{
  const key = "recount-theme";
  try {
    const chosen = localStorage.getItem(key);
    if (["auto", "light", "dark"].includes(chosen)) document.getElementById("theme-" + chosen).checked = true;
  } catch { /* then not */ }
  document.getElementById("theme").addEventListener("change", (event) => {
    try { localStorage.setItem(key, event.target.value); } catch { /* then not */ }
  });
}

/** Whether a key is typed into something, or is none of ours. */
function isTyping(event) {
  return event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio], [type=checkbox]), select, textarea") !== null;
}

/** Calls back once nothing has come for a while. */
function settled(call, patience) {
  let waiting;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(call, patience);
  };
}
