// The first page answers first: which kernel is furthest from its roof, and why.
function rankable(c) {
  return !c.peer && known(c.fraction) && c.regime !== "overhead";
}

// The worst case of each kernel on its operation's main problem, or of each operation's fastest kernel.
function furthest(which) {
  const found = [];
  for (const list of mainOf.values()) {
    const fit = list.filter(rankable);
    if (which === "best") found.push(...[fastest(fit)].filter(Boolean));
    else found.push(...fit);
  }
  const rest = found.length ? found : timed.filter(rankable);
  return rest.sort((a, b) => a.fraction - b.fraction);
}

function faster(c) {
  const best = fastest(problemOf(c));
  return best && best !== c && best.seconds * 1.05 < c.seconds ? best : null;
}

// Who does the same work faster, in a few words.
function sibling(c) {
  const better = faster(c);
  return better
    ? [
        caseLink(better, mono(`${better.backend}/${better.variant}`)),
        ` is ${digits(c.seconds / better.seconds)}× faster.`,
      ]
    : "Nothing here does the same work faster.";
}

function worstCard() {
  const box = h("div");
  const draw = (which) => {
    const list = furthest(which).slice(0, 6),
      first = list[0];
    if (!first) return replace(box, h("p", { class: "muted" }, "No kernel of this run has a roof to be held against."));
    const better = faster(first);
    replace(
      box,
      h(
        "div",
        { class: "answer" },
        h(
          "div",
          { class: "gauge" },
          h("span", { class: "big" }, asShare(first.fraction)),
          h("span", { class: "muted" }, "of its roof"),
        ),
        h(
          "div",
          null,
          h(
            "p",
            { class: "who" },
            caseLink(first, mono(first.kernel)),
            h("span", { class: "muted" }, ` ${first.dtype}, ${first.shape.replaceAll("x", " × ")}`),
          ),
          h("p", { class: "because" }, h("strong", null, "Why: "), first.why),
          h(
            "p",
            { class: "muted" },
            `It takes ${asTime(first.seconds)}; ${limitName(first.bound[1])} allows ${asTime(first.bound[0])}.`,
            better
              ? [
                  " ",
                  caseLink(better, mono(`${better.backend}/${better.variant}`)),
                  ` does the same work in ${asTime(better.seconds)}, ${digits(first.seconds / better.seconds)}× faster.`,
                ]
              : null,
          ),
        ),
      ),
      h("h3", null, list.length > 1 ? "Next" : ""),
      h(
        "ol",
        { class: "ranking", start: "2" },
        list
          .slice(1)
          .map((c) =>
            h(
              "li",
              null,
              h("span", { class: "row" }, caseLink(c, mono(c.kernel)), shareBar(c)),
              h("span", { class: "muted small" }, c.why, " ", sibling(c)),
            ),
          ),
      ),
      list.some((c) => !c.profiled) &&
        h(
          "p",
          { class: "muted small hint" },
          "Hardware counters of these and of every flagged case: ",
          mono("--roofline-ncu=flagged"),
        ),
    );
    return null;
  };
  draw("all");
  const tabs = segmented(
    "Which kernels",
    [
      ["all", "every kernel"],
      ["best", "fastest of each operation"],
    ],
    "all",
    draw,
  );
  return h(
    "section",
    { class: "card worst" },
    h("div", { class: "titlebar" }, h("h2", null, "Furthest from its roof"), tabs),
    h(
      "p",
      { class: "muted small" },
      "A kernel's roof is the least time that this GPU needs for its work, by the datasheet.",
    ),
    box,
  );
}

// Which kernels regressed, in one sentence: what a reader asks second.
function regressed() {
  const compared = cases.filter((c) => c.change.length && !c.peer);
  if (!compared.length) return "Nothing was compared with stored runs.";
  const count = (verdict) => compared.filter((c) => c.verdict === verdict).length;
  const slower = count("regression"),
    open = count("unresolved");
  return [
    h("strong", null, slower ? `${slower} regressed` : "No kernel regressed"),
    `, of ${compared.length} cases compared with stored runs.`,
    open
      ? [
          ` Of ${open} it cannot be told, as a slowdown within their interval would not show: more stored runs narrow it, `,
          h("span", { class: "mono unbroken" }, "--roofline-against=REF"),
          " settles it.",
        ]
      : "",
  ];
}

function attentionCard() {
  const slowdown = (c) => (c.change.length ? c.change[0] : 0);
  const list = cases
    .filter((c) => c.severity < 2)
    .sort((a, b) => a.severity - b.severity || slowdown(b) - slowdown(a) || a.id.localeCompare(b.id));
  const fresh = cases.filter((c) => c.verdict === "new").length;
  const tail = fresh
    ? h("p", { class: "muted" }, `${fresh} cases are new: there is no baseline to compare them with.`)
    : null;
  if (!list.length)
    return card(
      "Verdicts",
      h("p", { class: "allgood" }, h("span", { "aria-hidden": "true" }, "✓ "), "No case fails or warns."),
      timed.length > 0 && h("p", null, regressed()),
      tail,
    );
  const shown = list.slice(0, 8);
  return card(
    `${list.filter((c) => c.severity === 0).length} failing, ${list.filter((c) => c.severity === 1).length} to look at`,
    timed.length > 0 && h("p", null, regressed()),
    h(
      "ul",
      { class: "verdicts" },
      shown.map((c) => h("li", null, badge(c), " ", caseLink(c), h("div", { class: "muted small" }, c.sentence))),
    ),
    list.length > shown.length &&
      h("p", { class: "muted" }, `and ${list.length - shown.length} more: filter the table below by verdict.`),
    tail,
  );
}

function tiles() {
  const fractions = operations
    .map((name) => fastest((mainOf.get(name) || []).filter(rankable)))
    .filter(Boolean)
    .map((c) => c.fraction)
    .sort((a, b) => a - b);
  const middle = fractions.length ? fractions[Math.floor(fractions.length / 2)] : null;
  const failing = cases.filter((c) => c.severity === 0).length,
    warning = cases.filter((c) => c.severity === 1).length;
  const peers = timed.filter((c) => known(c.peer_ratio));
  const ahead = peers.filter((c) => c.best && c.peer_ratio >= 1).length,
    of = peers.filter((c) => c.best).length;
  const list = [
    [String(timed.length || cases.length), timed.length ? "cases timed" : "cases counted, none timed", ""],
    [String(failing), failing === 1 ? "case fails" : "cases fail", failing ? "fail" : "good"],
    [String(warning), warning === 1 ? "case to look at" : "cases to look at", warning ? "warn" : ""],
  ];
  if (known(middle)) list.push([asShare(middle), "of the roof: median of the operations' fastest kernels", ""]);
  if (of) list.push([`${ahead} of ${of}`, "tuned cases at least as fast as the library", ""]);
  return h(
    "div",
    { class: "tiles" },
    list.map(([number, name, kind]) =>
      h("div", { class: "tile " + kind }, h("strong", null, number), h("span", null, name)),
    ),
  );
}

function overview(main) {
  const run = raw.run,
    commit = run.commit;
  const dots = timed.filter((c) => known(c.fraction) && c.regime !== "overhead");
  replace(
    main,
    h("h1", null, raw.title),
    h(
      "p",
      { class: "lead" },
      `${operations.length} operation${operations.length === 1 ? "" : "s"} ${timed.length ? "on" : "counted for"} ${raw.device.name}, ${asDate(run.started)} UTC`,
      commit ? [", commit ", mono(commit.id.slice(0, 10)), commit.dirty ? " with changes on top" : ""] : null,
      `. Times are ${timed.length ? "measured here" : "not part of this run: everything was counted"}; roofs are the datasheet's.`,
    ),
    !run.ended &&
      h("p", { class: "note", role: "alert" }, "The run did not end: these are the cases that it had finished."),
    tiles(),
    timed.length > 0
      ? h("div", { class: "columns" }, worstCard(), attentionCard())
      : [
          h("p", { class: "note" }, "Nothing was timed in this run: kernels were counted and compiled instead."),
          attentionCard(),
        ],
    dots.length > 0 &&
      card(
        "Distance to the roof, by operation",
        h(
          "p",
          { class: "muted" },
          "Each mark is a kernel, at the share of its roof that it reaches; the roof is on the right. Small marks are other sizes and types. Cases shorter than an empty launch are left out.",
        ),
        dotPlot(dots, { value: (c) => Math.min(c.fraction, 1), top: 1, show: (v) => `${Math.round(100 * v)} %` }),
        legend(dots),
      ),
    card("All cases", caseTable(cases, "All cases", timed.length ? "fraction" : "id", 640)),
  );
}
