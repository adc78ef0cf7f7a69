"use strict";
/* Filters and pages of the findings.  The address after # is the state, so that a view can be kept and sent.
   Text from the scanned tree reaches the page through textContent alone. */
(() => {
  const PAGE = 100;
  const PRINTED = 300;
  const CHOICES = ["category", "rule", "status"];

  const data = JSON.parse(document.getElementById("data").textContent);
  const findings = data.findings.map((row, place) => {
    const [id, file, line, rule, text, confidence, severity, status, score, evidence, fingerprint] = row;
    const [name, category, cwe] = data.rules[rule];
    const [description, suggestion] = data.texts[text];
    return {
      place, id, line, confidence, score, evidence, fingerprint, cwe, category, description, suggestion, rank: severity,
      rule: name, file: data.files[file], severity: data.severities[severity], status: data.statuses[status],
    };
  });

  const form = document.getElementById("filters");
  const list = document.getElementById("list");
  const pages = document.getElementById("pages");
  const count = document.getElementById("count");
  const ORDERS = {
    file: (a, b) => compare(a.file, b.file) || a.line - b.line,
    rule: (a, b) => compare(a.rule, b.rule) || a.place - b.place,
  };

  function compare(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function make(tag, properties, ...inside) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  }

  /* what is asked for */

  function asked() {
    const state = new URLSearchParams(location.hash.slice(1));
    return location.hash.includes("=") ? state : new URLSearchParams();
  }

  function ask(state, keep) {
    const text = state.toString();
    history[keep ? "pushState" : "replaceState"](null, "", "#" + (text || "findings"));
    show();
  }

  function words(text) {
    const all = text.toLowerCase().split(/\s+/).filter((word) => word && word !== "-");
    return {
      wanted: all.filter((word) => word[0] !== "-"),
      unwanted: all.filter((word) => word[0] === "-").map((word) => word.slice(1)),
    };
  }

  function matching(state) {
    const id = state.get("id");
    const severities = new Set((state.get("severity") || "").split(",").filter(Boolean));
    const path = words(state.get("file") || "");
    const text = (state.get("text") || "").toLowerCase();
    const least = Number(state.get("confidence")) || 0;
    const chosen = CHOICES.filter((name) => state.get(name)).map((name) => [name, state.get(name)]);
    return (one) => {
      if (id) return one.id === id;
      if (severities.size && !severities.has(one.severity)) return false;
      if (one.confidence < least || chosen.some(([name, value]) => one[name] !== value)) return false;
      const file = one.file.toLowerCase();
      if (!path.wanted.every((word) => file.includes(word)) || path.unwanted.some((word) => file.includes(word))) return false;
      return !text || [one.evidence, one.id, one.fingerprint, one.rule].some((part) => part.toLowerCase().includes(text));
    };
  }

  function chosenNow() {
    const state = asked();
    const found = findings.filter(matching(state));
    const order = ORDERS[state.get("order")];
    return order ? found.sort(order) : found;
  }

  /* what is shown; card.py writes the same for the findings that stand in the page */

  function card(one) {
    const summary = make("summary", {},
      make("span", { className: `badge ${one.severity}`, textContent: one.severity }), " ",
      make("span", { className: "rule", textContent: one.rule }), " ",
      make("span", { className: "place", textContent: `${one.file}:${one.line}` }), " ",
      make("code", { className: "evidence", textContent: one.evidence }));
    const details = make("details", { className: `finding ${one.severity}` }, summary);
    details.addEventListener("toggle", () => fill(details, one));
    return details;
  }

  function fill(details, one) {
    if (details.childElementCount > 1) return;
    const inside = make("div", { className: "inside" },
      make("p", { textContent: one.description }),
      make("p", { className: "remedy" }, make("b", { textContent: "What to do:" }), ` ${one.suggestion}`));
    if (data.paths[one.id]) inside.append(path(data.paths[one.id]));
    if (data.excerpts[one.id]) inside.append(code(...data.excerpts[one.id], one.line));
    inside.append(facts(one));
    details.append(inside);
  }

  function path(steps) {
    return make("ol", { className: "path" }, ...steps.map(([file, line, note]) =>
      make("li", {}, make("span", { className: "place", textContent: `${data.files[file]}:${line}` }), ` ${note}`)));
  }

  function code(first, lines, line) {
    return make("pre", { className: "code", tabIndex: 0 }, ...lines.map((text, place) =>
      make("span", { className: first + place === line ? "line hit" : "line" },
        make("span", { className: "number", textContent: first + place }), `${text}\n`)));
  }

  function facts(one) {
    const cwe = one.cwe ? make("a", {
      href: `https://cwe.mitre.org/data/definitions/${Number(one.cwe)}.html`,
      rel: "noopener noreferrer", target: "_blank", textContent: `CWE-${one.cwe}`,
    }) : "none";
    const rows = [
      ["Confidence", one.confidence.toFixed(2)], ["Score", one.score.toFixed(2)], ["Category", one.category],
      ["Weakness", cwe], ["Status", one.status],
      ["Finding", make("a", { href: `#id=${encodeURIComponent(one.id)}`, textContent: one.id })],
      ["Fingerprint", one.fingerprint, copier(one.fingerprint)],
    ];
    return make("dl", {}, ...rows.map(([term, ...said]) =>
      make("div", {}, make("dt", { textContent: term }), make("dd", {}, ...said))));
  }

  function copier(text) {
    const button = make("button", { type: "button", className: "copy", textContent: "Copy" });
    button.setAttribute("aria-label", "Copy the fingerprint");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(button.parentElement);
        button.textContent = "Selected";
      }
    });
    return button;
  }

  function show() {
    const state = asked();
    const found = chosenNow();
    const last = Math.max(1, Math.ceil(found.length / PAGE));
    const page = Math.min(last, Math.max(1, Number(state.get("page")) || 1));
    list.replaceChildren(...found.slice((page - 1) * PAGE, page * PAGE).map(card));
    if (!found.length) list.append(make("p", { className: "none", textContent: "No finding fits these filters." }));
    if (state.get("id") && found.length) list.firstElementChild.open = true;
    const all = findings.length.toLocaleString("en");
    count.textContent = found.length === findings.length ? `${all} listed` : `${found.length.toLocaleString("en")} of ${all}`;
    showControls(state);
    showPages(page, last);
  }

  function showPages(page, last) {
    pages.hidden = last === 1;
    const step = (label, to) => {
      const button = make("button", { type: "button", textContent: label, disabled: to < 1 || to > last || to === page });
      button.addEventListener("click", () => {
        const state = asked();
        state.set("page", to);
        ask(state, true);
        document.getElementById("findings").scrollIntoView();
        list.querySelector("summary").focus({ preventScroll: true });
      });
      return button;
    };
    pages.replaceChildren(step("First", 1), step("Previous", page - 1),
      make("span", { textContent: `Page ${page} of ${last}` }), step("Next", page + 1), step("Last", last));
  }

  /* the controls */

  function showControls(state) {
    const severities = (state.get("severity") || "").split(",");
    for (const box of form.querySelectorAll("[type=checkbox]")) box.checked = severities.includes(box.value);
    for (const name of [...CHOICES, "order", "file", "text"]) {
      const control = form.elements[name];
      if (control !== document.activeElement || control.tagName === "SELECT") control.value = state.get(name) || "";
    }
    form.elements.confidence.value = state.get("confidence") || 0;
    form.elements.least.value = Number(form.elements.confidence.value).toFixed(2);
    document.getElementById("reset").hidden = ![...state.keys()].some((name) => !["page", "order"].includes(name));
  }

  function read() {
    const state = new URLSearchParams();
    const severities = [...form.querySelectorAll(":checked[type=checkbox]")].map((box) => box.value);
    if (severities.length) state.set("severity", severities.join(","));
    for (const name of [...CHOICES, "order", "file", "text"]) {
      if (form.elements[name].value.trim()) state.set(name, form.elements[name].value.trim());
    }
    if (Number(form.elements.confidence.value) > 0) state.set("confidence", form.elements.confidence.value);
    ask(state);
  }

  function tally(name) {
    const numbers = new Map();
    for (const one of findings) numbers.set(one[name], (numbers.get(one[name]) || 0) + 1);
    return numbers;
  }

  function fillControls() {
    const severities = tally("severity");
    for (const name of data.severities.filter((severity) => severities.has(severity))) {
      document.getElementById("severity").append(make("label", { className: `chip ${name}` },
        make("input", { type: "checkbox", value: name }), `${name} `,
        make("small", { textContent: severities.get(name).toLocaleString("en") })));
    }
    for (const name of CHOICES) {
      const options = [...tally(name)].sort(([a], [b]) => compare(a, b)).map(([value, number]) =>
        make("option", { value, textContent: `${value} (${number.toLocaleString("en")})` }));
      form.elements[name].append(make("option", { value: "", textContent: "all" }), ...options);
    }
  }

  /* light and dark */

  function remembered(theme) {
    try {
      if (theme) localStorage.setItem("theme", theme);
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  }

  function wear(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const button = document.getElementById("theme");
    button.textContent = dark ? "Light" : "Dark";
    button.onclick = () => wear(remembered(dark ? "light" : "dark") || (dark ? "light" : "dark"));
  }

  /* paper: what the filters leave, all open */

  addEventListener("beforeprint", () => {
    const found = chosenNow();
    list.replaceChildren(...found.slice(0, PRINTED).map((one) => {
      const opened = card(one);
      fill(opened, one);
      opened.open = true;
      return opened;
    }));
    if (found.length > PRINTED) {
      list.append(make("p", { textContent: `The first ${PRINTED} of ${found.length} findings: set filters to print others.` }));
    }
    for (const closed of document.querySelectorAll("main > section > details:not([open])")) closed.open = true;
  });
  addEventListener("afterprint", show);

  addEventListener("hashchange", () => {
    show();
    if (location.hash.includes("=")) document.getElementById("findings").scrollIntoView();
  });
  addEventListener("popstate", show);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /INPUT|SELECT/.test(event.target.tagName)) return;
    event.preventDefault();
    form.elements.file.focus();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", read);
  document.getElementById("reset").addEventListener("click", () => {
    form.reset();
    ask(new URLSearchParams());
  });
  document.getElementById("theme").hidden = false;
  wear(remembered());
  if (findings.length) {
    fillControls();
    form.hidden = false;
    show();
  }
})();
