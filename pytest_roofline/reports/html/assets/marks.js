// Marks that mean the same everywhere. Shape and word carry what colour carries.
const ICONS = { 0: "✕", 1: "▲", 2: "✓" };

function badge(c) {
  const plain = c.verdict === "new" || c.verdict === "information" || c.verdict === "none";
  const kind = plain ? "quiet" : ["fail", "warn", "good"][c.severity];
  return h(
    "span",
    { class: "badge " + kind },
    h("span", { "aria-hidden": "true" }, plain ? "·" : ICONS[c.severity]),
    verdictName(c.verdict),
  );
}

// A bar from nothing to the roof; a case of launches alone has none.
function shareBar(c) {
  if (c.regime === "overhead")
    return h("span", { class: "muted", title: "the bound is shorter than an empty launch" }, "launch-bound");
  if (!known(c.fraction)) return h("span", { class: "muted" }, DASH);
  const width = Math.min(100, 100 * c.fraction);
  return h(
    "span",
    { class: "share" },
    h(
      "span",
      { class: "track", "aria-hidden": "true" },
      h("span", { class: "fill " + family(c), style: `width:${width.toFixed(2)}%` }),
    ),
    h("span", { class: "number" }, asShare(c.fraction)),
  );
}

const family = (c) => (c.peer ? "peer" : c.backend === "cuda" ? "cuda" : c.backend === "triton" ? "triton" : "other");

// Circle: CUDA C++. Square: Triton. Hollow diamond: a library. Triangle: anything else.
function mark(c, x, y, size, attributes) {
  const kind = family(c);
  const common = { class: `mark ${kind}`, ...attributes };
  if (kind === "cuda") return s("circle", { cx: x, cy: y, r: size, ...common });
  if (kind === "triton")
    return s("rect", {
      x: x - 0.89 * size,
      y: y - 0.89 * size,
      width: 1.78 * size,
      height: 1.78 * size,
      rx: 1,
      ...common,
    });
  const r = 1.25 * size;
  const path =
    kind === "peer"
      ? `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`
      : `M${x} ${y - r}L${x + r} ${y + 0.8 * r}L${x - r} ${y + 0.8 * r}Z`;
  return s("path", { d: path, ...common });
}

function legend(list) {
  const order = ["cuda", "triton", "other", "peer"];
  const kinds = [...new Map(list.map((c) => [family(c), c])).values()].sort(
    (a, b) => order.indexOf(family(a)) - order.indexOf(family(b)),
  );
  return h(
    "div",
    { class: "legend" },
    kinds.map((c) =>
      h(
        "span",
        null,
        s("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, mark(c, 8, 8, 5)),
        { cuda: "CUDA C++", triton: "Triton", peer: "library routine", other: "other" }[family(c)],
      ),
    ),
  );
}

const caseLink = (c, words) => h("a", { href: c.href, title: c.id }, words || mono(c.id));
const shortName = (c) => c.id.slice(c.operation.length + 1);

function caseLines(c) {
  const lines = [c.id, `${asTime(c.seconds)}, ${asRate(c)}`];
  if (c.regime === "overhead") lines.push("shorter than an empty launch");
  else if (known(c.fraction)) lines.push(`${asShare(c.fraction)} of its bound (${limitName(c.bound[1])})`);
  lines.push(`verdict: ${verdictName(c.verdict)}`);
  return lines;
}
