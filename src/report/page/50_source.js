// Part 4: the source with its margins, what each access does, advice under its line, and the target's code beside it.

function adviceBox(a) {
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
  b.append(element("p", {class: "note"}, "Shares of the whole launch: warp instructions, sectors of global and local memory, wavefronts lost to bank conflicts, and cycles in which a warp that runs alone waits for results of this line. A line number with a button opens its accesses."));
  for (const file of data.sources) {
    const rows = [];
    file.lines.forEach((text, i) => {
      const line = file.first + i, k = key(file.path, line), c = costs.get(k), found = accesses.get(k);
      const number = found ? element("button", {type: "button", "aria-expanded": "false"}, String(line)) : String(line);
      const cell = (share) => (c && share > 0 ? heat(share, percent(share)) : element("td", {}));
      rows.push(element("tr", {id: `line-${line}`}, element("td", {class: "n"}, number), cell(c && c.instructions), cell(c && c.sectors), cell(c && c.conflicts), cell(c && c.stalls), element("td", {class: "code"}, text)));
      for (const a of advice.get(k) || []) rows.push(element("tr", {}, element("td", {class: "wide", colspan: 6}, adviceBox(a))));
      if (!found) return;
      let open = null;
      number.addEventListener("click", () => {
        if (open) { open.remove(); open = null; } else {
          open = element("tr", {}, element("td", {class: "wide", colspan: 6}, accessDetails(d, found)));
          number.closest("tr").after(open);
        }
        number.setAttribute("aria-expanded", String(open !== null));
      });
    });
    const listing = element("table", {class: "listing"},
      element("thead", {}, element("tr", {}, ["line", "instructions", "sectors", "conflicts", "waits", "source"].map(h => element("th", {scope: "col", class: h === "source" ? null : "n"}, h)))),
      element("tbody", {}, rows));
    if (file.note) b.append(element("p", {class: "note"}, file.note));
    b.append(element("h3", {}, file.path), scrolled(`Source ${file.path}`, listing, true));
  }
  const nowhere = d.lines.filter(l => l.file === "");
  if (nowhere.length) b.append(element("p", {class: "note"}, `${percent(nowhere.reduce((s, l) => s + l.instructions, 0))} of the instructions have no source line.`));
}
