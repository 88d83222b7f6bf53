"use strict";
// Elements, numbers as text, tables and plots: what all parts share. Text enters the page as text nodes only.

const data = JSON.parse(document.getElementById("data").textContent);

function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") e.className = value;
    else if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) e.append(child);
  return e;
}

function body(id) {
  const b = document.querySelector(`#${id} .body`);
  b.replaceChildren();
  return b;
}

function digits(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "unknown";
  if (x === 0) return "0";
  return Math.abs(x) >= 1000 && Math.abs(x) < 1e15 ? Math.round(x).toLocaleString("en-US") : String(Number(x.toPrecision(3)));
}

const prefixes = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
function si(x, unit) {
  if (x === null || x === undefined || Number.isNaN(x)) return "unknown";
  for (const [factor, name] of prefixes)
    if (Math.abs(x) >= factor * 0.9995) return `${Number((x / factor).toPrecision(3))} ${name}${unit}`;
  return `${Number(x.toPrecision(3))} ${unit}`;
}

function seconds(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "unknown";
  for (const [factor, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "us"]])
    if (x >= factor * 0.9995) return `${Number((x / factor).toPrecision(4))} ${unit}`;
  return `${Number((x / 1e-9).toPrecision(4))} ns`;
}

function percent(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "unknown";
  const p = 100 * x;
  return `${Math.abs(p) >= 10 || p === 0 ? Math.round(p) : Number(p.toPrecision(2))} %`;
}

// Rows of cells; a cell is text, an element, or {n: text} for a number.
function table(caption, heading, rows, attributes) {
  const cell = (c, tag, more) => {
    const number = c !== null && typeof c === "object" && !(c instanceof Node) && "n" in c;
    return element(tag, {...more, class: number ? "n" : null}, number ? c.n : c);
  };
  return element("table", attributes || {},
    caption ? element("caption", {class: "note"}, caption) : null,
    element("thead", {}, element("tr", {}, heading.map(h => cell(h, "th", {scope: "col"})))),
    element("tbody", {}, rows.map(r => {
      const cells = Array.isArray(r) ? r : r.cells;
      return element("tr", {class: Array.isArray(r) ? null : r.class}, cells.map((c, i) => cell(c, i === 0 ? "th" : "td", i === 0 ? {scope: "row"} : {})));
    })));
}

// A table that may be wider than the page can be scrolled by keyboard, too.
function scrolled(name, content, tall) {
  return element("div", {class: tall ? "scroll tall" : "scroll", tabindex: "0", role: "region", "aria-label": name}, content);
}

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Okabe and Ito's colors, told apart with every kind of color vision.
const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#777777", "#7b4fa3"];
let charts = [];

function plot(into, name, caption, config, rows, low) {
  const canvas = element("canvas", {role: "img", "aria-label": `${name}. ${caption}`});
  const frame = element("div", {class: low ? "plot low" : "plot"}, canvas);
  into.append(element("figure", {}, frame, element("figcaption", {}, caption),
    rows ? element("details", {}, element("summary", {}, `Numbers of the plot: ${name}`), scrolled(name, rows)) : null));
  const options = config.options || {};
  options.responsive = true;
  options.maintainAspectRatio = false;
  options.animation = false;
  for (const axis of Object.values(options.scales || {})) {
    axis.grid = {color: css("--line"), ...axis.grid};
    axis.ticks = {color: css("--text"), ...axis.ticks};
    if (axis.title) axis.title = {display: true, color: css("--text"), ...axis.title};
  }
  options.plugins = options.plugins || {};
  options.plugins.legend = {labels: {color: css("--text"), boxWidth: 14}, position: "bottom", ...options.plugins.legend};
  const chart = new Chart(canvas, {...config, options});
  charts.push(chart);
  return chart;
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], {type: "application/json"}));
  const link = element("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const limiterName = name => String(name || "unknown").replaceAll("_", " ");
