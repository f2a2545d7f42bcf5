"""All variants by name."""
import activations
import elementwise
import linear
import losses
import normalisation
import optimizers
import reductions

FAMILIES = (elementwise, activations, normalisation, losses, optimizers, reductions, linear)
VARIANTS = {variant.name: variant for family in FAMILIES for variant in family.VARIANTS}
assert len(VARIANTS) == sum(len(family.VARIANTS) for family in FAMILIES), "a name is given twice"
