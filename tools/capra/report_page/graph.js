// The drawing: boxes in layers, modules that fold. Each open module is laid out on its own; edges from outside come in
// at a port in the middle of its top and leave at one at its bottom.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const GAP_X = 18, GAP_Y = 30, PAD = 14, HEADER = 26, BOX_HEIGHT = 40, DUMMY_WIDTH = 8;
const KINDS = {
  product: ["products and attention", ["matmul", "linear", "attention"]],
  reduction: ["norms and reductions", ["layer_norm", "softmax", "sum", "mean", "variance", "max", "argmax"]],
  movement: ["data movement", ["reshape", "slice", "gather", "permute", "broadcast", "concat", "iota", "convert"]],
  port: ["inputs and outputs", ["input", "output"]],
  elementwise: ["element by element", []],
};

function kindOf(label) {
  for (const [kind, [, ops]] of Object.entries(KINDS)) if (ops.includes(label)) return kind;
  return "elementwise";
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const pen = document.createElement("canvas").getContext("2d");
function widthOf(text, font) {
  pen.font = font + " system-ui, sans-serif";
  return pen.measureText(text).width;
}

function attr(node, key) {
  const found = node.attrs.find((one) => one.key === key);
  return found && found.value;
}

function typeOf(node) { return node.outputsMetadata[0].attrs[0].value; }

// The tree of modules. An op knows the modules it is in, outermost first.
function readGraph(graph, report) {
  const root = {id: "", name: "", children: [], first: 0, ops: 0, marks: new Set(), isGroup: true};
  const groups = new Map([["", root]]);
  const ops = new Map(), data = new Map();
  graph.nodes.forEach((node, first) => {
    if (node.label === "parameter" || node.label === "constant") {
      data.set(node.id, node);
      return;
    }
    const inside = [root];
    let path = "";
    for (const name of node.namespace.split("/").filter(Boolean)) {
      path += (path ? "/" : "") + name;
      let group = groups.get(path);
      if (!group) {
        group = {id: path, name, children: [], first, ops: 0, marks: new Set(), isGroup: true};
        groups.set(path, group);
        inside[inside.length - 1].children.push(group);
      }
      inside.push(group);
    }
    const op = {id: node.id, node, inside, first, kind: kindOf(node.label), marks: new Set(), data: []};
    inside[inside.length - 1].children.push(op);
    for (const group of inside) ++group.ops;
    ops.set(node.id, op);
  });
  for (const one of report.approximations) markAll(groups, ops, one.node, one.to.split("(")[0], "approximate");
  for (const one of report.kept_fused) markAll(groups, ops, one.node, one.op, "kept");
  const edges = [];
  for (const op of ops.values()) {
    for (const edge of op.node.incomingEdges) {
      if (ops.has(edge.sourceNodeId)) edges.push([ops.get(edge.sourceNodeId), op]);
      else op.data.push(data.get(edge.sourceNodeId));
    }
  }
  return {root, groups, ops, edges};
}

// Marks the ops of a module that are called so, and every module they are in; a step of a decomposition is no op of the
// traced model, so then the module alone is marked.
function markAll(groups, ops, path, label, mark) {
  const layers = [...groups.keys()].find((id) => id.replaceAll("/", ".") === path);
  if (layers === undefined) return;
  for (const op of ops.values()) {
    if (op.node.namespace === layers && op.node.label === label) op.marks.add(mark);
  }
  groups.forEach((group, id) => {
    if (id === "" || layers === id || layers.startsWith(id + "/")) group.marks.add(mark);
  });
}

// What of `group` an op is in: a child module, the op itself, or nothing.
function childOf(group, depth, op) {
  if (op.inside[depth] !== group) return null;
  return op.inside[depth + 1] || op;
}

// Centres as near to `wanted` as the order and the gaps allow: the mean of packing from the left and from the right.
function packed(items, wanted) {
  const left = [], right = [];
  items.forEach((item, i) => {
    const least = i === 0 ? -Infinity : left[i - 1] + (items[i - 1].w + item.w) / 2 + GAP_X;
    left.push(Math.max(wanted[i], least));
  });
  for (let i = items.length - 1; i >= 0; --i) {
    const most = i === items.length - 1 ? Infinity : right[i + 1] - (items[i + 1].w + items[i].w) / 2 - GAP_X;
    right[i] = Math.min(wanted[i], most);
  }
  return items.map((_, i) => (left[i] + right[i]) / 2);
}

function mean(values, otherwise) { return values.length === 0 ? otherwise : values.reduce((a, b) => a + b, 0) / values.length; }

// Places the children of one module: {items, paths, w, h, inX, outX}, coordinates relative to its content.
function layout(model, group, depth, open) {
  const items = group.children.map((child) => boxOf(model, child, depth, open));
  const byChild = new Map(items.map((item) => [item.child, item]));
  const port = () => ({w: DUMMY_WIDTH, h: 0, above: [], below: [], isPort: true});
  const inPort = port(), outPort = port();
  const links = new Map();
  const order = new Map(items.map((item) => [item, item.child.first]));
  for (const [source, target] of model.edges) {
    const from = childOf(group, depth, source), to = childOf(group, depth, target);
    if ((!from && !to) || from === to) continue;
    const a = from ? byChild.get(from) : inPort, b = to ? byChild.get(to) : outPort;
    if (from && to && order.get(a) > order.get(b)) continue;  // against the order of the program: no place in layers
    if (!links.has(a)) links.set(a, new Set());
    links.get(a).add(b);
  }
  const hasIn = links.has(inPort), hasOut = [...links.values()].some((targets) => targets.has(outPort));
  const sorted = [...items].sort((a, b) => order.get(a) - order.get(b));
  const all = [...(hasIn ? [inPort] : []), ...sorted, ...(hasOut ? [outPort] : [])];
  for (const item of all) item.rank = hasIn && item !== inPort ? 1 : 0;
  for (const item of all) for (const target of links.get(item) || []) target.rank = Math.max(target.rank, item.rank + 1);
  if (hasOut) outPort.rank = Math.max(...all.map((item) => item.rank + (item === outPort ? 0 : 1)));
  const ranks = [];
  const put = (item) => (ranks[item.rank] = ranks[item.rank] || []).push(item);
  all.forEach(put);
  const chains = [];
  for (const [source, targets] of links) {
    for (const target of targets) {
      const chain = [source];
      for (let rank = source.rank + 1; rank < target.rank; ++rank) {
        const bend = {w: DUMMY_WIDTH, h: 0, rank, above: [], below: []};
        put(bend);
        chain.push(bend);
      }
      chain.push(target);
      for (let i = 1; i < chain.length; ++i) {
        chain[i - 1].below.push(chain[i]);
        chain[i].above.push(chain[i - 1]);
      }
      chains.push(chain);
    }
  }
  arrange(ranks);
  return placed(group, items, ranks, chains, inPort, outPort);
}

// Order within the layers by the mean place of neighbours, then centres by theirs.
function arrange(ranks) {
  for (const rank of ranks) rank.forEach((item, i) => { item.place = i; });
  for (let sweep = 0; sweep < 8; ++sweep) {
    const down = sweep % 2 === 0;
    for (const rank of down ? ranks : [...ranks].reverse()) {
      for (const item of rank) item.wish = mean((down ? item.above : item.below).map((other) => other.place), item.place);
      rank.sort((a, b) => a.wish - b.wish || a.place - b.place);
      rank.forEach((item, i) => { item.place = i; });
    }
  }
  for (const rank of ranks) {
    let x = 0;
    for (const item of rank) {
      item.cx = x + item.w / 2;
      x += item.w + GAP_X;
    }
    for (const item of rank) item.cx -= (x - GAP_X) / 2;
  }
  for (let sweep = 0; sweep < 16; ++sweep) {
    const down = sweep % 2 === 0;
    for (const rank of down ? ranks : [...ranks].reverse()) {
      const wanted = rank.map((item) => mean((down ? item.above : item.below).map((other) => other.cx), item.cx));
      packed(rank, wanted).forEach((cx, i) => { rank[i].cx = cx; });
    }
  }
}

function placed(group, items, ranks, chains, inPort, outPort) {
  const everything = ranks.flat();
  const left = Math.min(...everything.map((item) => item.cx - item.w / 2));
  const right = Math.max(...everything.map((item) => item.cx + item.w / 2));
  let y = 0;
  for (const rank of ranks) {
    const height = Math.max(...rank.map((item) => item.h));
    for (const item of rank) {
      item.x = item.cx - item.w / 2 - left;
      item.y = y + (height - item.h) / 2;
      item.top = y;
      item.bottom = y + height;
      item.cx -= left;
    }
    y += height + (height === 0 && rank.every((item) => item.isPort) ? GAP_Y * 0.7 : GAP_Y);
  }
  const out = (item) => item.cx + (item.outShift || 0), into = (item) => item.cx + (item.inShift || 0);
  const paths = chains.map((chain) => {
    let path = "", px = 0, py = 0;
    chain.forEach((item, i) => {
      const last = i === chain.length - 1;
      if (i === 0) {
        px = out(item);
        py = item.y + item.h;
        path = `M${px},${py}`;
        return;
      }
      const x = last ? into(item) : item.cx, ty = last ? item.y - (item.isPort ? 0 : 5) : item.top;
      const middle = (py + ty) / 2;
      path += `C${px},${middle} ${x},${middle} ${x},${ty}`;
      if (!last) path += `L${x},${item.bottom}`;
      px = x;
      py = last ? ty : item.bottom;
    });
    if (chain[chain.length - 1].isPort) path += `v${PAD + 8}`;  // down to the border
    return {path, arrow: !chain[chain.length - 1].isPort, x: px, y: py};
  });
  return {items, paths, w: right - left, h: y - GAP_Y, inX: inPort.cx, outX: outPort.cx};
}

function boxOf(model, child, depth, open) {
  const links = {above: [], below: []};
  if (!child.isGroup) {
    const node = child.node;
    const title = node.label === "input" || node.label === "output" ? node.label + " " + attr(node, "name") : node.label;
    const w = Math.max(86, widthOf(title, "12.5px"), widthOf(typeOf(node), "10.5px")) + 26;
    return {child, title, second: typeOf(node), w, h: BOX_HEIGHT, ...links};
  }
  const second = counted(child.ops, "op", "ops");
  if (!open.has(child.id)) {
    const w = Math.max(110, widthOf(child.name, "600 12.5px") + 30, widthOf(second, "10.5px")) + 26;
    return {child, title: child.name, second, w, h: BOX_HEIGHT + 4, ...links};
  }
  const inner = layout(model, child, depth + 1, open);
  const w = Math.max(inner.w, widthOf(child.name + second, "600 12.5px") + 60) + 2 * PAD;
  const shift = (w - inner.w) / 2;  // the content stands in the middle
  return {child, title: child.name, second, w, h: inner.h + HEADER + PAD + 8, inner, shift,
          inShift: inner.inX === undefined ? 0 : inner.inX + shift - w / 2,
          outShift: inner.outX === undefined ? 0 : inner.outX + shift - w / 2, ...links};
}
