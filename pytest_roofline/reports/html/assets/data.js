// The payload, taken apart once. Texts stand in it once; a column of words holds their places.
const raw = JSON.parse(document.getElementById("data").textContent);
const text = (place) => raw.texts[place];
const WORDS = [
  "outcome",
  "detail",
  "regime",
  "verdict",
  "reason",
  "sentence",
  "source",
  "throttled",
  "options",
  "kernel_name",
  "why",
];
const FAILED_CHECKS = ["wrong", "fault", "error", "crashed", "hung"];
const FAILING = new Set(["regression", "impossible", "below_floor", "orphan", "invalid", "missing", ...FAILED_CHECKS]);
const WARNING = new Set(["unresolved", "new", "environment", "stale_ceiling"]);

class Case {
  constructor(index) {
    const columns = raw.cases;
    this.index = index;
    for (const name in columns) this[name] = columns[name][index];
    for (const name of WORDS) this[name] = text(this[name]);
    const parts = this.id.split("/");
    [this.operation, this.backend, this.variant, this.dtype] = parts;
    this.shape = parts.slice(4).join("/");
    this.kernel = parts.slice(0, 3).join("/");
    this.size = this.dims.reduce((a, b) => a * b, 1);
    this.href = "#/case/" + encodeURIComponent(this.id);
    this.work = Object.values(this.operations).reduce((a, b) => a + b, 0);
    this.bound = this.bounds.algorithm || null;
    this.moved = {}; // bytes by memory level: what must cross it, or what this kernel's own model says, if that is more
    for (const [level, read, write] of [...this.traffic, ...this.model]) {
      this.moved[level] = Math.max(this.moved[level] || 0, read + write);
    }
    // The level whose roof it stands under: the one that bounds it, for a pipeline that of its compulsory traffic.
    this.level =
      this.bound && this.bound[1] in this.moved ? this.bound[1] : this.traffic.length ? this.traffic[0][0] : "device";
    this.severity = FAILING.has(this.verdict) ? 0 : WARNING.has(this.verdict) && this.verdict !== "new" ? 1 : 2;
  }

  bytes(level = this.level) {
    return this.moved[level] || 0;
  }

  // Operations per byte that this kernel moves through a level.
  reach(level = this.level) {
    return this.bytes(level) ? this.work / this.bytes(level) : Infinity;
  }

  // Figures known of the case, by name: {value, label, unit, origin}.
  get figures() {
    const found = {};
    for (const [name, value, label, unit, origin] of this.known) {
      found[text(name)] = { value, label: text(label), unit: text(unit), origin: text(origin) };
    }
    return found;
  }

  get profiled() {
    return this.known.some((figure) => text(figure[4]) === "ncu");
  }

  get compiled() {
    if (!this.counted) return [];
    return this.counted[4].map(
      ([key, compiler, threads, registers, spills, shared, dynamic, occupancy, limiter, mix]) => ({
        key: text(key),
        compiler: text(compiler),
        threads,
        registers,
        spills,
        shared,
        dynamic,
        occupancy,
        limiter: text(limiter),
        mix: mix || {},
      }),
    );
  }

  // What was counted for another card, also where a hardware counter of this one stands in its place: sectors per request
  // of a warp, and passes lost to bank conflicts. Null where nothing of the kind was counted.
  get counts() {
    if (!this.counted || !this.counted[5]) return {};
    const accesses = launchesOf(this).flatMap((launch) => launch.accesses);
    const sum = (list, of) => list.reduce((total, access) => total + of(access), 0);
    const perRequest = (kind) => {
      const found = accesses.filter((access) => access.kind === kind);
      const requests = sum(found, (access) => access.requests);
      return requests ? sum(found, (access) => access.sectors) / requests : null;
    };
    const shared = accesses.filter((access) => access.kind.startsWith("shared"));
    return {
      load: perRequest("global load"),
      store: perRequest("global store"),
      conflicts: sum(shared, (access) => Math.max(0, access.waves - access.idealWaves)),
    };
  }

  get cards() {
    return this.published.map(
      ([device, metric, unit, source, implementation, method, confidence, value, seconds, fraction, caveats]) => ({
        device: text(device),
        metric: text(metric),
        unit: text(unit),
        source: text(source),
        implementation: text(implementation),
        method: text(method),
        confidence: text(confidence),
        value,
        seconds,
        fraction,
        caveats: text(caveats),
      }),
    );
  }
}

const cases = raw.cases.id.map((_, index) => new Case(index));
const byId = new Map(cases.map((c) => [c.id, c]));
const timed = cases.filter((c) => c.seconds !== null);
const operations = [...new Set(cases.map((c) => c.operation))];
const byOperation = new Map(operations.map((name) => [name, []]));
for (const c of cases) byOperation.get(c.operation).push(c);

// The problem on which most kernels of an operation were run, of several the largest: what ladders are drawn for.
function mainProblem(operation) {
  const groups = new Map();
  for (const c of byOperation.get(operation) || []) {
    const key = c.dtype + "/" + c.shape;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(c);
  }
  const kernels = (list) => list.filter((c) => !c.peer).length;
  return [...groups.values()].sort((a, b) => kernels(b) - kernels(a) || b[0].size - a[0].size)[0] || [];
}
const mainOf = new Map(operations.map((name) => [name, mainProblem(name)]));
const isMain = new Set([...mainOf.values()].flat());

// Cases of the same problem: operation, dtype and shape.
const problemOf = (c) => byOperation.get(c.operation).filter((o) => o.dtype === c.dtype && o.shape === c.shape);

function fastest(list) {
  return list.filter((c) => c.seconds !== null && !c.peer).sort((a, b) => a.seconds - b.seconds)[0] || null;
}

const past = raw.history;
const unpacked = new Map();
// Seconds of a case in every run, NaN where a run did not time it; null without history. Little-endian float32.
function seriesOf(id) {
  if (!past || !(id in past.seconds)) return null;
  if (!unpacked.has(id)) {
    const bytes = Uint8Array.from(atob(past.seconds[id]), (character) => character.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    unpacked.set(
      id,
      Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true)),
    );
  }
  return unpacked.get(id);
}
const changesOf = (id) => (past && past.changes[id]) || [];
