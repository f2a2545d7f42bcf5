/// \file
/// All layers, and how they start.
#pragma once

#include "training/layers/attention.hpp"
#include "training/layers/layers.hpp"
#include "training/layers/recurrent.hpp"
#include "training/layers/start.hpp"
