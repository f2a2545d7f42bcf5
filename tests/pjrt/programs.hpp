#pragma once
#include <array>
namespace etalon::test {
inline constexpr std::array known_programs{
    "input x : f32[3]\ny = neg(x)\noutput y\n",
    "input x : f32[2, 3]\ninput y : f32[2, 3]\nz = add(x, y)\nw = mul(x, y)\noutput z, w\n",
    "input x : f32[3]\nz = sub(x, x)\noutput z\n",
    "input a : bool[2]\ny = logical_not(a)\noutput y\n",
    "input x : f64[]\ny = neg(x)\noutput y\n",
    "input x : f32[0, 3]\ny = neg(x)\noutput y\n",
};
}
