/* The search, and the address behind #, which says what is shown: it can be kept and sent, and "back" works. */
const VIEWS = { "": say("Overview"), ...(hasConversion ? { conversion: say("Conversion") } : {}), symbols: say("Symbols"), files: say("Files"), cycles: say("Cycles"), roots: say("Roots"), order: say("Order") };
const SHOWN = { conversion: conversionView, symbols: symbolsView, files: filesView, cycles: cyclesView, roots: rootsView, order: orderView };
const MATCHES = 40;
const project = document.querySelector("h1").textContent;
const field = document.getElementById("search");
const popup = document.getElementById("found");
const matches = document.getElementById("matches");
/* Where the page and its lists stood, by address, for the way back. */
const scrolled = new Map();
let follows = false;
let active = 0;

function show(event) {
  if (event) scrolled.set(new URL(event.oldURL).hash, positions());
  const state = new URLSearchParams(location.hash.slice(1));
  const of = state.has("symbol") ? symbolView : state.has("file") ? fileView : state.has("cycle") ? cycleView : SHOWN[state.get("view")];
  pictures = [];
  view.replaceChildren();
  view.className = "";
  document.getElementById("overview").hidden = Boolean(of);
  view.hidden = !of;
  const title = of ? of(state) : overview();
  document.title = of ? `${title} · ${project}` : say("{name}: {kind}", { name: project, kind: hasConversion ? say("conversion to Rust") : say("symbol graph") });
  document.querySelectorAll("#views a").forEach((one) => {
    const current = of === symbolView || of === fileView || of === cycleView ? { fileView: "files", cycleView: "cycles" }[of.name] : state.get("view") || "";
    if (one.dataset.view === current && (of || !current)) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  });
  paint();
  if (event) {
    close();
    (view.querySelector("h2") || document.querySelector("#overview h2")).focus?.({ preventScroll: true });
    const bar = document.getElementById("bar");
    const before = follows ? undefined : scrolled.get(location.hash);
    if (before) restore(before);
    else if (bar.getBoundingClientRect().top <= 0) scrollTo(0, bar.offsetTop);
  }
  follows = false;
}

function lists() {
  return [...document.querySelectorAll("#view .rows")];
}

function positions() {
  return { top: scrollY, lists: lists().map((one) => one.scrollTop) };
}

function restore({ top, lists: tops }) {
  lists().forEach((one, place) => { one.scrollTop = tops[place] || 0; });
  scrollTo(0, top);
}

/* search */

function suggest() {
  const { best, number: all } = search(field.value, MATCHES);
  const paths = field.value.trim() ? files.filter((file) => file.path.toLowerCase().includes(field.value.trim().toLowerCase())).slice(0, 5) : [];
  const options = [...best.map((one) => option(symbolLink(one), data.name[one], kindOf(one), place(one))),
    ...paths.map((file) => option(fileLink(file), file.path, say("file"), plural(file.functions, "function")))];
  options.forEach((one, row) => { one.id = `match-${row}`; });
  matches.replaceChildren(...options);
  const left = all - best.length;
  document.getElementById("rest").textContent = !options.length ? say("No symbol or file matches {text}.", { text: field.value }) : left > 0 ? more(left) : "";
  popup.hidden = !field.value.trim();
  field.ariaExpanded = String(!popup.hidden);
  activate(0);
}

function option(href, text, kind, where) {
  const name = make("span", { className: "name" }, ...marked(text, field.value.trim().split(/\s+/)[0]));
  const made = make("li", { role: "option" }, name, badge(kind), make("span", { className: "where", textContent: where }));
  made.dataset.href = href;
  return made;
}

function marked(text, word) {
  const at = word ? text.toLowerCase().indexOf(word.toLowerCase()) : -1;
  return at < 0 ? [text] : [text.slice(0, at), make("mark", { textContent: text.slice(at, at + word.length) }), text.slice(at + word.length)];
}

function activate(to) {
  const all = matches.children;
  active = all.length ? (to + all.length) % all.length : 0;
  [...all].forEach((one, row) => { one.ariaSelected = String(row === active); });
  if (all.length && !popup.hidden) {
    field.setAttribute("aria-activedescendant", all[active].id);
    all[active].scrollIntoView({ block: "nearest" });
  } else field.removeAttribute("aria-activedescendant");
}

function go(row) {
  const chosen = matches.children[row];
  if (!chosen) return;
  field.value = "";
  close();
  follows = true;
  location.hash = chosen.dataset.href;
}

function close() {
  popup.hidden = true;
  field.ariaExpanded = "false";
  field.removeAttribute("aria-activedescendant");
}

field.addEventListener("input", suggest);
field.addEventListener("focus", () => { if (field.value.trim()) suggest(); });
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    activate(active + (event.key === "ArrowDown" ? 1 : -1));
  } else if (event.key === "Enter") go(active);
  else if (event.key === "Escape") { if (popup.hidden) field.blur(); close(); }
});
matches.addEventListener("mousedown", (event) => {
  const chosen = event.target.closest("li");
  event.preventDefault();
  if (chosen) go([...matches.children].indexOf(chosen));
});
field.addEventListener("blur", close);

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  field.focus();
});

/* keys and theme */

const keys = document.getElementById("keys");
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, dialog")) return;
  if (event.key === "/") {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "?") keys.showModal();
});
document.getElementById("help").addEventListener("click", () => keys.showModal());

const theme = document.getElementById("theme");
function dark() {
  return document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  theme.textContent = dark() ? say("Light") : say("Dark");
});
theme.textContent = dark() ? say("Light") : say("Dark");

document.getElementById("views").append(...Object.entries(VIEWS).map(([name, text]) => {
  const made = link(name ? `#view=${name}` : "#", text);
  made.dataset.view = name;
  return made;
}));
for (const id of ["bar", "help", "theme"]) document.getElementById(id).hidden = false;
addEventListener("hashchange", show);
document.addEventListener("click", (event) => { follows = Boolean(event.target.closest("a[href]")); }, true);
history.scrollRestoration = "manual";
let resizing = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(paint);
});
NARROW.addEventListener("change", () => show());
show();
