"""Passes over graphs. `canonical` is for a program before it is differentiated, `optimised` for what is run."""
from quarry.passes.batch import batched
from quarry.passes.fold import folded
from quarry.passes.fuse import fused
from quarry.passes.identities import simplified
from quarry.passes.merge import merged
from quarry.passes.narrow import narrowed
from quarry.passes.recompute import recomputed
from quarry.passes.reductions import reduced
from quarry.passes.share import shared
from quarry.passes.sink import sunk


def canonical(outputs):
    """Before differentiation: only what leaves derivatives as they are."""
    return shared(simplified(folded(outputs)))


def optimised(outputs, forward):
    """`forward` is how many of the outputs are values of the program; the others are derivatives."""
    for step in (folded, narrowed, simplified, shared, merged, sunk, merged, reduced, shared, batched, merged):
        outputs = step(outputs)
    return fused(recomputed(outputs, forward))
