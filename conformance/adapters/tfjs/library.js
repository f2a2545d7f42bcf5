"use strict";
// TensorFlow.js as the rows of the table see it: a recording, while one is under way, is told of every call.
const library = require("@tensorflow/tfjs");

const listening = { recording: null };

/** An object or a function of the library, by the expression that stands for it. */
function seen(target, expression, owner) {
  const members = new Map();
  const member = (name) => {
    const found = target[name];
    const opaque = typeof name === "symbol" || found === null || !["object", "function"].includes(typeof found);
    return opaque ? found : seen(found, `${expression}.${name}`, target);
  };
  const call = (...words) =>
    listening.recording ? listening.recording.call(expression, owner, target, words) : target.apply(owner, words);
  return new Proxy(typeof target === "function" ? call : {}, { get(_, name) {
    if (!members.has(name)) members.set(name, member(name));
    return members.get(name);
  } });
}

module.exports = { tf: seen(library, "tf"), seen, listening };
