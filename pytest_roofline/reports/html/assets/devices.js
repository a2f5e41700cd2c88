// This device beside an A100: shares of each device's own roof, never times as if they were of one kind.
function publishedTable(list) {
  const rows = list.flatMap((c) => c.cards.map((p) => ({ c, p })));
  const columns = [
    { key: "id", name: "Case", align: "wide", value: (r) => r.c.id, cell: (r) => caseLink(r.c) },
    { key: "here", name: "Here, measured", align: "right", value: (r) => r.c.seconds, cell: (r) => asTime(r.c.seconds) },
    { key: "share", name: "of its roof", value: (r) => r.c.fraction, cell: (r) => shareBar(r.c) },
    { key: "there", name: "A100, published", align: "right", value: (r) => r.p.seconds, cell: (r) => (known(r.p.seconds) ? asTime(r.p.seconds) : `${digits(r.p.value)} ${r.p.unit}`) },
    { key: "theirs", name: "of its roof", align: "right", value: (r) => r.p.fraction, cell: (r) => asShare(r.p.fraction) },
    { key: "card", name: "Card", value: (r) => r.p.device, cell: (r) => r.p.device.replaceAll("_", " ") },
    { key: "who", name: "What it is, and by whom", align: "wide", value: (r) => r.p.source, cell: (r) => h("span", { title: `${r.p.implementation}. ${r.p.method} (confidence: ${r.p.confidence})` }, r.p.source) },
  ];
  return virtualTable({ caption: "Published A100 figures beside this device", columns, rows, sort: "id", height: 520 }).element;
}

function countedTable(list) {
  const rows = list.flatMap((c) => c.compiled.slice(0, 1).map((k) => ({ c, k, f: c.figures })));
  const figure = (r, name) => (r.f[name] && r.f[name].origin !== "ncu" ? r.f[name].value : null);
  const number = (key, name, of, show = asCount, hint = null) => ({ key, name, align: "right", value: of, cell: (r) => (known(of(r)) ? show(of(r)) : DASH), hint });
  const columns = [
    { key: "id", name: "Kernel and type", align: "wide", value: (r) => r.c.id, cell: (r) => caseLink(r.c, mono(`${r.c.kernel}/${r.c.dtype}`)) },
    number("registers", "Registers", (r) => r.k.registers), number("spills", "Spilled B", (r) => r.k.spills),
    number("shared", "Shared B", (r) => (r.k.shared || 0) + (r.k.dynamic || 0)), number("occupancy", "Occupancy", (r) => r.k.occupancy, asShare),
    number("load", "Sectors per load", (r) => figure(r, "load_sectors_per_request"), digits), number("store", "Sectors per store", (r) => figure(r, "store_sectors_per_request"), digits),
    number("conflicts", "Bank conflicts", (r) => figure(r, "shared_conflicts")),
    { key: "at", name: "Counted at", value: (r) => text(r.c.counted[1]), cell: (r) => h("small", null, text(r.c.counted[1]).split("/").pop()) },
  ];
  return virtualTable({ caption: "Counted for an A100", columns, rows, sort: "id", height: 520 }).element;
}

function devicesView(main) {
  const published = cases.filter((c) => c.cards.length);
  const seen = new Set();
  const counted = cases.filter((c) => c.compiled.length && !seen.has(c.kernel + c.dtype) && seen.add(c.kernel + c.dtype));
  replace(main, h("h1", null, "Beside an A100"),
    h("p", { class: "note" }, h("strong", null, "No A100 was at hand. "), "Published figures were printed by others, on the card that is named, and are attached only where operation, type, shape and kind of implementation are the same. Counted figures are exact and come from the source and the code compiled for sm_80; they are no times. What compares across devices is each one's share of its own roof."),
    card(`Published: ${published.length} cases`, published.length ? publishedTable(published) : missing("No case of this run has a published A100 figure.")),
    card(`Counted for sm_80: ${counted.length} kernels and types`, counted.length ? countedTable(counted) : missing("This run holds no counts.")));
}
