// This device beside an A100: shares of each device's own roof, never times as if they were of one kind.
function publishedTable(list) {
  const rows = list.flatMap((c) => c.cards.map((p) => ({ c, p })));
  const columns = [
    { key: "id", name: "Case", align: "wide", value: (r) => r.c.id, cell: (r) => caseLink(r.c) },
    {
      key: "here",
      name: "Here, measured",
      align: "right",
      value: (r) => r.c.seconds,
      cell: (r) => asTime(r.c.seconds),
    },
    { key: "share", name: "of its roof", value: (r) => r.c.fraction, cell: (r) => shareBar(r.c) },
    {
      key: "there",
      name: "A100, published",
      align: "right",
      value: (r) => r.p.seconds,
      cell: (r) => (known(r.p.seconds) ? asTime(r.p.seconds) : `${digits(r.p.value)} ${r.p.unit}`),
    },
    {
      key: "theirs",
      name: "of its roof",
      align: "right",
      value: (r) => r.p.fraction,
      cell: (r) => asShare(r.p.fraction),
    },
    {
      key: "fair",
      name: "Comparable",
      value: (r) => (r.p.caveats ? 1 : known(r.p.fraction) && known(r.c.fraction) ? 0 : 2),
      cell: (r) =>
        r.p.caveats
          ? h("span", { title: r.p.caveats }, "no: " + r.p.caveats.split(",")[0])
          : known(r.p.fraction) && known(r.c.fraction)
            ? "yes"
            : DASH,
      align: "wide",
    },
    { key: "card", name: "Card", value: (r) => r.p.device, cell: (r) => r.p.device.replaceAll("_", " ") },
    {
      key: "who",
      name: "What it is, and by whom",
      align: "wide",
      value: (r) => r.p.source,
      cell: (r) =>
        h("span", { title: `${r.p.implementation}. ${r.p.method} (confidence: ${r.p.confidence})` }, r.p.source),
    },
  ];
  return virtualTable({ caption: "Published A100 figures beside this device", columns, rows, sort: "id", height: 520 })
    .element;
}

function countedTable(list) {
  const rows = list.map((c) => ({ c, k: c.compiled[0], counts: c.counts }));
  const number = (key, name, of, show = asCount, hint = null) => ({
    key,
    name,
    align: "right",
    value: of,
    cell: (r) => (known(of(r)) ? show(of(r)) : DASH),
    hint,
  });
  const columns = [
    {
      key: "id",
      name: "Kernel and type",
      align: "wide",
      value: (r) => r.c.id,
      cell: (r) => caseLink(r.c, mono(`${r.c.kernel}/${r.c.dtype}`)),
    },
    number("registers", "Registers", (r) => r.k.registers),
    number("spills", "Spilled B", (r) => r.k.spills),
    number("shared", "Shared B", (r) => (r.k.shared || 0) + (r.k.dynamic || 0)),
    number("occupancy", "Occupancy", (r) => r.k.occupancy, asShare),
    number("load", "Sectors per load", (r) => r.counts.load, digits, "requests of a warp"),
    number("store", "Sectors per store", (r) => r.counts.store, digits, "requests of a warp"),
    number("conflicts", "Bank conflicts", (r) => r.counts.conflicts),
    {
      key: "at",
      name: "Counted at",
      value: (r) => text(r.c.counted[1]),
      cell: (r) => h("small", null, text(r.c.counted[1]).split("/").pop()),
    },
  ];
  return virtualTable({ caption: "Counted for an A100", columns, rows, sort: "id", height: 520 }).element;
}

function reachTable(list) {
  const number = (key, name, of, show, hint) => ({
    key,
    name,
    align: "right",
    value: of,
    cell: (c) => show(of(c)),
    hint,
  });
  const columns = [
    { key: "id", name: "Case", align: "wide", value: (c) => c.id, cell: (c) => caseLink(c) },
    number("here", "Here, measured", (c) => c.seconds, asTime),
    { key: "share", name: "of its roof", value: (c) => c.fraction, cell: shareBar },
    number(
      "bound",
      "Least time there, derived",
      (c) => c.there[0],
      asTime,
      "the datasheet's bound of this kernel on that card",
    ),
    { key: "by", name: "Limited by", value: (c) => c.there[1], cell: (c) => limitName(c.there[1]) },
    number(
      "guess",
      "Estimate, derived",
      (c) => c.there[2],
      asTime,
      "had the kernel there the share of its roof that it has here",
    ),
  ];
  return virtualTable({
    caption: `What each case could reach on ${raw.beside.name}`,
    columns,
    rows: list,
    sort: "id",
    height: 520,
  }).element;
}

// How far estimates would have been off where somebody published the time.
function trustLines() {
  const lines = raw.beside.trust.map(([family, pairs, typical, worst, given]) =>
    h(
      "li",
      null,
      mono(family),
      pairs
        ? `: off by ${asPercent(100 * typical)} % (root mean square of ${pairs}, worst ${asPercent(100 * Math.abs(worst))} %), so ${given ? "estimates are given" : "no estimate is given"}`
        : ": no comparable figure, so no estimate is given",
    ),
  );
  return lines.length
    ? h("details", null, h("summary", null, "How far estimates would have been off"), h("ul", null, lines))
    : null;
}

function devicesView(main) {
  const published = cases.filter((c) => c.cards.length);
  const seen = new Set();
  const counted = cases.filter(
    (c) => c.compiled.length && !seen.has(c.kernel + c.dtype) && seen.add(c.kernel + c.dtype),
  );
  replace(
    main,
    h("h1", null, "Beside an A100"),
    h(
      "p",
      { class: "note" },
      h("strong", null, "No A100 was at hand. "),
      "Published figures were printed by others, on the card that is named, and are attached only where operation, type, shape and kind of implementation are the same. Counted figures are exact and come from the source and the code compiled for sm_80; they are no times. What compares across devices is each one's share of its own roof.",
    ),
    card(
      `Published: ${published.length} cases`,
      published.length ? publishedTable(published) : missing("No case of this run has a published A100 figure."),
    ),
    raw.beside.name &&
      card(
        `${raw.beside.name}: bounds derived from its datasheet`,
        h(
          "p",
          { class: "muted" },
          "An estimate stands only where an operation's published times would have been foretold within 15 %.",
        ),
        trustLines(),
        reachTable(cases.filter((c) => c.there && !c.peer)),
      ),
    card(
      `Counted for sm_80: ${counted.length} kernels and types`,
      counted.length ? countedTable(counted) : missing("This run holds no counts."),
    ),
  );
}
