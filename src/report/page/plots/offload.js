// CPU or GPU: the parts of both times, and from where on the other side wins.

function sections() {
  const rows = data.ranking || [data];
  const r = rows[choice("device", "GPU", rows.map(x => x.gpu.device))];
  const b = section("answer", "Answer");
  b.append(element("p", {class: "big"}, r.decision === "cpu" ? "CPU" : r.decision === "gpu" ? "GPU" : "Too close to call"),
    element("p", {class: "note"}, `${r.probability === null ? r.reason : `probability ${percent(r.probability)}`}; ${data.repetitions} repetition${data.repetitions === 1 ? "" : "s"} between the transfers.`));
  const sides = [r.cpu, r.gpu];
  const parts = [["transfer in", "transfer_in_s"], ["transfer out", "transfer_out_s"], ["launch", "launch_s"], ["execution", "execution_s"]];
  plot(b, "Parts of both times", "Where transfers overlap with execution, the parts add up to more than the time.", {
    type: "bar",
    data: {labels: sides.map(s => s.device), datasets: parts.map(([label, key], i) => ({label, data: sides.map(s => (s[key] || 0) * 1e6), backgroundColor: palette[i]}))},
    options: {indexAxis: "y", scales: {x: {stacked: true, title: {text: "us"}}, y: {stacked: true}}, plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: ${seconds(c.parsed.x / 1e6)}`}}}},
  }, table("", ["", ...sides.map(s => ({n: s.device}))], [
    ["time", ...sides.map(s => ({n: seconds(s.time_s)}))],
    ["90 % interval", ...sides.map(s => ({n: s.interval_s ? `${seconds(s.interval_s[0])} to ${seconds(s.interval_s[1])}` : "unknown"}))],
    ...parts.map(([label, key]) => [label, ...sides.map(s => ({n: s[key] === undefined ? "none" : seconds(s[key])}))]),
    ["energy", ...sides.map(s => ({n: s.energy_j === null ? "unknown" : si(s.energy_j, "J")}))],
  ]), true);
  repetitions(section("repetitions", "Break-even: repetitions"), r);
  sizes(section("sizes", "Break-even: size"), r);
  if (data.ranking) ranking(section("ranking", "GPUs side by side"), rows);
  const a = section("assumptions", "Assumptions");
  a.append(r.assumptions.length ? scrolled("Assumptions", table("", ["assumed", "value", "replaced by"], r.assumptions.map(x => [x.what, x.value, x.flag || "nothing that can be given"]))) : element("p", {}, "None."));
}

function repetitions(b, r) {
  // Transfers happen once, all else as often as the region runs.
  const each = (r.gpu.launch_s + r.gpu.execution_s) / data.repetitions, once = Math.max(0, r.gpu.time_s - each * data.repetitions), cpu = r.cpu.time_s / data.repetitions;
  const even = r.break_even.repetitions, most = Math.max(10, 4 * (even || 1), 2 * data.repetitions), points = Array.from({length: 41}, (_, i) => Math.max(1, Math.round(most ** (i / 40))));
  b.append(element("p", {id: "even"}, even ? `From ${digits(even)} repetitions on the GPU is faster.` : `No number of repetitions changes the answer: ${r.break_even.reason || "unknown"}`));
  plot(b, "Time over repetitions", "Straight lines through the answer: transfers happen once, kernels in each repetition.", {
    type: "scatter",
    data: {datasets: [["CPU", n => cpu * n, 0], ["GPU", n => once + each * n, 1]].map(([label, f, i]) => ({label, data: [...new Set(points)].map(n => ({x: n, y: f(n) * 1e6})), showLine: true, pointRadius: 0, borderColor: palette[i], backgroundColor: palette[i]}))},
    options: {scales: {x: {type: "logarithmic", title: {text: "repetitions"}, ticks: {callback: v => (/^[125]/.test(Number(v).toExponential()) ? digits(v) : "")}}, y: {type: "logarithmic", title: {text: "us"}, ticks: {callback: v => (/^1/.test(Number(v).toExponential()) ? digits(v) : "")}}}, plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: ${digits(c.parsed.x)} repetitions, ${seconds(c.parsed.y / 1e6)}`}}}},
  }, table("", [{n: "repetitions"}, {n: "CPU"}, {n: "GPU"}], [1, 10, 100, 1000].map(n => [{n: String(n)}, {n: seconds(cpu * n)}, {n: seconds(once + each * n)}])));
}

function sizes(b, r) {
  const s = r.break_even.size;
  if (!s) return void b.append(element("p", {}, `Not looked at: ${r.break_even.reason}`));
  const spans = [{from: s.lowest, who: s.at_lowest}, ...s.crossings.map(c => ({from: c.from, who: c.faster}))].map((x, i, all) => ({...x, to: i + 1 < all.length ? all[i + 1].from : s.highest}));
  plot(b, `Faster side over ${s.argument}`, `From ${digits(s.lowest)} to ${digits(s.highest)}: ${s.highest_reason}.`, {
    type: "bar",
    data: {labels: [s.argument], datasets: ["cpu", "gpu"].map((who, i) => ({label: who.toUpperCase(), grouped: false, backgroundColor: palette[i], data: spans.filter(x => x.who === who).map(x => ({x: [x.from, x.to], y: s.argument}))}))},
    options: {indexAxis: "y", scales: {x: {type: "logarithmic", min: s.lowest, max: s.highest, title: {text: s.argument}, ticks: {callback: v => (/^[125]/.test(Number(v).toExponential()) ? digits(v) : "")}}, y: {}}, plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: ${digits(c.raw.x[0])} to ${digits(c.raw.x[1])}`}}}},
  }, table("", [{n: "from"}, {n: "to"}, "faster"], spans.map(x => [{n: digits(x.from)}, {n: digits(x.to)}, x.who.toUpperCase()])), true);
}

function ranking(b, rows) {
  b.append(scrolled("GPUs side by side", table("", ["GPU", {n: "GPU time"}, {n: "CPU time"}, {n: "transfer"}, "decision"], rows.map(r => [r.gpu.device, {n: seconds(r.gpu.time_s)}, {n: seconds(r.cpu.time_s)}, {n: seconds(r.gpu.transfer_s)}, r.decision]))));
}
