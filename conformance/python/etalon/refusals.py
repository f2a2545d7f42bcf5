"""What a callable does not offer."""


class Unsupported(NotImplementedError):
    """The callable does not take this, which is neither a pass nor a failure.

    `what` is one of operation, dtype, mode, attribute, shape, layout, request."""

    def __init__(self, what, why):
        super().__init__(why)
        self.what = what
