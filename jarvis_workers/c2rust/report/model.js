"use strict";
/* The graph: columns by the number of a symbol, and edges in both directions as compressed sparse rows.
   Names come from the scanned tree and reach the page through textContent alone. */
const data = JSON.parse(document.getElementById("data").textContent);
const translations = new Map(Object.entries(data.say || {}));
const size = data.name.length;
const CALL = 0;
const ADDRESS = 1;

const incomplete = new Set(data.incomplete);
const uncheckedUnits = Number(document.getElementById("not-checked")?.dataset.units || 0);
const lowerNames = data.name.map((name) => name.toLowerCase());
const nameCounts = new Map();
data.name.forEach((name) => nameCounts.set(name, (nameCounts.get(name) || 0) + 1));

const out = rowsOf(data.degrees, data.callees, Uint8Array.from(data.edgeKind, Number));
const into = reversed(out);
const users = distinct(into);
const uses = distinct(out);

/* Place of each symbol in the translation order, -1 for none, and its cycle; cycles of functions come first. */
const steps = data.order.map((step) => (Array.isArray(step) ? step : [step]));
const cycles = steps.filter((step) => step.length > 1).sort((a, b) => isFunction(b[0]) - isFunction(a[0]) || b.length - a.length);
const stepOf = new Int32Array(size).fill(-1);
const cycleOf = new Int32Array(size).fill(-1);
steps.forEach((step, place) => step.forEach((one) => { stepOf[one] = place; }));
cycles.forEach((cycle, place) => cycle.forEach((one) => { cycleOf[one] = place; }));
const roots = new Set(data.roots);

function rowsOf(degrees, targets, kinds) {
  const start = new Uint32Array(degrees.length + 1);
  degrees.forEach((degree, place) => { start[place + 1] = start[place] + degree; });
  return { start, targets: Uint32Array.from(targets), kinds };
}

function reversed({ start, targets, kinds }) {
  const begin = new Uint32Array(size + 1);
  targets.forEach((target) => { begin[target + 1] += 1; });
  for (let one = 0; one < size; one += 1) begin[one + 1] += begin[one];
  const next = begin.slice();
  const back = new Uint32Array(targets.length);
  const same = new Uint8Array(targets.length);
  for (let one = 0; one < size; one += 1) {
    for (let edge = start[one]; edge < start[one + 1]; edge += 1) {
      const place = next[targets[edge]]++;
      back[place] = one;
      same[place] = kinds[edge];
    }
  }
  return { start: begin, targets: back, kinds: same };
}

/* How many other symbols stand in each row; edges of one pair are neighbours. */
function distinct({ start, targets }) {
  return Uint32Array.from({ length: size }, (_, one) => {
    let number = 0;
    for (let edge = start[one]; edge < start[one + 1]; edge += 1) {
      if (targets[edge] !== one && (edge === start[one] || targets[edge] !== targets[edge - 1])) number += 1;
    }
    return number;
  });
}

/* The neighbours of a symbol in one direction: {symbol, kinds}. */
function neighbours({ start, targets, kinds }, one) {
  const found = [];
  for (let edge = start[one]; edge < start[one + 1]; edge += 1) {
    const last = found[found.length - 1];
    if (last && last.symbol === targets[edge]) last.kinds.push(kinds[edge]);
    else found.push({ symbol: targets[edge], kinds: [kinds[edge]] });
  }
  return found;
}

/* How many functions run when this one does, as far as calls and addresses tell. */
const reachable = new Map();
const stamp = new Uint32Array(size);
function reach(root) {
  if (!reachable.has(root)) {
    const mark = reachable.size + 1;
    const waiting = [root];
    let number = 0;
    stamp[root] = mark;
    while (waiting.length) {
      const one = waiting.pop();
      number += 1;
      for (let edge = out.start[one]; edge < out.start[one + 1]; edge += 1) {
        const next = out.targets[edge];
        if (out.kinds[edge] <= ADDRESS && stamp[next] !== mark) {
          stamp[next] = mark;
          waiting.push(next);
        }
      }
    }
    reachable.set(root, number - 1);
  }
  return reachable.get(root);
}

/* Files: their symbols, lines of functions, and the numbers of edges between them. */
const files = data.files.map((path, place) => ({ place, path, symbols: [], functions: 0, lines: 0, uses: new Map(), users: new Map() }));
data.file.forEach((file, one) => {
  files[file].symbols.push(one);
  if (isFunction(one)) {
    files[file].functions += 1;
    files[file].lines += data.lines[one];
  }
});
for (let one = 0; one < size; one += 1) {
  for (let edge = out.start[one]; edge < out.start[one + 1]; edge += 1) {
    const [from, to] = [data.file[one], data.file[out.targets[edge]]];
    if (from === to) continue;
    files[from].uses.set(to, (files[from].uses.get(to) || 0) + 1);
    files[to].users.set(from, (files[to].users.get(from) || 0) + 1);
  }
}

/* A text in the language of the page; values are inserted once, as they are. */
function say(text, parts) {
  const found = translations.get(text) ?? text;
  return parts ? found.replace(/\{(\w+)\}/g, (_, name) => parts[name]) : found;
}

function isFunction(one) {
  return data.category[one] === "0";
}

function place(one) {
  return `${data.files[data.file[one]]}:${data.line[one]}`;
}

function kindOf(one) {
  return say(data.kinds[data.kind[one]]);
}

/* The address of a symbol: its name, with file and line where others have the same. */
function symbolLink(one) {
  const state = new URLSearchParams({ symbol: data.name[one] });
  if (nameCounts.get(data.name[one]) > 1) {
    state.set("file", data.files[data.file[one]]);
    state.set("line", data.line[one]);
  }
  return `#${state}`;
}

function symbolOf(state) {
  const [name, file, line] = [state.get("symbol"), state.get("file"), Number(state.get("line"))];
  const same = [];
  for (let one = data.name.indexOf(name); one >= 0; one = data.name.indexOf(name, one + 1)) same.push(one);
  const near = file ? same.filter((one) => data.files[data.file[one]] === file) : same;
  return near.find((one) => data.line[one] === line) ?? near.find(isFunction) ?? near[0] ?? same[0];
}

/* The symbols whose name, or file, contains all words; the best first. */
function search(text, limit) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return { best: [], number: 0 };
  const scored = [];
  for (let one = 0; one < size; one += 1) {
    const name = lowerNames[one];
    let worst = 0;
    for (const word of words) {
      const at = name.indexOf(word);
      const score = at < 0 ? 4 : name === word ? 0 : at === 0 ? 1 : name[at - 1] === "_" || name[at - 1] === ":" ? 2 : 3;
      if (score === 4 && !data.files[data.file[one]].toLowerCase().includes(word)) { worst = 5; break; }
      worst = Math.max(worst, score);
    }
    if (worst < 5) scored.push([worst + (isFunction(one) ? 0 : 0.5), one]);
  }
  scored.sort(([a, one], [b, other]) => a - b || data.name[one].length - data.name[other].length || users[other] - users[one]);
  return { best: scored.slice(0, limit).map(([, one]) => one), number: scored.length };
}
