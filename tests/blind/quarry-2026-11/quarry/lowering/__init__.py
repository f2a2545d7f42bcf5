"""The operations, by family. Importing a module registers what it defines."""
from quarry.lowering import (attention, convolution, elementwise, indexing, losses, normalisation,  # noqa: F401
                            optimizers, pooling, random, recurrent, reductions, schedules, shape)
