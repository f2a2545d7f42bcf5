// What lowerings of several families share.
#pragma once
#include "core.h"

V max_or_zero(V x, const Dims& axes);              // keeps the axes; no derivative
Int count_of(V x, const Dims& axes);
V along_axes(V w, const Dims& axes, Int rank);
V reduced(V each, const std::string& how);         // mean, sum or none
V attention(V q, V k, V v, V live, V scale);       // live: of the shape of the scores, or null
V matmul_last(V x, V w);                           // x[..., n] by w[o, n] to [..., o]
