/// \file
/// Every operation that comes with Etalon, as callable objects.
#pragma once

#include "spec/library/activations.hpp"  // IWYU pragma: export
#include "spec/library/attention.hpp"  // IWYU pragma: export
#include "spec/library/comparisons.hpp"  // IWYU pragma: export
#include "spec/library/convolution.hpp"  // IWYU pragma: export
#include "spec/library/elementwise.hpp"  // IWYU pragma: export
#include "spec/library/elementwise_functions.hpp"  // IWYU pragma: export
#include "spec/library/indexing.hpp"  // IWYU pragma: export
#include "spec/library/initialisers.hpp"  // IWYU pragma: export
#include "spec/library/linear.hpp"  // IWYU pragma: export
#include "spec/library/losses.hpp"  // IWYU pragma: export
#include "spec/library/normalisation.hpp"  // IWYU pragma: export
#include "spec/library/optimizers.hpp"  // IWYU pragma: export
#include "spec/library/pooling.hpp"  // IWYU pragma: export
#include "spec/library/random.hpp"  // IWYU pragma: export
#include "spec/library/recurrent.hpp"  // IWYU pragma: export
#include "spec/library/reductions.hpp"  // IWYU pragma: export
#include "spec/library/schedules.hpp"  // IWYU pragma: export
#include "spec/library/shape.hpp"  // IWYU pragma: export
