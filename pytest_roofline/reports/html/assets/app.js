// Which view is shown: the part of the address after the hash, so that every view can be linked and gone back to.
const VIEWS = [
  ["", "Overview", (main) => overview(main)],
  ["roofline", "Roofline", (main) => rooflineView(main)],
  ["kernels", "Kernels", (main, rest) => kernelsView(main, rest)],
  ["history", "History", (main, rest) => historyView(main, rest)],
  ["devices", "A100", (main) => devicesView(main)],
  ["environment", "Environment", (main) => environmentView(main)],
  ["case", null, (main, rest) => kernelView(main, rest)],
];
const main = document.getElementById("main"),
  nav = document.getElementById("nav");
const places = new Map(); // how far each view was scrolled

function decoded(words) {
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
}

function go(event) {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const view = VIEWS.find((v) => v[0] === name);
  if (!view) {
    // the link that skips to the content, or a step of the page that is open
    if (!main.childElementCount) VIEWS[0][2](main);
    return;
  }
  hideTip();
  const here = name === "case" ? "kernels" : name;
  for (const link of nav.children) link.toggleAttribute("aria-current", false);
  const current = [...nav.children].find((link) => link.dataset.view === here);
  if (current) current.setAttribute("aria-current", "page");
  view[2](main, decoded(rest.join("/")));
  const title = main.querySelector("h1");
  document.title = `${title ? title.textContent : "Report"} · ${raw.title} · pytest-roofline`;
  if (event) {
    // not when the page opens: a reader starts at its top
    scrollTo(0, places.get(location.hash) || 0);
    main.focus({ preventScroll: true });
  }
}

function themes() {
  const button = document.getElementById("theme"),
    order = ["auto", "light", "dark"];
  let now = "auto";
  try {
    now = localStorage.getItem("roofline-theme") || "auto";
  } catch {
    /* a file without storage */
  }
  const show = () => {
    if (now === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    button.textContent = `Theme: ${now}`;
  };
  button.addEventListener("click", () => {
    now = order[(order.indexOf(now) + 1) % order.length];
    try {
      localStorage.setItem("roofline-theme", now);
    } catch {
      /* then only for this page */
    }
    show();
  });
  show();
}

replace(
  nav,
  VIEWS.filter((v) => v[1]).map(([name, title]) => h("a", { href: "#/" + name, "data-view": name }, title)),
);
replace(
  document.getElementById("footer"),
  h(
    "p",
    null,
    `pytest-roofline ${raw.run.version}, run `,
    mono(raw.run.id),
    ". One file, nothing is loaded from a network.",
  ),
);
addEventListener("hashchange", go);
addEventListener("scroll", () => places.set(location.hash, scrollY), { passive: true });
themes();
go();
