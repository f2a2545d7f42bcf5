"""All operations of the honest backend, by name."""
import elementwise
import layers
import optimizers
import reductions

OPERATIONS = {**elementwise.TABLE, **reductions.TABLE, **layers.TABLE, **optimizers.TABLE}
