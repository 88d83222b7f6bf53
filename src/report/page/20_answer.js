// Part 1: the time, what binds it, what is reached of each peak.

function answer(d) {
  const b = body("answer"), p = d.prediction;
  if (!p || p.time_s === null) {
    b.append(element("p", {class: "big"}, "No forecast"), element("p", {}, d.failure || (p && p.reason) || "unknown"));
    return;
  }
  const interval = p.interval_s ? `90 % interval ${seconds(p.interval_s[0])} to ${seconds(p.interval_s[1])}` : "no interval";
  const bound = p.bounds.find(x => x.name === p.limiter);
  b.append(element("p", {class: "big", id: "time"}, seconds(p.time_s)), element("p", {class: "note"}, `${interval}, on ${d.name}`));
  const items = [
    ["Binding bound", `${limiterName(p.limiter)}${bound ? `: ${bound.why}` : ""}`],
    ["Floor", p.floor_s === null ? "unknown" : `${seconds(p.floor_s)}: no change of the code gets below it on this device`],
    ["Achieved", p.achieved.fraction_of_peak === null ? "unknown" : `${percent(p.achieved.fraction_of_peak)} of the peak that gives the floor`],
    ["Occupancy", `${percent(p.occupancy.fraction)}: ${digits(p.occupancy.warps_per_sm)} warps on an SM, limited by ${p.occupancy.limiter}`],
    ["Registers", `${digits(p.resources.registers_per_thread)} per thread`],
    ["Shared memory", `${si(p.resources.shared_bytes_per_block, "B")} per block`],
    ["Launch", `grid ${p.launch.grid.join(" x ")}, block ${p.launch.block.join(" x ")}`],
    ["Counts", p.counts_method],
    ["Energy", p.energy_j === null ? "unknown" : si(p.energy_j, "J")],
  ];
  b.append(element("dl", {}, items.map(([k, v]) => [element("dt", {}, k), element("dd", {}, v)])));
  const r = d.roofline;
  const row = (u, unit) => {
    const rate = u.amount / p.time_s, share = u.peak ? rate / u.peak : null;
    return [u.name, {n: si(u.amount, unit)}, {n: si(rate, `${unit}/s`)}, {n: u.peak === null ? "unknown" : si(u.peak, `${unit}/s`)},
      share === null ? "unknown" : element("span", {}, element("meter", {min: 0, max: 1, value: Math.min(1, share), "aria-label": `${u.name}: share of peak`}), ` ${percent(share)}`)];
  };
  b.append(element("h3", {}, "Achieved against peak"),
    scrolled("Achieved against peak", table(`Peaks at ${si(r.clock_hz, "Hz")}, the clock that the model takes.`,
      ["resource", {n: "the launch"}, {n: "achieved"}, {n: "peak"}, "share"],
      [...r.compute.map(u => row(u, r.operations === "FLOP" ? "FLOP" : "op")), ...r.memory.map(u => row(u, "B"))])));
  if (d.models.length > 1)
    b.append(element("h3", {}, "Other models"), scrolled("Other models", table("", ["model", {n: "time"}, "binding bound"],
      d.models.map(m => [m.model, {n: seconds(m.time_s)}, m.time_s === null ? m.reason : limiterName(m.limiter)]))));
}
