// Curves in the place of pictures: the same numbers, with a cursor that reads them and a zoom.
const plots = { all: [], data: JSON.parse(document.getElementById("plots").textContent) };

plots.number = (value) => (value == null ? "" : String(Number(value.toPrecision(4))));

plots.draw = (host, data) => {
  const colour = page.colour;
  const width = () => Math.max(300, host.clientWidth - 4);
  const series = [{ label: data.x, value: (_, at) => (at == null ? "" : data.labels ? data.labels[at] : String(at)) }];
  for (const it of data.series) {
    const points = { show: !it.dash && data.xs.length <= 200, size: 7, fill: () => colour("card") };
    series.push({
      label: it.name + (data.unit ? " (" + data.unit + ")" : ""),
      stroke: () => colour(it.colour), width: 2, dash: it.dash ? [6, 4] : undefined, points,
      value: (_, value, __, at) => (it.least && it.least[at] ? "at least " : "") + plots.number(value), spanGaps: true,
    });
  }
  // What part of the machine others had: bars on a scale of their own.
  const parts = data.parts && data.parts.length === data.xs.length ? data.parts : null;
  if (parts) {
    series.push({ label: "others (% of the machine)", scale: "%", stroke: () => colour("k-io") + "88", fill: () => colour("k-io") + "44", points: { show: false },
      paths: uPlot.paths.bars({ size: [0.5, 12] }), value: (_, value) => plots.number(value) });
  }
  const axis = { stroke: () => colour("soft"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { stroke: () => colour("rule"), width: 1 } };
  // Not rounded to powers of ten, so that a part of one can be looked at.
  const log = (side, air) => (side ? { distr: 3, log: 10, range: (_, low, high) => [low / air, high * air] } : {});
  const labels = data.labels ? { values: (_, all) => all.map((at) => (Number.isInteger(at) ? data.labels[at] || "" : "")) } : {};
  const whole = data.xlog ? {} : { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] };
  const plain = { values: (_, all) => all.map((value) => (value == null ? "" : plots.number(value))) };
  const plot = new uPlot({
    width: width(), height: 320, series, legend: { live: true },
    cursor: { drag: { x: true, y: false } },
    scales: { x: { time: false, ...log(data.xlog, 1) }, y: log(data.log, 1.1), "%": { range: [0, 400] } },
    axes: [{ ...axis, ...plain, ...labels, ...whole, label: data.x, labelSize: 20, stroke: () => colour("soft") },
           { ...axis, ...plain, size: 70, label: data.unit || undefined, labelSize: data.unit ? 20 : 0 }],
  }, [data.xs, ...data.series.map((it) => it.values), ...(parts ? [parts] : [])], host);
  new ResizeObserver(() => plot.setSize({ width: width(), height: 320 })).observe(host);
  page.redraws.push(() => plot.redraw(false));
  return plot;
};

for (const host of document.querySelectorAll("div[data-plot]")) {
  const data = plots.data[host.dataset.plot];
  if (!data || data.kind === "flame") continue;
  const picture = host.firstElementChild;
  try {
    const place = page.element("div", { class: "curve-of" });
    host.append(place);
    // One that is folded away is drawn when it is opened: it has no width before.
    const begin = () => {
      if (place.firstChild || host.clientWidth === 0) return;
      picture.classList.add("as-picture");
      const plot = plots.draw(place, data);
      plots.all.push({ plot, data });
      const reset = page.element("button", { type: "button" }, "whole range");
      reset.addEventListener("click", () => plot.setData(plot.data, true));
      host.append(page.element("div", { class: "toolbar" }, "drag to zoom", reset));
    };
    begin();
    if (!place.firstChild) host.closest("details").addEventListener("toggle", begin);
  } catch (error) {
    // The picture stays.
    picture.classList.remove("as-picture");
    console.error(error);
  }
}
