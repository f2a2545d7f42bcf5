"""Random operands and attributes. One Draw makes one case; the same operation, element type and index make the same."""
import zlib

import numpy

FAMILIES = ("normal", "ties", "large", "offset", "small", "zeros")


class Draw:
    def __init__(self, operation, dtype, index):
        self.rng = numpy.random.default_rng([zlib.crc32(operation.encode()), index, 0 if dtype == "float32" else 1])
        self.dtype = numpy.dtype(dtype)
        self.index = index
        self.family = FAMILIES[index % len(FAMILIES)]
        self.tags = {self.family}

    # Shapes and attributes.
    def extent(self, low=1, high=4):
        return int(self.rng.integers(low, high + 1))

    def shape(self, low=0, high=3, least=1, most=4):
        return tuple(self.extent(least, most) for _ in range(self.extent(low, high)))

    def joined(self, count, most=4):
        """Shapes that broadcast with each other."""
        whole = self.shape(0, 3, 1, most)
        shapes = []
        for _ in range(count):
            start = 0 if self.flag(0.6) else self.extent(0, len(whole))
            shapes.append(tuple(n if self.flag(0.8) else 1 for n in whole[start:]))
        return shapes

    def axis(self, shape):
        axis = self.extent(0, len(shape) - 1)
        return axis - len(shape) if self.flag() else axis

    def axes(self, shape, least=0):
        """Some axes, in any order, some of them counted from the end."""
        count = self.extent(min(least, len(shape)), len(shape))
        chosen = self.rng.permutation(len(shape))[:count]
        return [int(a) - len(shape) if self.flag(0.3) else int(a) for a in chosen]

    def flag(self, probability=0.5):
        return bool(self.rng.random() < probability)

    def pick(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def number(self, low, high):
        return float(self.rng.uniform(low, high))

    def type_name(self):
        return "f32" if self.dtype == numpy.float32 else "f64"

    def type(self):
        """PyTorch's name of this case's element type."""
        import torch
        return torch.float32 if self.dtype == numpy.float32 else torch.float64

    # Operands.
    def as_real(self, values):
        return numpy.asarray(values, dtype=self.dtype)

    def normal(self, shape=()):
        return self.as_real(self.rng.standard_normal(shape))

    def real(self, shape=(), scale=1.0):
        """Numbers of this case's family."""
        x = self.rng.standard_normal(shape)
        if self.family == "ties":
            x = self.rng.integers(-2, 3, shape)
        elif self.family == "large":
            x = 8 * x
        elif self.family == "offset":
            x = x + 5
        elif self.family == "small":
            x = x * 2.0**-12
        elif self.family == "zeros":
            x = numpy.where(self.rng.random(shape) < 0.4, numpy.where(self.rng.random(shape) < 0.5, 0.0, -0.0), x)
        return self.as_real(numpy.asarray(x) * scale)

    def positive(self, shape=(), least=2.0**-10):
        x = numpy.abs(self.real(shape).astype(float))
        return self.as_real(numpy.maximum(x, least))

    def nonzero(self, shape=()):
        return self.as_real(self.positive(shape) * self.rng.choice([-1.0, 1.0], shape))

    def between(self, low, high, shape=()):
        x = self.rng.uniform(low, high, shape)
        if self.family == "ties":
            x = numpy.where(self.rng.random(shape) < 0.5, numpy.round(x), x)
        return self.as_real(numpy.clip(x, low, high))

    def integers(self, low, high, shape=(), dtype="int64"):
        """From low to high, high excluded."""
        return numpy.asarray(self.rng.integers(low, high, shape), dtype=dtype)

    @staticmethod
    def as_integer(values):
        return numpy.asarray(values, dtype="int64")

    def truth(self, shape=(), probability=0.6):
        return numpy.asarray(self.rng.random(shape) < probability)

    def number_or_integer(self, shape, integer_share=0.2):
        """Reals mostly, sometimes integers: for operands that may be either."""
        if self.flag(integer_share):
            self.tags.add("integer")
            return self.integers(-5, 6, shape, self.pick("int32", "int64"))
        return self.real(shape)

    def special(self, x, probability=0.15):
        """Some elements NaN or infinite; then only values are compared."""
        chosen = self.rng.choice([numpy.nan, numpy.inf, -numpy.inf], x.shape)
        self.tags.add("special")
        return self.as_real(numpy.where(self.rng.random(x.shape) < probability, chosen, x))
