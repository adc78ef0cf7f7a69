/* The conversion to Rust, if the page has one: a state for each function, its gates, and its text in C and Rust. */
const conversion = data.conversion || { functions: {}, suites: [] };
const hasConversion = Boolean(data.conversion);
const STATES = {
  mechanical: "Rust", refused: "C: refused by the translation", not_checked: "C: not checked", different: "C: differs in Rust",
};

function stateOf(one) {
  const found = conversion.functions[one];
  return found && (found.state === "mechanical" ? "mechanical" : found.cause);
}

function stateBadge(one) {
  const state = stateOf(one);
  return state ? badge(STATES[state], `s-${state}`) : "";
}

/* The cells of pictures: by state, or by users without a conversion. */
function tone(one) {
  return stateOf(one) ? `s-${stateOf(one)}` : shade(users[one]);
}

function conversionPart(one) {
  const found = conversion.functions[one];
  if (!found) return [];
  const gates = found.gates.map(([gate, passed, detail, seconds]) => make("tr", {},
    make("td", { textContent: gate }), make("td", { textContent: passed ? "passed" : "failed", className: passed ? "" : "bad" }),
    make("td", { textContent: detail }), make("td", { textContent: seconds ? `${seconds.toFixed(2)} s` : "" })));
  const text = (title, content, empty) => panel(title, content
    ? make("pre", { className: "text", tabIndex: 0, textContent: content }) : make("p", { className: "empty", textContent: empty }));
  return [make("div", { className: "parts", id: "conversion" },
    make("p", { className: "aside" }, stateBadge(one), ` proof: ${found.proof}`, found.calls ? `, ${plural(found.calls, "call")} compared with C` : "", found.reason ? `. ${found.reason}` : ""),
    make("div", { className: "columns" }, text("C", found.c, "The text is not in this page."), text("Rust", found.rust, "None.")),
    found.gates.length ? panel("Gates", make("table", { className: "gates" }, make("thead", {}, make("tr", {}, ...["Gate", "Result", "Detail", "CPU"].map((one) => make("th", { scope: "col", textContent: one })))), make("tbody", {}, ...gates))) : "")];
}

function conversionView(state) {
  const wanted = state.get("state") || "";
  const all = Object.keys(conversion.functions).map(Number);
  const chosen = all.filter((one) => !wanted || stateOf(one) === wanted);
  const count = (name) => all.filter((one) => stateOf(one) === name).length;
  const choices = [["", `all ${number(all.length)}`], ...Object.entries(STATES).map(([name, text]) => [name, `${text} ${number(count(name))}`])];
  const suites = conversion.suites.map((suite) => make("li", {}, make("code", { textContent: suite.command }), ` ${suite.passed ? "passes" : "FAILS"} with Rust; C ${suite.c_seconds.toFixed(1)} s, Rust ${suite.rust_seconds.toFixed(1)} s`));
  view.append(heading("Conversion", small(number(chosen.length))),
    make("ul", { className: "details" }, ...suites),
    make("div", { className: "chips", role: "group", ariaLabel: "State" }, ...choices.map(([name, text]) => choice(state, "state", name, text, name === wanted))),
    chosen.length ? symbolList(chosen, "Functions", (place) => [stateBadge(chosen[place])], { seen: 18 }) : make("p", { className: "empty", textContent: "None." }));
  return "Conversion";
}
