"use strict";
// Numbers as JavaScript reads them.

/** In the fewest digits that mean the same in this element type. */
function literal(value, dtype) {
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (dtype !== "f32" || Number.isSafeInteger(value)) return String(value);
  for (let digits = 1; digits < 9; ++digits) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}

const list = (values, dtype) => `[${Array.from(values, (v) => literal(v, dtype)).join(", ")}]`;

/** A name of an object's member. */
const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

module.exports = { literal, list, key };
