"""Products."""
import torch

from table import plain

plain({"matmul": torch.matmul, "dot": torch.dot, "outer": torch.outer, "linear": torch.nn.functional.linear})
