// Part 8: devices, and two versions of the source.

function times(into, name, labels, predictions) {
  const known = predictions.map((p, i) => ({p, label: labels[i]})).filter(x => x.p && x.p.time_s !== null);
  const heading = ["", {n: "time"}, {n: "90 % from"}, {n: "to"}, {n: "floor"}, "binding bound", {n: "occupancy"}, {n: "registers"}];
  const rows = predictions.map((p, i) => (p && p.time_s !== null
    ? [labels[i], {n: seconds(p.time_s)}, {n: p.interval_s ? seconds(p.interval_s[0]) : "unknown"}, {n: p.interval_s ? seconds(p.interval_s[1]) : "unknown"}, {n: seconds(p.floor_s)}, limiterName(p.limiter), {n: percent(p.occupancy.fraction)}, {n: digits(p.resources.registers_per_thread)}]
    : [labels[i], {n: "unknown"}, "", "", "", (p && p.reason) || "no forecast", "", ""]));
  into.append(scrolled(name, table("", heading, rows)));
  if (known.length > 1)
    plot(into, name, "Forecast times; the thin bar is the 90 % interval.", {
      type: "bar",
      data: {labels: known.map(x => x.label), datasets: [
        {label: "time, us", data: known.map(x => x.p.time_s * 1e6), backgroundColor: palette[0], grouped: false, barPercentage: 0.8},
        {label: "90 % interval, us", data: known.map(x => (x.p.interval_s ? x.p.interval_s.map(t => t * 1e6) : null)), backgroundColor: palette[1], grouped: false, barPercentage: 0.2},
      ]},
      options: {indexAxis: "y", scales: {x: {type: "logarithmic", title: {text: "us"}, ticks: {callback: v => (/^[125]/.test(Number(v).toExponential()) ? digits(v) : "")}}, y: {}}},
    }, null, true);
}

function diffText(text) {
  return element("pre", {}, text.split("\n").map(l => element("span", {class: l.startsWith("+") ? "add" : l.startsWith("-") ? "remove" : null}, `${l}\n`)));
}

function compare() {
  const b = body("compare");
  b.append(element("h3", {}, "Devices"));
  const others = data.devices.filter(d => !d.detail).length;
  if (others) b.append(element("p", {class: "note"}, `${others} of the devices stand in this part only: the others fill the parts above.`));
  times(b, "Devices side by side", data.devices.map(d => d.name), data.devices.map(d => d.prediction || {time_s: null, reason: d.failure}));
  if (!data.compared) {
    b.append(element("p", {class: "note"}, "One version of the source: --compare NEW puts another beside it. Spaces of launches and parameters are what kernelcast tune searches."));
    return;
  }
  b.append(element("h3", {}, `${data.source} against ${data.compared.source}`));
  for (const d of data.devices) {
    const other = data.compared.devices.find(x => x.device === d.device);
    const now = other && other.prediction;
    b.append(element("h3", {}, d.name));
    times(b, `Versions on ${d.name}`, [data.source, data.compared.source], [d.prediction || {time_s: null, reason: d.failure}, now || {time_s: null, reason: other ? other.failure : "no forecast"}]);
    if (!other || !other.ratio) continue;
    b.append(element("p", {}, element("strong", {}, `New over old: ${digits(other.ratio.value)} `), `(90 %: ${digits(other.ratio.interval[0])} to ${digits(other.ratio.interval[1])}); quicker with a probability of ${percent(other.ratio.probability)}.`));
    const names = [...new Set([...d.prediction.bounds, ...now.bounds].map(x => x.name))];
    const of = (p, n) => { const f = p.bounds.find(x => x.name === n); return f && f.time_s > 0 ? seconds(f.time_s) : "none"; };
    b.append(scrolled("Bounds of both versions", table("", ["bound", {n: "old"}, {n: "new"}], names.map(n => [limiterName(n), {n: of(d.prediction, n)}, {n: of(now, n)}]))));
  }
  if (data.compared.diff) b.append(element("h3", {}, "What changed"), scrolled("What changed", diffText(data.compared.diff), true));
}
