/* What is shown for each address: functions of the state that append to `view` and return a title. */
const view = document.getElementById("view");
const MATRIX = 40;
const KINDS = ["call", "address", "global", "type", "macro"];
const KIND_NAMES = { call: say("call"), address: say("address"), global: say("global"), type: say("type"), macro: say("macro") };
const KIND_TITLES = { call: say("calls"), address: say("addresses"), global: say("globals"), type: say("types"), macro: say("macros") };
const CATEGORY_TITLES = { function: say("functions"), type: say("types"), global: say("globals"), macro: say("macros") };
const OUTSIDE_SHOWN = 60;
const BARS_SHOWN = 200;
const COLUMNS = { name: say("name"), file: say("location"), lines: say("lines"), users: say("users") };
/* Kinds of edges that are not shown, of functions and of all other symbols. */
const hidden = { function: new Set([3, 4]), other: new Set() };
let pictures = [];

function heading(title, ...inside) {
  return make("h2", { tabIndex: -1 }, ...[title].flat(), ...inside);
}

function small(text) {
  return make("small", { textContent: ` ${text}` });
}

function link(href, text, name = "") {
  return make("a", { href, textContent: text, className: name });
}

function fileLink(file) {
  return `#${new URLSearchParams({ file: file.path })}`;
}

/* A picture that is drawn again when the page gets another width. */
function figure(name, paint) {
  const box = make("div", { className: `picture ${name}` });
  pictures.push(() => {
    const width = Math.floor(box.clientWidth);
    if (width) box.replaceChildren(paint(width));
  });
  return box;
}

function panel(title, ...inside) {
  return make("section", { className: "panel" }, make("h3", {}, ...[title].flat()), ...inside);
}

/* What "no edges" means here: never the same as "not read", which the text `unknown` says of callees. */
function none(one, unknown, filtered) {
  if (incomplete.has(one) && unknown) return make("p", { className: "empty bad", textContent: unknown });
  if (filtered) return make("p", { className: "empty", textContent: say("None of the chosen kinds.") });
  if (!uncheckedUnits) return nothing();
  return make("p", { className: "empty", textContent: say("None in the units that were read; {units} not checked.", { units: plural(uncheckedUnits, "unit") }) });
}

function overview() {
  const panels = document.getElementById("panels");
  const functions = data.name.map((_, one) => one).filter(isFunction);
  const top = (key) => [...functions].sort((a, b) => key[b] - key[a] || a - b).slice(0, 10);
  const filled = files.filter((file) => file.lines).length;
  const many = filled > 1 && !hasConversion;
  panels.replaceChildren(
    make("section", { className: "panel wide" }, make("h3", {}, many ? say("Files by lines of functions") : say("Functions by lines"), small(many ? largest(filled, "files") : largest(functions.length, "functions"))),
      figure("treemap", (width) => (many ? treemapOfFiles(width) : treemapOf(functions, width)))),
    panel(say("Largest functions"), someSymbols(top(data.lines), say("Largest functions"))),
    panel(say("Most used functions"), someSymbols(top(users).filter((one) => users[one]), say("Most used functions"))),
    panel(say("Edges"), bars(edgeCounts())),
    panel(say("Facts about functions"), bars(factCounts(functions))),
  );
  return say("Overview");
}

function someSymbols(symbols, label) {
  return symbols.length ? symbolList(symbols, label) : nothing();
}

function edgeCounts() {
  const counts = KINDS.map(() => 0);
  out.kinds.forEach((kind) => { counts[kind] += 1; });
  return KINDS.map((kind, place) => ({ text: KIND_TITLES[kind], value: counts[place], name: `e-${kind}` })).filter((one) => one.value);
}

function factCounts(functions) {
  const counts = new Map();
  functions.forEach((one) => (data.facts[one] || []).forEach((fact) => counts.set(fact, (counts.get(fact) || 0) + 1)));
  return [...counts].sort((a, b) => b[1] - a[1]).map(([fact, value]) => {
    const text = data.factNames[fact];
    return { text: factName(text), value, href: `#${new URLSearchParams({ view: "symbols", category: "function", fact: text })}` };
  });
}

function factName(fact) {
  return say(fact.replaceAll("_", " "));
}

function bars(items) {
  if (!items.length) return nothing();
  const largest = items.reduce((most, one) => Math.max(most, one.value), 1);
  const rest = items.length > BARS_SHOWN ? make("li", { className: "soft", textContent: more(items.length - BARS_SHOWN) }) : "";
  return make("ul", { className: "bars", tabIndex: items.length > 8 ? 0 : -1 }, ...items.slice(0, BARS_SHOWN).map((one) => {
    const bar = draw("svg", { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
      draw("rect", { width: 100, height: 6, class: "track" }), draw("rect", { width: Math.max(1, (100 * one.value) / largest), height: 6, class: `fill ${one.name || ""}` }));
    return make("li", {}, one.href ? link(one.href, one.text) : make("span", { textContent: one.text }), make("b", { textContent: number(one.value) }), bar);
  }), rest);
}

/* One symbol: what it is, its neighbourhood, its users, and what it uses. */
function symbolView(state) {
  const one = symbolOf(state);
  if (one === undefined) {
    view.append(heading(say("No such symbol")), make("p", { className: "empty", textContent: say("This graph has no symbol {name}.", { name: state.get("symbol") }) }));
    return say("No such symbol");
  }
  view.append(...symbolHead(one), ...conversionPart(one), neighbourhoodPart(one));
  return data.name[one];
}

function symbolHead(one) {
  const marks = [badge(kindOf(one)), ...(data.facts[one] || []).map((fact) => badge(factName(data.factNames[fact]), "fact"))];
  if (roots.has(one)) marks.push(badge(say("root"), "root"));
  if (stateOf(one)) marks.push(stateBadge(one));
  const facts = [make("a", { href: fileLink(files[data.file[one]]), textContent: place(one) }), plural(data.lines[one], "line")];
  if (stepOf[one] >= 0) facts.push(say("step {step} of {all}", { step: number(stepOf[one] + 1), all: number(steps.length) }));
  if (cycleOf[one] >= 0) facts.push(link(`#cycle=${cycleOf[one] + 1}`, say("in a cycle of {number}", { number: number(cycles[cycleOf[one]].length) })));
  if (isFunction(one)) facts.push(say("reaches {functions}", { functions: plural(reach(one), "function") }));
  const parts = [
    heading(make("code", { textContent: data.name[one] }), " ", ...marks),
    make("ul", { className: "details" }, ...facts.map((fact) => make("li", {}, fact))),
  ];
  if (data.signature[one]) parts.push(make("pre", { className: "signature", tabIndex: 0, textContent: data.signature[one] }));
  if (incomplete.has(one)) {
    parts.push(isFunction(one)
      ? make("p", { className: "notice bad", textContent: say("Not read: no unit defines this symbol without errors, so edges from it may be missing.") })
      : make("p", { className: "notice", textContent: say("Declared only: no unit that was read without errors defines it, so what it uses is unknown.") }));
  }
  return parts;
}

function neighbourhoodPart(one) {
  const self = neighbours(out, one).some((other) => other.symbol === one && other.kinds.includes(CALL));
  const strongest = (other) => Math.min(...other.kinds);
  const [callers, callees] = [into, out].map((edges) => neighbours(edges, one).filter((other) => other.symbol !== one).sort((a, b) => strongest(a) - strongest(b)));
  const hiddenKinds = hidden[isFunction(one) ? "function" : "other"];
  const counts = KINDS.map((_, kind) => [...callers, ...callees].filter((other) => other.kinds.includes(kind)).length);
  const box = make("div", { className: "neighbourhood" });
  const chosen = (found) => found.filter((other) => other.kinds.some((kind) => !hiddenKinds.has(kind)));
  const unknown = isFunction(one) ? say("Callees unknown: no unit that defines it was read without errors.") : say("Uses unknown: no unit that defines it was read without errors.");
  const fill = () => {
    const [left, right] = [chosen(callers), chosen(callees)];
    pictures = [];
    box.replaceChildren(
      ...(left.length || right.length ? [figure("graph", (width) => neighbourhood(one, left, right, width))] : []),
      make("div", { className: "columns" },
        side(isFunction(one) ? say("Callers") : say("Used by"), one, left, callers.length, ""),
        side(isFunction(one) ? say("Callees") : say("Uses"), one, right, callees.length, unknown, outside(one))));
    paint();
  };
  const chips = make("div", { className: "chips", role: "group", ariaLabel: say("Kinds of edges") }, ...KINDS.map((kind, place) => counts[place] ? kindChip(hiddenKinds, place, counts[place], fill) : null));
  fill();
  return make("div", { className: "parts" }, chips, self ? make("p", { className: "aside", textContent: say("It calls itself.") }) : "", box);
}

function kindChip(hiddenKinds, place, count, fill) {
  const kind = KINDS[place];
  const chip = make("button", { type: "button", className: `chip e-${kind}`, ariaPressed: String(!hiddenKinds.has(place)) },
    make("i", {}), `${KIND_TITLES[kind]} `, make("b", { textContent: number(count) }));
  chip.addEventListener("click", () => {
    if (!hiddenKinds.delete(place)) hiddenKinds.add(place);
    chip.ariaPressed = String(!hiddenKinds.has(place));
    fill();
  });
  return chip;
}

function side(title, one, found, all, unknown, ...rest) {
  const marks = (place) => found[place].kinds.filter((kind) => isFunction(found[place].symbol) || kind <= ADDRESS)
    .map((kind) => badge(KIND_NAMES[KINDS[kind]], `e-${KINDS[kind]}`));
  return panel([title, small(number(found.length))],
    found.length ? symbolList(found.map((other) => other.symbol), title, marks, { tall: true, seen: 10 }) : none(one, unknown, all > 0), ...rest);
}

function outside(one) {
  const names = (data.outside[one] || []).map((name) => data.outsideNames[name]);
  if (!names.length) return "";
  const rest = names.length > OUTSIDE_SHOWN ? ` ${more(names.length - OUTSIDE_SHOWN)}` : "";
  return make("p", { className: "aside" }, say("Calls outside the project:"), " ",
    ...names.slice(0, OUTSIDE_SHOWN).flatMap((name, place) => [place ? ", " : "", make("code", { textContent: name })]), rest);
}

/* All symbols, filtered and sorted. */
function symbolsView(state) {
  const [category, fact, sort] = [state.get("category"), state.get("fact"), state.get("sort") || "file"];
  const digit = category ? String(data.categories.indexOf(category)) : "";
  const wanted = fact ? data.factNames.indexOf(fact) : -1;
  const chosen = data.name.map((_, one) => one).filter((one) => (!digit || data.category[one] === digit) && (!fact || (data.facts[one] || []).includes(wanted)));
  const compare = {
    name: (a, b) => (lowerNames[a] < lowerNames[b] ? -1 : lowerNames[a] > lowerNames[b] ? 1 : a - b),
    lines: (a, b) => data.lines[b] - data.lines[a] || a - b,
    users: (a, b) => users[b] - users[a] || a - b,
  }[sort];
  const choices = [["", say("all")], ...data.categories.map((one) => [one, CATEGORY_TITLES[one]])].map(([name, text]) => choice(state, "category", name, text, name === (category || "")));
  const sorts = Object.entries(COLUMNS).map(([name, text]) => choice(state, "sort", name, text, name === sort));
  view.append(heading(say("Symbols"), small(number(chosen.length))),
    make("div", { className: "chips", role: "group", ariaLabel: say("Category") }, ...choices),
    make("div", { className: "chips", role: "group", ariaLabel: say("Order") }, make("span", { className: "soft", textContent: say("by") }), ...sorts),
    fact ? make("p", { className: "aside" }, `${say("With the fact {fact}.", { fact: factName(fact) })} `, choice(state, "fact", "", say("Show all"), false)) : "",
    chosen.length ? symbolList(compare ? chosen.sort(compare) : chosen, say("Symbols"), undefined, { seen: 18 }) : nothing());
  return say("Symbols");
}

function choice(state, name, value, text, current) {
  const next = new URLSearchParams(state);
  if (value) next.set(name, value); else next.delete(name);
  const made = link(`#${next}`, text, "chip");
  if (current) made.setAttribute("aria-current", "true");
  return made;
}

function filesView() {
  const sorted = [...files].sort((a, b) => b.lines - a.lines || a.place - b.place);
  const row = (place) => {
    const file = sorted[place];
    return [
      make("a", { href: fileLink(file), className: "name", title: file.path, textContent: file.path }),
      make("span", { className: "marks" }),
      make("span", { className: "where", textContent: say("uses {uses}, used by {users}", { uses: number(file.uses.size), users: number(file.users.size) }) }),
      make("span", { className: "lines", title: say("lines of functions"), textContent: number(file.lines) }),
      make("span", { className: "users", title: say("functions"), textContent: number(file.functions) }),
    ];
  };
  view.append(heading(say("Files"), small(number(files.length))),
    virtualList(sorted.length, row, { label: say("Files"), captions: [say("lines"), say("functions")] }));
  const weights = new Map(files.map((file) => [file, weight(file)]));
  const related = files.filter((file) => weights.get(file)).sort((a, b) => weights.get(b) - weights.get(a));
  if (related.length > 1) view.append(panel([say("Which file uses which"), small(related.length > MATRIX ? say("the {number} with most edges", { number: MATRIX }) : say("numbers of edges"))], matrix(related.slice(0, MATRIX))));
  return say("Files");
}

function weight(file) {
  return [...file.uses.values(), ...file.users.values()].reduce((sum, one) => sum + one, 0);
}

function matrix(some) {
  const rows = some.sort((a, b) => a.place - b.place);
  const head = make("tr", {}, make("td", {}), ...rows.map((file, place) => make("th", { scope: "col", title: file.path, textContent: place + 1 })));
  const body = rows.map((file, place) => make("tr", {}, make("th", { scope: "row" }, `${place + 1} `, link(fileLink(file), file.path)),
    ...rows.map((other) => {
      const edges = file.uses.get(other.place) || 0;
      const title = edges ? say("{file} uses {other}: {edges}", { file: file.path, other: other.path, edges: plural(edges, "edge") }) : "";
      return make("td", { className: file === other ? "same" : edges ? `m-${Math.min(5, Math.ceil(Math.log10(edges + 1) * 2))}` : "", title, textContent: edges || "" });
    })));
  return make("div", { className: "matrix", tabIndex: 0, role: "region", ariaLabel: say("Which file uses which") },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

function fileView(state) {
  const file = files.find((one) => one.path === state.get("file"));
  if (!file) {
    view.append(heading(say("No such file")), make("p", { className: "empty", textContent: say("The graph has no symbol of {file}.", { file: state.get("file") }) }));
    return say("No such file");
  }
  const functions = file.symbols.filter(isFunction);
  const related = (found) => bars([...found].sort((a, b) => b[1] - a[1]).map(([other, value]) => ({ text: files[other].path, value, href: fileLink(files[other]) })));
  view.append(heading(make("code", { textContent: file.path })),
    make("ul", { className: "details" }, ...[plural(file.functions, "function"), say("{lines} of functions", { lines: plural(file.lines, "line") }), plural(file.symbols.length, "symbol")].map((text) => make("li", { textContent: text }))),
    ...(functions.length ? [panel([say("Functions by lines"), small(largest(functions.length, "functions"))], figure("treemap", (width) => treemapOf(functions, width)))] : []),
    make("div", { className: "columns" }, panel([say("Used by"), small(say("{files}, edges", { files: plural(file.users.size, "file") }))], related(file.users)), panel([say("Uses"), small(say("{files}, edges", { files: plural(file.uses.size, "file") }))], related(file.uses))),
    panel([say("Symbols"), small(number(file.symbols.length))], symbolList(file.symbols, say("Symbols of the file"))));
  return file.path;
}

function cyclesView() {
  const row = (place) => [
    make("a", { href: `#cycle=${place + 1}`, className: "name", textContent: [...new Set(cycles[place].map((one) => data.name[one]))].slice(0, 12).join(", ") }),
    make("span", { className: "marks" }, badge(CATEGORY_TITLES[data.categories[data.category[cycles[place][0]]]])),
    make("span", { className: "where", textContent: placeOfCycle(cycles[place]) }),
    make("span", { className: "lines", title: say("lines"), textContent: number(cycles[place].reduce((sum, one) => sum + data.lines[one], 0)) }),
    make("span", { className: "users", title: say("symbols"), textContent: number(cycles[place].length) }),
  ];
  view.append(heading(say("Cycles"), small(number(cycles.length))),
    make("p", { className: "aside", textContent: say("Symbols that use each other; each cycle is one step of the translation order.") }),
    cycles.length ? virtualList(cycles.length, row, { label: say("Cycles"), captions: [say("lines"), say("symbols")], seen: 18 }) : make("p", { className: "empty", textContent: uncheckedUnits ? say("None in the units that were read.") : say("None.") }));
  return say("Cycles");
}

function placeOfCycle(cycle) {
  const all = new Set(cycle.map((one) => data.file[one]));
  return all.size === 1 ? data.files[data.file[cycle[0]]] : plural(all.size, "file");
}

function cycleView(state) {
  const wanted = Number(state.get("cycle"));
  const cycle = cycles[wanted - 1];
  if (!cycle) return cyclesView();
  view.append(heading(say("Cycle {number}", { number: number(wanted) }), small(plural(cycle.length, "symbol"))),
    make("p", { className: "aside" }, link("#view=cycles", say("All cycles")), cycle.length > RING ? say(". The picture shows the members with most edges.") : ""),
    figure("graph", (width) => ring(cycle, width)), panel(say("Members"), symbolList(cycle, say("Members of the cycle"))));
  return say("Cycle {number}", { number: wanted });
}

function rootsView() {
  const row = (place) => {
    const [name, marks, where, lines, used] = symbolRow(data.roots[place]);
    used.textContent = number(reach(data.roots[place]));
    used.title = say("functions that it reaches");
    return [name, marks, where, lines, used];
  };
  view.append(heading(say("Roots"), small(number(data.roots.length))),
    make("p", { className: "aside", textContent: say("Functions without callers; all functions, if every one has a caller.") }),
    data.roots.length ? virtualList(data.roots.length, row, { label: say("Roots"), captions: [say("lines"), say("reaches")], seen: 18 }) : nothing());
  return say("Roots");
}

function orderView() {
  const row = (step) => {
    const [one, ...others] = steps[step];
    const [name, marks, where, lines, used] = symbolRow(one);
    where.prepend(make("b", { textContent: `${number(step + 1)}. ` }));
    if (others.length) marks.append(make("a", { className: "badge", href: `#cycle=${cycleOf[one] + 1}`, textContent: `+ ${number(others.length)}` }));
    return [name, marks, where, lines, used];
  };
  view.append(heading(say("Translation order"), small(plural(steps.length, "step"))),
    make("p", { className: "aside", textContent: say("Callees come before their callers; a cycle is one step.") }),
    steps.length ? virtualList(steps.length, row, { label: say("Translation order"), seen: 18 }) : nothing());
  return say("Translation order");
}

function paint() {
  pictures.forEach((one) => one());
}
