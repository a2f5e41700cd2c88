// The page of one case of one kernel: what it is, where it lies, why, and the nine steps.
const IN_TABLE = 7; // rows of the diagnosis table; what follows stands beside it

function kernelView(main, id) {
  const c = byId.get(id);
  if (!c)
    return replace(
      main,
      h("h1", null, "No such case"),
      h("p", null, "This run has no case ", mono(id), ". ", h("a", { href: "#/" }, "Back to the overview")),
    );
  const mine = cases.filter((o) => o.kernel === c.kernel);
  replace(
    main,
    h(
      "nav",
      { class: "crumbs", "aria-label": "Where this is" },
      h("a", { href: "#/kernels" }, "Kernels"),
      " / ",
      h("a", { href: "#/kernels/" + encodeURIComponent(c.operation) }, c.operation),
      " / ",
      h("span", { "aria-current": "page" }, `${c.backend} / ${c.variant}`),
    ),
    h(
      "div",
      { class: "titlebar" },
      h(
        "h1",
        null,
        `${c.operation} `,
        h("span", { class: "muted" }, `${backendName(c.backend)} ${c.variant.replaceAll("_", " ")}`),
      ),
      mine.length > 1
        ? choice(
            "Case",
            mine.map((o) => [o.id, `${o.dtype}, ${o.shape}`]),
            c.id,
            (value) => {
              location.hash = "#/case/" + encodeURIComponent(value);
            },
          )
        : h("span", { class: "muted" }, `${c.dtype}, ${c.shape}`),
    ),
    glance(c),
    h(
      "div",
      { class: "columns natural" },
      h("section", { class: "card" }, h("h2", null, "Where it lies"), whereItLies(c)),
      diagnosisCard(c),
    ),
    h("h2", { class: "spaced" }, "Analysis in nine steps"),
    stepList(c),
    onOtherCards(c),
  );
  return null;
}

function glance(c) {
  const better = faster(c);
  return h(
    "section",
    { class: "card glance" },
    h(
      "div",
      { class: "gauge" },
      h("span", { class: "big" }, c.regime === "overhead" ? "launch" : asShare(c.fraction)),
      h("span", { class: "muted" }, c.regime === "overhead" ? "is all that is measured" : "of its roof"),
    ),
    h(
      "div",
      null,
      h("p", { class: "because" }, h("strong", null, "Why: "), c.why),
      h("p", { class: "verdictline" }, badge(c), " ", c.sentence || c.reason),
      c.detail.includes("\n") &&
        h("details", null, h("summary", null, "All that the check said"), h("pre", null, c.detail)),
      better &&
        h(
          "p",
          { class: "muted" },
          "Faster on the same problem: ",
          caseLink(better, mono(`${better.backend}/${better.variant}`)),
          ` in ${asTime(better.seconds)}, ${digits(c.seconds / better.seconds)}×.`,
        ),
      c.throttled && h("p", { class: "muted" }, `While it was timed the GPU reported: ${c.throttled}.`),
    ),
    pairs([
      ["Time", asTime(c.seconds), spread(c)],
      ["Rate", asRate(c)],
      ["Limited by", c.bound ? limitName(c.bound[1]) : DASH],
      ["Against the library", known(c.peer_ratio) ? digits(c.peer_ratio) + "×" : DASH],
      ["Host cost of a call", asTime(c.host)],
    ]),
  );
}

// The kernel's own time (CUPTI) leaves out what brackets of short launches contain, so it may lie below their spread.
function spread(c) {
  if (!c.quantiles.length) return null;
  const brackets = `5 to 95 % of brackets: ${asTime(c.quantiles[0])} to ${asTime(c.quantiles[4])}`;
  return c.source === "cupti" ? `the kernel's own, by CUPTI; ${brackets}` : brackets;
}

function whereItLies(c) {
  const list = byOperation.get(c.operation);
  if (c.seconds === null) return missing("Not timed in this run.");
  if (c.work > 0 && c.bytes() > 0)
    return [
      h("p", { class: "muted" }, `Operations per byte through ${LEVELS[c.level] || c.level}.`),
      rooflinePlot(list, { level: c.level, focus: c, width: 760, height: 460, right: 206 }),
      legend(list.filter((o) => o.seconds !== null && o.bytes(c.level) > 0)),
    ];
  const others = problemOf(c).filter((o) => o.seconds !== null && o.bytes(c.level) > 0);
  if (!others.length) return missing("It moves no bytes that a roof is known for.");
  const roofs = roofsOf(c.level, []).memory;
  return [
    h(
      "p",
      { class: "muted" },
      `No arithmetic, so no intensity: bytes per second through ${LEVELS[c.level] || c.level}.`,
    ),
    dotPlot(others, {
      value: (o) => o.bytes(c.level) / o.seconds,
      top: Math.max(...others.map((o) => o.bytes(c.level) / o.seconds), ...roofs.map((r) => r[2])),
      show: asBandwidth,
      width: 760,
      lane: (o) => `${o.backend} ${o.variant.replaceAll("_", " ")}`,
      link: (_, [o]) => o.href,
      chosen: c,
      lines: roofs.map((r) => [r[2], roofWords(r)]),
    }),
    legend(others),
  ];
}

function diagnosisCard(c) {
  const applies = new Map(
    c.findings.map(([rule, weight, note, figures]) => [rule, { weight, note: text(note), figures: figures.map(text) }]),
  );
  const words = { a: ["applies", "warn", "▲"], n: ["does not apply", "quiet", "–"], u: ["no figure", "quiet", "?"] };
  const line = (rule, i) => {
    const [word, kind, icon] = words[c.rows[i]],
      found = applies.get(i);
    return h(
      "li",
      { class: c.rows[i] === "a" ? "applies" : "" },
      h(
        "div",
        { class: "row" },
        h("span", null, rule.observation),
        h("span", { class: "badge " + kind }, h("span", { "aria-hidden": "true" }, icon), word),
      ),
      found &&
        h(
          "div",
          { class: "found" },
          h("p", { class: "numbers" }, found.figures.join("; "), found.note ? `; ${found.note}` : ""),
          h("p", null, h("strong", null, rule.meaning), ". ", rule.advice),
        ),
    );
  };
  const weight = (i) => (applies.has(i) ? 1 + applies.get(i).weight : 0);
  const order = (from, to) =>
    raw.rules
      .map((rule, i) => [rule, i])
      .slice(from, to)
      .sort((a, b) => weight(b[1]) - weight(a[1]));
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Diagnosis"),
    !c.profiled &&
      h(
        "p",
        { class: "muted small" },
        "Without hardware counters only part of the table can be judged. Take them with ",
        mono("--roofline-ncu"),
        ".",
      ),
    h(
      "ul",
      { class: "diagnosis" },
      order(0, IN_TABLE).map(([rule, i]) => line(rule, i)),
    ),
    h("h3", null, "Beside the table"),
    h(
      "ul",
      { class: "diagnosis" },
      order(IN_TABLE).map(([rule, i]) => line(rule, i)),
    ),
  );
}

function onOtherCards(c) {
  if (!c.cards.length && !c.compiled.length) return null;
  return card(
    "On an A100",
    h(
      "p",
      { class: "muted" },
      "Nothing here was measured on an A100 by this project: published figures are somebody else's, counted ones come from the code.",
    ),
    c.cards.length ? publishedTable([c]) : missing("Nobody published a figure for exactly this case."),
    c.compiled.length ? compiledTable(c) : null,
  );
}

function compiledTable(c) {
  const heads = ["Kernel", "Registers", "Spilled", "Shared memory", "Occupancy", "Limited by", "Compiler"];
  return h(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": "Compiled code" },
    h(
      "table",
      { class: "grid" },
      h("caption", { class: "away" }, "Compiled for " + text(c.counted[0])),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        c.compiled.map((k) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, mono(k.key)),
            h("td", null, String(k.registers)),
            h("td", null, k.spills ? asBytes(k.spills) : "none"),
            h("td", null, asBytes((k.shared || 0) + (k.dynamic || 0))),
            h("td", null, asShare(k.occupancy)),
            h("td", null, k.limiter),
            h("td", null, h("small", null, k.compiler)),
          ),
        ),
      ),
    ),
  );
}
