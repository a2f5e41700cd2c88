// The nine steps in which a kernel is analysed (LCPU Infra Seminars, part 2), each with what this run knows of it.
const ASK = "hardware counters";
const profileHint = (c) =>
  h(
    "p",
    { class: "missing" },
    `This run has no ${ASK} of this case. Take them with `,
    mono(`--roofline-ncu='${c.id}'`),
  );
const missing = (words) => h("p", { class: "missing" }, words);

// A figure of the case as a row of a list, or nothing.
function row(c, name, label) {
  const f = c.figures[name];
  return f ? [label || f.label[0].toUpperCase() + f.label.slice(1), asFigure(f), f.origin] : null;
}

function launchesOf(c) {
  if (!c.counted) return [];
  return c.counted[3].map(([kernel, accesses, read, written]) => ({
    kernel: text(kernel),
    read,
    written,
    accesses: accesses.map(([kind, size, requests, lanes, sectors, idealSectors, waves, idealWaves, file, line]) => ({
      kind,
      size,
      requests,
      lanes,
      sectors,
      idealSectors,
      waves,
      idealWaves,
      file: file || "",
      line: line || 0,
    })),
  }));
}

function dataFlow(c) {
  const about = raw.operations[c.operation] || { summary: "" };
  const launches = launchesOf(c);
  const asked = launches
    .flatMap((l) => l.accesses)
    .filter((a) => a.kind === "global load")
    .reduce((n, a) => n + a.lanes * a.size, 0);
  const unique = launches.reduce((n, l) => n + l.read, 0);
  const reuse = unique ? asked / unique : null;
  const counted = c.counted ? `counted at ${text(c.counted[1]).split("/").pop()}` : "";
  return {
    title: "Data flow",
    ask: "What does each output read, and which inputs are used more than once?",
    body: [
      pairs([
        ["Computes", about.summary || c.operation],
        ...c.traffic.map(([level, read, write]) => [
          `Must cross ${LEVELS[level] || level}`,
          `${asBytes(read)} read, ${asBytes(write)} written`,
          "each input once, each output once",
        ]),
        launches.length
          ? ["Kernels launched", String(launches.length), launches.map((l) => l.kernel).join(", ")]
          : null,
        known(reuse) && reuse > 0 ? ["Each input byte is loaded", `${digits(reuse)} times`, counted] : null,
      ]),
      known(reuse) &&
        h(
          "p",
          { class: "reading" },
          reuse > 1.5
            ? "Inputs are used again: caches, shared memory or registers can serve the repeats."
            : "Every input byte is loaded about once: there is nothing to reuse, only to move.",
        ),
      !c.counted && missing("Nothing is counted of this kernel, so how often it loads a byte is not known."),
    ],
  };
}

function intensity(c) {
  const f = c.figures,
    through = f.dram_bytes;
  const real = through && through.value ? c.work / through.value : null;
  return {
    title: "Arithmetic intensity",
    ask: "What could the algorithm reach, and what does this kernel move?",
    body: [
      pairs([
        [
          "Operations",
          Object.entries(c.operations)
            .map(([p, n]) => `${asCount(n)} ${p.replaceAll("_", " ")}`)
            .join(", ") || "none",
        ],
        ["Of the problem", asIntensity(c.intensity), "each byte once"],
        c.model.length
          ? [
              "Of this kernel",
              asIntensity(c.reach()),
              `through ${LEVELS[c.level] || c.level}; its own traffic: ${c.model.map(([l, r, w]) => `${asBytes(r + w)} ${LEVELS[l] || l}`).join(", ")}`,
            ]
          : null,
        known(real) ? ["Through DRAM", asIntensity(real), `${asBytes(through.value)}, ncu`] : null,
      ]),
      known(real) &&
        h(
          "p",
          { class: "reading" },
          c.bytes("device") && through.value > 1.15 * c.bytes("device")
            ? `${digits(through.value / c.bytes("device"))}× the bytes that its model names went through DRAM.`
            : "DRAM carried what the model says.",
        ),
      !through && missing(`How many bytes really went through DRAM is not known: no ${ASK} in this run.`),
    ],
  };
}

function regime(c) {
  const bound = c.bound,
    device = raw.device;
  const memory = device.roofs.find((r) => r[0] === "memory" && r[1] === c.level && r[3] !== "measured");
  const top = Object.keys(c.operations)
    .map((p) => device.roofs.find((r) => r[0] === "compute" && r[1] === p && r[3] !== "measured"))
    .filter(Boolean)[0];
  const ridge = memory && top ? top[2] / memory[2] : null;
  const words = { memory: "memory-bound", compute: "compute-bound", overhead: "launch-bound", unknown: "not known" };
  const gap = bound && c.seconds ? c.seconds / bound[0] : null;
  return {
    title: "Roofline region",
    ask: "Memory-bound or compute-bound?",
    body: [
      pairs([
        ["Region", words[c.regime] || c.regime, known(ridge) ? `the ridge is at ${asIntensity(ridge)}` : null],
        bound ? ["Least time", asTime(bound[0]), `${limitName(bound[1])}, datasheet`] : null,
        c.bounds.ceiling
          ? ["Least time, measured roofs", asTime(c.bounds.ceiling[0]), "what this device was measured to reach"]
          : null,
        c.bounds.cached
          ? ["Least time from L2", asTime(c.bounds.cached[0]), "where everything is in L2 already"]
          : null,
        known(c.seconds)
          ? ["Taken", asTime(c.seconds), c.source === "cupti" ? "CUPTI, the kernel alone" : "measured, typical bracket"]
          : null,
        known(c.fraction)
          ? [
              "Share of the roof",
              asShare(c.fraction),
              known(c.of_ceiling) ? `${asShare(c.of_ceiling)} of the measured one` : null,
            ]
          : null,
      ]),
      known(gap) &&
        c.regime !== "overhead" &&
        h(
          "p",
          { class: "reading" },
          gap < 1.18
            ? "Close to its roof: only less work or fewer bytes can make it faster."
            : `${digits(gap)}× its least time: the roofline alone does not say why, the steps below look for it.`,
        ),
      c.regime === "overhead" &&
        h("p", { class: "reading" }, "The work is shorter than an empty launch: batch or fuse it."),
      !bound &&
        missing(
          c.outcome === "ok"
            ? "The device record has no rate for this work, so there is no bound."
            : "Its check failed, so nothing of it was timed or held against a bound.",
        ),
    ],
  };
}
