// Where every figure comes from.
function environmentView(main) {
  const { run, device } = raw,
    env = run.environment || {},
    commit = run.commit;
  const kinds = [
    ["measured", "on this device, in this run or as its ceilings, with clocks and throttling recorded"],
    ["published", "printed by somebody else, on the card that is named"],
    ["counted", "exact, from running the source on a CPU or from the compiled code"],
    ["derived", "a formula over the others"],
    ["ncu", "hardware counters of this device, taken after timing in a process of its own"],
  ];
  const facts = Object.entries(env)
    .filter(([, v]) => v !== null && typeof v !== "object")
    .map(([k, v]) => [k.replaceAll("_", " "), k === "l2_bytes" ? asBytes(v) : String(v)]);
  const list = (o) =>
    pairs(Object.entries(o || {}).map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]));
  replace(
    main,
    h("h1", null, "Environment and provenance"),
    h(
      "div",
      { class: "columns" },
      card(
        "Run",
        pairs([
          ["Id", mono(run.id)],
          ["Started", asDate(run.started) + " UTC"],
          ["Ended", run.ended ? asDate(run.ended) + " UTC" : "it was killed: only finished cases are here"],
          ["Kind", run.kind],
          [
            "Commit",
            commit ? mono(commit.id) : DASH,
            commit ? [commit.branch || "", commit.dirty ? "with changes on top" : ""].filter(Boolean).join(", ") : null,
          ],
          ["pytest-roofline", run.version],
        ]),
      ),
      card("Machine", facts.length ? pairs(facts) : missing("A counted run has no environment of a GPU.")),
    ),
    h(
      "div",
      { class: "columns" },
      card("Toolchain", list({ ...run.toolchain, ...(env.packages || {}) })),
      card("Options", list(run.options)),
    ),
    card(`Roofs of ${device.name}`, roofTable(device), h("h3", null, "Limits"), limitTable(device)),
    card("Kinds of figures", pairs(kinds)),
  );
}

function roofTable(device) {
  const columns = [
    {
      key: "name",
      name: "Roof",
      value: (r) => r[0] + r[1],
      cell: (r) =>
        r[0] === "memory" ? r[1].replace(/^\w+/, (l) => LEVELS[l] || l) : r[1].replaceAll("_", " ") + " pipeline",
    },
    {
      key: "rate",
      name: "Rate",
      align: "right",
      value: (r) => r[2],
      cell: (r) => (r[0] === "memory" ? asBandwidth(r[2]) : asOperations(r[2], pipelineUnit(r[1]))),
    },
    { key: "kind", name: "Kind", value: (r) => r[3], cell: (r) => r[3] },
    {
      key: "source",
      name: "Source",
      align: "wide",
      value: (r) => r[4],
      cell: (r) => h("span", { title: r[4] }, r[4] || DASH),
    },
  ];
  return device.roofs.length
    ? virtualTable({ caption: "Roofs", columns, rows: device.roofs, sort: "name", height: 480 }).element
    : missing("No device record is known for this GPU.");
}

const limitTable = (device) =>
  pairs(
    Object.entries(device.limits).map(([name, value]) => [
      name.replaceAll("_", " "),
      asCount(value),
      device.sources[name] || null,
    ]),
  );
