// Drawing what was laid out, folding and unfolding, and saying what a box is.
"use strict";

function drawContent(view, place, into) {
  for (const {path, arrow, x, y} of place.paths) {
    into.append(svg("path", {class: "edge", d: path}));
    if (arrow) into.append(svg("path", {class: "tip", d: `M${x},${y + 5}l-3.6,-6.5h7.2z`}));
  }
  for (const item of place.items) into.append(item.child.isGroup ? drawGroup(view, item) : drawOp(view, item));
}

function drawMarks(item, box) {
  let x = item.w - 14;
  for (const mark of item.child.marks) {
    box.append(svg("circle", {class: "mark-" + mark, cx: x, cy: 13, r: 4.5}));
    x -= 13;
  }
}

function markText(child) {
  const texts = {approximate: "approximated", kept: "kept whole"};
  return [...child.marks].map((mark) => ", " + texts[mark]).join("");
}

function button(view, item, label, act) {
  const box = svg("g", {role: "button", tabindex: "0", "data-id": item.child.id, "aria-label": label,
                        transform: `translate(${item.x},${item.y})`});
  box.addEventListener("click", (event) => {
    event.stopPropagation();
    act();
  });
  box.addEventListener("keydown", (event) => {
    const open = item.child.isGroup ? view.open.has(item.child.id) : null;
    const folds = (event.key === "ArrowRight" && open === false) || (event.key === "ArrowLeft" && open === true);
    if (event.key !== "Enter" && event.key !== " " && !folds) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  return box;
}

function drawOp(view, item) {
  const op = item.child;
  const box = button(view, item, `${item.title}, ${item.second}${markText(op)}`, () => view.choose(op));
  box.classList.add("op");
  if (view.chosen === op) box.classList.add("chosen");
  box.append(svg("rect", {class: "box", width: item.w, height: item.h, rx: 6}),
             svg("rect", {class: "kind-" + op.kind, x: 0.5, y: 5, width: 4, height: item.h - 10, rx: 2}),
             svg("text", {x: 14, y: 17}, item.title), svg("text", {class: "second", x: 14, y: 32}, item.second));
  drawMarks(item, box);
  return box;
}

function drawGroup(view, item) {
  const group = item.child, open = Boolean(item.inner);
  const box = button(view, item, `module ${group.id.replaceAll("/", " ")}, ${item.second}${markText(group)}`, () => view.toggle(group));
  box.setAttribute("aria-expanded", String(open));
  box.classList.add("group");
  if (!open) box.append(svg("rect", {class: "behind", x: 4, y: 4, width: item.w, height: item.h, rx: 8}));
  box.append(svg("rect", {class: "box", width: item.w, height: item.h, rx: 8}),
             svg("text", {x: 12, y: 18}, (open ? "▾ " : "▸ ") + item.title));
  const second = open ? {x: 22 + widthOf("▾ " + item.title, "600 12.5px"), y: 18} : {x: 26, y: 33};
  box.append(svg("text", {class: "second", ...second}, item.second));
  drawMarks(item, box);
  if (open) {
    const content = svg("g", {transform: `translate(${item.shift},${HEADER})`});
    drawContent(view, item.inner, content);
    box.append(content);
  }
  return box;
}

// Of the outermost modules those that hold nothing but modules open at the start: the layers show, their insides do not.
function opensAtStart(root) {
  const onlyModules = (group) => group.children.every((child) => child.isGroup);
  return new Set(root.children.filter((child) => child.isGroup && onlyModules(child)).map((child) => child.id));
}

function inspect(panel, report, op) {
  const node = op.node;
  const path = node.namespace.replaceAll("/", ".");
  const rows = [["module", path || "the graph itself"], ["type", typeOf(node)]];
  for (const one of node.attrs) rows.push([one.key, String(one.value)]);
  for (const one of op.data) {
    rows.push([one.label, (attr(one, "path") || attr(one, "value") || "") + " " + typeOf(one)]);
  }
  const same = (one) => one.node === path;
  for (const one of report.approximations.filter(same)) rows.push(["approximated", `${one.from} by ${one.to}: ${one.reason}`]);
  for (const one of report.kept_fused.filter((row) => same(row) && row.op === node.label)) rows.push(["kept whole", `${one.as}: ${one.reason}`]);
  for (const one of report.rewrites.filter((row) => same(row) && row.before.split("(")[0] === node.label)) {
    rows.push(["rewritten by " + one.pass, `${one.before} to ${one.after} (${boundText(one)})`]);
  }
  const list = make("dl", {});
  for (const [key, value] of rows) list.append(make("dt", {}, key), make("dd", {class: "mono"}, value));
  panel.replaceChildren(make("h3", {}, node.label), list);
}

function showGraph(card, report, graph) {
  const model = readGraph(graph, report);
  if (model.ops.size === 0) {
    card.append(make("p", {class: "empty"}, "The graph is empty."));
    return;
  }
  const canvas = make("div", {class: "canvas", id: "drawing"});
  const panel = make("aside", {class: "inspector", "aria-live": "polite"},
                     make("p", {class: "empty"}, "Choose an op to see its type, attributes, weights and what passes did to it."));
  const view = {open: opensAtStart(model.root), chosen: null, scale: 1};
  view.draw = (focused) => {
    const place = layout(model, model.root, 0, view.open);
    const width = place.w + 2 * PAD, height = place.h + 2 * PAD;
    const picture = svg("svg", {width: width * view.scale, height: height * view.scale, viewBox: `0 0 ${width} ${height}`,
                                role: "group", "aria-label": "Drawing of the graph"});
    const content = svg("g", {transform: `translate(${PAD},${PAD})`});
    drawContent(view, place, content);
    picture.append(content);
    const {scrollLeft, scrollTop} = canvas;
    canvas.replaceChildren(picture);
    canvas.scrollLeft = scrollLeft;
    canvas.scrollTop = scrollTop;
    if (focused !== undefined) {
      for (const box of picture.querySelectorAll("g[data-id]")) {
        if (box.dataset.id === focused) box.focus({preventScroll: true});
      }
    }
  };
  view.toggle = (group) => {
    if (!view.open.delete(group.id)) view.open.add(group.id);
    view.draw(group.id);
  };
  view.choose = (op) => {
    view.chosen = op;
    inspect(panel, report, op);
    view.draw(op.id);
  };
  const bar = make("div", {class: "bar"});
  const command = (text, label, act) => {
    const one = make("button", {type: "button", "aria-label": label}, text);
    one.addEventListener("click", () => {
      act();
      view.draw();
    });
    bar.append(one);
  };
  command("Unfold all", "Unfold all modules", () => { view.open = new Set(model.groups.keys()); });
  command("Fold all", "Fold all modules", () => { view.open = new Set(); });
  command("\u2212", "Smaller", () => { view.scale = Math.max(0.2, view.scale / 1.25); });
  command("+", "Larger", () => { view.scale = Math.min(3, view.scale * 1.25); });
  const legend = make("span", {class: "legend"});
  const entry = (kind, text) => legend.append(make("span", {}, make("i", {class: kind}), text));
  for (const [kind, [text]] of Object.entries(KINDS)) entry("kind-" + kind, text);
  if (model.root.marks.has("approximate")) entry("mark approximate", "approximated");
  if (model.root.marks.has("kept")) entry("mark kept", "kept whole");
  bar.append(make("span", {class: "grow"}), legend);
  card.append(bar, make("div", {class: "drawing"}, canvas, panel));
  view.draw();
}
