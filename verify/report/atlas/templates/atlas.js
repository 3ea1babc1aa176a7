(() => {
  "use strict";
  // Boxes that scroll are reached by the keyboard; others are no stops.
  const boxes = () => document.querySelectorAll(".scroll, pre.command, .commands code").forEach((box) => {
    const scrolls = box.scrollWidth > box.clientWidth;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", box.dataset.label ?? "command"]])
      scrolls ? box.setAttribute(name, value) : box.removeAttribute(name);
  });
  boxes();
  addEventListener("resize", boxes);
  document.addEventListener("toggle", boxes, true);

  document.querySelectorAll("pre.command").forEach((box) => {
    const text = box.textContent, button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
      catch { getSelection().selectAllChildren(box.querySelector("code")); button.textContent = "Selected"; }
    });
    box.after(button);
  });

  const form = document.querySelector("form.filter");
  if (!form) return;
  const rows = [...document.querySelectorAll(".claims > li")].map((row) => [row, `${row.textContent} ${row.dataset.text}`.toLowerCase()]);
  const inputs = [...form.querySelectorAll("input[type=checkbox]")], q = form.elements.q;
  const output = form.querySelector("output");
  form.querySelector(".search").hidden = false;

  const show = () => {
    const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [row, text] of rows) row.hidden = !words.every((word) => text.includes(word));
    const count = rows.filter(([row]) => getComputedStyle(row).display !== "none").length;
    output.textContent = `${count} of ${rows.length} claims`;
  };
  // What is asked for is in the address, so that it can be kept and sent.
  const keep = () => {
    const asked = new URLSearchParams(inputs.filter((i) => i.checked).map((i) => [i.name, i.value]));
    if (q.value) asked.set("q", q.value);
    history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname);
    show();
  };
  const restore = () => {
    if (location.hash.includes("=")) {
      const asked = new URLSearchParams(location.hash.slice(1));
      for (const input of inputs) input.checked = asked.getAll(input.name).includes(input.value);
      q.value = asked.get("q") ?? "";
    }
    show();
  };
  form.addEventListener("input", keep);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", restore);
  restore();
})();
