#include <iostream>

#include "spec/error.hpp"
#include "tools/command/command.hpp"

#ifdef ETALON_HAS_COMPILED
#include "tools/command/devices.hpp"
#endif

namespace etalon::command {

void add_devices(Command app, Outcome& outcome) {
  Command command = app.command("devices", "List where programs can run");
  command.callback([&outcome] {
#ifdef ETALON_HAS_COMPILED
    print_devices(std::cout);
    outcome.status = 0;
#else
    (void)outcome;
    throw Unsupported("devices: not in this build; configure with -DETALON_COMPILED=ON");
#endif
  });
}

}  // namespace etalon::command
