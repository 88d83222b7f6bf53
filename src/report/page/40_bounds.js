// Part 3: bounds as bars, each with the time without it, and the what-if panel over the grid that was computed.

function bounds(d) {
  const b = body("bounds"), p = d.prediction;
  if (!p || p.time_s === null) return void b.append(element("p", {}, "No forecast, no bounds."));
  const shown = p.bounds.filter(x => x.time_s > 0);
  const rows = table("", ["bound", {n: "time"}, {n: "kernel without it"}, "why"],
    shown.map(x => [limiterName(x.name), {n: seconds(x.time_s)}, {n: x.without_s === undefined ? "unknown" : seconds(x.without_s)}, x.why]));
  plot(b, "Bounds", "Time of each bound alone, and the kernel's time if that bound did not exist.", {
    type: "bar",
    data: {labels: shown.map(x => limiterName(x.name)), datasets: [
      {label: "bound alone, us", data: shown.map(x => x.time_s * 1e6), backgroundColor: palette[0]},
      {label: "kernel without it, us", data: shown.map(x => (x.without_s === undefined ? null : x.without_s * 1e6)), backgroundColor: palette[1]},
    ]},
    options: {indexAxis: "y", scales: {x: {title: {text: "us"}}, y: {}},
      plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label.replace(", us", "")}: ${seconds(c.parsed.x / 1e6)}`, afterLabel: c => shown[c.dataIndex].why}}}},
  }, rows);
  whatIf(b, d);
}

function whatIf(b, d) {
  const g = d.what_if, p = d.prediction;
  b.append(element("h3", {}, "What if"));
  if (!g || !g.axes) return void b.append(element("p", {}, `No what-if: ${(g && g.reason) || "unknown"}`));
  b.append(element("p", {class: "note"}, `The model was asked at ${g.seconds.length.toLocaleString("en-US")} points beforehand; the sliders choose among them, and nothing is interpolated.`));
  const at = g.axes.map(a => a.base);
  const out = element("output", {class: "big", id: "what-if-time", "aria-live": "polite"});
  const words = element("p", {class: "note", id: "what-if-words"});
  const update = () => {
    let k = 0;
    g.axes.forEach((a, i) => { k = k * a.values.length + at[i]; });
    const t = g.seconds[k];
    out.textContent = t === 0 ? "does not fit" : seconds(t);
    words.textContent = t === 0 ? "Not one block fits an SM." : `${at.every((x, i) => x === g.axes[i].base) ? "As asked for" : `${digits(p.time_s / t)} times as fast as asked for`}; binding bound: ${limiterName(g.limiters[g.limiter.charCodeAt(k) - 97])}`;
  };
  const say = (a, i) => (a.unit === "x" ? `${a.values[i]} x` : `${digits(a.values[i])}`);
  const sliders = g.axes.map((a, i) => {
    const shown = element("strong", {}, say(a, a.base));
    const input = element("input", {type: "range", id: `what-if-${a.name}`, min: 0, max: a.values.length - 1, step: 1, value: a.base, disabled: a.values.length < 2, "aria-label": a.label, "aria-valuetext": say(a, a.base)});
    input.addEventListener("input", () => {
      at[i] = Number(input.value);
      shown.textContent = say(a, at[i]);
      input.setAttribute("aria-valuetext", say(a, at[i]));
      update();
    });
    return {a, input, shown, block: element("div", {}, element("div", {}, `${a.label}: `, shown), input, a.note ? element("p", {class: "note"}, a.note) : null)};
  });
  const reset = element("button", {class: "plain", type: "button", onclick: () => sliders.forEach(s => { s.input.value = s.a.base; s.input.dispatchEvent(new Event("input")); })}, "As asked for");
  b.append(element("div", {class: "panel"}, element("p", {style: "margin:0"}, out), words, element("div", {class: "sliders"}, sliders.map(s => s.block)), reset));
  update();
}
