// A tuning space: the best configurations, times over two parameters, all parameters at once, time against registers.

const shape = c => `${c.grid ? `grid ${c.grid.join(" x ")}, ` : ""}${c.block ? `block ${c.block.join(" x ")}` : ""}`;

// Parameters with more than one value; block and grid where there is no other name for them.
function parameters(list) {
  const names = [...new Set(list.flatMap(c => Object.keys(c.params)))];
  const values = n => [...new Set(list.map(c => String(c.params[n])))];
  return names.map(name => ({name, values: values(name).sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1))})).filter(p => p.values.length > 1);
}

function sections() {
  const device = data.devices[choice("device", "Device", data.devices.map(d => d.device))];
  const list = data.best.filter(c => c.device === device.device && c.time_s !== null);
  const first = section("best", "Best configurations");
  if (!list.length) return void first.append(element("p", {}, device.failure || "No configuration has a time."));
  first.append(element("p", {class: "big"}, seconds(list[0].time_s)),
    element("p", {class: "note"}, `${list.length} of the ${device.evaluated.toLocaleString("en-US")} configurations with a time are on this page (the best; --top takes more); ${device.tied_with_best} are tied with the best. Model ${data.model}.`));
  const used = parameters(list);
  first.append(scrolled("Best configurations", table("", [{n: "rank"}, "configuration", {n: "time"}, {n: "as fast as the best"}, "binding bound", {n: "occupancy"}, {n: "registers"}],
    list.slice(0, 50).map(c => ({class: c.tied_with_best ? "here" : null, cells: [{n: String(c.rank)}, used.length ? used.map(p => `${p.name}=${c.params[p.name]}`).join(" ") : shape(c), {n: seconds(c.time_s)}, {n: percent(c.probability_as_fast_as_best)}, limiterName(c.limiter), {n: percent(c.occupancy.fraction)}, {n: digits(c.resources.registers_per_thread)}]}))), true));
  pareto(section("pareto", "Time and registers"), list);
  if (used.length > 1) heatMap(section("heat", "Times over two parameters"), list, used);
  if (used.length > 1) parallel(section("parallel", "All parameters"), list, used);
  const refused = section("refused", "Configurations that cannot run");
  const counts = Object.entries(device.infeasible);
  refused.append(counts.length ? scrolled("Configurations that cannot run", table("", ["reason", {n: "configurations"}], counts.map(([k, v]) => [k.replaceAll("_", " "), {n: digits(v)}]))) : element("p", {}, "None."));
}

function pareto(b, list) {
  const points = list.map(c => ({x: c.resources.registers_per_thread, y: c.time_s * 1e6, c})).sort((p, q) => p.x - q.x || p.y - q.y);
  const front = [];
  for (const p of points) if (!front.length || p.y < front[front.length - 1].y) front.push(p);
  const rows = table("", [{n: "registers per thread"}, {n: "time"}, "configuration"], front.map(p => [{n: digits(p.x)}, {n: seconds(p.y / 1e6)}, shape(p.c)]));
  plot(b, "Time against registers", "The line joins configurations that no other beats in both.", {
    type: "scatter",
    data: {datasets: [
      {label: "Pareto front", data: front, showLine: true, stepped: "before", borderColor: palette[5], backgroundColor: palette[5], pointRadius: 5},
      {label: "configurations", data: points, backgroundColor: palette[0], pointRadius: 3},
    ]},
    options: {scales: {x: {type: "linear", title: {text: "registers per thread"}}, y: {type: "logarithmic", title: {text: "us"}, ticks: {callback: v => (/^[125]/.test(Number(v).toExponential()) ? digits(v) : "")}}},
      plugins: {tooltip: {callbacks: {label: t => `${seconds(t.raw.y / 1e6)}, ${digits(t.raw.x)} registers: ${Object.entries(t.raw.c.params).map(([k, v]) => `${k}=${v}`).join(" ") || shape(t.raw.c)}`}}}},
  }, rows);
}

function heatMap(b, list, used) {
  const names = used.map(p => p.name);
  const across = used[choice("across", "Across", names)], downIndex = choice("down", "Down", names, 1), down = used[downIndex === choices.across ? (downIndex + 1) % used.length : downIndex];
  const best = new Map();
  for (const c of list) {
    const k = `${c.params[down.name]}|${c.params[across.name]}`;
    if (!best.has(k) || c.time_s < best.get(k)) best.set(k, c.time_s);
  }
  const all = [...best.values()], least = Math.min(...all), most = Math.max(...all);
  const share = t => (most > least ? 0.6 * Math.log(t / least) / Math.log(most / least) : 0);
  b.append(scrolled("Times over two parameters", table(`Shortest time over all other parameters; darker is slower. ${down.name} down, ${across.name} across.`, [`${down.name} \\ ${across.name}`, ...across.values.map(v => ({n: v}))],
    down.values.map(y => [y, ...across.values.map(x => {
      const t = best.get(`${y}|${x}`), cell = element("span", {class: "heat"}, t === undefined ? "" : seconds(t));
      if (t !== undefined) cell.style.setProperty("--share", share(t).toFixed(3));
      return {n: cell};
    })]))));
}

function parallel(b, list, used) {
  const at = (p, v) => p.values.indexOf(String(v)) / (p.values.length - 1);
  const least = list[0].time_s, most = Math.max(...list.map(c => c.time_s));
  const shown = list.slice(0, 200);
  const color = t => `hsl(${most > least ? 210 - 190 * Math.log(t / least) / Math.log(most / least) : 210}, 75%, 45%)`;
  plot(b, "All parameters at once", `A line for each of the best ${shown.length} configurations, blue for quick and red for slow; each parameter from its lowest (0) to its highest value (1).`, {
    type: "line",
    data: {labels: used.map(p => p.name), datasets: shown.map(c => ({label: seconds(c.time_s), data: used.map(p => at(p, c.params[p.name])), borderColor: color(c.time_s), backgroundColor: color(c.time_s), borderWidth: 1, pointRadius: 2})).reverse()},
    options: {scales: {x: {}, y: {min: 0, max: 1, title: {text: "position among the values"}}}, plugins: {legend: {display: false}, tooltip: {mode: "nearest", callbacks: {label: t => `${t.dataset.label}: ${used[t.dataIndex].name} = ${used[t.dataIndex].values[Math.round(t.parsed.y * (used[t.dataIndex].values.length - 1))]}`}}}},
  }, table("", ["parameter", "values"], used.map(p => [p.name, p.values.join(", ")])));
}
