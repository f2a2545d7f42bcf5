// A softmax that overflows: nothing is subtracted from exponents.
'use strict';
const {operation} = require('./right.js');

exports.operation = (inputs, attributes) => operation(inputs, attributes, () => 0);
