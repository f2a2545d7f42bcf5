"""Random numbers from Philox4x32-10: key = seed, counter = (block, step, stream); and first values of parameters."""
import numpy as np

from quarry import build as a
from quarry.build import to, where
from quarry.ir import Primitive
from quarry.lowering.axes import axis_of, require
from quarry.lower import OPTIONAL, operation
from quarry.scalar import emit, zero
from quarry.switch import defect

MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def rounds(counter, key):
    c, (k0, k1) = counter, key
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> HALF) ^ c[1] ^ k0, p1 & MASK, (p0 >> HALF) ^ c[3] ^ k1, p0 & MASK]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & MASK, (k1 + np.uint64(0xBB67AE85)) & MASK
    return c


def words(seed, step, first, count, stream):
    """Words first to first + count - 1 of a stream, as integers of 64 bits."""
    n = np.arange(first, first + count, dtype=np.uint64)
    block = n // np.uint64(4)
    seed, step = seed.astype(np.int64).view(np.uint64), step.astype(np.int64).view(np.uint64)
    counter = [block & MASK, block >> HALF, np.broadcast_to(step & MASK, n.shape),
               np.full(n.shape, stream & 0xFFFFFFFF, np.uint64)]
    key = (seed & MASK, seed >> HALF)
    found = rounds(counter, key)
    return np.choose((n % np.uint64(4)).astype(np.int64), found).astype(np.int64)


philox = Primitive("philox")
philox.impl = lambda seed, step, count, stream: words(seed, step, 0, count, stream)
philox.shape = lambda seed, step, count, stream: ((count,), np.dtype(np.int64))
philox.jvp = zero


def bits(at, seed, step, count):
    require(at.stream >= 0, "stream >= 0")
    return emit(philox, seed, step, count=int(count), stream=int(at.stream))


def columns(w, count):
    """Every count-th word, from each of the first `count`."""
    n = w.shape[0] // count
    rows = a.shaped(w, (n, count))
    return [a.shaped(a.cut(rows, 1, i, i + 1), (n,)) for i in range(count)]


def double(low, high, more=0):
    """A multiple of 2^-53 from two words."""
    return to(low // 2048 + high * 2097152 + more, np.longdouble) / np.longdouble(2)**53


def single(w, more=0):
    return to(w // 256 + more, np.float64) / 16777216.0


def real(at):
    from quarry.session import dtype_of
    dtype = dtype_of(at.dtype)
    require(dtype.kind == "f", "dtype == f32 or dtype == f64")
    return dtype


def evenly(at, seed, step):
    """Uniform in [0, 1) for each element of the shape, in a wide type."""
    n = int(np.prod(at.shape, dtype=np.int64))
    if real(at).itemsize == 4:
        return a.shaped(single(bits(at, seed, step, n)), at.shape)
    return a.shaped(double(*columns(bits(at, seed, step, 2 * n), 2)), at.shape)


def bell(at, seed, step):
    """Normal by Box and Muller."""
    n = int(np.prod(at.shape, dtype=np.int64))
    if real(at).itemsize == 4:
        w1, w2 = columns(bits(at, seed, step, 2 * n), 2)
        u1, u2 = single(w1, 1), single(w2)
    else:
        w = columns(bits(at, seed, step, 4 * n), 4)
        u1, u2 = double(w[0], w[1], 1), double(w[2], w[3])
    return a.shaped(a.sqrt(-2.0 * a.log(u1)) * (
        a.sin if defect("normal_takes_the_sine") else a.cos)(2 * a.PI * u2), at.shape)


@operation(typed=True, shape=OPTIONAL, low=0.0, high=1.0, dtype="f32", stream=0)
def uniform(at, seed, step):
    u = evenly(at, seed, step)
    low, high = (to(v, u.dtype) if isinstance(v, a.Node) else v for v in (at.low, at.high))
    return to(low + (high - low) * u, real(at))


@operation(typed=True, shape=OPTIONAL, mean=0.0, std=1.0, dtype="f32", stream=0)
def normal(at, seed, step):
    z = bell(at, seed, step)
    mean, std = (to(v, z.dtype) if isinstance(v, a.Node) else v for v in (at.mean, at.std))
    return to(mean + std * z, real(at))


def threshold(p):
    """Words below it have probability p; a real of 53 bits times 2^32 is exact."""
    below = int(np.floor(np.clip(p, -1, 2) * 4294967296.0))
    return below & 0xFFFFFFFF if defect("threshold_in_32_bits") else below


@operation(typed=True, shape=OPTIONAL, keep=OPTIONAL, stream=0)
def bernoulli_mask(at, seed, step):
    n = int(np.prod(at.shape, dtype=np.int64))
    return a.shaped(bits(at, seed, step, n) < threshold(at.static("keep")), at.shape)


@operation(p=0.5, stream=0)
def dropout(at, x, seed, step):
    gone = a.shaped(bits(at, seed, step, a.size_of(x, range(x.rank))) < threshold(at.static("p")), x.shape)
    return where(gone, 0.0, x / (1.0 - at.p))


@operation(axis=-1, stream=0)
def categorical(at, x, seed, step):
    axis = axis_of(at.axis, x.rank)
    rows = a.moved(x, [axis], [x.rank - 1])
    require(rows.shape[-1] > 0, "n > 0")
    w = bits(at, seed, step, a.size_of(x, range(x.rank)))
    u = to(2 * (w // 512) + 1, x.dtype) / 16777216.0
    if defect("categorical_rows_share_noise"):
        n = rows.shape[-1]
        u = a.shaped(a.broadcast(a.cut(u, 0, 0, n), (u.shape[0] // n, n)), u.shape)
    return a.position(rows - a.log(-a.log(a.shaped(u, rows.shape))), [x.rank - 1], True)


def fans(shape):
    """How many numbers each output hears, and by how many each input is heard, of a weight [out, in, window...]."""
    require(len(shape) >= 2, "rank(..shape) >= 2")
    window = int(np.prod(shape[2:], dtype=np.int64))
    return shape[1] * window, shape[0] * window


GAINS = {"relu": np.sqrt(np.longdouble(2)), "tanh": np.longdouble(5) / 3, "selu": np.longdouble(3) / 4}


def kaiming(at):
    gain = GAINS.get(at.nonlinearity, np.longdouble(1))
    if at.nonlinearity == "leaky_relu" or at.nonlinearity == "relu" and defect("relu_gain_with_slope"):
        gain = np.sqrt(2 / (1 + np.longdouble(at.static("slope"))**2))
    return gain, fans(at.shape)[0 if at.mode == "fan_in" else 1]


XAVIER = {"typed": True, "shape": OPTIONAL, "gain": 1.0, "dtype": "f32", "stream": 0}
KAIMING = {"typed": True, "shape": OPTIONAL, "mode": "fan_in", "nonlinearity": "leaky_relu", "slope": 0.0,
           "dtype": "f32", "stream": 0}


def weight(at, draw, factor):
    """A draw times a factor; over no elements there is no fan to divide by."""
    return to(draw * factor, real(at))


@operation(**XAVIER)
def xavier_uniform(at, seed, step):
    limit = at.static("gain") * np.sqrt(6 / np.longdouble(max(1, sum(fans(at.shape)))))
    return weight(at, 2.0 * evenly(at, seed, step) - 1.0, limit)


@operation(**XAVIER)
def xavier_normal(at, seed, step):
    return weight(at, bell(at, seed, step), at.static("gain") * np.sqrt(2 / np.longdouble(max(1, sum(fans(at.shape))))))


@operation(**KAIMING)
def kaiming_uniform(at, seed, step):
    gain, fan = kaiming(at)
    return weight(at, 2.0 * evenly(at, seed, step) - 1.0, gain * np.sqrt(3 / np.longdouble(max(1, fan))))


@operation(**KAIMING)
def kaiming_normal(at, seed, step):
    gain, fan = kaiming(at)
    return weight(at, bell(at, seed, step), gain / np.sqrt(np.longdouble(max(1, fan))))
