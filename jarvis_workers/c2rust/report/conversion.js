/* The conversion to Rust, if the page has one: a state for each function, its gates, and its text in C and Rust. */
const conversion = data.conversion || { accepted: "", functions: {}, suites: [] };
const hasConversion = Boolean(data.conversion);
const ACCEPTED = { mechanical: say("Rust"), forwarded: say("C with Rust signature") };
const OPTIONAL = { translated: say("Rust by the model"), replaced: say("Rust with a library"), pruned: say("left out: libraries replace it") };
const has = (state) => Object.values(conversion.functions).some((one) => one.state === state);
const STATES = {
  ...Object.fromEntries(Object.entries(OPTIONAL).filter(([state]) => has(state))),
  [conversion.accepted]: ACCEPTED[conversion.accepted],
  refused: say("C: not supported"), not_chosen: say("C: left out by --only"), not_checked: say("C: not checked"), different: say("C: differs in Rust"),
};

function stateOf(one) {
  const found = conversion.functions[one];
  return found && (found.cause || found.state);
}

function stateBadge(one) {
  const state = stateOf(one);
  return state ? badge(STATES[state], `s-${state}`) : "";
}

/* Nodes of pictures; cells by state as well, or by users without a conversion. */
function stateClass(one) {
  return stateOf(one) ? `s-${stateOf(one)}` : "";
}

function tone(one) {
  return stateClass(one) || shade(users[one]);
}

/* The row of a function: name, state, where it is and why it stays in C, lines, and how many of them the tests run. */
function conversionRow(one) {
  const found = conversion.functions[one];
  const where = `${place(one)}: ${found.reason || found.proof}`;
  const cells = [["where", where], ["lines", number(data.lines[one])], ["users", found.lines[1] ? `${found.lines[0]}/${found.lines[1]}` : ""]];
  return [make("a", { href: symbolLink(one), className: "name", title: data.name[one], textContent: data.name[one] }),
    make("span", { className: "marks" }, stateBadge(one)),
    ...cells.map(([className, text]) => make("span", { className, title: text, textContent: text }))];
}

function conversionPart(one) {
  const found = conversion.functions[one];
  if (!found) return [];
  const gates = found.gates.map(([gate, passed, detail]) => make("tr", {},
    make("td", { textContent: gate }), make("td", { textContent: passed ? say("passed") : say("failed"), className: passed ? "" : "bad" }),
    make("td", { textContent: detail })));
  const text = (title, content, empty) => panel(title, content
    ? make("pre", { className: "text", tabIndex: 0, textContent: content }) : make("p", { className: "empty", textContent: empty }));
  return [make("div", { className: "parts", id: "conversion" },
    make("p", { className: "aside" }, stateBadge(one), ` ${say("proof: {proof}", { proof: found.proof })}`, found.lines[1] ? say(", tests run {run} of {lines}", { run: found.lines[0], lines: plural(found.lines[1], "line") }) : "", found.reason ? say(". {reason}", { reason: found.reason }) : ""),
    make("div", { className: "columns" }, text("C", found.c, say("The text is not in this page.")), text("Rust", found.rust, say("None."))),
    found.issues.length ? panel(say("Objections of the reviewer"), make("ul", {}, ...found.issues.map((issue) => make("li", { textContent: issue })))) : "",
    found.gates.length ? panel(say("Gates"), make("table", { className: "gates" }, make("thead", {}, make("tr", {}, ...[say("Gate"), say("Result"), say("Detail")].map((one) => make("th", { scope: "col", textContent: one })))), make("tbody", {}, ...gates))) : "")];
}

function conversionView(state) {
  const wanted = state.get("state") || "";
  const all = Object.keys(conversion.functions).map(Number);
  const chosen = all.filter((one) => !wanted || stateOf(one) === wanted);
  const count = (name) => all.filter((one) => stateOf(one) === name).length;
  const choices = [["", say("all {number}", { number: number(all.length) })], ...Object.entries(STATES).filter(([name]) => name !== "not_chosen" || count(name)).map(([name, text]) => [name, `${text} ${number(count(name))}`])];
  const suites = conversion.suites.map((suite) => make("li", {}, make("code", { textContent: suite.command }), ` ${suite.passed ? say("passes with Rust") : say("FAILS with Rust")}`));
  view.classList.add("conversion");
  view.append(heading(say("Conversion"), small(number(chosen.length))),
    make("ul", { className: "details" }, ...suites),
    make("div", { className: "chips", role: "group", ariaLabel: say("State") }, ...choices.map(([name, text]) => choice(state, "state", name, text, name === wanted))),
    chosen.length ? virtualList(chosen.length, (at) => conversionRow(chosen[at]), { label: say("Functions"), captions: [say("lines"), say("tested")], seen: 18 }) : nothing());
  return say("Conversion");
}
