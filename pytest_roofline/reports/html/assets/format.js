// Numbers as people read them; an unknown one is a dash.
const DASH = "–";
const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
const digits = (value, count = 3) => {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(count));
  return Math.abs(rounded) >= 1000 ? rounded.toLocaleString("en-GB").replaceAll(",", "\u202f") : String(rounded);
};

function scaled(value, unit, steps) {
  if (!known(value)) return DASH;
  if (value === 0) return "0 " + unit;
  for (const [size, prefix] of steps) if (Math.abs(value) >= size) return digits(value / size) + " " + prefix + unit;
  const [size, prefix] = steps[steps.length - 1];
  return digits(value / size) + " " + prefix + unit;
}

const LARGE = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];
const asTime = (s) =>
  scaled(s, "s", [
    [1, ""],
    [1e-3, "m"],
    [1e-6, "µ"],
    [1e-9, "n"],
  ]);
const asBytes = (b) => scaled(b, "B", LARGE);
const asBandwidth = (rate) => scaled(rate, "B/s", LARGE);
const asOperations = (rate, unit = "op/s") => scaled(rate, unit, LARGE);
const asCount = (n) => (known(n) ? (n < 1e5 ? digits(n, 6) : scaled(n, "", LARGE).trim()) : DASH);
const asIntensity = (i) => (i === Infinity ? "∞" : known(i) ? digits(i) + " op/B" : DASH);
const asPercent = (percent) => (percent >= 10 ? percent.toFixed(0) : percent.toFixed(1));
const asChange = (ratio) =>
  known(ratio)
    ? (Math.abs(ratio - 1) < 5e-4 ? "" : ratio > 1 ? "+" : "−") + asPercent(Math.abs(100 * (ratio - 1))) + " %"
    : DASH;
const asDate = (iso) => (iso ? iso.slice(0, 16).replace("T", " ") : DASH);

function asShare(fraction) {
  if (!known(fraction)) return DASH;
  const percent = 100 * fraction;
  return (percent >= 10 ? percent.toFixed(1) : digits(percent, 2)) + " %";
}

const LEVELS = { device: "device memory", l2: "L2", shared: "shared memory", register: "registers", host: "host link" };
const limitName = (by) => LEVELS[by] || (by ? by.replaceAll("_", " ") + " pipeline" : DASH);
const BACKENDS = { cuda: "CUDA C++", triton: "Triton", torch: "PyTorch", cupy: "CuPy", host: "host" };
const backendName = (backend) => BACKENDS[backend] || backend;
const VERDICTS = {
  below_floor: "below floor",
  stale_ceiling: "stale ceiling",
  information: "library",
  none: "no verdict",
};
const verdictName = (kind) => VERDICTS[kind] || kind;

// The rate of what a case is about, as in the terminal: arithmetic where a pipeline limits, or a memory level that its own
// traffic does not name, where bytes of device memory would say nothing; else bytes.
function rateOf(c) {
  const elsewhere = c.bound && !c.traffic.some(([level]) => level === c.bound[1]);
  const arithmetic = Boolean(elsewhere && c.operations_rate);
  return { arithmetic, value: arithmetic ? c.operations_rate : c.bytes_rate };
}
function asRate(c) {
  const { arithmetic, value } = rateOf(c);
  return arithmetic ? asOperations(value, floating(c) ? "FLOP/s" : "op/s") : asBandwidth(value);
}
// To sort by: operations and bytes are no one scale, so all of the one come before the other.
function rateRank(c) {
  const { arithmetic, value } = rateOf(c);
  return arithmetic ? 1e18 + value : value;
}
const pipelineUnit = (name) => (/int|special/.test(name) ? "op/s" : "FLOP/s");
const floating = (c) => Object.keys(c.operations).every((name) => !/int|special/.test(name));
const asFigure = (f) =>
  f.unit === "s"
    ? asTime(f.value)
    : f.unit === "B"
      ? asBytes(f.value)
      : asCount(Number(f.value.toPrecision(4))) + (f.unit ? " " + f.unit : "");
