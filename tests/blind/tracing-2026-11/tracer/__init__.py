"""A small tracing tensor library: primitives, transformations, and operations composed of them."""
