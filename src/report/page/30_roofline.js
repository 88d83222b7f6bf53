// Part 2: roofs of each level and type, and the kernel's point at each level.

function roofline(d) {
  const b = body("roofline"), p = d.prediction, r = d.roofline;
  if (!p || p.time_s === null || !r) return void b.append(element("p", {}, "No forecast, no roofline."));
  const unit = r.operations === "FLOP" ? "FLOP" : "op";
  const levels = r.memory.filter(u => u.name !== "shared memory" && u.peak), roofs = r.compute.filter(u => u.peak);
  if (!levels.length || !roofs.length || !r.total) return void b.append(element("p", {}, "The kernel computes nothing or moves nothing that a peak is known for."));
  const reached = r.total / p.time_s, top = Math.max(...roofs.map(u => u.peak));
  const points = levels.map(u => ({name: u.name, x: r.total / u.amount, y: reached}));
  const xs = [...points.map(q => q.x), ...levels.map(u => top / u.peak)];
  const left = Math.min(...xs) / 4, right = Math.max(...xs) * 4;
  const datasets = [];
  levels.forEach((u, i) => {
    const ridge = top / u.peak, color = palette[i % palette.length];
    datasets.push({label: `${u.name} ${si(u.peak, "B/s")}`, data: [{x: left, y: left * u.peak}, {x: ridge, y: top}], showLine: true, borderColor: color, backgroundColor: color, pointRadius: 0, borderWidth: 2});
    datasets.push({label: `kernel at ${u.name}`, data: [points[i]], borderColor: css("--text"), backgroundColor: color, pointRadius: 7, pointStyle: ["circle", "rectRot", "triangle", "rect"][i % 4]});
  });
  roofs.forEach((u, i) => {
    const color = palette[(i + levels.length) % palette.length];
    const from = Math.max(left, u.peak / Math.max(...levels.map(l => l.peak)));
    datasets.push({label: `${u.name} ${si(u.peak, `${unit}/s`)}`, data: [{x: from, y: u.peak}, {x: right, y: u.peak}], showLine: true, borderColor: color, backgroundColor: color, pointRadius: 0, borderDash: [6, 4], borderWidth: 2});
  });
  const rows = table("", ["level", {n: `${unit} per byte`}, {n: "achieved"}, {n: "roof at this intensity"}, {n: "share"}],
    levels.map((u, i) => {
      const roof = Math.min(top, points[i].x * u.peak);
      return [u.name, {n: digits(points[i].x)}, {n: si(reached, `${unit}/s`)}, {n: si(roof, `${unit}/s`)}, {n: percent(reached / roof)}];
    }));
  plot(b, "Hierarchical roofline", `The kernel reaches ${si(reached, `${unit}/s`)} of ${r.operations}; a point below its level's roof is not limited by that level alone.`, {
    type: "scatter", data: {datasets},
    options: {
      scales: {
        x: {type: "logarithmic", min: left, max: right, title: {text: `intensity, ${unit} per byte`}, ticks: {callback: v => (/^[125]/.test(Number(v).toExponential()) ? Number(v.toPrecision(2)) : "")}},
        y: {type: "logarithmic", max: top * 2, title: {text: `${unit}/s`}, ticks: {callback: v => (/^1/.test(Number(v).toExponential()) ? si(v, "") : "")}},
      },
      plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: ${digits(c.parsed.x)} ${unit}/B, ${si(c.parsed.y, `${unit}/s`)}`}}},
    },
  }, rows);
}
