// The sections of the report, made of the JSON that stands in the page. Data become text, never markup.
"use strict";

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function bytesText(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) {
    count /= 1024;
    ++unit;
  }
  return (unit === 0 ? count : count.toFixed(1)) + " " + units[unit];
}

function counted(count, one, many) { return count + " " + (count === 1 ? one : many); }

function numberText(value) { return value === 0 ? "0" : value < 0.001 ? value.toExponential() : String(value); }

// What an op or a rewrite may be off by, in words.
function boundText(row) {
  if (row.effect === "exact") return "the same bits";
  if (row.max_abs === 0 && row.max_ulp === 0 && !row.max_rel && !row.max_ulp_per_term) return "exact";
  const parts = [];
  if (row.max_abs > 0) parts.push(numberText(row.max_abs) + " absolute");
  if (row.max_rel > 0) parts.push(numberText(row.max_rel) + " relative");
  if (row.max_ulp > 0) parts.push(row.max_ulp === 0.5 && row.max_abs === 0 ? "correctly rounded" : row.max_ulp + " ulp");
  return parts.join(" or ") + (row.max_ulp_per_term > 0 ? " + " + row.max_ulp_per_term + " a term" : "");
}

function chip(text, kind) { return make("span", {class: "chip " + (kind || "")}, text); }

// columns: [title, class of its cells]; cells are text or elements.
function table(columns, rows) {
  const head = make("tr", {});
  for (const [title, kind] of columns) head.append(make("th", {scope: "col", class: kind === "number" ? kind : ""}, title));
  const body = make("tbody", {});
  for (const cells of rows) {
    const row = make("tr", {});
    cells.forEach((cell, i) => row.append(make("td", {class: columns[i][1] || ""}, cell)));
    body.append(row);
  }
  return make("div", {class: "scroll"}, make("table", {}, make("thead", {}, head), body));
}

const main = document.getElementById("main");

function section(id, title, lead) {
  const card = make("section", {id, class: "card", "aria-labelledby": id + "-title"},
                    make("h2", {id: id + "-title"}, title));
  if (lead) card.append(make("p", {class: "lead"}, lead));
  main.append(card);
  document.getElementById("sections").append(make("a", {href: "#" + id}, title));
  return card;
}

function showSummary(report) {
  const total = report.artifacts.reduce((sum, one) => sum + one.bytes, 0);
  const tiles = make("section", {class: "tiles", "aria-label": "Summary"});
  const tile = (number, what, kind) => tiles.append(make("div", {class: "card tile " + (kind || "")},
      make("span", {class: "number"}, number), make("span", {class: "what"}, what)));
  const approximated = report.approximations.length;
  tile(approximated === 0 ? "none" : String(approximated), approximated === 1 ? "approximation" : "approximations",
       approximated === 0 ? "good" : "warn");
  tile(String(report.rewrites.length), "rewrites by passes");
  tile(String(report.kept_fused.length), "ops kept whole");
  tile(String(report.parameters.length), "parameters beside the program");
  tile(bytesText(total), counted(report.artifacts.length, "file", "files"));
  main.append(tiles);
}

function showRun(report) {
  const card = section("run", "How to run it", "In the folder of this page:");
  const embeds = report.artifacts.some((one) => one.file === "embed.py");
  const text = report.run.concat(embeds ? ["python3 embed.py 'a text' 'another'"] : []).join("\n");
  const lines = make("pre", {}, text);
  const button = make("button", {type: "button"}, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(lines);  // a page from a file may not write the clipboard
    }
  });
  card.append(make("div", {class: "commands"}, lines, button));
  const ports = [];
  for (const one of report.inputs) ports.push(["input", one.name, one.type]);
  for (const one of report.outputs) ports.push(["output", one.name, one.type]);
  card.append(make("h3", {}, "Inputs and outputs"), table([["", "muted"], ["name", "mono"], ["type", "mono"]], ports));
  if (report.flags.length > 0) {
    card.append(make("h3", {}, "Options of the compiler"), make("pre", {}, report.flags.join("\n")));
  }
}

function changeText(pass) {
  if (pass.changes === 0) return "no change";
  return pass.rewrites === 0 ? counted(pass.changes, "change", "changes") : counted(pass.rewrites, "rewrite", "rewrites");
}

function showStages(report) {
  const card = section("stages", "Stages", "What happened between the traced model and the program, in order.");
  const list = make("ol", {class: "stages"});
  report.stages.forEach((stage, i) => {
    const item = make("li", {}, make("div", {class: "head"}, make("b", {"data-step": i + 1}, stage.name),
                                     chip(stage.status, stage.status === "ran" ? "ran" : "")));
    if (stage.detail) item.append(make("p", {}, stage.detail));
    if (stage.passes.length > 0) {
      const passes = make("ul", {});
      for (const pass of stage.passes) {
        passes.append(make("li", {title: pass.summary}, make("span", {class: "mono"}, pass.pass),
            make("span", {class: "muted"}, changeText(pass))));
      }
      item.append(passes);
    }
    list.append(item);
  });
  card.append(list);
}

function showAccuracy(report) {
  const card = section("accuracy", "Accuracy",
      "What the program may be off by, as far as it is known without running it." +
      (report.model.endsWith(".tir") ? "" : " 'capra verify --budget' measures it."));
  card.append(make("h3", {}, "Approximations in force"));
  if (report.approximations.length === 0) {
    card.append(make("p", {class: "empty"}, "None: every op computes the function that the model asks for."));
  } else {
    card.append(table([["node", "mono"], ["asked for", "mono"], ["computed", "mono"], ["most it differs", "number"], ["why"]],
        report.approximations.map((one) => [one.node, one.from, one.to, numberText(one.max_abs_error), one.reason])));
  }
  card.append(make("h3", {}, "Bound of each op at f32"));
  card.append(table([["op", "mono"], ["nodes", "number"], ["written as"], ["bound"], ["of"]],
      report.budget.ops.map((one) => [one.op, String(one.nodes), one.form, boundText(one),
                                      [one.note, one.reason].filter(Boolean).join("; ")])));
}

function showMeasured(report) {
  if (!report.measured) return;
  section("measured", "Measured", "What came out when the program was run.")
      .append(table([["what"], ["value", "number"]], report.measured.map((one) => [one.what, numberText(one.value)])));
}

function showKept(report) {
  const card = section("kept", "Kept whole",
      "Ops that stand in the program as one operation, with their decomposition beside it.");
  if (report.kept_fused.length === 0) {
    card.append(make("p", {class: "empty"}, "None: every op without a form of its own is written as its decomposition."));
    return;
  }
  card.append(table([["node", "mono"], ["op", "mono"], ["stands as", "mono"], ["decomposition", "mono"], ["why"]],
      report.kept_fused.map((one) => [one.node, one.op, one.as, one.body, one.reason])));
}

function showRewrites(report) {
  const card = section("rewrites", "Rewrites", "Every change that a pass made, by the part of the model it belongs to.");
  if (report.rewrites.length === 0) {
    card.append(make("p", {class: "empty"}, "None."));
    return;
  }
  const groups = new Map();
  for (const row of report.rewrites) {
    const key = row.pass + ": " + row.rule;
    groups.set(key, [...(groups.get(key) || []), row]);
  }
  const filter = make("input", {type: "search", placeholder: "Filter by node or op", "aria-label": "Filter rewrites"});
  const list = make("div", {});
  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    list.replaceChildren();
    for (const [title, all] of groups) {
      const rows = all.filter((row) => (row.node + " " + row.before + " " + row.after).toLowerCase().includes(wanted));
      if (rows.length === 0) continue;
      const group = make("details", wanted ? {open: ""} : {}, make("summary", {}, make("b", {class: "mono"}, title), " ",
          chip(rows[0].effect, rows[0].effect), make("span", {class: "count"}, counted(rows.length, "rewrite", "rewrites"))));
      const fill = () => {  // made when opened: a large model has thousands of rows
        if (group.open && group.children.length === 1) {
          group.append(table([["node", "mono"], ["before", "mono"], ["after", "mono"], ["bound"]],
              rows.map((row) => [row.node, row.before, row.after, boundText(row)])));
        }
      };
      group.addEventListener("toggle", fill);
      fill();
      list.append(group);
    }
  };
  filter.addEventListener("input", show);
  card.append(make("div", {class: "bar"}, filter), list);
  show();
}

function showFiles(report) {
  const card = section("files", "Files");
  card.append(table([["file", "mono"], ["holds"], ["size", "number"], ["bytes", "number"], ["SHA-256", "mono hash"]],
      report.artifacts.map((one) => [one.file, one.holds, bytesText(one.bytes), String(one.bytes), one.sha256])));
  if (report.parameters.length > 0) {
    const rows = make("details", {}, make("summary", {}, make("b", {}, "Parameters"),
                                          make("span", {class: "count"}, String(report.parameters.length))));
    rows.append(table([["path", "mono"], ["type", "mono"]], report.parameters.map((one) => [one.name, one.type])));
    card.append(rows);
  }
}

function showReport(report, graph) {
  document.title = report.model + ", Capra export report";
  document.getElementById("title").textContent = report.model;
  document.getElementById("subtitle").textContent = "Function " + report.function + " as a program of target " + report.target;
  document.getElementById("footer").textContent = "Written by capra " + report.capra +
      ". This page needs no network; report.json beside it holds the same facts.";
  showSummary(report);
  showRun(report);
  showGraph(section("graph", "Graph", "The traced model. Modules fold: click one, or focus it and press Enter. " +
      "Weights and constants are left out; an op lists its own."), report, graph);
  showStages(report);
  showAccuracy(report);
  showMeasured(report);
  showKept(report);
  showRewrites(report);
  showFiles(report);
}

const data = JSON.parse(document.getElementById("data").textContent);
showReport(data.report, data.graph);
