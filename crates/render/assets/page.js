"use strict";
// What every part of a report uses: packed blocks, colours of the page, the buttons.
const page = {
  root: document.documentElement,
  dark: matchMedia("(prefers-color-scheme: dark)"),
  redraws: [],
  colour: (name) => getComputedStyle(page.root).getPropertyValue("--" + name).trim(),
  say: (text) => { document.getElementById("status").textContent = text; },
  element: (kind, attributes, ...inner) => {
    const element = document.createElement(kind);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...inner);
    return element;
  },
  // The bytes of a packed block.
  unpack: async (block) => {
    const text = block.textContent;
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  },
  isDark: () => (page.root.dataset.theme || (page.dark.matches ? "dark" : "light")) === "dark",
  redraw: () => page.redraws.forEach((redraw) => redraw()),
};

(() => {
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    page.root.dataset.theme = page.isDark() ? "light" : "dark";
    page.redraw();
  });
  page.dark.addEventListener("change", page.redraw);
  for (const button of document.querySelectorAll("button.download")) {
    const block = document.getElementById(button.dataset.block);
    button.disabled = typeof DecompressionStream === "undefined";
    button.addEventListener("click", async () => {
      const bytes = await page.unpack(block);
      const address = URL.createObjectURL(new Blob([bytes], { type: block.dataset.kind }));
      const link = page.element("a", { href: address, download: block.dataset.file });
      link.click();
      URL.revokeObjectURL(address);
      page.say("saved " + block.dataset.file);
    });
  }
})();
