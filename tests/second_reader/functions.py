"""The functions and operators of the notation on numbers, read a second time: 50 digits, integers exact."""
import mpmath

mpmath.mp.dps = 50
INF = mpmath.inf


def philox_word(seed, step, stream, n):
    block = n // 4
    c = [block & 0xFFFFFFFF, block >> 32 & 0xFFFFFFFF, step & 0xFFFFFFFF, stream & 0xFFFFFFFF]
    k = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, p0 >> 32 ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[n % 4]


def extremum(which, values):
    """NaN wins."""
    return next((v for v in values if mpmath.isnan(v)), which(values))


def whole(x, bits=64):
    """Towards 0, within the integers of so many bits."""
    if not isinstance(x, mpmath.mpf):
        return int(x)
    if mpmath.isnan(x):
        return 0
    end = 2 ** (bits - 1)
    return max(-end, min(end - 1, end if x == INF else -end if x == -INF else int(x)))


def remainder(a, b):
    if isinstance(a, mpmath.mpf) or isinstance(b, mpmath.mpf):
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        if b == 0 or mpmath.isnan(a) or mpmath.isnan(b) or mpmath.isinf(a):
            return mpmath.nan
        if mpmath.isinf(b):
            return a if a == 0 or (a > 0) == (b > 0) else b
        with mpmath.workdps(700):  # exact: the quotient of two doubles has at most 632 digits
            r = a - b * mpmath.floor(a / b)
        return +r
    return a % b if b else 0


def floor_quotient(a, b):
    if isinstance(a, mpmath.mpf) or isinstance(b, mpmath.mpf):
        q = quotient(a, b)
        return q if mpmath.isinf(q) or mpmath.isnan(q) else mpmath.floor(q)
    return a // b if b else 0


def quotient(a, b):
    a, b = mpmath.mpf(a), mpmath.mpf(b)
    if b == 0:
        return mpmath.nan if a == 0 or mpmath.isnan(a) else INF * mpmath.sign(a)
    return a / b


def power(a, b):
    if b == 0 or a == 1:
        return mpmath.mpf(1)
    if mpmath.isinf(b) and a < 0:
        return power(-a, b)  # only the size decides
    if mpmath.isnan(a) or mpmath.isnan(b):
        return mpmath.nan
    if a < 0 and not mpmath.isinf(b) and b != int(b):
        return mpmath.nan
    if a == 0 and b < 0:
        return INF
    return a ** b


def angle(y, x):
    """Where both are infinite, that of the diagonal."""
    if mpmath.isinf(y) and mpmath.isinf(x):
        return mpmath.atan2(mpmath.sign(y), mpmath.sign(x))
    return mpmath.atan2(y, x)


def rounding(f):
    """Of an integer the integer; infinities and NaN stay."""
    return lambda x: x if isinstance(x, int) or mpmath.isnan(x) or mpmath.isinf(x) else f(x)


def half_even(x):
    below = mpmath.floor(x)
    over = x - below
    up = over > 0.5 or (over == 0.5 and int(below) % 2 != 0)
    return below + 1 if up else below


FUNCTIONS = {
    "exp": lambda x: INF if x == INF else mpmath.exp(x), "log": lambda x: -INF if x == 0 else mpmath.nan if x < 0 else mpmath.log(x),
    "sqrt": lambda x: mpmath.nan if x < 0 else mpmath.sqrt(x), "tanh": mpmath.tanh, "sin": mpmath.sin, "cos": mpmath.cos, "erf": mpmath.erf,
    "expm1": mpmath.expm1, "log1p": lambda x: -INF if x == -1 else mpmath.nan if x < -1 else mpmath.log1p(x),
    "exp2": lambda x: INF if x == INF else mpmath.mpf(2) ** x, "log2": lambda x: -INF if x == 0 else mpmath.nan if x < 0 else mpmath.log(x, 2),
    "tan": mpmath.tan, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "atan2": angle,
    "abs": abs, "floor": rounding(mpmath.floor), "ceil": rounding(mpmath.ceil), "trunc": rounding(lambda x: mpmath.floor(x) if x > 0 else mpmath.ceil(x)),
    "round": rounding(half_even), "real": mpmath.mpf,
    "sign": lambda x: x if mpmath.isnan(x) else (x > 0) - (x < 0), "maximum": lambda *a: extremum(max, a), "minimum": lambda *a: extremum(min, a),
    "isinf": mpmath.isinf, "isnan": mpmath.isnan, "isfinite": mpmath.isfinite, "detach": lambda x: x,
    "integer": whole, "philox": philox_word,
}
