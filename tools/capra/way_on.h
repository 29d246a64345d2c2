// What a command line adds to a failure of the library: where, and how to go on from there.
#pragma once

#include <map>
#include <string>

#include "capra/base/diagnostic.h"
#include "tools/capra/cli.h"

namespace capra::driver {

/// A command, and its options with the last value of each; empty: not given.
struct AskedFor {
  std::string place;  ///< `capra run`
  std::map<std::string, std::string> options;
};

/// The failure with a place and a help where it has none, and with the options of the command that
/// lead on.
Diagnostic with_way_on(Diagnostic found, const AskedFor& asked);

/// `run`, whose failures go through `with_way_on`.
Command with_place(AskedFor asked, Command run);

}  // namespace capra::driver
