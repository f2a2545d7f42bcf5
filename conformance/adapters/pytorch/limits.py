"""What PyTorch's own words say that it does not offer. It needs nothing: `import etalon` reads it too."""
import re

# Words of PyTorch's exceptions, and which part of a call they say is not offered.
LIMITS = (
    ("attribute", r"Nesterov momentum requires|Invalid learning rate"),
    ("mode", r"AD with|derivative for|is not differentiable with respect|deterministic implementation"),
    ("dtype", r"not implemented for"),
    # Forward mode copies the tangent into a tensor with the strides of its operand; where one place is many elements it stops.
    ("layout", r"more than one element of the written-to tensor"),
    # Tensors without elements, and windows that leave none.
    ("shape", r"non-zero size|optional 0 dim batch size|positive length|should be greater than (0|zero)|"
              r"[Oo]utput size is too small|Only zero batch or zero channel|numel\(\) to be specified|"
              r"not have an identity|weight to be at least 1 at|[Nn]on-empty .* expected|"
              r"index 0 out of range for tensor of size \[0\]|could not create a descriptor|"
              r"resulted in a negative output size|size mismatch \(got input: \[[^]]*\b0\b"),
    # Limits that hold for all sizes.
    ("shape", r"[Ee]xpected more than 1 (spatial element|value per channel)|smaller than kernel size|"
              r"Kernel size can't be greater|doesn't match the broadcast shape"),
)


def limit(error):
    """Which part of a call PyTorch does not offer, and its words; no part where it takes the call for wrong."""
    words = str(error).splitlines()[0] if str(error) else type(error).__name__
    for what, pattern in LIMITS:
        if re.search(pattern, words):
            return what, f"PyTorch: {words}"
    return None, f"PyTorch: {words}"
