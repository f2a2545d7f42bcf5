"""What an answer may say besides numbers."""


class Unsupported(Exception):
    """What is not offered (operation, dtype, mode, attribute, shape, layout or request), and why."""


class Rejected(Exception):
    """The program is ill-typed or breaks a constraint."""
