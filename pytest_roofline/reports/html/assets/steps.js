// The last steps, and all nine in order.
function variants(c) {
  const list = problemOf(c);
  return {
    title: "One change at a time",
    ask: "Time, rate and key counters of every variant of the ladder.",
    body: [
      list.length > 1 ? ladderTable(list, c) : missing("No other kernel ran on this problem."),
      seriesOf(c.id)
        ? [h("h3", null, "This case over the stored runs"), historyChart(c)]
        : missing("No run before this one was given to the report."),
    ],
  };
}

function pipeline(c) {
  const f = c.figures,
    waits = f["stall.long_scoreboard"];
  const units = ["cp.async", "tma", "mma", "wgmma", "ldmatrix"]
    .map((unit) => [unit, c.compiled.reduce((n, k) => n + (k.mix[unit] || 0), 0)])
    .filter(([, n]) => n);
  let reading = null;
  if (waits)
    reading =
      waits.value >= 30
        ? `Warps spend ${digits(waits.value)} % of their time waiting for global memory: more loads under way at once, by hand or asynchronously, could pay.`
        : `Warps spend only ${digits(waits.value)} % of their time waiting for global memory: a deeper pipeline would cost more than it brings.`;
  return {
    title: "Pipeline",
    ask: "Is waiting for loads still on the critical path, and would asynchronous copies pay?",
    body: [
      pairs([
        row(c, "stall.long_scoreboard"),
        row(c, "issue_share"),
        row(c, "fma_share"),
        row(c, "tensor_share"),
        [
          "Asynchronous or matrix instructions",
          c.compiled.length ? units.map(([u, n]) => `${n} ${u}`).join(", ") || "none" : DASH,
          c.compiled.length ? `compiled for ${text(c.counted[0])}` : "not compiled here",
        ],
      ]),
      reading && h("p", { class: "reading" }, reading),
      !waits && missing(`Whether loads are still waited for is not known: no ${ASK} in this run.`),
    ],
  };
}

const STEPS = [dataFlow, intensity, regime, concurrency, transactions, placement, onChip, variants, pipeline];

function stepList(c) {
  return h(
    "ol",
    { class: "steps" },
    STEPS.map((step, i) => {
      const { title, ask, body } = step(c);
      return h(
        "li",
        { id: `step-${i + 1}`, class: "card step", tabindex: "-1" },
        h("h3", null, h("span", { class: "no", "aria-hidden": "true" }, String(i + 1)), title),
        h("p", { class: "ask" }, ask),
        body,
      );
    }),
  );
}
