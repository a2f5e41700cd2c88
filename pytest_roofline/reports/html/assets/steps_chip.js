// The steps that look into the chip: requests, transactions, placement, what it limits.
function concurrency(c) {
  const f = c.figures,
    possible = f.possible_occupancy;
  const limiter = c.compiled.length ? c.compiled.reduce((a, b) => (b.occupancy < a.occupancy ? b : a)).limiter : "";
  return {
    title: "Requests in flight",
    ask: "Are grid, resident and eligible warps, and independent loads enough?",
    body: [
      pairs([
        f.grid
          ? ["Grid", `${asCount(f.grid.value)} blocks of ${asCount(f.block ? f.block.value : NaN)} threads`, "ncu"]
          : null,
        row(c, "waves"),
        row(c, "resident_warps"),
        row(c, "occupancy"),
        row(c, "eligible_warps"),
        row(c, "issue_share"),
        row(c, "stall.long_scoreboard"),
        possible
          ? [
              "Possible occupancy",
              `${asCount(possible.value)} %`,
              `${possible.origin}${limiter ? `, limited by ${limiter}` : ""}`,
            ]
          : null,
        c.tile.length ? ["Tile of a block", c.tile.join(" × ")] : null,
        c.options ? ["Options", c.options] : null,
      ]),
      !c.profiled && profileHint(c),
    ],
  };
}

function transactions(c) {
  const f = c.figures,
    widths = ["global load", "global store"].map((kind) => {
      const found = c.compiled.flatMap((k) => Object.entries(k.mix)).filter(([name]) => name.startsWith(kind + " "));
      const sizes = [...new Set(found.map(([name]) => Number(name.split(" ").pop())))].sort((a, b) => b - a);
      return sizes.length
        ? [
            `Width of a ${kind.split(" ")[1]}`,
            sizes.map((size) => size + " B").join(", "),
            `compiled for ${text(c.counted[0])}`,
          ]
        : null;
    });
  const worst = Math.min(f.load_used ? f.load_used.value : 100, f.store_used ? f.store_used.value : 100);
  return {
    title: "Transactions",
    ask: "Are the addresses of a warp contiguous and aligned?",
    body: [
      pairs([
        row(c, "load_sectors_per_request"),
        row(c, "load_used"),
        row(c, "store_sectors_per_request"),
        row(c, "store_used"),
        ...widths,
      ]),
      (f.load_used || f.store_used) &&
        h(
          "p",
          { class: "reading" },
          worst >= 99
            ? "Every byte of every sector is used."
            : worst >= 80
              ? `${digits(worst)} % of the bytes moved are used: ends and alignment cost the rest.`
              : `Only ${digits(worst)} % of the bytes of a sector are used: look at how lanes map to addresses.`,
        ),
      !f.load_used &&
        !f.store_used &&
        missing("This run has neither counts nor hardware counters of its loads and stores."),
    ],
  };
}

function placement(c) {
  const levels = ["device", "l2", "shared", "register", "host"].map((level) => {
    const of = (list) => list.filter((t) => t[0] === level).reduce((n, t) => n + t[1] + t[2], 0);
    const bytes = Math.max(of(c.traffic), of(c.model));
    return bytes ? [LEVELS[level][0].toUpperCase() + LEVELS[level].slice(1), asBytes(bytes), "declared"] : null;
  });
  const shared = c.compiled.map((k) => (k.shared || 0) + (k.dynamic || 0)),
    f = c.figures;
  return {
    title: "Placement",
    ask: "DRAM for capacity, shared memory for reuse in a block, registers for reuse in a thread.",
    body: [
      pairs([
        ...levels,
        row(c, "l2_hits"),
        shared.length
          ? ["Shared memory of a block", asBytes(Math.max(...shared)), `compiled for ${text(c.counted[0])}`]
          : null,
        row(c, "registers"),
        f.shared_passes && f.shared_passes.value ? row(c, "shared_passes") : null,
      ]),
      !shared.length &&
        missing("Nothing is compiled of this kernel here, so its shared memory and registers are not known."),
    ],
  };
}

function onChip(c) {
  const f = c.figures,
    stalls = Object.entries(f)
      .filter(([name]) => name.startsWith("stall.") && f[name].value >= 1)
      .sort((a, b) => b[1].value - a[1].value)
      .slice(0, 4);
  const conflicts =
    f.shared_conflicts && f.shared_passes && f.shared_passes.value
      ? f.shared_conflicts.value / f.shared_passes.value
      : null;
  return {
    title: "On-chip limits",
    ask: "Bank conflicts, queues, barriers, spilled registers?",
    body: [
      pairs([
        f.shared_conflicts
          ? [
              "Bank conflicts",
              f.shared_passes.value
                ? `${asCount(f.shared_conflicts.value)} of ${asCount(f.shared_passes.value)} passes`
                : "none: shared memory is not used",
              f.shared_conflicts.origin,
            ]
          : null,
        row(c, "spills"),
        row(c, "local_requests"),
        row(c, "atomics_per_element"),
        row(c, "atomic_requests"),
        ...stalls.map(([, figure]) => [
          figure.label.replace("stalled, ", "Stalled, "),
          `${digits(figure.value)} %`,
          "of a warp's time, ncu",
        ]),
      ]),
      known(conflicts) &&
        conflicts > 0.1 &&
        h(
          "p",
          { class: "reading" },
          `${asShare(conflicts)} of all passes of shared memory are lost to bank conflicts.`,
        ),
      !c.profiled && missing(`What warps wait for is not known: no ${ASK} in this run.`),
    ],
  };
}
