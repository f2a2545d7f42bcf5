/// \file
/// Changes of requests and answers that defects of implementations are made of. It knows no defect.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tests/adequacy/implementations/defect.hpp"

namespace etalon::adequacy {

using OfTensor = std::function<void(HostTensor&)>;

/// A defect that changes tensors of the answer, or of the request alone.
[[nodiscard]] Defect of_answers(std::string family, std::string what, OfTensor change);
[[nodiscard]] Defect of_inputs(std::string family, std::string what, OfTensor change);
/// One that changes the request; what the honest backend refuses then is answered as if nothing was wrong.
[[nodiscard]] Defect of_requests(std::string family, std::string what, std::function<void(spec::Request&)> change);

/// The honest answer to this request in place of the other, or that to the other where this one is refused or has
/// results of another form.
[[nodiscard]] spec::Answer answer_or_sound(const spec::Request& spoilt, const spec::Request& request,
                                           const Sound& sound);

/// Every element of the tensor is the one at another row-major position; positions wrap.
void gather(HostTensor& t, const std::function<std::size_t(std::size_t)>& from);

[[nodiscard]] std::size_t elements(const HostTensor& t);
[[nodiscard]] bool same_type(const HostTensor& a, const HostTensor& b);
/// With the element's bytes.
void copy_element(const HostTensor& from, std::size_t i, HostTensor& to, std::size_t k);

}  // namespace etalon::adequacy
