// Arrays as text, and safetensors.
#include "tools/capra/named_value.h"

#include <utility>

#include "capra/base/buffer.h"
#include "capra/io/safetensors.h"
#include "capra/ir/text.h"

namespace capra::driver {

Result<std::pair<std::string, std::string>> split_binding(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail("option-invalid", "'" + text + "' names no input", "--input",
                "write name=FILE, or name=ARRAY such as 'x=f32[2] [1, 2]'");
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Status check_given_once(const std::string& name, std::set<std::string>& given) {
  if (given.insert(name).second) return {};
  return fail("option-invalid", "input '" + name + "' is given twice", "--input",
              "give each input one value");
}

Result<Array> read_value(const std::string& name, const std::string& source,
                         const std::string& type) {
  if (source.ends_with(".safetensors")) {
    CAPRA_ASSIGN(const SafetensorsFile file, SafetensorsFile::open(source));
    const bool named = file.find(name) != nullptr;
    if (!named && file.tensors().size() != 1) {
      return fail("input-missing", "the file has no tensor '" + name + "'", source,
                  "name a tensor of the file, or give a file with one tensor");
    }
    return file.array(named ? name : file.tensors().front().name);
  }
  const bool written_out =
      source.find('[') != std::string::npos || source.find(' ') != std::string::npos;
  if (written_out) {
    Result<Array> array = parse_array(source);
    if (array.ok()) return array;
    Diagnostic found = array.error();
    found.at = "--input " + name;
    if (source.starts_with('[')) {
      found.help = type.empty() ? "write the type before the numbers: " + name + "=f32[2] [1, 2]"
                                : "write " + name + "=" + type + " " + source;
    }
    return fail(std::move(found));
  }
  CAPRA_ASSIGN(const std::string text, read_file(source));
  return parse_array(text);
}

}  // namespace capra::driver
