// The nine steps in which a kernel is analysed (LCPU Infra Seminars, part 2), each with what this run knows of it.
const ASK = "hardware counters";
const profileHint = (c) => h("p", { class: "missing" }, `This run has no ${ASK} of this case. Take them with `, mono(`--roofline-ncu='${c.id}'`));
const missing = (words) => h("p", { class: "missing" }, words);

// A figure of the case as a row of a list, or nothing.
function row(c, name, label) {
  const f = c.figures[name];
  return f ? [label || f.label[0].toUpperCase() + f.label.slice(1), asFigure(f), f.origin] : null;
}

function launchesOf(c) {
  if (!c.counted) return [];
  return c.counted[3].map(([kernel, accesses, read, written]) => ({ kernel: text(kernel), read, written,
    accesses: accesses.map(([kind, size, requests, lanes, sectors, idealSectors, waves, idealWaves, file, line]) =>
      ({ kind, size, requests, lanes, sectors, idealSectors, waves, idealWaves, file: file || "", line: line || 0 })) }));
}

function dataFlow(c) {
  const about = raw.operations[c.operation] || { summary: "" };
  const launches = launchesOf(c);
  const asked = launches.flatMap((l) => l.accesses).filter((a) => a.kind === "global load").reduce((n, a) => n + a.lanes * a.size, 0);
  const unique = launches.reduce((n, l) => n + l.read, 0);
  const reuse = unique ? asked / unique : null;
  const counted = c.counted ? `counted at ${text(c.counted[1]).split("/").pop()}` : "";
  return { title: "Data flow", ask: "What does each output read, and which inputs are used more than once?", body: [
    pairs([["Computes", about.summary || c.operation],
      ...c.traffic.map(([level, read, write]) => [`Must cross ${LEVELS[level] || level}`, `${asBytes(read)} read, ${asBytes(write)} written`, "each input once, each output once"]),
      launches.length ? ["Kernels launched", String(launches.length), launches.map((l) => l.kernel).join(", ")] : null,
      known(reuse) && reuse > 0 ? ["Each input byte is loaded", `${digits(reuse)} times`, counted] : null]),
    known(reuse) && h("p", { class: "reading" }, reuse > 1.5 ? "Inputs are used again: caches, shared memory or registers can serve the repeats."
      : "Every input byte is loaded about once: there is nothing to reuse, only to move."),
    !c.counted && missing("Nothing is counted of this kernel, so how often it loads a byte is not known.")] };
}

function intensity(c) {
  const f = c.figures, through = f.dram_bytes;
  const real = through && through.value ? c.work / through.value : null;
  return { title: "Arithmetic intensity", ask: "What could the algorithm reach, and what does this kernel move?", body: [
    pairs([["Operations", Object.entries(c.operations).map(([p, n]) => `${asCount(n)} ${p.replaceAll("_", " ")}`).join(", ") || "none"],
      ["Of the problem", asIntensity(c.intensity), "each byte once"],
      c.model.length ? ["Of this kernel", asIntensity(c.reach()), `through ${LEVELS[c.level] || c.level}; its own traffic: ${c.model.map(([l, r, w]) => `${asBytes(r + w)} ${LEVELS[l] || l}`).join(", ")}`] : null,
      known(real) ? ["Through DRAM", asIntensity(real), `${asBytes(through.value)}, ncu`] : null]),
    known(real) && h("p", { class: "reading" }, c.bytes("device") && through.value > 1.15 * c.bytes("device")
      ? `${digits(through.value / c.bytes("device"))}× the bytes that its model names went through DRAM.` : "DRAM carried what the model says."),
    !through && missing(`How many bytes really went through DRAM is not known: no ${ASK} in this run.`)] };
}

function regime(c) {
  const bound = c.bound, device = raw.device;
  const memory = device.roofs.find((r) => r[0] === "memory" && r[1] === c.level && r[3] !== "measured");
  const top = Object.keys(c.operations).map((p) => device.roofs.find((r) => r[0] === "compute" && r[1] === p && r[3] !== "measured")).filter(Boolean)[0];
  const ridge = memory && top ? top[2] / memory[2] : null;
  const words = { memory: "memory-bound", compute: "compute-bound", overhead: "launch-bound", unknown: "not known" };
  const gap = bound && c.seconds ? c.seconds / bound[0] : null;
  return { title: "Roofline region", ask: "Memory-bound or compute-bound?", body: [
    pairs([["Region", words[c.regime] || c.regime, known(ridge) ? `the ridge is at ${asIntensity(ridge)}` : null],
      bound ? ["Least time", asTime(bound[0]), `${limitName(bound[1])}, datasheet`] : null,
      c.bounds.ceiling ? ["Least time, measured roofs", asTime(c.bounds.ceiling[0]), "what this device was measured to reach"] : null,
      c.bounds.cached ? ["Least time from L2", asTime(c.bounds.cached[0]), "where everything is in L2 already"] : null,
      known(c.seconds) ? ["Taken", asTime(c.seconds), c.source === "cupti" ? "CUPTI, the kernel alone" : "measured, typical bracket"] : null,
      known(c.fraction) ? ["Share of the roof", asShare(c.fraction), known(c.of_ceiling) ? `${asShare(c.of_ceiling)} of the measured one` : null] : null]),
    known(gap) && c.regime !== "overhead" && h("p", { class: "reading" }, gap < 1.18 ? "Close to its roof: only less work or fewer bytes can make it faster."
      : `${digits(gap)}× its least time: the roofline alone does not say why, the steps below look for it.`),
    c.regime === "overhead" && h("p", { class: "reading" }, "The work is shorter than an empty launch: batch or fuse it."),
    !bound && missing("The device record has no rate for this work, so there is no bound.")] };
}

function concurrency(c) {
  const f = c.figures, possible = f.possible_occupancy;
  const limiter = c.compiled.length ? c.compiled.reduce((a, b) => (b.occupancy < a.occupancy ? b : a)).limiter : "";
  return { title: "Requests in flight", ask: "Are grid, resident and eligible warps, and independent loads enough?", body: [
    pairs([f.grid ? ["Grid", `${asCount(f.grid.value)} blocks of ${asCount(f.block ? f.block.value : NaN)} threads`, "ncu"] : null,
      row(c, "waves"), row(c, "resident_warps"), row(c, "occupancy"), row(c, "eligible_warps"), row(c, "issue_share"), row(c, "stall.long_scoreboard"),
      possible ? ["Possible occupancy", `${asCount(possible.value)} %`, `${possible.origin}${limiter ? `, limited by ${limiter}` : ""}`] : null,
      c.tile.length ? ["Tile of a block", c.tile.join(" × ")] : null, c.options ? ["Options", c.options] : null]),
    !c.profiled && profileHint(c)] };
}

function transactions(c) {
  const f = c.figures, widths = ["global load", "global store"].map((kind) => {
    const found = c.compiled.flatMap((k) => Object.entries(k.mix)).filter(([name]) => name.startsWith(kind + " "));
    const sizes = [...new Set(found.map(([name]) => Number(name.split(" ").pop())))].sort((a, b) => b - a);
    return sizes.length ? [`Width of a ${kind.split(" ")[1]}`, sizes.map((size) => size + " B").join(", "), `compiled for ${text(c.counted[0])}`] : null;
  });
  const worst = Math.min(f.load_used ? f.load_used.value : 100, f.store_used ? f.store_used.value : 100);
  return { title: "Transactions", ask: "Are the addresses of a warp contiguous and aligned?", body: [
    pairs([row(c, "load_sectors_per_request"), row(c, "load_used"), row(c, "store_sectors_per_request"), row(c, "store_used"), ...widths]),
    (f.load_used || f.store_used) && h("p", { class: "reading" }, worst >= 99 ? "Every byte of every sector is used." : worst >= 80 ? `${digits(worst)} % of the bytes moved are used: ends and alignment cost the rest.`
      : `Only ${digits(worst)} % of the bytes of a sector are used: look at how lanes map to addresses.`),
    !f.load_used && !f.store_used && missing("This run has neither counts nor hardware counters of its loads and stores.")] };
}

function placement(c) {
  const levels = ["device", "l2", "shared", "register", "host"].map((level) => {
    const of = (list) => list.filter((t) => t[0] === level).reduce((n, t) => n + t[1] + t[2], 0);
    const bytes = Math.max(of(c.traffic), of(c.model));
    return bytes ? [LEVELS[level][0].toUpperCase() + LEVELS[level].slice(1), asBytes(bytes), "declared"] : null;
  });
  const shared = c.compiled.map((k) => (k.shared || 0) + (k.dynamic || 0)), f = c.figures;
  return { title: "Placement", ask: "DRAM for capacity, shared memory for reuse in a block, registers for reuse in a thread.", body: [
    pairs([...levels, row(c, "l2_hits"),
      shared.length ? ["Shared memory of a block", asBytes(Math.max(...shared)), `compiled for ${text(c.counted[0])}`] : null,
      row(c, "registers"), f.shared_passes && f.shared_passes.value ? row(c, "shared_passes") : null]),
    !shared.length && missing("Nothing is compiled of this kernel here, so its shared memory and registers are not known.")] };
}

function onChip(c) {
  const f = c.figures, stalls = Object.entries(f).filter(([name]) => name.startsWith("stall.") && f[name].value >= 1).sort((a, b) => b[1].value - a[1].value).slice(0, 4);
  const conflicts = f.shared_conflicts && f.shared_passes && f.shared_passes.value ? f.shared_conflicts.value / f.shared_passes.value : null;
  return { title: "On-chip limits", ask: "Bank conflicts, queues, barriers, spilled registers?", body: [
    pairs([f.shared_conflicts ? ["Bank conflicts", f.shared_passes.value ? `${asCount(f.shared_conflicts.value)} of ${asCount(f.shared_passes.value)} passes` : "none: shared memory is not used", f.shared_conflicts.origin] : null,
      row(c, "spills"), row(c, "local_requests"), row(c, "atomics_per_element"), row(c, "atomic_requests"),
      ...stalls.map(([, figure]) => [figure.label.replace("stalled, ", "Stalled, "), `${digits(figure.value)} %`, "of a warp's time, ncu"])]),
    known(conflicts) && conflicts > 0.1 && h("p", { class: "reading" }, `${asShare(conflicts)} of all passes of shared memory are lost to bank conflicts.`),
    !c.profiled && missing(`What warps wait for is not known: no ${ASK} in this run.`)] };
}

function variants(c) {
  const list = problemOf(c);
  return { title: "One change at a time", ask: "Time, rate and key counters of every variant of the ladder.", body: [
    list.length > 1 ? ladderTable(list, c) : missing("No other kernel ran on this problem."),
    seriesOf(c.id) ? [h("h3", null, "This case over the stored runs"), historyChart(c)] : missing("No run before this one was given to the report.")] };
}

function pipeline(c) {
  const f = c.figures, waits = f["stall.long_scoreboard"];
  const units = ["cp.async", "tma", "mma", "wgmma", "ldmatrix"].map((unit) => [unit, c.compiled.reduce((n, k) => n + (k.mix[unit] || 0), 0)]).filter(([, n]) => n);
  let reading = null;
  if (waits) reading = waits.value >= 30 ? `Warps spend ${digits(waits.value)} % of their time waiting for global memory: more loads under way at once, by hand or asynchronously, could pay.`
    : `Warps spend only ${digits(waits.value)} % of their time waiting for global memory: a deeper pipeline would cost more than it brings.`;
  return { title: "Pipeline", ask: "Is waiting for loads still on the critical path, and would asynchronous copies pay?", body: [
    pairs([row(c, "stall.long_scoreboard"), row(c, "issue_share"), row(c, "fma_share"), row(c, "tensor_share"),
      ["Asynchronous or matrix instructions", c.compiled.length ? units.map(([u, n]) => `${n} ${u}`).join(", ") || "none" : DASH, c.compiled.length ? `compiled for ${text(c.counted[0])}` : "not compiled here"]]),
    reading && h("p", { class: "reading" }, reading), !waits && missing(`Whether loads are still waited for is not known: no ${ASK} in this run.`)] };
}

const STEPS = [dataFlow, intensity, regime, concurrency, transactions, placement, onChip, variants, pipeline];

function stepList(c) {
  return h("ol", { class: "steps" }, STEPS.map((step, i) => {
    const { title, ask, body } = step(c);
    return h("li", { id: `step-${i + 1}`, class: "card step", tabindex: "-1" }, h("h3", null, h("span", { class: "no", "aria-hidden": "true" }, String(i + 1)), title),
      h("p", { class: "ask" }, ask), body);
  }));
}
