#include "conformance/fitting.hpp"

#include <algorithm>

#include "conformance/signature.hpp"

namespace etalon::conformance {

using spec::Definition;
using spec::NodeForm;
using spec::NodeId;

void fit_ranks(const Definition& d, const Fit& fit, std::map<std::string, std::size_t>& ranks) {
  std::vector<std::string> rows;
  std::size_t axes = 0;
  for (NodeId item = d.operands[fit.operand].axes; item >= 0; item = d[item].next) {
    const NodeId inner = d[item].form == NodeForm::placed ? d[item].first : item;
    const std::string key = d[inner].form == NodeForm::row ? row_key(d.at(inner)) : "";
    if (d[inner].form == NodeForm::row && ranks.contains(key)) rows.push_back(key);
    else ++axes;
  }
  if (rows.empty() || axes > fit.extents.size()) return;
  std::size_t left = fit.extents.size() - axes;
  for (std::size_t k = rows.size(); k-- > 1;) {
    ranks[rows[k]] = std::min(ranks[rows[k]], left);
    left -= ranks[rows[k]];
  }
  ranks[rows.front()] = left;
}

void fit_extents(const Definition& d, const Fit& fit, Assignment& a) {
  // Each extent is marked, so that the operand's extents tell whose they are.
  constexpr std::int64_t mark = std::int64_t{1} << 40;
  Assignment marked = a;
  std::vector<std::int64_t*> places;
  const auto take = [&](std::int64_t& of_mark, std::int64_t& place) {
    of_mark = mark + static_cast<std::int64_t>(places.size());
    places.push_back(&place);
  };
  for (auto& [row, extents] : a.rows) {
    for (std::size_t k = 0; k < extents.size(); ++k) take(marked.rows[row][k], extents[k]);
  }
  for (auto& [name, extent] : a.extents) take(marked.extents[name], extent);
  const auto found = extents_of_axes(d, d.operands[fit.operand].axes, marked);
  if (!found || found->size() != fit.extents.size()) return;
  for (std::size_t k = 0; k < found->size(); ++k) {
    const std::int64_t at = (*found)[k] - mark;
    if (at >= 0 && at < static_cast<std::int64_t>(places.size())) *places[static_cast<std::size_t>(at)] = fit.extents[k];
  }
}

}  // namespace etalon::conformance
