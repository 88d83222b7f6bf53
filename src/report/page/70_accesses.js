// Part 6: one request of an access: lanes of a warp against sectors and banks.

function accessName(a) {
  return `line ${a.at.line || "?"}: ${a.space} ${a.kind} of ${a.buffer || "?"}, ${a.bytes} bytes, ${a.pattern}`;
}

function laneCells(lanes, text, color) {
  return element("div", {class: "lanes", role: "list", "aria-label": "Lanes"}, lanes.map((o, lane) => {
    const cell = element("div", {role: "listitem"}, element("span", {class: "id"}, `${lane} `), o === "off" ? o : text(o));
    if (o !== "off") cell.style.borderLeft = `6px solid ${color(o)}`;
    return cell;
  }));
}

function globalPicture(into, d, a, lanes) {
  const size = d.geometry.sector_bytes, least = Math.floor(Math.min(...lanes.filter(o => o !== "off")) / size);
  const used = new Map();
  for (const o of lanes) if (o !== "off")
    for (let byte = o; byte < o + a.bytes; ++byte) {
      const s = Math.floor(byte / size);
      if (!used.has(s)) used.set(s, new Set());
      used.get(s).add(byte);
    }
  const order = [...used.keys()].sort((x, y) => x - y), color = o => palette[order.indexOf(Math.floor(o / size)) % palette.length];
  const bytes = [...used.values()].reduce((sum, s) => sum + s.size, 0);
  into.append(element("p", {}, `${order.length} sectors of ${size} bytes for ${lanes.filter(o => o !== "off").length} lanes; ${percent(bytes / (order.length * size))} of what is fetched is used.`),
    laneCells(lanes, o => `sector ${Math.floor(o / size) - least}`, color),
    element("details", {}, element("summary", {}, "Sectors and the bytes of each that are used"), scrolled("Sectors", table("Sectors count from the lowest one.", [{n: "sector"}, {n: "bytes used"}, {n: "share"}],
      order.slice(0, 64).map(s => [{n: String(s - least)}, {n: String(used.get(s).size)}, {n: percent(used.get(s).size / size)}])))));
}

function sharedPicture(into, d, a, lanes) {
  const width = d.geometry.bank_bytes, banks = d.geometry.shared_banks;
  // Wider accesses go in parts: half a warp for 8 bytes, a quarter for 16.
  let part = Math.max(1, Math.floor(Math.min(d.geometry.warp_size, banks) / Math.max(1, a.bytes / width)));
  // Loads return two lanes at a time where all lanes n and n ^ 1, or all n and n ^ 2, read one address.
  const pairs = by => lanes.every((o, l) => o === "off" || lanes[l ^ by] === undefined || lanes[l ^ by] === "off" || lanes[l ^ by] === o);
  if (d.geometry.shared_pairs && a.kind === "load" && a.bytes > width && (pairs(1) || pairs(2))) part *= 2;
  let passes = 0, worst = new Map(), worstDegree = -1;
  for (let first = 0; first < lanes.length; first += part) {
    const words = new Map();
    for (const o of lanes.slice(first, first + part)) if (o !== "off")
      for (let w = Math.floor(o / width); w * width < o + a.bytes; ++w) {
        const bank = ((w % banks) + banks) % banks;
        if (!words.has(bank)) words.set(bank, new Set());
        words.get(bank).add(w);
      }
    const degree = Math.max(0, ...[...words.values()].map(s => s.size));
    passes += degree;
    if (degree > worstDegree) { worst = words; worstDegree = degree; }
  }
  const bank = o => ((Math.floor(o / width) % banks) + banks) % banks;
  const degree = b => (worst.get(b) ? worst.get(b).size : 0);
  into.append(element("p", {}, `${passes} wavefront${passes === 1 ? "" : "s"} for this request${worstDegree > 1 ? `: up to ${worstDegree} different words of one bank` : ": no bank conflict"}.`),
    laneCells(lanes, o => `bank ${bank(o)}`, o => (degree(bank(o)) > 1 ? palette[5] : palette[2])),
    element("h3", {}, "Banks"),
    element("div", {class: "lanes", role: "list", "aria-label": "Banks"}, Array.from({length: banks}, (_, b) => {
      const n = degree(b), cell = element("div", {role: "listitem", class: "heat"}, element("span", {class: "id"}, `${b} `), n === 0 ? "unused" : `${n} word${n === 1 ? "" : "s"}`);
      cell.style.setProperty("--share", n > 1 ? Math.min(0.6, 0.2 + n / 48).toFixed(2) : "0");
      return cell;
    })),
    element("p", {class: "note"}, "A bank that more than one word is asked of takes a wavefront for each."));
}

let shownAccess = 0;
function showAccess(d, i) {
  shownAccess = i;
  accesses(d);
}

function accesses(d) {
  const b = body("accesses");
  if (!d.explanation || !d.pictures || !d.pictures.length) return void b.append(element("p", {}, "No access to memory is known."));
  const list = d.explanation.accesses;
  if (shownAccess >= list.length) shownAccess = 0;
  const choice = element("select", {id: "access", onchange: e => { showAccess(d, Number(e.target.value)); document.getElementById("access").focus(); }},
    list.map((a, i) => element("option", {value: i, selected: i === shownAccess}, accessName(a))));
  const a = list[shownAccess], picture = d.pictures[shownAccess];
  b.append(element("p", {}, element("label", {}, "Access ", choice)), element("p", {class: "code"}, `${a.buffer || "?"} + ${a.offset || "? (decided by data)"}`));
  if (!picture.lanes) return void b.append(element("p", {}, `No picture: ${picture.reason}`));
  b.append(element("p", {class: "note"}, `Warp ${picture.warp} of block ${picture.block.join(", ")}, loop counters at 0${a.copies > 1 ? `, the first of ${digits(a.copies)} copies` : ""}; branches that data decide are taken, and buffers begin at a multiple of 256 bytes.`));
  (a.space === "shared" ? sharedPicture : globalPicture)(b, d, a, picture.lanes);
}
