// Part 5: warps of an SM over block size, registers and shared memory.

function occupancy(d) {
  const b = body("occupancy"), r = d.residency;
  if (!r) return void b.append(element("p", {}, "No forecast, no occupancy."));
  b.append(element("p", {class: "note"}, `Warps that an SM can hold${r.most_warps ? `, of ${r.most_warps}` : ""}, one size changed at a time; the marked point is this kernel. A small grid may leave SMs emptier than this.`));
  const pair = element("div", {class: "pair"});
  b.append(pair);
  for (const c of r.curves) {
    const here = c.at.indexOf(c.here);
    const points = c.at.map((x, i) => ({x, y: c.warps[i]}));
    // Where the number of warps changes is all that a table needs.
    const steps = c.at.map((x, i) => i).filter(i => i === 0 || c.warps[i] !== c.warps[i - 1] || i === here);
    plot(pair, `Warps over ${c.of}`, here < 0 ? `The kernel's ${digits(c.here)} are outside of the curve.` : `Here: ${digits(c.here)}, ${digits(c.warps[here])} warps, limited by ${c.limiters[here]}.`, {
      type: "scatter",
      data: {datasets: [
        {label: "warps of an SM", data: points, showLine: true, stepped: "before", borderColor: palette[0], backgroundColor: palette[0], pointRadius: 0, pointHitRadius: 6},
        {label: "this kernel", data: here < 0 ? [] : [points[here]], pointRadius: 7, pointStyle: "rectRot", backgroundColor: palette[5], borderColor: css("--text")},
      ]},
      options: {scales: {x: {type: "linear", title: {text: c.of}}, y: {beginAtZero: true, title: {text: "warps"}, suggestedMax: 1.1 * r.most_warps || undefined}},
        plugins: {tooltip: {callbacks: {label: t => `${digits(t.parsed.x)}: ${digits(t.parsed.y)} warps, limited by ${c.limiters[t.datasetIndex === 1 ? here : t.dataIndex]}`}}}},
    }, table("", [c.of, {n: "warps"}, "limited by"], steps.map(i => ({class: i === here ? "here" : null, cells: [digits(c.at[i]), {n: digits(c.warps[i])}, c.limiters[i]]}))), true);
  }
}
