// The door, and no more of Etalon than it needs: a request a line, an answer a line.
#include <iostream>
#include <string>

#include "conformance/door/door.hpp"

int main() {
  for (std::string request; std::getline(std::cin, request);) std::cout << etalon::conformance::door(request) << '\n';
}
