// Literals of the notation: exactly the decimal that the text states, in every number type and printed back.
#include <catch2/catch.hpp>

#include <string>

#include "reference/evaluate.hpp"
#include "reference/number.hpp"
#include "spec/system/system.hpp"
#include "tests/spec/notation_call.hpp"

using namespace etalon;
using namespace etalon::spec;
using boost::multiprecision::cpp_int;
using Catch::Matchers::Contains;
using reference::Rational;

namespace {

std::string definition_text(const std::string& value) { return "f(x) -> y\n y = " + value; }

System system_of(const std::string& value) {
  return instance_of(definition_text(value), {f64({})}).system;
}

template <class T>
T value_of(const std::string& value) {
  reference::Array<T> x;
  x.real = {T(0)};
  return reference::evaluate<T>(system_of(value), std::vector{x}).at(0).real.at(0);
}

std::string refusal_of(const std::string& value) { return parse_error(definition_text(value)); }

}  // namespace

TEST_CASE("a literal is exactly its decimal, whatever its digits", "[sound][notation][M1]") {
  const cpp_int two64 = cpp_int(1) << 64;
  CHECK(value_of<Rational>("18446744073709551616.0") == Rational(two64));
  CHECK(value_of<Rational>("18446744073709551616.0 - 18446744073709551615.5") == Rational(1, 2));
  CHECK(value_of<Rational>("-18446744073709551616.25 + 18446744073709551616.0") == Rational(-1, 4));
}

TEST_CASE("literals of many digits", "[sound][notation][M1]") {
  const cpp_int ten = 10;
  CHECK(value_of<Rational>("0.1234567890123456789012345") == Rational(cpp_int("1234567890123456789012345"), pow(ten, 25)));
  CHECK(value_of<Rational>("-0.1234567890123456789012345") == Rational(-cpp_int("1234567890123456789012345"), pow(ten, 25)));
  CHECK(value_of<Rational>("1.5e40") == Rational(15 * pow(ten, 39)));
  CHECK(value_of<Rational>("12345678901234567890123e-999") == Rational(cpp_int("12345678901234567890123"), pow(ten, 999)));
  CHECK(value_of<Rational>("0000000000000000000000000000.500000000000000000000000000") == Rational(1, 2));
  const std::string digits(999, '7');
  CHECK(value_of<Rational>("1." + digits) == 1 + Rational(cpp_int(digits), pow(ten, 999)));
  CHECK(value_of<double>("0.1234567890123456789012345") == 0x1.f9add3746f65fp-4);
  CHECK(value_of<reference::Real50>("0.1234567890123456789012345") == reference::Real50("0.1234567890123456789012345"));
}

TEST_CASE("numbers that are nearly small ones are not folded into them", "[sound][notation][M1]") {
  const std::string nearly_one = "1.00000000000000000000000000001", nearly_two = "2.00000000000000000000000000001";
  CHECK(value_of<Rational>("(x + 3)*" + nearly_one) == 3 * Rational(cpp_int("100000000000000000000000000001"), pow(cpp_int(10), 29)));
  const System s = system_of("x^" + nearly_two);
  CHECK(to_text(s).find(nearly_two) != std::string::npos);
}

TEST_CASE("a printed literal reads back as the same constant", "[sound][notation][M1]") {
  for (const std::string text : {"18446744073709551616.0", "0.1234567890123456789012345", "9223372036854775808.0", "1e300",
                                 "9223372036854775807.0", "123456789012345678901234567890e-40", "123456789012345678901234567890e40",
                                 "0.000000000000000000000000000012345678901234567890", "0.25", "2.0e-5", "0.0", "18446744073709551616.000"}) {
    const System s = system_of(text);
    const Expr& e = s.equations.at(0).value;
    REQUIRE(e.form() == Form::number);
    const std::string printed = to_text(s, e);
    const System again = system_of(printed);
    INFO(text << " is printed as " << printed);
    const Expr& read = again.equations.at(0).value;
    REQUIRE(read.form() == Form::number);
    CHECK(read->number == e->number);
    CHECK(read->hash == e->hash);
  }
}

TEST_CASE("what is too long for a number is refused by one line", "[sound][notation][M1]") {
  CHECK_THAT(refusal_of("x + 18446744073709551616"), Contains("an integer has 64 bits, and a real beyond them a point"));
  CHECK_THAT(refusal_of("x + 9223372036854775808"), Contains("an integer has 64 bits"));
  CHECK(refusal_of("x + 9223372036854775807").empty());
  CHECK_THAT(refusal_of("x + 1." + std::string(1000, '1')), Contains("at most 1000 digits"));
  CHECK(refusal_of("x + 1." + std::string(999, '1')).empty());
  CHECK_THAT(refusal_of("x + 1e1000"), Contains("an exponent from -999 to 999"));
  CHECK_THAT(refusal_of("x + 1e-1000"), Contains("an exponent from -999 to 999"));
  CHECK_THAT(refusal_of("x + 1e99999999999999999999"), Contains("an exponent from -999 to 999"));
  CHECK(refusal_of("x + 1e-999").empty());
}
