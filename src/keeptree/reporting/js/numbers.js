// Numbers: neighbours of floating-point numbers, exact decimals, and display formats.

const PLACES = 100; // of an exact decimal expansion; enough for every number above 1e-14

/** The next number above (`up`) or below, in float32 or float64. */
export function neighbour(value, up, float32) {
  const [Floats, Bits] = float32 ? [Float32Array, Int32Array] : [Float64Array, BigInt64Array];
  const floats = new Floats([value]);
  const bits = new Bits(floats.buffer);
  const one = float32 ? 1 : 1n;
  if (floats[0] === 0) return up === true ? smallest(Floats, Bits, one) : -smallest(Floats, Bits, one);
  bits[0] += floats[0] > 0 === up ? one : -one;
  return floats[0];
}

function smallest(Floats, Bits, one) {
  return new Floats(new Bits([one]).buffer)[0];
}

/** The largest number that the model does not place above a threshold. */
export function atMost(threshold, float32) {
  const value = float32 ? Math.fround(threshold) : threshold;
  return value <= threshold ? value : neighbour(value, false, float32);
}

/** The smallest number that the model places above a threshold. */
export function nextAbove(threshold, float32) {
  const value = float32 ? Math.fround(threshold) : threshold;
  return value > threshold ? value : neighbour(value, true, float32);
}

/** Units of 10 ** -decimals in a number: rounded down, up, or to the nearest (ties to even). */
export function units(value, decimals, mode) {
  const large = Math.abs(value) >= 1e21; // toFixed writes an exponent
  const exact = large ? BigInt(value) * 10n ** BigInt(PLACES) : BigInt(value.toFixed(PLACES).replace(".", ""));
  const unit = 10n ** BigInt(PLACES - decimals);
  let whole = exact / unit;
  const rest = exact - whole * unit;
  if (rest < 0n) whole -= 1n; // division truncates towards 0, this is the floor
  const above = rest < 0n ? rest + unit : rest;
  if (mode === "ceiling") return above > 0n ? whole + 1n : whole;
  if (mode === "floor") return whole;
  const up = above * 2n > unit || (above * 2n === unit && whole % 2n !== 0n);
  return up ? whole + 1n : whole;
}

/** Units of 10 ** -decimals as text. */
export function decimalText(count, decimals) {
  const digits = (count < 0n ? -count : count).toString().padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  const text = decimals ? `${digits.slice(0, cut)}.${digits.slice(cut)}` : digits;
  return count < 0n ? `-${text}` : text;
}

/** As Python's format(value, f".{decimals}f"). */
export function fixed(value, decimals) {
  const text = decimalText(units(value, decimals, "even"), decimals);
  return value < 0 && !text.startsWith("-") ? `-${text}` : text;
}

/** As Python's format(value, f".{digits}g"). */
export function general(value, digits) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power < -4 || power >= digits) {
    const sign = power < 0 ? "-" : "+";
    return `${strip(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return strip(value.toFixed(digits - 1 - power));
}

function strip(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** At most four significant digits, whole numbers in full. */
export function plainNumber(value, digits = 4) {
  const whole = Number.isInteger(value) && Math.abs(value) < 1e15;
  const text = whole ? String(value) : general(value, digits).replace(/e([+-])0*/, (_, sign) => `e${sign === "-" ? "-" : ""}`);
  return minus(text);
}

/** A number with up to six significant digits; digits before the point are never dropped. */
export function tellNumber(value) {
  const whole = Math.abs(value) < 1e15 ? String(Math.trunc(Math.abs(value))).length + 1 : 0;
  return plainNumber(value, Math.max(6, whole));
}

/** A whole number with commas between thousands. */
export function grouped(whole) {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number of cases: whole, or with one decimal. */
export function countText(cases) {
  const [whole, part] = fixed(cases, 1).split(".");
  return part === "0" && (cases >= 0.05 || cases === 0) ? grouped(whole) : `${grouped(whole)}.${part}`;
}

/** A number of training cases; fractions come from weights or missing values. */
export function trainingCases(cases) {
  const told = countText(cases);
  const kind = Math.abs(cases - Math.round(cases)) > 1e-9 * Math.abs(cases) ? "weighted" : "training";
  return `${told} ${kind} ${told === "1" ? "case" : "cases"}`;
}

export function minus(text) {
  return text.replaceAll("-", "−");
}
