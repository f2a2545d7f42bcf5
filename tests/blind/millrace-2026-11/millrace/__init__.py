"""A lazy tensor library on NumPy: views, a fusing executor, derivative rules written by hand."""
