// Where each value lies: views share the storage of their root.
#pragma once
#include "core.h"

namespace adze {

struct Layout { int root = -1; I offset = 0; Shape strides; };

// Strides of `to` over the elements that `from` and its strides address, if no copy is needed.
bool view_as(const Shape& from, const Shape& strides, const Shape& to, Shape& found);
std::vector<Layout> plan_layouts(const Graph& g, const std::vector<View>& input_views);
std::vector<I> plan_arena(const Graph& g, const std::vector<Layout>& lay, const std::vector<int>& outputs, I& size);

}  // namespace adze
