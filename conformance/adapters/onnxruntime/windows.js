"use strict";
// Convolution, pooling and resizing.
const { need } = require("../javascript/protocol");
const { rows, each } = require("./table");

function spatial(x) {
  const n = x.shape.length - 2;
  need(n >= 1 && n <= 3, "shape", "windows of one to three axes");
  return n;
}

const twice = (list) => [...list, ...list];

function window(a, n) {
  return { strides: each(a.stride, n), pads: twice(each(a.padding, n)),
           ...("dilation" in a ? { dilations: each(a.dilation, n) } : {}) };
}

const families = {
  conv: (g, a, x, k, bias) => g.node("Conv", [x, k, bias], { ...window(a, spatial(x)), kernel_shape: k.shape.slice(2), group: a.groups }),
  conv_transpose(g, a, x, k, bias) {
    const n = spatial(x);
    return g.node("ConvTranspose", [x, k, bias], { ...window(a, n), kernel_shape: k.shape.slice(2), group: a.groups,
                                                   output_padding: each(a.output_padding, n) });
  },
  max_pool: (g, a, x) => g.node("MaxPool", [x], { ...window(a, spatial(x)), kernel_shape: each(a.kernel, spatial(x)) }),
  avg_pool: (g, a, x) => g.node("AveragePool", [x], { ...window(a, spatial(x)), kernel_shape: each(a.kernel, spatial(x)),
                                                      count_include_pad: a.count_include_pad }),
  global_avg_pool(g, a, x) {
    const y = g.node("GlobalAveragePool", [x]), axes = Array.from({ length: spatial(x) }, (_, i) => i + 2);
    return a.keepdims ? y : g.node("Squeeze", [y, g.integers(axes)]);
  },
  upsample_nearest(g, a, x) {
    const scales = g.constant("f32", [x.shape.length], [1, 1, ...each(a.scale, spatial(x))]);
    return g.node("Resize", [x, null, scales], { mode: "nearest", coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" });
  },
};

for (const [name, f] of Object.entries(families)) {
  rows(Object.fromEntries(["", "1d", "2d", "3d"].map((suffix) => [name + suffix, f])));
}
