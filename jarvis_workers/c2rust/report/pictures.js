/* Pictures. They are hidden from screen readers: the lists beside them say the same. */
const SIDE = 24;
const LETTER = 7.3;
const RING = 24;
const CELLS = 300;

function draw(tag, attributes, ...inside) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...inside);
  return element;
}

function picture(width, height, ...inside) {
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", focusable: "false" }, ...inside);
}

function cut(text, letters) {
  return text.length <= letters ? text : `${text.slice(0, Math.max(1, letters - 1))}…`;
}

function node(x, y, width, text, href, name = "") {
  const box = draw("svg", { x, y, width, height: 24 },
    draw("title", {}, text),
    draw("rect", { x: 0.5, y: 0.5, width: width - 1, height: 23, rx: 6 }),
    draw("text", { x: 9, y: 16 }, cut(text, Math.floor((width - 16) / LETTER))));
  return href ? draw("a", { href, tabindex: -1, class: `node ${name}` }, box) : draw("g", { class: `node ${name}` }, box);
}

function arrow(x, y, direction, kind) {
  return draw("path", { d: `M${x} ${y}l${-7 * direction} -4v8z`, class: `head ${kind}` });
}

function edgeClass(kinds) {
  return `e-${data.edgeKinds[Math.min(...kinds)]}`;
}

/* The largest of the neighbours, in their order. */
function most(found, limit) {
  if (found.length <= limit) return found;
  const large = [...found].sort((a, b) => Math.min(...a.kinds) - Math.min(...b.kinds) || data.lines[b.symbol] - data.lines[a.symbol]);
  const chosen = new Set(large.slice(0, limit));
  return found.filter((one) => chosen.has(one));
}

/* Users left, the symbol in the middle, what it uses right; one below the other where the page is narrow. */
function neighbourhood(one, callers, callees, width) {
  const narrow = width < 640;
  const [left, right] = [callers, callees].map((found) => most(found, narrow ? SIDE / 3 : SIDE));
  const rest = [callers.length - left.length, callees.length - right.length];
  return (narrow ? stacked : sideways)(one, left, right, rest, width);
}

function rowsWith(found, rest, direction) {
  const rows = found.map(({ symbol, kinds }) => ({ text: data.name[symbol], href: symbolLink(symbol), kind: edgeClass(kinds), name: stateClass(symbol) || (isFunction(symbol) ? "" : "other") }));
  if (rest) rows.push({ text: more(rest), kind: "e-more", name: "more", href: "", direction });
  return rows;
}

function sideways(one, left, right, rest, width) {
  const [lefts, rights] = [rowsWith(left, rest[0]), rowsWith(right, rest[1])];
  const [hasLeft, hasRight] = [lefts.length > 0, rights.length > 0];
  const columns = 1 + hasLeft + hasRight;
  const gap = Math.min(200, width / (columns * 4));
  const each = Math.min(340, (width - (columns - 1) * gap) / columns);
  const height = Math.max(lefts.length, rights.length, 1) * 30 + 8;
  const middle = height / 2;
  const from = hasLeft ? each + gap : 0;
  const to = from + each;
  const drawn = [];
  const at = (rows, place) => middle + (place - (rows.length - 1) / 2) * 30;
  lefts.forEach((row, place) => {
    const y = at(lefts, place);
    drawn.push(draw("path", { d: `M${each} ${y}C${each + gap / 2} ${y} ${from - gap / 2} ${middle} ${from - 6} ${middle}`, class: `edge ${row.kind}` }));
    drawn.push(node(0, y - 12, each, row.text, row.href, row.name));
  });
  if (lefts.length) drawn.push(arrow(from, middle, 1, lefts.some((row) => row.kind === "e-call") ? "e-call" : lefts[0].kind));
  rights.forEach((row, place) => {
    const y = at(rights, place);
    drawn.push(draw("path", { d: `M${to} ${middle}C${to + gap / 2} ${middle} ${to + gap / 2} ${y} ${to + gap - 6} ${y}`, class: `edge ${row.kind}` }), arrow(to + gap, y, 1, row.kind));
    drawn.push(node(to + gap, y - 12, each, row.text, row.href, row.name));
  });
  drawn.push(node(from, middle - 12, each, data.name[one], "", `self ${stateClass(one)}`));
  return picture(to + (hasRight ? gap + each : 0), height, ...drawn);
}

function stacked(one, left, right, rest, width) {
  const [lefts, rights] = [rowsWith(left, rest[0]), rowsWith(right, rest[1])];
  const middle = lefts.length * 30 + 6;
  const drawn = [];
  lefts.forEach((row, place) => {
    const y = place * 30 + 14;
    drawn.push(draw("path", { d: `M${width - 40} ${y}H${width - 22}V${middle}`, class: `edge ${row.kind}` }), node(0, y - 12, width - 40, row.text, row.href, row.name));
  });
  if (lefts.length) drawn.push(draw("path", { d: `M${width - 22} ${middle + 1}l-4 -7h8z`, class: "head e-call" }));
  rights.forEach((row, place) => {
    const y = middle + 30 + place * 30 + 14;
    drawn.push(draw("path", { d: `M22 ${middle + 24}V${y}H34`, class: `edge ${row.kind}` }), arrow(40, y, 1, row.kind), node(40, y - 12, width - 40, row.text, row.href, row.name));
  });
  drawn.push(node(0, middle, width, data.name[one], "", `self ${stateClass(one)}`));
  return picture(width, middle + 38 + rights.length * 30, ...drawn);
}

/* The member with most edges inside of the cycle, and one by one the member with most edges to those chosen. */
function central(members, limit) {
  if (members.length <= limit) return members;
  const inside = new Set(members);
  const near = new Map(members.map((one) => [one, [into, out].flatMap((rows) => neighbours(rows, one).map((other) => other.symbol)).filter((other) => inside.has(other))]));
  const chosen = new Set();
  const gain = new Map(members.map((one) => [one, near.get(one).length / 1e6]));
  while (chosen.size < limit) {
    const next = members.filter((one) => !chosen.has(one)).reduce((best, one) => (gain.get(one) > gain.get(best) ? one : best));
    chosen.add(next);
    near.get(next).forEach((one) => gain.set(one, gain.get(one) + 1));
  }
  return members.filter((one) => chosen.has(one));
}

/* The members of a cycle around a circle, and the edges between them. */
function ring(members, width) {
  const shown = central(members, width < 640 ? RING / 2 : RING);
  const each = Math.min(200, width / 3);
  const height = Math.max(180, Math.min(620, shown.length * 26));
  const [cx, cy, rx, ry] = [width / 2, height / 2, Math.max(40, width / 2 - each - 12), height / 2 - 26];
  const points = new Map(shown.map((one, place) => {
    const angle = (2 * Math.PI * place) / shown.length - Math.PI / 2;
    return [one, [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)]];
  }));
  const drawn = [];
  shown.forEach((one) => neighbours(out, one).forEach(({ symbol, kinds }) => {
    if (symbol === one || !points.has(symbol)) return;
    const [[x, y], [u, v]] = [points.get(one), points.get(symbol)];
    const bend = `Q${(x + u) / 2 * 0.7 + cx * 0.3} ${(y + v) / 2 * 0.7 + cy * 0.3}`;
    drawn.push(draw("path", { d: `M${x} ${y}${bend} ${u} ${v}`, class: `edge ${edgeClass(kinds)}` }));
    const [dx, dy] = [u - ((x + u) / 2 * 0.7 + cx * 0.3), v - ((y + v) / 2 * 0.7 + cy * 0.3)];
    const turn = (Math.atan2(dy, dx) * 180) / Math.PI;
    drawn.push(draw("path", { d: "M-5 0l-7 -4v8z", transform: `translate(${u} ${v}) rotate(${turn})`, class: `head ${edgeClass(kinds)}` }));
  }));
  shown.forEach((one) => {
    const [x, y] = points.get(one);
    const side = x > cx + 2 ? x + 6 : x < cx - 2 ? x - each - 6 : x - each / 2;
    const above = Math.abs(x - cx) <= 2 ? (y < cy ? -26 : 2) : -12;
    drawn.push(draw("circle", { cx: x, cy: y, r: 4, class: "dot" }), node(side, y + above, each, data.name[one], symbolLink(one), stateClass(one)));
  });
  return picture(width, height, ...drawn);
}

/* Squarified treemap (Bruls, Huizing, van Wijk 2000); items: {value, text, href, title, name}. */
function treemap(items, width, height) {
  const all = items.filter((one) => one.value > 0).sort((a, b) => b.value - a.value);
  const total = all.reduce((sum, one) => sum + one.value, 0);
  const scale = total ? (width * height) / total : 0;
  const drawn = [];
  let [x, y, w, h] = [0, 0, width, height];
  let row = [];
  const worst = (areas, side) => {
    const sum = areas.reduce((a, b) => a + b, 0);
    return Math.max((side * side * areas[0]) / (sum * sum), (sum * sum) / (side * side * areas[areas.length - 1]));
  };
  const settle = () => {
    const sum = row.reduce((a, one) => a + one.value * scale, 0);
    const upright = w >= h;
    const thick = sum / (upright ? h : w);
    let along = upright ? y : x;
    row.forEach((one) => {
      const long = (one.value * scale) / thick;
      drawn.push(upright ? cell(one, x, along, thick, long) : cell(one, along, y, long, thick));
      along += long;
    });
    if (upright) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    row = [];
  };
  all.forEach((one) => {
    const side = Math.min(w, h);
    const areas = row.map((other) => other.value * scale);
    if (row.length && worst([...areas, one.value * scale], side) > worst(areas, side)) settle();
    row.push(one);
  });
  if (row.length) settle();
  return picture(width, height, ...drawn);
}

function cell(one, x, y, width, height) {
  const box = draw("svg", { x, y, width: Math.max(0, width), height: Math.max(0, height) },
    draw("title", {}, one.title),
    draw("rect", { x: 0.75, y: 0.75, width: Math.max(0, width - 1.5), height: Math.max(0, height - 1.5), rx: 2 }));
  const letters = Math.floor((width - 8) / LETTER);
  if (letters >= 3 && height >= 18) box.append(draw("text", { x: 5, y: 15 }, cut(one.text, letters)));
  if (letters >= 3 && height >= 36) box.append(draw("text", { x: 5, y: 31, class: "soft" }, cut(number(one.value), letters)));
  return one.href ? draw("a", { href: one.href, tabindex: -1, class: `cell ${one.name}` }, box) : draw("g", { class: `cell ${one.name}` }, box);
}

/* Treemaps of the largest. */
function treemapOf(symbols, width) {
  const sorted = [...symbols].sort((a, b) => data.lines[b] - data.lines[a]);
  return treemap(sorted.slice(0, CELLS).map((one) => ({
    value: data.lines[one], text: data.name[one], href: symbolLink(one), name: tone(one),
    title: say("{name}: {lines}, {users}", { name: data.name[one], lines: plural(data.lines[one], "line"), users: plural(users[one], "user") }) + (stateOf(one) ? `, ${STATES[stateOf(one)]}` : ""),
  })), width, height(width));
}

function treemapOfFiles(width) {
  const sorted = files.filter((file) => file.lines).sort((a, b) => b.lines - a.lines);
  return treemap(sorted.slice(0, CELLS).map((file) => ({
    value: file.lines, text: base(file.path), href: fileLink(file), name: shade(file.users.size),
    title: say("{file}: {functions}, {lines}, used by {users}", { file: file.path, functions: plural(file.functions, "function"), lines: plural(file.lines, "line"), users: plural(file.users.size, "file") }),
  })), width, height(width));
}

function largest(many, what) {
  const meaning = hasConversion && what === "functions" ? say("coloured by state") : say("darker: more users");
  if (many <= CELLS) return meaning;
  const parts = { some: CELLS, all: number(many) };
  const some = what === "functions" ? say("the {some} largest of {all} functions", parts) : say("the {some} largest of {all} files", parts);
  return `${some}; ${meaning}`;
}

function height(width) {
  return width < 640 ? 320 : 420;
}

function shade(value) {
  return `t-${value > 50 ? 5 : value > 20 ? 4 : value > 8 ? 3 : value > 2 ? 2 : value > 0 ? 1 : 0}`;
}

function base(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
