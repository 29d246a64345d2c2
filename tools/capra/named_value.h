// Values that the command line gives to inputs.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "capra/base/result.h"
#include "capra/ir/array.h"

namespace capra::driver {

/// `name=REST`. Fails with `option-invalid`.
Result<std::pair<std::string, std::string>> split_binding(const std::string& text);

/// Adds the name of an input to those that were given. Fails with `option-invalid` where it is
/// there.
Status check_given_once(const std::string& name, std::set<std::string>& given);

/// A value written out, a file with one written out, or a tensor of a safetensors file. `type` is
/// what a message asks for; empty where it is not known. Fails with `input-missing` and as the
/// readers do.
Result<Array> read_value(const std::string& name, const std::string& source,
                         const std::string& type = {});

}  // namespace capra::driver
