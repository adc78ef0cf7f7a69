/* Live progress, and keys. Every page works without this script. */
"use strict";
(() => {
  const EVERY = 2000;
  const SLOWEST = 60000;
  const live = document.querySelector("#live[data-poll]");

  /* Replace a part of the page by its current state; after an error wait longer each time. */
  async function refresh(wait) {
    let next = EVERY;
    try {
      const answer = await fetch(live.dataset.poll, { credentials: "same-origin", headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(answer.status);
      const text = await answer.text();
      if (!live.contains(document.activeElement)) live.innerHTML = text;
      const ended = answer.headers.get("X-Run-Ended");
      if (ended === "1") return location.reload();
    } catch {
      next = Math.min(SLOWEST, 2 * wait);
    }
    setTimeout(() => refresh(next), next);
  }
  if (live) setTimeout(() => refresh(EVERY), EVERY);

  /* Keys click what is marked with them. */
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select");
    if (event.key === "Escape" && typing) return event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
    if (event.key === "r" && document.getElementById("reason")) {
      event.preventDefault();
      return document.getElementById("reason").focus();
    }
    const marked = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (marked) {
      event.preventDefault();
      marked.click();
    }
    return undefined;
  });
})();
