"""What stands in CUDA C++ that `etalon compile --emit cuda` prints."""
import re

# Defined by IEEE 754 to the last bit, or exact: bits of programs that call no others are the same everywhere.
EXACT = {"fma", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "fabs", "copysign", "fmod", "fmin", "fmax", "isnan", "isinf", "isfinite", "signbit",
         "memcpy", "ldexp", "scalbn"}
WORDS = {"if", "for", "while", "switch", "return", "sizeof", "alignas", "defined"}
INTRINSICS = re.compile(r"^(__\w+|min|max|et_\w+)$")


def code_of(text):
    """Without comments and directives."""
    return re.sub(r"^\s*#.*$|//.*$|__launch_bounds__\([^)]*\)", "", text, flags=re.M)


def library_calls(text):
    """Functions of the mathematical library that the text calls and whose last bit nobody defines, in order of their names."""
    code = code_of(text)
    called = set(re.findall(r"\b([A-Za-z_]\w*)\s*\(", code))
    defined = set(re.findall(r"\b(?:void|float|double|int|bool|\w+_t)\s+\*?([A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{", code))
    unknown = {c for c in called - defined if not INTRINSICS.match(c) and c not in WORDS}
    types = {"float", "double", "int", "bool", "int64_t", "uint64_t", "int32_t", "uint32_t", "uint16_t", "uint8_t"}
    return sorted(c for c in unknown - types if c not in EXACT and c.removesuffix("f") not in EXACT)


def launch_of(text):
    """(kernel, blocks, threads, bytes of shared memory, arguments) of the one kernel that the text has. Raises ValueError where it has another number of them."""
    launches = re.findall(r"^//\s+(\w+)<<<(\d+), (\d+), (\d+), stream>>>\((.*?)\);", text, flags=re.M)
    if len(launches) != 1:
        raise ValueError(f"expected one kernel, found {len(launches)}")
    kernel, blocks, threads, shared, arguments = launches[0]
    return kernel, int(blocks), int(threads), int(shared), [a.strip() for a in arguments.split(",")]
