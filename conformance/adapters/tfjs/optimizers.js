"use strict";
// Steps by tf.train: the state is set from the operands before the step and read back after it.
const { tf } = require("./library");
const { need } = require("../javascript/protocol");
const { rows, integer } = require("./table");
const { some } = require("./moving");

/** The parameter after one step from this state, and the weights of the optimizer after it, but for the count. */
async function stepped(optimizer, p, g, count, state) {
  const variable = tf.variable(p, true, "p");
  await optimizer.setWeights([{ name: "iter", tensor: tf.scalar(count, "int32") },
                              ...state.map((tensor, i) => ({ name: `state${i}`, tensor }))]);
  optimizer.applyGradients({ p: g });
  const after = (await optimizer.getWeights()).slice(1).map((weight) => tf.clone(weight.tensor));
  const q = tf.clone(variable);
  optimizer.dispose();
  variable.dispose();
  return [q, ...after];
}

function before(t) {
  const steps = integer(t);
  need(steps >= 1, "request", "TensorFlow.js counts steps from 0");
  return steps - 1;
}

function decayless(a, p) {
  need(a.weight_decay === 0, "attribute", "TensorFlow.js's optimizers have no weight decay");
  need(!some(p, (v) => !isFinite(v)), "request", "no decay is left out, where 0 times an infinity would be NaN");
}

rows({
  async sgd(a, p, g, m, t) {
    decayless(a, p);
    need(a.dampening === 0, "attribute", "TensorFlow.js has no dampening");
    // Before the first step there is no momentum yet.
    const start = integer(t) === 1 || a.momentum === 0 ? tf.zerosLike(m) : m;
    return stepped(tf.train.momentum(a.lr, a.momentum, a.nesterov), p, g, Math.max(0, integer(t) - 1), [start]);
  },
  async adam(a, p, g, m, v, t) {
    decayless(a, p);
    need(!a.eps_hat, "attribute", "TensorFlow.js adds eps after the bias correction");
    return stepped(tf.train.adam(a.lr, a.beta1, a.beta2, a.eps), p, g, before(t), [m, v]);
  },
  async adadelta(a, p, g, v, u) {
    decayless(a, p);
    return stepped(tf.train.adadelta(a.lr, a.rho, a.eps), p, g, 0, [v, u]);
  },
}, { differentiable: false });
