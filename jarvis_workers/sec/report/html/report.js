"use strict";
/* Filters and pages of the findings.  The address after # is the state, so that a view can be kept and sent.
   Text from the scanned tree reaches the page through textContent alone. */
(() => {
  const PAGE = 100;
  const PRINTED = 300;
  const PRINTED_WHOLE = 25;
  const GROUPED = 200;
  const CHOICES = ["category", "rule", "analyzer"];
  const SETS = ["severity", "status"];

  const data = JSON.parse(document.getElementById("data").textContent);
  const findings = data.findings.map((row, place) => {
    const [id, file, line, rule, text, confidence, severity, status, score, evidence, fingerprint, cluster, cause, title, analyzers] = row;
    const [name, category, cwe, pattern, anchor] = data.rules[rule];
    const [description, suggestion] = data.texts[text];
    return {
      place, id, line, confidence, score, evidence, fingerprint, cwe, category, description, suggestion, rank: severity,
      rule: name, file: data.files[file], severity: data.severities[severity], status: data.statuses[status], cluster,
      cause: data.causes[cause] || "", title: data.titles[title], pattern, anchor,
      analyzer: data.analyzers[analyzers],
    };
  });

  const say = (text, parts) => ((data.say || {})[text] || text).replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  const TEXTS = [say("Preconditions"), say("Trigger path"), say("Consequences")];
  const MARKED = { hit: say("the finding"), quote: say("evidence"), step: say("a step of the path") };
  const judged = Boolean(data.words);
  const standing = findings.filter((one) => one.status !== "dismissed");
  const VIEWS = { "": say("List"), file: say("By file"), ...(judged ? { cluster: say("By cluster"), verdict: say("By verdict") } : {}) };

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
    const sets = SETS.map((name) => [name, new Set((state.get(name) || "").split(",").filter(Boolean))]);
    const all = state.get("status") || state.get("view") === "verdict" || state.get("cluster");
    const cluster = Number(state.get("cluster"));
    const path = words(state.get("file") || "");
    const text = (state.get("text") || "").toLowerCase();
    const least = Number(state.get("confidence")) || 0;
    const chosen = CHOICES.filter((name) => state.get(name)).map((name) => [name, state.get(name)]);
    return (one) => {
      if (id) return one.id === id;
      if (!all && one.status === "dismissed") return false;
      if (cluster && one.cluster !== cluster) return false;
      if (sets.some(([name, wanted]) => wanted.size && !wanted.has(one[name]))) return false;
      if (one.confidence < least || chosen.some(([name, value]) => ![one[name]].flat().includes(value))) return false;
      const file = one.file.toLowerCase();
      if (!path.wanted.every((word) => file.includes(word)) || path.unwanted.some((word) => file.includes(word))) return false;
      return !text || [one.evidence, one.title, one.id, one.fingerprint, one.rule, one.cause].some((part) => part.toLowerCase().includes(text));
    };
  }

  function chosenNow() {
    const state = asked();
    const found = findings.filter(matching(state));
    const order = ORDERS[state.get("order")];
    return order ? found.sort(order) : found;
  }

  /* what is shown; card.py writes the same for the findings that stand in the page */

  function card(one, others = []) {
    const summary = make("summary", {},
      make("span", { className: `badge ${one.severity}`, textContent: word(one.severity) }), " ",
      ...(judged ? [make("span", { className: `status ${one.status}`, textContent: word(one.status) }), " "] : []),
      ...(exposure(one) ? [make("span", { className: "exposure", textContent: exposure(one) }), " "] : []),
      make("span", { className: "name" }, `${one.title} `, make("span", { className: "rule", textContent: one.rule })), " ",
      make("span", { className: "place" }, `${one.file}:${one.line}`,
        ...(others.length ? [" ", make("span", { className: "more", textContent: `+${others.length.toLocaleString("en")}` })] : [])), " ",
      make("code", { className: "evidence", textContent: one.evidence }));
    const details = make("details", { className: `finding ${one.severity}${judged ? " judged" : ""}` }, summary);
    details.addEventListener("toggle", () => fill(details, one, others));
    return details;
  }

  function exposure(one) {
    return (judged && data.verdicts[one.id] || [])[5];
  }

  function word(status) {
    return (judged && data.words[status]) || say(status);
  }

  function fill(details, one, others = []) {
    if (details.childElementCount > 1) return;
    const [reason, texts, quotes, scripts, rating, , proof] = (judged && data.verdicts[one.id]) || ["", [], [], [], []];
    const inside = make("div", { className: "inside" }, make("p", { className: "why", textContent: one.description }));
    if (reason) inside.append(told("reason", `${word(one.status)[0].toUpperCase()}${word(one.status).slice(1)}:`, reason));
    const titled = [...rating, ...TEXTS.map((title, place) => [title, texts[place]])].filter(([, text]) => text);
    if (titled.length) inside.append(make("dl", { className: "words" }, ...titled.map(defined)));
    inside.append(told("remedy", say("What to do:"), texts[TEXTS.length] || one.suggestion), ...patched(one));
    if (proof && proof.length) {
      const [state, title, facts, blocks] = proof;
      inside.append(make("div", { className: `proof ${state}` }, make("b", { textContent: title }), ` ${facts}`,
        ...blocks.map(([name, text]) => make("pre", { className: "code", tabIndex: 0 },
          make("span", { className: "number", textContent: name }), `\n${text}`))));
    }
    if (others.length) inside.append(make("div", { className: "places" }, make("b", { textContent: say("Same root cause") }), placed(others)));
    const pieces = inOrder(one);
    const steps = numbered(one, pieces);
    if (steps.length) inside.append(path(steps));
    inside.append(...codes(pieces, steps));
    if (quotes.length) inside.append(make("div", { className: "quotes" }, make("b", { textContent: say("Evidence") }), cited(quotes)));
    if (scripts.length) {
      inside.append(make("div", { className: "scripts" }, make("b", { textContent: say("To reproduce, in a copy of the source") }),
        ...scripts.map(([interpreter, script]) => make("pre", { className: "code", tabIndex: 0 },
          make("span", { className: "number", textContent: interpreter }), `\n${script}`))));
    }
    inside.append(facts(one), silence(one));
    details.append(inside);
  }

  function patched(one) {
    if (!(data.patches || {})[one.id]) return [];
    const [summary, rows] = data.patches[one.id];
    const lines = rows.map(([kind, text]) => make("span", { className: `line ${kind}`, textContent: `${text}\n` }));
    return [make("div", { className: "patch" }, make("p", {}, make("b", { textContent: say("Patch:") }), ` ${summary}`),
      ...(lines.length ? [make("pre", { className: "code diff", tabIndex: 0 }, ...lines)] : []))];
  }

  function told(name, title, text) {
    return make("p", { className: name }, make("b", { textContent: title }), ` ${text}`);
  }

  function defined([term, ...said]) {
    return make("div", {}, make("dt", { textContent: term }), make("dd", {}, ...said));
  }

  function cited(quotes) {
    return make("ul", { className: "path" }, ...quotes.map(([file, line, text]) =>
      make("li", {}, make("span", { className: "place", textContent: `${data.files[file]}:${line}` }), " ",
        make("code", { textContent: text }))));
  }

  function placed(others) {
    return make("ul", { className: "path" }, ...others.slice(0, GROUPED).map((one) => make("li", {},
      make("a", { className: "place", href: `#id=${encodeURIComponent(one.id)}`, textContent: `${one.file}:${one.line}` }), " ",
      make("span", { className: "rule", textContent: one.rule }), " ", make("code", { textContent: one.evidence }))));
  }

  /* pieces of code in the order of lines, those of the finding's own file first */

  function inOrder(one) {
    if (!data.excerpts[one.id]) return [];
    const [start, rows, kinds, more] = data.excerpts[one.id];
    const own = { file: one.file, first: start, lines: rows, marks: [...(kinds || []), [one.line, "hit"]] };
    const pieces = [own, ...(more || []).map(([file, first, lines, marks]) => ({ file: data.files[file], first, lines, marks }))];
    const files = [...new Set(pieces.map((piece) => piece.file))];
    return pieces.sort((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.first - b.first);
  }

  /* steps, each with the anchor of the first that stands in its line, where that line is shown */

  function numbered(one, pieces) {
    const anchors = new Map();
    return (data.paths[one.id] || []).map(([place, line, note], index) => {
      const file = data.files[place];
      const key = `${line}:${file}`;
      const shown = pieces.some((piece) => piece.file === file && piece.first <= line && line < piece.first + piece.lines.length);
      if (shown && !anchors.has(key)) anchors.set(key, `${one.id}-${index + 1}`);
      return { number: index + 1, file, line, note, anchor: shown ? anchors.get(key) : null };
    });
  }

  function path(steps) {
    return make("ol", { className: "path" }, ...steps.map(({ file, line, note, anchor }) => {
      const place = make("span", { className: "place", textContent: `${file}:${line}` });
      return make("li", {}, anchor ? make("a", { href: `#${anchor}` }, place) : place, ` ${note}`);
    }));
  }

  function codes(pieces, steps) {
    return pieces.flatMap((piece, place) => {
      const other = piece.file !== pieces[Math.max(0, place - 1)].file;
      const shown = code(piece, steps.filter((step) => step.anchor && step.file === piece.file));
      return other ? [make("p", { className: "where", textContent: piece.file }), shown] : [shown];
    });
  }

  function code({ first, lines, marks }, steps) {
    const kinds = new Map(marks);
    return make("pre", { className: steps.length ? "code numbered" : "code", tabIndex: 0 }, ...lines.map((text, place) =>
      make("span", marked(kinds.get(first + place)), ...at(steps.filter((step) => step.line === first + place)),
        make("span", { className: "number", textContent: first + place }), `${text}\n`)));
  }

  function at(steps) {
    if (!steps.length) return [];
    const numbers = steps.map((step) => step.number);
    const shown = numbers.length > 2 ? `${numbers[0]}…${numbers.at(-1)}` : numbers.join(",");
    return [make("span", { className: "at", id: steps[0].anchor, textContent: shown })];
  }

  function silence(one) {
    return make("p", { className: "silence" }, say("Not a bug?"), " ",
      make("code", { textContent: `// jarvis-ignore[${one.pattern}]: ${say("reason")}` }), ` ${say("or")} `,
      make("code", { textContent: `jarvis sec triage ${data.run} --mark ${one.id}=false --reason '...'` }), " ",
      make("a", { href: `#${one.anchor}`, textContent: say("About this rule") }));
  }

  function marked(kind) {
    return kind ? { className: `line ${kind}`, title: MARKED[kind] } : { className: "line" };
  }

  function facts(one) {
    const cwe = one.cwe ? make("a", {
      href: `https://cwe.mitre.org/data/definitions/${Number(one.cwe)}.html`,
      rel: "noopener noreferrer", target: "_blank", textContent: `CWE-${one.cwe}`,
    }) : say("none");
    const cluster = make("a", { href: `#view=cluster&cluster=${one.cluster}`, textContent: one.cluster });
    const address = (data.links || {})[one.file];
    const source = address && make("a", {
      href: address.replace("{line}", one.line), rel: "noopener noreferrer", target: "_blank", textContent: `${one.file}:${one.line}`,
    });
    const rows = [
      ...(source ? [[say("Source"), source]] : []),
      [say("Confidence"), one.confidence.toFixed(2)], [say("Score"), one.score.toFixed(2)], [say("Category"), one.category],
      [say("Weakness"), cwe], [say("Status"), say(one.status)],
      ...((data.triage || {})[one.id] ? [[say("Triage"), data.triage[one.id]]] : []), ...(one.cluster ? [[say("Cluster"), cluster]] : []),
      ...(one.cause ? [[say("Root cause"), one.cause]] : []),
      [say("Finding"), make("a", { href: `#id=${encodeURIComponent(one.id)}`, textContent: one.id })],
      [say("Fingerprint"), one.fingerprint, copier(one.fingerprint)],
    ];
    return make("dl", {}, ...rows.map(defined));
  }

  function copier(text) {
    const button = make("button", { type: "button", className: "copy", textContent: say("Copy") });
    button.setAttribute("aria-label", say("Copy the fingerprint"));
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = say("Copied");
      } catch {
        getSelection().selectAllChildren(button.parentElement);
        button.textContent = say("Selected");
      }
    });
    return button;
  }

  function show() {
    const state = asked();
    const found = chosenNow();
    const view = state.get("id") ? "" : viewOf(state);
    const shown = view ? [...grouped(found, view)] : defects(found);
    const last = Math.max(1, Math.ceil(shown.length / PAGE));
    const page = Math.min(last, Math.max(1, Number(state.get("page")) || 1));
    const part = shown.slice((page - 1) * PAGE, page * PAGE);
    list.replaceChildren(...part.map(view ? ([key, members]) => group(view, key, members) : ([one, ...others]) => card(one, others)));
    if (!found.length) list.append(make("p", { className: "none", textContent: say("No finding matches these filters.") }));
    if ((state.get("id") || view) && found.length) list.firstElementChild.open = true;
    const total = found.some((one) => one.status === "dismissed") ? findings.length : standing.length;
    const all = total.toLocaleString("en");
    count.textContent = found.length === total ? say("{all} listed", { all }) : say("{some} of {all}", { some: found.length.toLocaleString("en"), all });
    showControls(state);
    showPages(page, last);
  }

  /* the same findings by what they share: a group is filled when it is opened */

  const viewOf = (state) => (Object.hasOwn(VIEWS, state.get("view")) ? state.get("view") : "");
  function grouped(found, view) {
    const groups = new Map();
    for (const one of found) {
      const key = view === "verdict" ? one.status : one[view];
      if (groups.has(key)) groups.get(key).push(one);
      else groups.set(key, [one]);
    }
    return groups;
  }

  /* findings with the same root cause stand together, where the first of them stands */

  function defects(found) {
    const groups = new Map();
    for (const one of found) {
      const key = one.cause || one.id;
      if (groups.has(key)) groups.get(key).push(one);
      else groups.set(key, [one]);
    }
    return [...groups.values()];
  }

  function group(view, key, members) {
    const title = view === "cluster" ? (key ? say("Cluster {number}", { number: key }) : say("In no cluster")) : view === "verdict" ? word(key) : key;
    const tallies = (view !== "verdict" && judged ? Object.keys(data.words) : data.severities)
      .map((name) => [name, members.filter((one) => one.severity === name || one.status === name).length])
      .filter(([, number]) => number)
      .map(([name, number]) => make("span", { className: `tally ${name}`, textContent: `${number.toLocaleString("en")} ${word(name)}` }));
    const asked = view === "cluster" && data.clusters[key];
    const details = make("details", { className: "group" }, make("summary", {},
      make("b", { className: view === "file" ? "place" : "", textContent: title }), " ", ...tallies,
      ...(asked ? [make("small", { textContent: asked })] : [])));
    details.addEventListener("toggle", () => {
      if (details.childElementCount > 1) return;
      const more = members.length > GROUPED ? say("and {number} more: see the list", { number: (members.length - GROUPED).toLocaleString("en") }) : "";
      details.append(make("div", {}, ...members.slice(0, GROUPED).map((one) => card(one)), make("p", { className: "none", textContent: more, hidden: !more })));
    });
    return details;
  }

  function showViews(state) {
    const chosen = viewOf(state);
    document.getElementById("views").replaceChildren(...Object.entries(VIEWS).map(([view, label]) => {
      const button = make("button", { type: "button", textContent: label });
      button.setAttribute("aria-pressed", view === chosen);
      button.addEventListener("click", () => {
        const next = asked();
        for (const name of ["page", "id", "cluster"]) next.delete(name);
        if (view) next.set("view", view);
        else next.delete("view");
        ask(next, true);
      });
      return button;
    }));
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
    pages.replaceChildren(step(say("First"), 1), step(say("Previous"), page - 1),
      make("span", { textContent: say("Page {page} of {last}", { page, last }) }), step(say("Next"), page + 1), step(say("Last"), last));
  }

  /* the controls */

  function showControls(state) {
    showViews(state);
    for (const name of SETS) {
      const chosen = (state.get(name) || "").split(",");
      for (const box of document.getElementById(name).querySelectorAll("input")) box.checked = chosen.includes(box.value);
    }
    for (const name of [...CHOICES, "order", "file", "text"]) {
      const control = form.elements[name];
      if (control !== document.activeElement || control.tagName === "SELECT") control.value = state.get(name) || "";
    }
    form.elements.confidence.value = state.get("confidence") || 0;
    form.elements.least.value = Number(form.elements.confidence.value).toFixed(2);
    document.getElementById("reset").hidden = ![...state.keys()].some((name) => !["page", "order", "view"].includes(name));
  }

  function read() {
    const state = new URLSearchParams();
    if (viewOf(asked())) state.set("view", viewOf(asked()));
    for (const name of SETS) {
      const chosen = [...document.getElementById(name).querySelectorAll(":checked")].map((box) => box.value);
      if (chosen.length) state.set(name, chosen.join(","));
    }
    for (const name of [...CHOICES, "order", "file", "text"]) {
      if (form.elements[name].value.trim()) state.set(name, form.elements[name].value.trim());
    }
    if (Number(form.elements.confidence.value) > 0) state.set("confidence", form.elements.confidence.value);
    ask(state);
  }

  function tally(name, among = standing) {
    const numbers = new Map();
    for (const value of among.flatMap((one) => one[name])) numbers.set(value, (numbers.get(value) || 0) + 1);
    return numbers;
  }

  function fillChips(set, names, among) {
    const numbers = tally(set, among);
    for (const name of names.filter((one) => numbers.has(one))) {
      document.getElementById(set).append(make("label", { className: `chip ${name}` },
        make("input", { type: "checkbox", value: name }), `${word(name)} `,
        make("small", { textContent: numbers.get(name).toLocaleString("en") })));
    }
  }

  /* the keyboard */

  const help = document.getElementById("keys");
  const KEYS = {
    j: () => go(1), k: () => go(-1), n: () => turn(3), p: () => turn(1),
    "/": () => form.elements.file.focus(), "?": () => help.showModal(),
  };

  function go(by) {
    const all = [...list.querySelectorAll("summary")].filter((one) => one.checkVisibility());
    const now = all.findLastIndex((one) => one.parentElement.contains(document.activeElement));
    const next = all[now < 0 ? 0 : Math.min(all.length - 1, Math.max(0, now + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  function turn(button) {
    if (!pages.hidden) pages.querySelectorAll("button, span")[button].click();
  }

  function fillControls() {
    fillChips("severity", data.severities, standing);
    if (judged) fillChips("status", Object.keys(data.words), findings);
    document.getElementById("status").hidden = !judged;
    document.getElementById("views").hidden = false;
    for (const name of CHOICES) {
      const options = [...tally(name, findings)].sort(([a], [b]) => compare(a, b)).map(([value, number]) =>
        make("option", { value, textContent: `${value} (${number.toLocaleString("en")})` }));
      form.elements[name].parentElement.hidden = name === "analyzer" && options.length < 2;
      form.elements[name].append(make("option", { value: "", textContent: say("all") }), ...options);
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
    button.textContent = dark ? say("Light") : say("Dark");
    button.onclick = () => wear(remembered(dark ? "light" : "dark") || (dark ? "light" : "dark"));
  }

  /* paper: what the filters leave, all open */

  addEventListener("beforeprint", () => {
    const found = defects(chosenNow());
    list.classList.toggle("whole", found.length <= PRINTED_WHOLE);
    printed(found.flat().length);
    list.replaceChildren(...found.slice(0, PRINTED).map(([one, ...others]) => {
      const opened = card(one, others);
      fill(opened, one, others);
      opened.open = true;
      return opened;
    }));
    if (found.length > PRINTED) {
      list.append(make("p", { textContent: say("The first {some} of {all} findings; set filters to print others.", { some: PRINTED, all: found.length }) }));
    }
    for (const closed of document.querySelectorAll("main > section > details:not([open])")) closed.open = true;
  });
  addEventListener("afterprint", show);

  /* what of the state filters, in words */

  function printed(number) {
    const names = { severity: say("Severity"), status: say("Verdict"), file: say("Path"), text: say("Code"), category: say("Category"),
      rule: say("Rule"), analyzer: say("Reported by"), confidence: say("Confidence from"), cluster: say("Cluster"), id: say("Finding"), order: say("Order") };
    const chosen = [...asked()].filter(([name]) => Object.hasOwn(names, name)).map(([name, value]) => `${names[name]}: ${value}`);
    const line = document.getElementById("printed");
    line.hidden = false;
    line.textContent = say("{number} findings. Filters: {filters}", { number: number.toLocaleString("en"), filters: chosen.join("; ") || say("none") });
  }

  addEventListener("hashchange", () => {
    if (location.hash && !location.hash.includes("=") && location.hash !== "#findings") return;
    show();
    if (location.hash.includes("=")) document.getElementById("findings").scrollIntoView();
  });

  /* links within the page that are no filters keep those that are set */

  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || link.hash.includes("=")) return;
    const name = decodeURIComponent(link.hash.slice(1));
    const target = link.matches(".skip") ? list.querySelector("summary") : document.getElementById(link.hash.slice(1)) || document.getElementById(name);
    if (!target) return;
    event.preventDefault();
    if (target.matches("details")) target.open = true;
    target.scrollIntoView({ block: target.matches(".at") ? "center" : "start" });
    if (target.matches(".at")) {
      for (const before of list.querySelectorAll(".seen")) before.classList.remove("seen");
      target.closest(".line").classList.add("seen");
      target.closest("pre").focus({ preventScroll: true });
    } else {
      (target.querySelector("summary") || target).focus({ preventScroll: true });
    }
  });
  addEventListener("popstate", show);
  addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (/INPUT|SELECT/.test(event.target.tagName)) return;
    event.preventDefault();
    act();
  });
  document.getElementById("help").addEventListener("click", () => help.showModal());
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", read);
  document.getElementById("reset").addEventListener("click", () => {
    form.reset();
    ask(new URLSearchParams());
  });
  document.getElementById("theme").hidden = document.getElementById("help").hidden = false;
  wear(remembered());
  if (findings.length) {
    fillControls();
    form.hidden = false;
    show();
  }
})();
