// Part 7: what the warps of one SM do, cycle by cycle, from the cycle-level model.

function traceEvents(d) {
  const t = d.timeline, events = [{name: "process_name", ph: "M", pid: 1, args: {name: `one SM of ${d.name}`}}];
  for (const warp of new Set(t.spans.map(s => s[2]))) events.push({name: "thread_name", ph: "M", pid: 1, tid: warp, args: {name: `warp ${warp}`}});
  for (const [cycle, cycles, warp, state] of t.spans) events.push({name: t.states[state], cat: "warp", ph: "X", ts: cycle, dur: cycles, pid: 1, tid: warp});
  return JSON.stringify({traceEvents: events, otherData: {unit: "1 us of the trace is 1 cycle of the SM"}});
}

// Of all warps, over the whole run.
function overview(b, t) {
  const shares = t.windows.map(w => { const sum = w.reduce((x, y) => x + y, 0); return w.map(x => (sum ? 100 * x / sum : 0)); });
  const datasets = t.states.map((name, k) => ({label: name.replaceAll("_", " "), backgroundColor: palette[k % palette.length], barPercentage: 1, categoryPercentage: 1, data: shares.map(w => w[k])}))
    .filter(s => s.data.some(x => x > 0));
  const rows = table("", [{n: "from cycle"}, ...datasets.map(s => ({n: `${s.label}, %`}))], shares.map((w, i) => [{n: digits(i * t.window_cycles)}, ...datasets.map(s => ({n: digits(s.data[i])}))]));
  plot(b, "States of all warps over the run", "Share of the warps' cycles in each state, from the first to the last cycle.", {
    type: "bar", data: {labels: shares.map((w, i) => digits(i * t.window_cycles)), datasets},
    options: {scales: {x: {stacked: true, title: {text: "cycle"}}, y: {stacked: true, min: 0, max: 100, title: {text: "% of warps"}}},
      plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: ${digits(c.parsed.y)} %`}}}},
  }, rows, true);
}

function timeline(d) {
  const b = body("timeline"), t = d.timeline;
  if (!t || !t.spans) return void b.append(element("p", {}, `The cycle-level model does not run this kernel: ${(t && t.reason) || "no forecast"}`));
  const warps = [...new Set(t.spans.map(s => s[2]))].sort((x, y) => x - y), end = Math.max(...t.spans.map(s => s[0] + s[1]));
  b.append(element("p", {class: "note"}, `${t.blocks} blocks of ${t.warps_per_block} warps, loops shortened so that the run is short: ${t.cycles.toLocaleString("en-US")} cycles were simulated, and the first ${end.toLocaleString("en-US")} are drawn warp by warp. The model sm is another than the one that gives the answer.`));
  overview(b, t);
  const datasets = t.states.map((name, k) => ({label: name, backgroundColor: palette[k % palette.length], grouped: false, barPercentage: 1, categoryPercentage: 0.9,
    data: t.spans.filter(s => s[3] === k).map(s => ({x: [s[0], s[0] + s[1]], y: `warp ${s[2]}`}))})).filter(s => s.data.length);
  const total = Object.values(t.stalls).reduce((x, y) => x + y, 0);
  const rows = table("Share of the warps' cycles in each state, whole run", ["state", {n: "share"}], Object.entries(t.stalls).map(([k, v]) => [k.replaceAll("_", " "), {n: percent(total ? v / total : 0)}]));
  const first = Math.min(...t.spans.map(s => s[0])), start = Math.min(2000, end - first);
  const chart = plot(b, "Timeline of warps by state", "A bar for each stretch of cycles that a warp spends in one state.", {
    type: "bar", data: {labels: warps.map(w => `warp ${w}`), datasets},
    options: {indexAxis: "y", scales: {x: {min: first, max: first + start, title: {text: "cycle"}}, y: {ticks: {autoSkip: true}}},
      plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: cycle ${c.raw.x[0]}, ${c.raw.x[1] - c.raw.x[0]} cycles`}}}},
  }, rows);
  chart.canvas.parentElement.style.height = `${Math.min(60, 12 + warps.length)}rem`;
  const set = (from, width) => {
    const w = Math.max(20, Math.min(end - first, width)), f = Math.max(first, Math.min(end - w, from));
    chart.options.scales.x.min = f;
    chart.options.scales.x.max = f + w;
    chart.update();
  };
  const now = () => [chart.options.scales.x.min, chart.options.scales.x.max - chart.options.scales.x.min];
  const act = (text, change) => element("button", {class: "plain", type: "button", onclick: () => set(...change(...now()))}, text);
  b.append(element("p", {class: "controls"}, act("Zoom in", (f, w) => [f + w / 4, w / 2]), act("Zoom out", (f, w) => [f - w / 2, w * 2]), act("Earlier", (f, w) => [f - w / 2, w]), act("Later", (f, w) => [f + w / 2, w]), act("All", () => [first, end - first]),
    element("button", {class: "plain", type: "button", id: "trace", onclick: () => download(`${d.device}.perfetto.json`, traceEvents(d))}, "Export for Perfetto")));
}
