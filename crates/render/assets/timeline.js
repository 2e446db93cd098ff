// Who ran when: lanes of tasks or of CPUs on a canvas. What is drawn is bounded by the pixels, whatever the number of events.
class Timeline {
  static LANE = 22;
  static GUTTER = 150;
  static TOP = 24;
  static HEIGHT = 440;
  // More wake-ups than this are no picture.
  static ARROWS = 300;
  static all = [];
  // All timelines of a page show the same stretch of time, so that two of them can be held against each other.
  static view = { from: 0, to: 1, most: 1 };

  constructor(host, bytes) {
    this.host = host;
    this.stats = { bars: 0, arrows: 0, lanes: 0, path: 0, ms: 0, worst: 0, frames: 0 };
    this.decode(bytes);
    this.mode = "task";
    this.found = "";
    this.pathShown = true;
    this.lanes = this.byTask();
    this.build();
  }

  decode(bytes) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    let at = 4 + length;
    const number = () => {
      let value = 0;
      for (let factor = 1; ; factor *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * factor;
        if (byte < 128) return value;
      }
    };
    const states = head.tracks.reduce((sum, track) => sum + track[4], 0);
    this.span = Math.max(1, head.span);
    this.reasons = head.reasons;
    this.labels = head.labels;
    this.events = head.events;
    this.starts = new Float64Array(states);
    this.codes = new Uint32Array(states);
    let place = 0;
    this.tracks = head.tracks.map(([name, process, task, tree, count]) => {
      const track = { name, process, task, tree: tree === 1, first: place, end: place + count };
      for (let time = 0; place < track.end; place++) {
        time += number();
        this.starts[place] = time;
        this.codes[place] = number();
      }
      return track;
    });
    const triples = (count) => {
      const all = { at: new Float64Array(count), one: new Uint32Array(count), other: new Uint32Array(count) };
      for (let i = 0, time = 0; i < count; i++) {
        time += number();
        all.at[i] = time;
        all.one[i] = number();
        all.other[i] = number();
      }
      return all;
    };
    this.arrows = triples(head.arrows);
    this.marks = triples(head.marks);
    // The critical path: when it comes to which track, and 0 where it ends.
    this.path = triples(head.path);
  }

  // The last place at or before a time, or one before the first.
  static before(list, time, first, end) {
    let low = first, high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (list[middle] <= time) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  byTask() {
    const shown = this.tracks.map((track, index) => ({ track, index })).filter(({ track }) => track.tree && track.end > track.first);
    const born = new Map();
    for (const { track } of shown) {
      const known = born.get(track.process);
      const first = this.starts[track.first];
      if (known === undefined || first < known) born.set(track.process, first);
    }
    shown.sort((a, b) => born.get(a.track.process) - born.get(b.track.process) || a.track.process - b.track.process
      || this.starts[a.track.first] - this.starts[b.track.first]);
    const lanes = shown.map(({ track, index }) => ({
      name: track.name + " " + track.task, starts: this.starts, codes: this.codes, first: track.first, end: track.end, index,
    }));
    this.laneOf = new Map(lanes.map((lane, at) => [lane.index, at]));
    return lanes;
  }

  // Lanes of CPUs hold whom they ran: code 0 nobody, else the track and 1.
  byCpu() {
    if (this.cpus) return this.cpus;
    const runs = [];
    this.tracks.forEach((track, index) => {
      for (let place = track.first; place < track.end; place++) {
        const code = this.codes[place];
        if (code < 2 || code % 2 === 1) continue;
        const cpu = code / 2 - 1;
        (runs[cpu] = runs[cpu] || []).push({ from: this.starts[place], to: place + 1 < track.end ? this.starts[place + 1] : this.span, index });
      }
    });
    this.cpus = runs.map((all, cpu) => {
      all.sort((a, b) => a.from - b.from);
      const starts = [], codes = [];
      all.forEach((run, at) => {
        starts.push(run.from);
        codes.push(run.index + 1);
        const next = all[at + 1];
        if (!next || next.from > run.to) {
          starts.push(run.to);
          codes.push(0);
        }
      });
      return { name: "CPU " + cpu, cpu, starts: Float64Array.from(starts), codes: Uint32Array.from(codes), first: 0, end: starts.length };
    }).filter(Boolean);
    return this.cpus;
  }

  build() {
    const { element } = page;
    const button = (text, act) => {
      const it = element("button", { type: "button" }, text);
      it.addEventListener("click", act);
      return it;
    };
    this.tasks = button("by task", () => this.choose("task"));
    this.cpuButton = button("by CPU", () => this.choose("cpu"));
    this.pathButton = button("critical path", () => {
      this.pathShown = !this.pathShown;
      this.resize();
    });
    this.pathButton.hidden = this.path.at.length === 0;
    this.search = element("input", { type: "search", placeholder: "find a command", "aria-label": "find a command in the timeline" });
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.told = element("div", { class: "told", role: "status" });
    this.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": this.host.dataset.title + ". Arrow keys move, plus and minus zoom, 0 shows all." });
    this.inner = element("div", {}, this.canvas);
    this.scroller = element("div", { class: "scroller" }, this.inner);
    this.scroller.style.overflowY = "auto";
    this.canvas.style.position = "sticky";
    this.canvas.style.top = "0";
    const bar = element("div", { class: "toolbar" }, this.tasks, this.cpuButton, this.pathButton,
      button("zoom in", () => this.zoom(0.5)), button("zoom out", () => this.zoom(2)), button("all", () => this.show(0, Timeline.view.most)),
      this.search, element("span", {}, "drag to move; Ctrl and wheel, or + and -, to zoom"));
    this.box = element("div", { class: "canvas" }, bar, this.scroller, this.told);
    for (const picture of this.host.children) picture.classList.add("as-picture");
    this.host.append(this.box);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.box);
    page.redraws.push(() => this.later());
  }

  choose(mode) {
    this.mode = mode;
    this.lanes = mode === "task" ? this.byTask() : this.byCpu();
    this.scroller.scrollTop = 0;
    this.resize();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    const tall = Timeline.TOP + this.lanes.length * Timeline.LANE + 6;
    const height = Math.min(Timeline.HEIGHT, tall);
    const width = Math.max(280, this.box.clientWidth - 26);
    this.scroller.style.height = height + "px";
    this.inner.style.height = tall + "px";
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.size = { width, height, ratio };
    this.tasks.setAttribute("aria-pressed", String(this.mode === "task"));
    this.cpuButton.setAttribute("aria-pressed", String(this.mode === "cpu"));
    this.pathButton.setAttribute("aria-pressed", String(this.pathShown));
    this.pathButton.disabled = this.mode === "cpu";
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  show(from, to) {
    const view = Timeline.view;
    const wide = Math.min(view.most, Math.max(200, to - from));
    view.from = Math.min(Math.max(0, from), view.most - wide);
    view.to = view.from + wide;
    Timeline.all.forEach((timeline) => timeline.later());
  }

  zoom(factor, part = 0.5) {
    const { from, to } = Timeline.view;
    const at = from + (to - from) * part;
    this.show(at - (at - from) * factor, at + (to - at) * factor);
  }

  move(part) {
    const { from, to } = Timeline.view;
    this.show(from + (to - from) * part, to + (to - from) * part);
  }

  listen() {
    const canvas = this.canvas;
    const part = (event) => {
      const box = canvas.getBoundingClientRect();
      return (event.clientX - box.left - Timeline.GUTTER) / Math.max(1, box.width - Timeline.GUTTER);
    };
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, part(event))));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move((event.deltaX || event.deltaY) / 800);
      else return;
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.drag = { x: event.clientX, ...Timeline.view };
    });
    canvas.addEventListener("pointerup", () => { this.drag = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) return this.tell(event, part(event));
      const wide = this.drag.to - this.drag.from;
      const moved = (this.drag.x - event.clientX) / Math.max(1, this.size.width - Timeline.GUTTER) * wide;
      this.show(this.drag.from + moved, this.drag.to + moved);
    });
    canvas.addEventListener("keydown", (event) => {
      const keys = {
        ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5),
        "-": () => this.zoom(2), 0: () => this.show(0, Timeline.view.most),
        ArrowUp: () => { this.scroller.scrollTop -= Timeline.LANE * 3; }, ArrowDown: () => { this.scroller.scrollTop += Timeline.LANE * 3; },
      };
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
    this.scroller.addEventListener("scroll", () => this.later());
  }

  find(text) {
    this.found = text.trim().toLowerCase();
    const hits = this.lanes.map((lane, at) => at).filter((at) => this.hit(this.lanes[at]));
    if (this.found && hits.length) this.scroller.scrollTop = hits[0] * Timeline.LANE;
    this.told.textContent = this.found ? hits.length + " of " + this.lanes.length + " lanes" : "";
    this.later();
  }

  hit(lane) {
    return this.found !== "" && lane.name.toLowerCase().includes(this.found);
  }

  static time(ns) {
    const [unit, size] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["us", 1e3] : ["ns", 1];
    return Number((ns / size).toPrecision(4)) + " " + unit;
  }

  words(lane, code) {
    if (this.mode === "cpu") return code ? this.tracks[code - 1].name + " " + this.tracks[code - 1].task : "";
    if (code === 1) return "waiting for a CPU";
    if (code % 2 === 0) return code ? "on CPU " + (code / 2 - 1) : "";
    return this.reasons[(code - 3) / 2] || "";
  }

  tell(event, part) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - Timeline.TOP + this.scroller.scrollTop) / Timeline.LANE);
    const lane = this.lanes[row];
    if (!lane || part < 0 || event.clientY - box.top < Timeline.TOP) return;
    const { from, to } = Timeline.view;
    const time = from + (to - from) * part;
    const place = Timeline.before(lane.starts, time, lane.first, lane.end);
    if (place < lane.first || place + 1 >= lane.end) return;
    const what = this.words(lane, lane.codes[place]);
    const long = lane.starts[place + 1] - lane.starts[place];
    const mark = this.mark(lane, time, (to - from) / Math.max(1, this.size.width - Timeline.GUTTER) * 4);
    const step = this.mode === "task" ? this.step(time) : -1;
    const onPath = step >= 0 && this.path.one[step] === lane.index ? ", on the critical path" : "";
    if (mark) this.told.textContent = lane.name + " " + mark;
    else this.told.textContent = what ? lane.name + ": " + what + onPath + ", " + Timeline.time(long) + " from " + Timeline.time(lane.starts[place]) : "";
  }

  // What begins or ends here, give or take so much.
  mark(lane, time, near) {
    if (this.mode !== "task") return "";
    const { at, one, other } = this.marks;
    for (let place = Math.max(0, Timeline.before(at, time + near, 0, at.length)); place >= 0 && at[place] >= time - near; place--) {
      if (one[place] === lane.index) return this.labels[other[place]];
    }
    return "";
  }

  colours() {
    const { colour } = page;
    return {
      user: colour("k-user"), wait: colour("k-wait"), block: colour("k-block"), other: colour("k-io"), ink: colour("ink"), soft: colour("soft"),
      grid: colour("grid"), paper: colour("paper"), found: colour("unsure"), arrow: colour("bad"), mark: colour("k-start"),
      six: [0, 1, 2, 3, 4, 5].map((at) => colour("c" + at)),
    };
  }

  paint(code, colours) {
    if (this.mode === "cpu") {
      if (!code) return null;
      const track = this.tracks[code - 1];
      return track.tree ? colours.six[track.task % 6] : colours.block;
    }
    return code === 0 ? null : code === 1 ? colours.wait : code % 2 === 0 ? colours.user : colours.block;
  }

  draw() {
    if (!this.size || this.size.width <= 0) return;
    const began = performance.now();
    const { width, height, ratio } = this.size;
    const brush = this.canvas.getContext("2d");
    const colours = this.colours();
    const left = Timeline.GUTTER, wide = width - left;
    const { from, to } = Timeline.view;
    const scale = wide / (to - from);
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.font = "12px system-ui, sans-serif";
    this.axis(brush, colours, { left, from, to, scale, width, height });
    const above = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(above / Timeline.LANE));
    const end = Math.min(this.lanes.length, Math.ceil((above + height - Timeline.TOP) / Timeline.LANE));
    this.stats.bars = 0;
    this.stats.lanes = end - first;
    brush.save();
    brush.beginPath();
    brush.rect(0, Timeline.TOP, width, height - Timeline.TOP);
    brush.clip();
    for (let row = first; row < end; row++) {
      const y = Timeline.TOP + row * Timeline.LANE - above;
      this.lane(brush, colours, this.lanes[row], y, { left, from, to, scale, wide });
    }
    this.stats.path = this.drawPath(brush, colours, { left, from, to, scale, above, wide });
    this.stats.arrows = this.drawArrows(brush, colours, { left, from, to, scale, above, first, end });
    this.stats.marks = this.drawMarks(brush, colours, { left, from, to, scale, above, first, end });
    brush.restore();
    this.stats.ms = performance.now() - began;
    this.stats.worst = Math.max(this.stats.worst, this.stats.ms);
    this.stats.frames += 1;
  }

  axis(brush, colours, { left, from, to, scale, width, height }) {
    const raw = (to - from) / Math.max(2, Math.floor((width - left) / 110));
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= raw);
    brush.textAlign = "left";
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const x = left + (time - from) * scale;
      brush.fillStyle = colours.grid;
      brush.fillRect(x, Timeline.TOP - 6, 1, height);
      brush.fillStyle = colours.soft;
      brush.fillText(Timeline.time(time), Math.min(x + 3, width - 50), 13);
    }
  }

  lane(brush, colours, lane, y, { left, from, to, scale, wide }) {
    const found = this.hit(lane);
    brush.fillStyle = found ? colours.found : colours.ink;
    brush.textAlign = "right";
    brush.fillText(lane.name.length > 20 ? lane.name.slice(0, 8) + "…" + lane.name.slice(-11) : lane.name, left - 8, y + 15);
    brush.textAlign = "left";
    const { starts, codes } = lane;
    const low = Math.max(lane.first, Timeline.before(starts, from, lane.first, lane.end));
    const high = Math.max(low, Timeline.before(starts, to, lane.first, lane.end));
    const bar = (x, end, code) => {
      const colour = this.paint(code, colours);
      if (!colour) return;
      brush.fillStyle = colour;
      brush.fillRect(x, y + 3, Math.max(0.5, end - x), Timeline.LANE - 6);
      this.stats.bars += 1;
      if (end - x > 60) {
        brush.fillStyle = colours.paper;
        const room = Math.floor((end - x - 8) / 6.6);
        brush.fillText(this.words(lane, code).slice(0, room), Math.max(x, left) + 4, y + 15);
      }
    };
    const x = (time) => left + (Math.min(Math.max(time, from), to) - from) * scale;
    if (high - low <= wide) {
      for (let place = low; place <= high; place++) {
        const next = place + 1 < lane.end ? starts[place + 1] : starts[place];
        if (next > from) bar(x(starts[place]), x(next), codes[place]);
      }
      return;
    }
    // More states than pixels: each pixel has the state of its middle.
    let began = 0, code = -1;
    for (let pixel = 0; pixel <= wide; pixel++) {
      const place = Timeline.before(starts, from + (pixel + 0.5) / scale, low, high + 1);
      const now = pixel === Math.floor(wide) || place < low ? 0 : codes[place];
      if (now === code) continue;
      if (code > 0) bar(left + began, left + pixel, code);
      [began, code] = [pixel, now];
    }
  }

  // The step of the critical path at a time: its place, or -1.
  step(time) {
    const { at, other } = this.path;
    const place = Timeline.before(at, time, 0, at.length);
    return place >= 0 && other[place] === 1 ? place : -1;
  }

  // A line below what the end waited for at each moment, and one between the lanes where it goes from one to the other.
  drawPath(brush, colours, { left, from, to, scale, above, wide }) {
    const { at, one } = this.path;
    if (this.mode !== "task" || !this.pathShown || !at.length) return 0;
    const low = Math.max(0, Timeline.before(at, from, 0, at.length));
    const high = Timeline.before(at, to, 0, at.length);
    const y = (place) => Timeline.TOP + (this.laneOf.get(one[place]) + 1) * Timeline.LANE - above - 3;
    const x = (time) => left + (Math.min(Math.max(time, from), to) - from) * scale;
    let drawn = 0, before = -1;
    brush.fillStyle = colours.ink;
    const stretch = (place, begin, end) => {
      if (this.laneOf.get(one[place]) === undefined) return;
      brush.fillRect(begin, y(place), Math.max(0.5, end - begin), 3);
      if (before >= 0 && y(before) !== y(place)) brush.fillRect(begin - 0.5, Math.min(y(before), y(place)), 1, Math.abs(y(before) - y(place)));
      before = place;
      drawn += 1;
    };
    if (high - low <= wide) {
      for (let place = low; place <= high; place++) {
        const end = place + 1 < at.length ? at[place + 1] : at[place];
        if (this.path.other[place] && end > from) stretch(place, x(at[place]), x(end));
      }
      return drawn;
    }
    // More steps than pixels: each pixel has the step of its middle.
    for (let pixel = 0; pixel < wide; pixel++) {
      const place = this.step(from + (pixel + 0.5) / scale);
      if (place >= 0) stretch(place, left + pixel, left + pixel + 1);
    }
    return drawn;
  }

  // Where an arrow ends: in its task's lane, or on the CPU where the task ran at that time or next.
  row(track, time) {
    if (this.mode === "task") return [this.laneOf.get(track), time];
    const { first, end } = this.tracks[track];
    let place = Math.max(first, Timeline.before(this.starts, time, first, end));
    while (place < end && (this.codes[place] < 2 || this.codes[place] % 2 === 1)) place += 1;
    if (place >= end) return [undefined, time];
    const cpu = this.codes[place] / 2 - 1;
    return [this.lanes.findIndex((lane) => lane.cpu === cpu), Math.max(time, this.starts[place])];
  }

  drawArrows(brush, colours, { left, from, to, scale, above, first, end }) {
    const { at, one, other } = this.arrows;
    const low = Timeline.before(at, from, 0, at.length) + 1;
    const high = Timeline.before(at, to, 0, at.length) + 1;
    if (high - low > Timeline.ARROWS) return 0;
    let drawn = 0;
    brush.strokeStyle = brush.fillStyle = colours.arrow;
    brush.lineWidth = 1.2;
    for (let place = low; place < high; place++) {
      const [source, begin] = this.row(one[place], at[place]);
      const [target, arrive] = this.row(other[place], at[place]);
      // Who runs much later was woken, but this is no hand-off.
      if (source === undefined || target === undefined || source === target || arrive - begin > (to - from) / 8) continue;
      if (Math.max(source, target) < first || Math.min(source, target) >= end) continue;
      const y = (row) => Timeline.TOP + (row + 0.5) * Timeline.LANE - above;
      const x = left + (begin - from) * scale, to_x = left + (arrive - from) * scale;
      const down = target > source ? 1 : -1;
      brush.beginPath();
      brush.moveTo(x, y(source));
      brush.lineTo(to_x, y(target) - down * 4);
      brush.stroke();
      brush.beginPath();
      brush.moveTo(to_x, y(target));
      brush.lineTo(to_x - 4, y(target) - down * 7);
      brush.lineTo(to_x + 4, y(target) - down * 7);
      brush.fill();
      drawn += 1;
    }
    return drawn;
  }

  // Where programs begin and end.
  drawMarks(brush, colours, { left, from, to, scale, above, first, end }) {
    if (this.mode !== "task") return 0;
    const { at, one } = this.marks;
    const low = Timeline.before(at, from, 0, at.length) + 1;
    const high = Timeline.before(at, to, 0, at.length) + 1;
    if (high - low > Timeline.ARROWS) return 0;
    let drawn = 0;
    for (let place = low; place < high; place++) {
      const row = this.laneOf.get(one[place]);
      if (row === undefined || row < first || row >= end) continue;
      brush.fillStyle = colours.ink;
      brush.fillRect(left + (at[place] - from) * scale - 0.5, Timeline.TOP + row * Timeline.LANE - above + 1, 1.5, Timeline.LANE - 2);
      drawn += 1;
    }
    return drawn;
  }
}

page.timelines = Timeline.all;
page.ready = (async () => {
  if (typeof DecompressionStream === "undefined") return;
  for (const host of document.querySelectorAll("div.timeline")) {
    const bytes = await page.unpack(document.getElementById(host.dataset.block));
    Timeline.all.push(new Timeline(host, bytes));
  }
  const view = Timeline.view;
  view.most = view.to = Math.max(1, ...Timeline.all.map((timeline) => timeline.span));
  Timeline.all.forEach((timeline) => timeline.later());
})().catch((error) => console.error(error));
