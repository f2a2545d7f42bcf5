// A right softmax.
'use strict';

exports.operation = ([{shape, data}], {axis}, least = Math.max) => {
  const y = data.slice();
  const size = extents => extents.reduce((a, b) => a * b, 1);
  const outer = size(shape.slice(0, axis)), n = shape[axis], inner = size(shape.slice(axis + 1));
  for (let o = 0; o < outer; ++o) {
    for (let i = 0; i < inner; ++i) {
      const at = Array.from({length: n}, (_, k) => (o * n + k) * inner + i);
      const top = least(...at.map(a => data[a]));
      at.forEach(a => { y[a] = Math.exp(y[a] - top); });
      const sum = at.reduce((s, a) => s + y[a], 0);
      at.forEach(a => { y[a] /= sum; });
    }
  }
  return y;
};
