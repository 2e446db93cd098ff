// Flame graphs to zoom into: of one side, of the other, and their difference.
class FlameGraph {
  static ROW = 24;

  constructor(host, data) {
    this.data = data;
    this.host = host;
    this.top = data.root;
    this.side = 0;
    this.found = "";
    this.stats = { bars: 0 };
    const link = (node, parent) => {
      node.parent = parent;
      node.c.forEach((below) => link(below, node));
    };
    link(data.root, null);
    this.deep = (node) => 1 + Math.max(0, ...node.c.map((below) => this.deep(below)));
    this.depth = this.deep(data.root);
    this.build();
  }

  build() {
    const { element } = page;
    const { names } = this.data;
    const button = (text, act) => {
      const it = element("button", { type: "button" }, text);
      it.addEventListener("click", act);
      return it;
    };
    this.buttons = names.map((name, side) => button(name, () => this.choose(side)));
    if (names.length === 2) this.buttons.push(button("difference", () => this.choose("both")));
    this.search = element("input", { type: "search", placeholder: "find a function", "aria-label": "find a function in the flame graph" });
    this.search.addEventListener("input", () => {
      this.found = this.search.value.trim().toLowerCase();
      this.draw();
    });
    this.told = element("div", { class: "told", role: "status" });
    this.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": "flame graph; arrow keys choose a block, Enter zooms, Escape shows all" });
    const bar = element("div", { class: "toolbar" }, ...(names.length > 1 ? this.buttons : []), button("all", () => this.zoom(this.data.root)), this.search,
      element("span", {}, "click to zoom"));
    this.box = element("div", { class: "canvas" }, bar, this.canvas, this.told);
    for (const picture of this.host.children) picture.classList.add("as-picture");
    this.host.append(this.box);
    this.canvas.addEventListener("mousemove", (event) => {
      const hit = this.at(event);
      if (hit) this.tell(hit.node);
    });
    this.canvas.addEventListener("click", (event) => {
      const hit = this.at(event);
      if (hit) this.zoom(hit.node === this.top && hit.node.parent ? hit.node.parent : hit.node);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
    page.redraws.push(() => this.draw());
  }

  value(node) {
    return this.side === "both" ? (node.v[0] || 0) + (node.v[1] || 0) : node.v[this.side] || 0;
  }

  choose(side) {
    this.side = side;
    this.zoom(this.data.root);
  }

  zoom(node) {
    this.top = this.chosen = node;
    this.draw();
    this.tell(node);
  }

  key(event) {
    const node = this.chosen || this.top;
    const beside = (by) => {
      const all = node.parent ? node.parent.c : [node];
      return all[(all.indexOf(node) + by + all.length) % all.length];
    };
    const to = { ArrowDown: () => node.c[0] || node, ArrowUp: () => node.parent || node, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1) };
    if (to[event.key]) this.chosen = to[event.key]();
    else if (event.key === "Enter") this.top = node;
    else if (event.key === "Escape") this.top = this.chosen = this.data.root;
    else return;
    event.preventDefault();
    this.tell(this.chosen || this.top);
    this.draw();
  }

  tell(node) {
    const { names, unit, root } = this.data;
    const part = (side) => names[side] + ": " + Number((node.v[side] || 0).toPrecision(3)) + " " + unit + ", "
      + (100 * (node.v[side] || 0) / Math.max(1e-9, root.v[side] || 0)).toFixed(1) + "%";
    this.told.textContent = node.n + " (" + names.map((_, side) => part(side)).join("; ") + ")";
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return this.drawn.find((it) => x >= it.x && x < it.x + it.wide && y >= it.y && y < it.y + FlameGraph.ROW);
  }

  paint(node, depth, colours) {
    if (this.found && node.n.toLowerCase().includes(this.found)) return colours.found;
    if (this.side !== "both") return colours.kinds[depth % colours.kinds.length];
    // Red: more in the first; blue: more in the second; grey: about the same.
    const lean = this.lean(node);
    return lean === 0 ? colours.grey : lean > 0 ? colours.more : colours.less;
  }

  // Which of both has more of it: 0 is about the same.
  lean(node) {
    const [a, b] = [0, 1].map((side) => (node.v[side] || 0));
    const lean = (a - b) / Math.max(1e-9, a + b);
    return node === this.data.root || Math.abs(lean) < 0.1 ? 0 : Math.sign(lean);
  }

  // What is written on a block: the colour is not all that tells the sides apart.
  label(node) {
    return (this.side === "both" ? { 1: "+", 0: "", "-1": "\u2212" }[this.lean(node)] : "") + node.n;
  }

  draw() {
    const ratio = devicePixelRatio || 1;
    const width = Math.max(280, this.box.clientWidth - 26);
    const height = this.depth * FlameGraph.ROW + 4;
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(this.side === at || (this.side === "both" && at === 2))));
    const { colour } = page;
    const colours = {
      kinds: ["k-block", "k-kernel", "k-start", "k-user"].map(colour), found: colour("unsure"), paper: colour("paper"), ink: colour("ink"),
      more: colour("k-none"), less: colour("k-user"), grey: colour("k-block"),
    };
    const brush = this.canvas.getContext("2d");
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.font = "12px system-ui, sans-serif";
    this.drawn = [];
    const all = this.value(this.top);
    const block = (node, x, wide, depth) => {
      if (wide < 0.7) return;
      const y = depth * FlameGraph.ROW + 2;
      this.drawn.push({ node, x, y, wide });
      brush.fillStyle = this.paint(node, depth, colours);
      brush.fillRect(x, y, Math.max(0.6, wide - 1), FlameGraph.ROW - 2);
      if (node === this.chosen) {
        brush.strokeStyle = colours.ink;
        brush.strokeRect(x + 1, y + 1, Math.max(1, wide - 3), FlameGraph.ROW - 4);
      }
      if (wide > 36) {
        brush.fillStyle = colours.paper;
        brush.fillText(this.label(node).slice(0, Math.floor((wide - 8) / 6.6)), x + 4, y + 15);
      }
      let from = x;
      for (const below of node.c) {
        const share = all > 0 ? this.value(below) / all * width : 0;
        block(below, from, share, depth + 1);
        from += share;
      }
    };
    block(this.top, 0, width, 0);
    this.stats.bars = this.drawn.length;
  }
}

page.flames = [];
for (const host of document.querySelectorAll("div.flame")) {
  const data = plots.data[host.dataset.plot];
  if (data) page.flames.push(new FlameGraph(host, data));
}
