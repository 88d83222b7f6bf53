// Forecast against measured, log-log, by kernel or GPU, for each model; and the scores.

function sections() {
  const names = Object.keys(data.models), model = names[choice("model", "Model", names)];
  const by = ["kernel_id", "gpu"][choice("by", "Rows", ["by kernel", "by GPU"])];
  const rows = data.rows.filter(r => !r.excluded && r.measured_s !== null && r.times[model] !== undefined && r.times[model].time_s !== null);
  const b = section("rows", "Forecast against measured");
  if (!rows.length) return void b.append(element("p", {}, `No row that counts has a forecast of ${model}.`));
  const groups = new Map();
  for (const r of rows) groups.set(r[by], [...(groups.get(r[by]) || []), r]);
  const all = rows.flatMap(r => [r.measured_s, r.times[model].time_s]), low = Math.min(...all) * 1e6 / 1.5, high = Math.max(...all) * 1e6 * 1.5;
  const line = (factor, label) => ({label, data: [{x: low, y: low * factor}, {x: high, y: high * factor}], showLine: true, pointRadius: 0, borderColor: css("--dim"), backgroundColor: css("--dim"), borderWidth: 1, borderDash: factor === 1 ? [] : [5, 5]});
  const datasets = [...groups].map(([name, list], i) => ({label: name, data: list.map(r => ({x: r.measured_s * 1e6, y: r.times[model].time_s * 1e6, r})), backgroundColor: palette[i % palette.length], pointStyle: ["circle", "rect", "triangle", "rectRot", "star", "cross"][Math.floor(i / palette.length) % 6], borderColor: palette[i % palette.length], pointRadius: 3}));
  const ticks = {callback: v => (/^1/.test(Number(v).toExponential()) ? digits(v) : "")};
  const gmae = list => Math.exp(list.reduce((s, r) => s + Math.abs(Math.log(r.times[model].time_s / r.measured_s)), 0) / list.length);
  plot(b, "Forecast against measured times", `${rows.length} rows by ${model}; on the solid line both are equal, between the dashed ones they are within a factor of 2.`, {
    type: "scatter", data: {datasets: [...datasets, line(1, "equal"), line(2, "twice"), line(0.5, "half")]},
    options: {scales: {x: {type: "logarithmic", min: low, max: high, title: {text: "measured, us"}, ticks: {...ticks}}, y: {type: "logarithmic", min: low, max: high, title: {text: "forecast, us"}, ticks: {...ticks}}},
      plugins: {tooltip: {callbacks: {label: c => (c.raw.r ? `${c.raw.r.kernel_id} on ${c.raw.r.gpu}: measured ${seconds(c.raw.x / 1e6)}, forecast ${seconds(c.raw.y / 1e6)}` : c.dataset.label)}}}},
  }, table("", [by === "gpu" ? "GPU" : "kernel", {n: "rows"}, {n: "gMAE"}], [...groups].map(([name, list]) => [name, {n: String(list.length)}, {n: gmae(list).toFixed(2)}])));
  document.querySelector("#rows .plot").style.height = "36rem";
  const s = section("scores", "Scores");
  const score = (label, key, show) => [label, ...names.map(n => ({n: data.models[n][key] === null ? "none" : show(data.models[n][key])}))];
  const two = x => x.toFixed(2);
  s.append(scrolled("Scores", table("gMAE: geometric mean of the factor by which forecasts are off. Means over kernels and GPUs, as docs/reference/validate.md defines them.", ["score", ...names.map(n => ({n}))], [
    score("gMAE", "gmae", two), score("within a factor of 2", "within_2x", percent), score("median error", "median_ape", percent), score("bias", "bias", percent),
    score("median Spearman", "spearman_median", two), score("median top-1 regret", "top1_regret_median", percent), score("inside the 90 % interval", "interval_coverage", percent),
    score("rows that count", "rows", digits), score("rows left out by a flag", "excluded", digits), score("rows that failed", "failed", digits),
  ])));
}
