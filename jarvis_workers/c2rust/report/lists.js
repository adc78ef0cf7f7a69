/* Elements, and lists of any length of which only the rows in sight exist. */
const NARROW = matchMedia("(max-width: 640px)");
const ROWS_SEEN = 14;
const MARGIN = 6;

function make(tag, properties, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside.filter((one) => one !== null && one !== undefined && one !== ""));
  return element;
}

function number(value) {
  return value.toLocaleString("en-US");
}

function plural(value, word) {
  const form = `{number} ${word}`;
  return translations.has(form) ? say(form, { number: number(value) }) : `${number(value)} ${word}${value === 1 ? "" : "s"}`;
}

function more(value) {
  return say("and {number} more", { number: number(value) });
}

function nothing() {
  return make("p", { className: "empty", textContent: say("None.") });
}

/* A list of `count` rows; row(i) makes the inside of one, `captions` stand above their two numbers.
   Arrows, Home and End move between the links of rows. */
function virtualList(count, row, { label, captions = [say("lines"), say("users")], seen = ROWS_SEEN, tall = false }) {
  const height = tall || NARROW.matches ? 50 : 34;
  const box = make("div", { className: "rows", tabIndex: 0, role: "list", ariaLabel: label });
  const inner = make("div", { className: "inner", role: "presentation" });
  box.style.height = `${Math.min(count, seen) * height + 2}px`;
  inner.style.height = `${count * height}px`;
  box.append(inner);
  const shown = new Map();

  function draw() {
    const first = Math.max(0, Math.floor(box.scrollTop / height) - MARGIN);
    const last = Math.min(count, Math.ceil((box.scrollTop + Math.min(count, seen) * height) / height) + MARGIN);
    for (const [one, element] of shown) {
      if (one < first || one >= last) { element.remove(); shown.delete(one); }
    }
    for (let one = first; one < last; one += 1) {
      if (shown.has(one)) continue;
      const element = make("div", { className: "row", role: "listitem" }, ...row(one));
      element.setAttribute("aria-setsize", count);
      element.setAttribute("aria-posinset", one + 1);
      element.dataset.row = one;
      element.style.height = `${height}px`;
      element.style.transform = `translateY(${one * height}px)`;
      shown.set(one, element);
      inner.append(element);
    }
  }

  function focus(one) {
    const place = Math.max(0, Math.min(count - 1, one));
    const [top, bottom] = [place * height, (place + 1) * height];
    if (top < box.scrollTop) box.scrollTop = top;
    if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
    draw();
    shown.get(place)?.querySelector("a")?.focus({ preventScroll: true });
  }

  let waiting = false;
  box.addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(() => { waiting = false; draw(); });
    waiting = true;
  }, { passive: true });
  box.addEventListener("keydown", (event) => {
    const now = event.target.closest("[data-row]");
    const from = now ? Number(now.dataset.row) : -1;
    const page = seen - 1;
    const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page, Home: 0, End: count - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    focus(to);
  });
  draw();
  const [lines, users] = captions.map((text, place) => make("span", { className: ["lines", "users"][place], textContent: text }));
  return make("div", { className: "list" }, make("div", { className: "caption row", ariaHidden: "true" }, make("span", {}), make("span", {}), make("span", { className: "where" }), lines, users), box);
}

function badge(text, name = "") {
  return make("span", { className: `badge ${name}`, textContent: text });
}

/* The row of a symbol: name, what it is, where, lines, and how many use it. */
function symbolRow(one, marks = []) {
  const where = place(one);
  return [
    make("a", { href: symbolLink(one), className: "name", title: data.name[one], textContent: data.name[one] }),
    make("span", { className: "marks" }, ...marks, isFunction(one) ? "" : badge(kindOf(one)), incomplete.has(one) ? (isFunction(one) ? badge(say("not read"), "bad") : badge(say("declared only"))) : ""),
    make("span", { className: "where", title: where, textContent: where }),
    make("span", { className: "lines", title: say("lines"), textContent: number(data.lines[one]) }),
    make("span", { className: "users", title: say("users"), textContent: number(users[one]) }),
  ];
}

function symbolList(symbols, label, marks = () => [], options = {}) {
  return virtualList(symbols.length, (place) => symbolRow(symbols[place], marks(place)), { label, ...options });
}
