// The device and the colors that were chosen; everything is drawn anew for another choice.

const detailed = data.devices.some(d => d.detail) ? data.devices.filter(d => d.detail) : data.devices.slice(0, 1);

function render() {
  for (const c of charts) c.destroy();
  charts = [];
  const d = detailed[Number(document.getElementById("device").value) || 0];
  answer(d);
  roofline(d);
  bounds(d);
  source(d);
  occupancy(d);
  accesses(d);
  timeline(d);
  compare();
  assumptions(d);
}

{
  const device = document.getElementById("device"), theme = document.getElementById("theme");
  device.append(...detailed.map((d, i) => element("option", {value: i}, d.name)));
  if (detailed.length < 2) document.getElementById("device-label").hidden = true;
  device.addEventListener("change", render);
  theme.addEventListener("change", () => {
    if (theme.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    render();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  addEventListener("beforeprint", () => { for (const c of charts) c.resize(); });
  addEventListener("afterprint", () => { for (const c of charts) c.resize(); });
  render();
}
