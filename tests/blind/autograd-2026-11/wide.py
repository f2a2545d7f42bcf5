"""Sums and products in the wide type that are right once they are rounded to f64: a second rounding at a tie is undone."""
from fractions import Fraction

import numpy as np

WIDE = np.longdouble


def exact(x):
    """A wide number as the sum of two of f64."""
    high = float(x)
    return Fraction(high) + Fraction(float(x - WIDE(high)))


def ties(y):
    """Where a wide number lies in the middle between two of f64."""
    near = y.astype(np.float64)
    gap = np.abs(np.spacing(near).astype(WIDE))
    off = np.abs(y - near.astype(WIDE))
    return (off != 0) & ((2 * off == gap) | (4 * off == gap))


def settled(y, x, z, f):
    """y = f(x, z), moved by its last place where it is a tie and the quotient, sum or product is none."""
    if y.dtype != WIDE or not y.size:
        return y
    at = ties(y)
    if not at.any():
        return y
    y = np.array(y)
    x, z = np.broadcast_to(x, y.shape), np.broadcast_to(z, y.shape)
    for i in zip(*np.nonzero(np.atleast_1d(at))):
        i = i if y.ndim else ()
        true, found = f(exact(x[i]), exact(z[i])), exact(y[i])
        if true != found:
            y[i] = np.nextafter(y[i], WIDE(np.inf) if true > found else -WIDE(np.inf))
    return y


def plus(x, z):
    return settled(np.asarray(np.add(x, z)), x, z, lambda p, q: p + q)


def less(x, z):
    return settled(np.asarray(np.subtract(x, z)), x, z, lambda p, q: p - q)


def times(x, z):
    return settled(np.asarray(np.multiply(x, z)), x, z, lambda p, q: p * q)


def over(x, z):
    return settled(np.asarray(np.divide(x, z)), x, z, lambda p, q: p / q)
