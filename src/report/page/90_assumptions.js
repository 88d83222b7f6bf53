// Part 9: what the answer rests on, and how far such answers were off.

function accuracyTable(t, here) {
  return scrolled(t.title, table(`${t.title} (${t.file})`, t.columns.map((c, i) => (i === 0 ? c : {n: c})),
    t.rows.map(r => ({class: here.includes(r[0]) ? "here" : null, cells: r.map((c, i) => (i === 0 ? c : {n: c}))}))));
}

function assumptions(d) {
  const b = body("assumptions"), p = d.prediction;
  const list = p ? p.assumptions : [];
  b.append(element("h3", {}, "Assumptions"));
  if (list.length) b.append(scrolled("Assumptions", table("", ["assumed", "value", "replaced by"], list.map(a => [a.what, a.value, a.flag ? element("code", {}, a.flag) : "nothing that can be given"]))));
  else b.append(element("p", {}, "None: everything is in the source, the launch and the device file."));
  if (p && p.unmodeled.length) b.append(element("h3", {}, "Not modeled"), scrolled("Not modeled", table("These cost nothing in the answer.", ["instruction", {n: "places"}, {n: "first at line"}], p.unmodeled.map(u => [u.what, {n: String(u.count)}, {n: u.line ? String(u.line) : "unknown"}]))));
  const notes = d.explanation && d.explanation.notes ? d.explanation.notes : [];
  if (notes.length) b.append(element("h3", {}, "Notes"), element("ul", {}, notes.map(n => element("li", {}, n))));
  if (data.findings.length) b.append(element("h3", {}, "Trouble that execution found"), element("ul", {}, data.findings.map(n => element("li", {}, n))));
  b.append(element("h3", {}, "How accurate such forecasts are"), element("p", {class: "note"}, "Forecasts against measured times. gMAE: geometric mean of the factor by which forecasts are off; inside: share of measured times within the 90 % interval. Rows in bold are of this kernel's kind."));
  for (const t of data.accuracy) b.append(accuracyTable(t, d.kinds || []));
}
