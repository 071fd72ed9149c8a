"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const KINDS = { trait: "#b5479b", state: "#2f7ed8", episode: "#d08a1d", context: "#8a8d98", fact: "#4c9a6b", person: "#c2503a" };
  const LINKS = [
    { name: "from", color: "#9a9ca8", words: ["made from", "led to"] },
    { name: "supports", color: "#2e9d5b", words: ["supported by", "supports"] },
    { name: "contradicts", color: "#d33c3c", dash: [6, 4], words: ["contradicted by", "contradicts"] },
    { name: "changed to", color: "#7a4fd0", arrow: true, words: ["took the place of", "changed to"] },
    { name: "about", color: "#c9a79f", words: ["spoken of in", "about"] },
  ];
  const BANDS = { trait: 0, state: 0.28, episode: 0.55, context: 0.75, fact: 0.9, person: 1 };
  const LISTED = 200, LABELS = 120, REACH = 46, STEPS = 260, NEAR = 80;
  const things = data.things, links = data.links, n = things.length;
  const groupOf = (thing) => (thing.kind in KINDS ? thing.kind : "person");
  const groups = things.map(groupOf);
  const near = things.map(() => []);
  links.forEach((link, at) => { near[link[0]].push(at); near[link[1]].push(at); });
  const haystack = things.map((one) => [one.id, one.text, one.reply, one.author, one.time && one.time.slice(0, 10)].filter(Boolean).join("\n").toLowerCase());
  const shown = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, true]));
  const drawn = LINKS.map(() => true);
  const $ = (id) => document.getElementById(id);
  const canvas = $("picture"), pen = canvas.getContext("2d");
  let beside = new Set();  /* what is selected and its neighbours, lit also where a search dims the rest */
  let selected = -1, hovered = -1, matches = null, view = { x: 0, y: 0, scale: 1 }, asked = false, moved = false, ground, ink, mark;

  /* Layout: time runs from left to right, kinds lie in bands, links pull, neighbours push. No chance is involved. */
  const x = new Float64Array(n), y = new Float64Array(n), homeX = new Float64Array(n), homeY = new Float64Array(n);
  const width = 44 * Math.sqrt(n) + 200, height = width * 0.9;
  const order = things.map((_, at) => at).sort((a, b) => (things[a].at ?? Infinity) - (things[b].at ?? Infinity) || a - b);
  order.forEach((at, rank) => {
    homeX[at] = x[at] = (n > 1 ? rank / (n - 1) : 0.5) * width;
    const wobble = ((at * 0.618034) % 1) - 0.5;
    homeY[at] = y[at] = (BANDS[groups[at]] + wobble * 0.16) * height;
  });
  let step = 0;

  function settle() {
    const heat = 1 - step / STEPS, cells = new Map();
    for (let i = 0; i < n; i++) {
      const key = Math.floor(x[i] / REACH) * 65536 + Math.floor(y[i] / REACH);
      const cell = cells.get(key);
      if (cell) cell.push(i); else cells.set(key, [i]);
    }
    const dx = new Float64Array(n), dy = new Float64Array(n);
    for (const [key, cell] of cells) {
      for (const beside of [0, 1, 65535, 65536, 65537]) {
        const others = cells.get(key + beside);
        if (others) push(cell, others, beside === 0, dx, dy);
      }
    }
    for (const link of links) {
      const [a, b] = link, pull = 0.05 / Math.sqrt(Math.min(near[a].length, near[b].length));
      const gapX = x[b] - x[a], gapY = y[b] - y[a], gap = Math.hypot(gapX, gapY) || 1, by = pull * (gap - REACH) / gap;
      dx[a] += gapX * by; dy[a] += gapY * by; dx[b] -= gapX * by; dy[b] -= gapY * by;
    }
    for (let i = 0; i < n; i++) {
      const toX = dx[i] + 0.03 * (homeX[i] - x[i]), toY = dy[i] + 0.03 * (homeY[i] - y[i]);
      const far = Math.hypot(toX, toY), most = 4 + 26 * heat, by = (far > most ? most / far : 1) * heat;
      x[i] += toX * by; y[i] += toY * by;
    }
    step++;
  }

  function push(cell, others, same, dx, dy) {
    const most = Math.min(others.length, NEAR);
    for (let s = 0; s < cell.length; s++) {
      const i = cell[s];
      for (let t = same ? s + 1 : 0; t < most; t++) {
        const j = others[t];
        const gapX = x[i] - x[j] || (i - j) * 0.01, gapY = y[i] - y[j] || (j - i) * 0.01, gap = Math.hypot(gapX, gapY);
        if (gap < REACH) {
          const by = 0.35 * (REACH - gap) / gap;
          dx[i] += gapX * by; dy[i] += gapY * by; dx[j] -= gapX * by; dy[j] -= gapY * by;
        }
      }
    }
  }

  let spent = 0;  /* milliseconds of the last drawing: the layout gets at least as much, or a slow machine would only draw */

  function run() {
    const until = performance.now() + Math.max(24, spent);
    while (step < STEPS && performance.now() < until) settle();
    if (!moved) fit();
    const drawing = performance.now();
    draw();
    spent = performance.now() - drawing;
    if (step < STEPS) requestAnimationFrame(run);
    else document.body.dataset.settled = "yes";
  }

  /* Drawing */
  const isShown = (at) => shown[groups[at]];
  const isLit = (at) => matches === null || matches.has(at) || beside.has(at);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const screen = (at) => [(x[at] - view.x) * view.scale, (y[at] - view.y) * view.scale];
  const sizeOf = (at) => Math.min(3.5 + Math.sqrt(near[at].length), 11) * (groups[at] === "context" ? 0.75 : 1);

  function later() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  function draw() {
    ground = css("--ground"); ink = css("--ink"); mark = css("--mark");
    const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, w, h);
    LINKS.forEach((kind, number) => { if (drawn[number]) strokes(kind, number); });
    for (const kind of Object.keys(KINDS)) if (shown[kind]) dots(kind);
    ring(hovered); ring(selected);
    labels(w, h);
  }

  function strokes(kind, number) {
    for (const close of [false, true]) {
      pen.beginPath();
      for (const link of links) {
        const touches = link[0] === selected || link[1] === selected;
        if (link[2] !== number || touches !== close || !isShown(link[0]) || !isShown(link[1])) continue;
        const [ax, ay] = screen(link[0]), [bx, by] = screen(link[1]);
        pen.moveTo(ax, ay); pen.lineTo(bx, by);
        if (kind.arrow) head(ax, ay, bx, by, link[1]);
      }
      pen.setLineDash(kind.dash || []);
      pen.strokeStyle = kind.color;
      pen.lineWidth = close ? 2.5 : number === 0 || number === 4 ? 0.6 : 1.4;
      pen.globalAlpha = close ? 1 : (selected >= 0 || matches !== null ? 0.18 : 0.55);
      pen.stroke();
    }
    pen.setLineDash([]); pen.globalAlpha = 1;
  }

  function head(ax, ay, bx, by, at) {
    const angle = Math.atan2(by - ay, bx - ax), far = sizeOf(at) + 2, tipX = bx - Math.cos(angle) * far, tipY = by - Math.sin(angle) * far;
    for (const side of [-0.45, 0.45]) { pen.moveTo(tipX, tipY); pen.lineTo(tipX - 8 * Math.cos(angle + side), tipY - 8 * Math.sin(angle + side)); }
  }

  function dots(kind) {
    for (const lit of [false, true]) {
      for (const past of [false, true]) {
        pen.beginPath();
        for (let at = 0; at < n; at++) {
          if (groups[at] !== kind || isLit(at) !== lit || (things[at].status === "changed") !== past) continue;
          const [px, py] = screen(at), size = sizeOf(at) * Math.min(1.6, Math.max(0.55, view.scale));
          pen.moveTo(px + size, py); pen.arc(px, py, size, 0, 7);
        }
        pen.globalAlpha = lit ? 1 : 0.15;
        if (past) { pen.lineWidth = 1.6; pen.strokeStyle = KINDS[kind]; pen.fillStyle = ground; pen.fill(); pen.stroke(); }
        else { pen.fillStyle = KINDS[kind]; pen.fill(); }
      }
    }
    pen.globalAlpha = 1;
  }

  function ring(at) {
    if (at < 0) return;
    const [px, py] = screen(at);
    pen.beginPath(); pen.arc(px, py, sizeOf(at) * 1.6 + 5, 0, 7);
    pen.strokeStyle = mark; pen.lineWidth = 2; pen.stroke();
  }

  function labels(w, h) {
    const wanted = new Set([selected, hovered].filter((at) => at >= 0));
    if (selected >= 0) near[selected].slice(0, 40).forEach((at) => { wanted.add(links[at][0]); wanted.add(links[at][1]); });
    const inside = (at) => { const [px, py] = screen(at); return px > -20 && py > -20 && px < w && py < h; };
    if (view.scale > 0.9 || matches !== null) {
      const candidates = order.filter((at) => isShown(at) && isLit(at) && inside(at) && (matches !== null || groups[at] !== "context" || view.scale > 2));
      candidates.sort((a, b) => near[b].length - near[a].length).slice(0, LABELS).forEach((at) => wanted.add(at));
    }
    const taken = [];
    pen.font = "12px system-ui, sans-serif"; pen.lineWidth = 3; pen.lineJoin = "round";
    pen.strokeStyle = ground; pen.fillStyle = ink;
    for (const at of wanted) {
      if (!isShown(at) || !inside(at)) continue;
      const [px, py] = screen(at), words = short(things[at].text, 42), wide = 7 * words.length, left = px + sizeOf(at) + 5;
      if (at !== selected && at !== hovered && taken.some(([l, t, r]) => left < r && left + wide > l && Math.abs(py - t) < 14)) continue;
      taken.push([left, py, left + wide]);
      pen.strokeText(words, left, py + 4); pen.fillText(words, left, py + 4);
    }
  }

  const short = (text, most) => { const flat = text.replace(/\s+/g, " "); return flat.length > most ? [...flat].slice(0, most).join("") + "…" : flat; };

  /* Moving about */
  function fit() {
    const w = canvas.clientWidth, h = canvas.clientHeight;
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (let at = 0; at < n; at++) { left = Math.min(left, x[at]); right = Math.max(right, x[at]); top = Math.min(top, y[at]); bottom = Math.max(bottom, y[at]); }
    if (!n) [left, right, top, bottom] = [0, 1, 0, 1];
    const scale = Math.min((w - 60) / (right - left + 1), (h - 60) / (bottom - top + 1), 2.5);
    view = { scale, x: (left + right) / 2 - w / 2 / scale, y: (top + bottom) / 2 - h / 2 / scale };
  }

  function zoom(by, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
    const scale = Math.min(12, Math.max(0.02, view.scale * by));
    view = { scale, x: view.x + px / view.scale - px / scale, y: view.y + py / view.scale - py / scale };
    moved = true; later();
  }

  function pan(px, py) { view.x -= px / view.scale; view.y -= py / view.scale; moved = true; later(); }

  function under(px, py) {
    let best = -1, least = 14;
    for (let at = 0; at < n; at++) {
      if (!isShown(at)) continue;
      const [ax, ay] = screen(at), far = Math.hypot(ax - px, ay - py);
      if (far < least) { least = far; best = at; }
    }
    return best;
  }

  const held = new Map();
  let travelled = 0;
  const local = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); held.set(event.pointerId, local(event)); travelled = 0; });
  canvas.addEventListener("pointermove", (event) => {
    const now = local(event), before = held.get(event.pointerId);
    if (!before) {
      const at = under(...now);
      if (at !== hovered) { hovered = at; canvas.title = at < 0 ? "" : short(things[at].text, 160); later(); }
      return;
    }
    const other = [...held].find(([id]) => id !== event.pointerId);
    if (other) {
      const gap = (point) => Math.hypot(point[0] - other[1][0], point[1] - other[1][1]) || 1;
      zoom(gap(now) / gap(before), (now[0] + other[1][0]) / 2, (now[1] + other[1][1]) / 2);
    } else pan(now[0] - before[0], now[1] - before[1]);
    travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    canvas.classList.toggle("dragging", travelled > 4);
    held.set(event.pointerId, now);
  });
  const release = (event) => {
    if (held.delete(event.pointerId) && event.type === "pointerup" && travelled < 5) select(under(...local(event)), false);
    canvas.classList.remove("dragging");
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...local(event)); }, { passive: false });
  $("closer").addEventListener("click", () => zoom(1.4));
  $("farther").addEventListener("click", () => zoom(1 / 1.4));
  $("fit").addEventListener("click", () => { moved = false; fit(); later(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { $("search").value = ""; search(); select(-1, false); return; }
    if (document.activeElement === $("search") || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = { "+": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: () => { moved = false; fit(); later(); }, "/": () => $("search").focus(),
      ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60) }[event.key];
    if (does && (!event.key.startsWith("Arrow") || document.activeElement === canvas)) { event.preventDefault(); does(); }
  });

  /* The panel: everything is put in place as text */
  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const day = (one) => (one.time ? one.time.slice(0, 10) : "undated");

  function button(at, remark) {
    const one = things[at], made = element("button", "thing");
    made.append(element("span", "id", one.id), element("span", "dim", " " + day(one) + (remark ? " " + remark : "") + " "), element("bdi", "", short(one.text, 180)));
    made.addEventListener("click", () => select(at, true));
    return made;
  }

  function select(at, center) {
    selected = at;
    beside = new Set(at < 0 ? [] : [at, ...near[at].flatMap((place) => links[place].slice(0, 2))]);
    const panel = $("detail");
    panel.replaceChildren();
    if (at >= 0) describe(panel, things[at], at);
    if (at >= 0 && center) { const w = canvas.clientWidth, h = canvas.clientHeight; view.scale = Math.max(view.scale, 1.2); view.x = x[at] - w / 2 / view.scale; view.y = y[at] - h / 2 / view.scale; moved = true; }
    later();
  }

  function describe(panel, one, at) {
    panel.append(element("h2", "", one.id + " · " + one.kind));
    const marks = [day(one), one.status, one.pinned && "pinned", one.stated && "your words", one.author && "said by " + one.author, one.session && "session " + one.session];
    panel.append(element("p", "dim", marks.filter(Boolean).join(" · ")), element("p", "", one.text));
    if (one.reply) panel.append(element("h3", "", "the answer"), element("p", "", one.reply));
    LINKS.forEach((kind, number) => {
      for (const out of [false, true]) {
        const found = near[at].map((place) => links[place]).filter((link) => link[2] === number && link[out ? 0 : 1] === at);
        if (!found.length) continue;
        panel.append(element("h3", "", kind.words[out ? 1 : 0]));
        for (const link of found.slice(0, LISTED)) panel.append(button(link[out ? 1 : 0], link[3] === undefined ? "" : Math.round(link[3] * 100) + " % by " + link[4]));
      }
    });
  }

  function search() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean), list = $("found");
    list.replaceChildren();
    matches = null;
    if (words.length) {
      const hits = order.filter((at) => isShown(at) && words.every((word) => haystack[at].includes(word))).reverse();
      hits.sort((a, b) => (things[b].id === words[0]) - (things[a].id === words[0]));
      matches = new Set(hits);
      for (const at of hits.slice(0, LISTED)) { const item = element("li"); item.append(button(at)); list.append(item); }
      $("count").textContent = hits.length + " found" + (hits.length > LISTED ? ", the latest " + LISTED + " listed" : "");
    } else $("count").textContent = n + " things, " + links.length + " links; left is earlier, right is later; a hollow dot no longer holds";
    later();
  }

  function choice(field, name, mark, change) {
    const label = element("label"), box = element("input");
    box.type = "checkbox"; box.checked = true;
    box.addEventListener("change", () => { change(box.checked); search(); });
    label.append(box, mark, name);
    $(field).append(label);
  }

  for (const kind of Object.keys(KINDS)) {
    if (!groups.includes(kind)) continue;
    const mark = element("span", "swatch");
    mark.style.background = KINDS[kind];
    choice("kinds", { context: "lines", person: "people, places" }[kind] || kind + "s", mark, (on) => { shown[kind] = on; });
  }
  LINKS.forEach((kind, number) => {
    const mark = element("span", kind.dash ? "stroke dashed" : "stroke");
    mark.style.borderTopColor = kind.color;
    choice("relations", kind.name, mark, (on) => { drawn[number] = on; });
  });
  $("search").addEventListener("input", search);
  addEventListener("resize", () => { if (!moved) fit(); later(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  search();
  fit();
  run();
})();
