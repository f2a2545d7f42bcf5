"""A graph optimizer over NumPy: lowering, derivatives as graphs, passes, plans of buffers."""
