"use strict";
// Convolution and pooling. TensorFlow.js has the channels last, and kernels [window..., in, out]; elements are moved
// there and back, which rounds nothing.
const { tf } = require("./library");
const { need } = require("../javascript/protocol");
const { moves } = require("./moving");
const { rows } = require("./table");

const last = (x) => tf.transpose(x, [0, ...x.shape.slice(2).map((_, i) => i + 2), 1]);
const second = (x) => tf.transpose(x, [0, x.rank - 1, ...x.shape.slice(2).map((_, i) => i + 1)]);
/** A kernel [o, e, window...] as [window..., e, o]. */
const kernel = (k) => tf.transpose(k, [...k.shape.slice(2).map((_, i) => i + 2), 1, 0]);

/** One number per spatial axis. */
const each = (value, n) => (Array.isArray(value) ? value : Array(n).fill(value));
const all = (list, value) => list.every((v) => v === value);

function spatial(x, least, most, name) {
  const n = x.rank - 2;
  need(n >= least && n <= most, "shape", `TensorFlow.js has ${name} for ${least} to ${most} spatial axes`);
  return n;
}

/** Padding by zeros as TensorFlow.js's windows of two axes take it; those of one and three take none. */
function padding(list) {
  if (list.length === 2) return all(list, 0) ? "valid" : [[0, 0], ...list.map((p) => [p, p]), [0, 0]];
  need(all(list, 0), "attribute", `TensorFlow.js pads windows of ${list.length} axes by 'valid' and 'same' only`);
  return "valid";
}

function conv(a, x, k, bias) {
  const n = spatial(x, 1, 3, "convolution"), stride = each(a.stride, n), dilation = each(a.dilation, n);
  const pads = padding(each(a.padding, n));
  need(all(stride, 1) || all(dilation, 1), "attribute", "TensorFlow.js has strides or dilations, not both");
  if (a.groups !== 1) return depthwise(a, x, k, bias, stride, dilation, pads);
  if (n === 2 && bias) {
    return second(tf.fused.conv2d({ x: last(x), filter: kernel(k), strides: stride, pad: pads, dilations: dilation, bias }));
  }
  need(!bias, "attribute", "TensorFlow.js has a bias in fused convolutions of two spatial axes");
  if (n === 1) return second(tf.conv1d(last(x), kernel(k), stride[0], pads, "NWC", dilation[0]));
  const f = n === 2 ? tf.conv2d : tf.conv3d;
  return second(f(last(x), kernel(k), stride, pads, n === 2 ? "NHWC" : "NDHWC", dilation));
}

/** Each channel by itself: a kernel [c*m, 1, h, w] is [h, w, c, m] there. */
function depthwise(a, x, k, bias, stride, dilation, pads) {
  need(x.rank === 4 && a.groups === x.shape[1] && k.shape[1] === 1, "attribute",
       "TensorFlow.js has groups of one channel each, for two spatial axes");
  need(!bias, "attribute", "TensorFlow.js has a bias in fused convolutions of two spatial axes");
  const [o, , h, w] = k.shape, c = x.shape[1];
  const filter = tf.transpose(tf.reshape(k, [c, o / c, h, w]), [2, 3, 0, 1]);
  return second(tf.depthwiseConv2d(last(x), filter, stride, pads, "NHWC", dilation));
}

function convTranspose(a, x, k, bias) {
  const n = spatial(x, 2, 3, "transposed convolution"), stride = each(a.stride, n);
  need(a.groups === 1 && all(each(a.dilation, n), 1) && !bias, "attribute",
       "TensorFlow.js's transposed convolution has no groups, dilation or bias");
  const pads = each(a.padding, n), more = each(a.output_padding, n), window = k.shape.slice(2);
  need(all(pads, 0), "attribute", "TensorFlow.js's transposed convolution has no padding by numbers");
  const extent = x.shape.slice(2).map((s, i) => (s - 1) * stride[i] + window[i] + more[i]);
  const shape = [x.shape[0], ...extent, k.shape[1]];
  const f = n === 2 ? tf.conv2dTranspose : tf.conv3dTranspose;
  return second(f(last(x), tf.transpose(k, [...window.map((_, i) => i + 2), 1, 0]), shape, stride, "valid"));
}

/** Whether two numbers of a tensor are equal. */
const repeats = (x) => new Set(x.dataSync()).size < x.size;

function pool(line, flat, solid, name) {
  return (a, x) => {
    const n = spatial(x, 1, 3, name), k = each(a.kernel, n), stride = each(a.stride, n);
    need(!("dilation" in a) || all(each(a.dilation, n), 1), "attribute", "TensorFlow.js differentiates no dilated pooling");
    const pads = padding(each(a.padding, n));
    need(pads === "valid" || !a.count_include_pad, "attribute", "TensorFlow.js does not count padding");
    need(n < 3 || !("dilation" in a) || !moves(x) || !repeats(x), "request",
         "of equal extrema in windows of three axes the last has the derivative");
    if (n === 1) return second(line({ poolSize: k[0], strides: stride[0] }).apply(last(x)));
    return second(n === 2 ? flat(last(x), k, stride, pads) : solid(last(x), k, stride, pads));
  };
}

function globalAverage(a, x) {
  const n = spatial(x, 1, 2, "means of all places");
  const y = (n === 1 ? tf.layers.globalAveragePooling1d() : tf.layers.globalAveragePooling2d({})).apply(last(x));
  return a.keepdims ? tf.reshape(y, [...y.shape, ...Array(n).fill(1)]) : y;
}

function upsample(a, x) {
  spatial(x, 2, 2, "resizing to the nearest");
  const scale = each(a.scale, 2);
  return second(tf.image.resizeNearestNeighbor(last(x), x.shape.slice(2).map((n, i) => n * scale[i])));
}

const families = { conv, conv_transpose: convTranspose, max_pool: pool(tf.layers.maxPooling1d, tf.maxPool, tf.maxPool3d, "maxima of windows"),
                   avg_pool: pool(tf.layers.averagePooling1d, tf.avgPool, tf.avgPool3d, "means of windows"), upsample_nearest: upsample,
                   global_avg_pool: globalAverage };
for (const [name, f] of Object.entries(families)) {
  rows(Object.fromEntries(["", "1d", "2d", "3d"].map((suffix) => [name + suffix, f])));
}
