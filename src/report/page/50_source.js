// Part 4: the source with its margins, what each access does, advice under its line, and the target's code beside it.

function adviceBox(a) {
  if (a.severity === "warning")
    return element("div", {class: "advice"}, element("p", {}, element("strong", {}, "Warning: "), `${a.message} [-W${a.rule}]`), element("pre", {}, a.change));
  return element("div", {class: "advice"},
    element("p", {}, element("strong", {}, `Advice: saves ${percent(a.gain_fraction)} `), `(90 %: ${percent(a.gain_interval[0])} to ${percent(a.gain_interval[1])}): ${seconds(a.time_s)} to ${seconds(a.changed_time_s)}. ${a.message} [-W${a.rule}]`),
    element("pre", {}, a.change));
}

function heat(share, text) {
  const td = element("td", {class: "n heat"}, text);
  td.style.setProperty("--share", Math.min(0.6, share * 1.2).toFixed(3));
  return td;
}

function accessDetails(d, found) {
  return scrolled("Accesses of the line", table("", ["access", {n: "bytes"}, "pattern", {n: "requests"}, {n: "sectors per request"}, {n: "wavefronts per request"}, "address in bytes", "picture"],
    found.map(({a, i}) => [`${a.space} ${a.kind}`, {n: a.bytes}, a.pattern, {n: digits(a.requests)}, {n: digits(a.sectors_per_request)}, {n: digits(a.passes_per_request)},
      `${a.buffer || "?"} + ${a.offset || "? (data)"}`,
      d.pictures[i].lanes ? element("a", {href: "#accesses", onclick: () => showAccess(d, i)}, "lanes") : d.pictures[i].reason])));
}

// The target's code, each instruction with its source line; `chosen` is told when a line is asked for.
function listing(d, chosen) {
  const l = d.listing;
  if (!l.lines) return {node: element("p", {class: "note"}, `No code of the target: ${l.reason}`), lines: new Map(), show: () => {}};
  const byLine = new Map();
  const rows = l.lines.map(([text, file, line]) => {
    const k = file < 0 ? null : `${line}:${l.files[file]}`;
    const row = element("tr", {}, element("td", {class: "n"}, k ? element("button", {type: "button", onclick: () => chosen(k)}, String(line)) : ""), element("td", {class: "target"}, text));
    if (k) byLine.set(k, [...(byLine.get(k) || []), row]);
    return row;
  });
  const table = element("table", {class: "listing"}, element("thead", {}, element("tr", {}, element("th", {scope: "col", class: "n"}, "line"), element("th", {scope: "col"}, `code for ${l.target}`))), element("tbody", {}, rows));
  const frame = scrolled(`Code for ${l.target}`, table, true);
  const show = k => {
    for (const r of rows) r.classList.remove("chosen");
    for (const r of byLine.get(k) || []) r.classList.add("chosen");
    const first = (byLine.get(k) || [])[0];
    if (first) frame.scrollTop = first.offsetTop - frame.clientHeight / 3;
  };
  return {node: element("div", {}, element("h3", {}, `${l.lines.length} lines for ${l.target}${l.left_out ? `, ${l.left_out} more left out` : ""}`), frame), lines: byLine, show};
}

function source(d) {
  const b = body("source"), e = d.explanation;
  if (!d.prediction || d.prediction.time_s === null) return void b.append(element("p", {}, "No forecast."));
  const general = d.advice.filter(a => a.line === undefined);
  if (!d.advice.length) b.append(element("p", {}, "No change of the rules gains 2 % or more."));
  for (const a of general) b.append(adviceBox(a));
  const key = (file, line) => `${line}:${file}`;
  const costs = new Map(d.lines.map(l => [key(l.file, l.line), l]));
  const accesses = new Map();
  e.accesses.forEach((a, i) => {
    const k = key(a.at.file, a.at.line);
    if (!accesses.has(k)) accesses.set(k, []);
    accesses.get(k).push({a, i});
  });
  const advice = new Map();
  for (const a of d.advice) if (a.line !== undefined) {
    const k = key(a.file, a.line);
    advice.set(k, [...(advice.get(k) || []), a]);
  }
  b.append(element("p", {class: "note"}, "Shares of the whole launch: warp instructions, sectors of global and local memory, wavefronts lost to bank conflicts, and cycles in which a warp that runs alone waits for results of this line. A line number with a button opens its accesses and marks its instructions in the target's code."));
  const shown = new Map();
  const choose = k => {
    for (const r of shown.values()) r.classList.remove("chosen");
    code.show(k);
    const row = shown.get(k);
    if (!row) return;
    row.classList.add("chosen");
    const frame = row.closest(".scroll");
    frame.scrollTop = row.offsetTop - frame.clientHeight / 3;
  };
  const code = listing(d, choose);
  const files = element("div", {});
  b.append(element("div", {class: "sources"}, files, code.node));
  for (const file of data.sources) {
    const rows = [];
    file.lines.forEach((text, i) => {
      const line = file.first + i, k = key(file.path, line), c = costs.get(k), found = accesses.get(k);
      const number = found || code.lines.has(k) ? element("button", {type: "button", "aria-expanded": found ? "false" : null}, String(line)) : String(line);
      const cell = (share) => (c && share > 0 ? heat(share, share < 0.0005 ? "< 0.1 %" : percent(share)) : element("td", {}));
      const row = element("tr", {id: file === data.sources[0] ? `line-${line}` : null}, element("td", {class: "n"}, number), cell(c && c.instructions), cell(c && c.sectors), cell(c && c.conflicts), cell(c && c.stalls), element("td", {class: "code"}, text));
      rows.push(row);
      shown.set(k, row);
      for (const a of advice.get(k) || []) rows.push(element("tr", {}, element("td", {class: "wide", colspan: 6}, adviceBox(a))));
      if (typeof number === "string") return;
      let open = null;
      number.addEventListener("click", () => {
        if (!found) return void choose(k);
        if (open) { open.remove(); open = null; } else {
          open = element("tr", {}, element("td", {class: "wide", colspan: 6}, accessDetails(d, found)));
          number.closest("tr").after(open);
        }
        number.setAttribute("aria-expanded", String(open !== null));
        choose(k);
      });
    });
    const listing = element("table", {class: "listing"},
      element("thead", {}, element("tr", {}, ["line", "instructions", "sectors", "conflicts", "waits", "source"].map(h => element("th", {scope: "col", class: h === "source" ? null : "n"}, h)))),
      element("tbody", {}, rows));
    if (file.note) files.append(element("p", {class: "note"}, file.note));
    files.append(element("h3", {}, file.path), scrolled(`Source ${file.path}`, listing, true));
  }
  const nowhere = d.lines.filter(l => l.file === "");
  if (nowhere.length) b.append(element("p", {class: "note"}, `${percent(nowhere.reduce((s, l) => s + l.instructions, 0))} of the instructions have no source line.`));
}
