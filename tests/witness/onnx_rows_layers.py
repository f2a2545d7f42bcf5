"""Normalisation, losses and recurrent cells."""
import numpy

from onnx_rows import refuse, reshape, row


@row
def BatchNormalization(n):
    training = bool(n.a("training_mode", 0))
    refuse(training, "the running variance is ONNX's, without n/(n - 1)")
    y = n.call("batch_norm", *n.all(), results=3, eps=n.a("epsilon", 1e-5), training=training)
    return y[0]


@row
def InstanceNormalization(n):
    return n.call("instance_norm", *n.all(), eps=n.a("epsilon", 1e-5))


@row
def LayerNormalization(n):
    axis, shape = n.a("axis", -1), n.shape(n.x())
    inner = shape[axis % len(shape):]
    scale, shift = n.x(1), n.x(2)
    refuse(n.shape(scale) != inner, "scale and shift of another shape than the axes")
    y = n.call("layer_norm", n.x(), scale, shift, axes=list(range(-len(inner), 0)), eps=n.a("epsilon", 1e-5))
    return y, None, None


@row("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _(n, name):
    operation = "nll" if name[0] == "N" else "cross_entropy"
    attributes = {"reduction": n.a("reduction", "mean"), "axis": 1}
    if n.a("ignore_index") is not None:
        attributes["ignore_index"] = n.a("ignore_index")
    loss = n.call(operation, n.x(0), n.x(1), n.x(2), **attributes)
    if len(n.node.outputs) < 2:
        return loss
    return loss, n.call("log_softmax", n.x(0), axis=1)


# Recurrent cells, one step at a time.
def gates(n, array, order, count):
    """The rows of a stacked weight in another order of gates."""
    parts = numpy.split(array, count, axis=0)
    return n.literal(numpy.concatenate([parts[i] for i in order], axis=0))


def cell(n, operation, order, states):
    refuse(n.a("direction", "forward") != "forward" or n.a("layout", 0) or n.a("activations") is not None
           or n.a("clip") is not None or n.has(4) or n.has(7), "a form of the layer that a cell has not")
    x, w, r = n.constant(0), n.constant(1), n.constant(2)
    steps, batch, _ = x.shape
    hidden, count = r.shape[2], len(order)
    bias = n.constant(3, numpy.zeros((1, 2 * count * hidden), "float32"))[0]
    zeros = numpy.zeros((batch, hidden), "float32")
    state = [n.literal(n.constant(5 + i, zeros[None])[0]) for i in range(states)]
    weights = [gates(n, w[0], order, count), gates(n, r[0], order, count),
               gates(n, bias[:count * hidden], order, count), gates(n, bias[count * hidden:], order, count)]
    outputs = []
    for t in range(steps):
        found = n.call(operation, n.literal(x[t]), *state, *weights, results=states)
        state = found if states > 1 else [found]
        outputs.append(reshape(n, state[0], [1, 1, batch, hidden]))
    whole = outputs[0] if steps == 1 else n.call("concat", *outputs, axis=0)
    return [whole, *(reshape(n, s, [1, batch, hidden]) for s in state)]


@row
def RNN(n):
    return cell(n, "rnn_cell", [0], 1)


@row
def LSTM(n):
    return cell(n, "lstm_cell", [0, 2, 3, 1], 2)  # ONNX: i o f c; the cell: i f c o


@row
def GRU(n):
    refuse(not n.a("linear_before_reset", 0), "the reset gate before the product is not the cell's form")
    return cell(n, "gru_cell", [1, 0, 2], 1)  # ONNX: z r h; the cell: r z h
