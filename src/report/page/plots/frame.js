// Sections of the page, choices above them, and drawing anew for another choice of colors.

const choices = {};

// A select above the plots; `options` are texts. Drawn anew when another is chosen.
function choice(name, label, options, initial = 0) {
  if (!(name in choices)) {
    choices[name] = Math.min(initial, options.length - 1);
    const select = element("select", {id: name, onchange: e => { choices[name] = Number(e.target.value); draw(); }}, options.map((o, i) => element("option", {value: i, selected: i === choices[name]}, o)));
    if (options.length > 1) document.getElementById("controls").prepend(element("label", {}, `${label} `, select));
  }
  return Math.min(choices[name], options.length - 1);
}

function section(id, title) {
  const body = element("div", {class: "body"});
  document.getElementById("main").append(element("section", {id, "aria-labelledby": `${id}-title`}, element("h2", {id: `${id}-title`}, title), body));
  return body;
}

function draw() {
  for (const c of charts) c.destroy();
  charts = [];
  document.getElementById("main").replaceChildren();
  sections();
}

{
  const theme = document.getElementById("theme");
  theme.addEventListener("change", () => {
    if (theme.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    draw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => { for (const c of charts) c.resize(); });
  draw();
}
