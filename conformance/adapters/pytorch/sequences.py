"""Attention and recurrent cells."""
import math

import torch
import torch.nn.functional as F

from table import need, row


@row()
def multi_head_attention(a, x, wq, wk, wv, wo, bq, bk, bv, bo, mask):
    n, d = x.shape[-2:]
    need(wq.shape[0] == d, "shape", "PyTorch's heads have the width of the operand together")
    need(len({b is None for b in (bq, bk, bv, bo)}) == 1, "attribute", "PyTorch has all biases or none")
    dead = torch.zeros((n, n), dtype=torch.bool) if mask is None else ~mask
    dead = dead | torch.ones((n, n), dtype=torch.bool).triu(1) if a.causal else dead
    need(not dead.all(-1).any(), "request", "a row that attends to nothing is NaN in PyTorch")
    rows = x.reshape(math.prod(x.shape[:-2]), n, d).transpose(0, 1)
    joined = None if bq is None else torch.cat((bq, bk, bv))
    y, _ = F.multi_head_attention_forward(
        rows, rows, rows, d, a.heads, None, joined, None, None, False, 0.0, wo, bo, attn_mask=dead,
        need_weights=False, use_separate_proj_weight=True, q_proj_weight=wq, k_proj_weight=wk, v_proj_weight=wv)
    return y.transpose(0, 1).reshape(x.shape)


def batched(x):
    """PyTorch's cells take a matrix."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@row()
def rnn_cell(a, x, h, *weights):
    cell = {"tanh": torch.rnn_tanh_cell, "relu": torch.rnn_relu_cell}[a.nonlinearity]
    return cell(batched(x), batched(h), *weights).reshape(h.shape)


@row()
def gru_cell(a, x, h, *weights):
    return torch.gru_cell(batched(x), batched(h), *weights).reshape(h.shape)


@row()
def lstm_cell(a, x, h, c, *weights):
    return [y.reshape(h.shape) for y in torch.lstm_cell(batched(x), (batched(h), batched(c)), *weights)]
