// The only file that sees nlohmann/json: its SAX parser fills our values.
#include "capra/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "capra/base/buffer.h"
#include "capra/base/number_text.h"
#include "capra/base/text/utf8.h"

namespace capra {

// Builds a Json from parser events. A false return stops the parser.
class JsonBuilder {
 public:
  explicit JsonBuilder(std::string_view text, std::string_view at) : text_(text), at_(at) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(std::vector<uint8_t>&) { return false; }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_array() { return close(); }
  bool key(std::string& key) {
    open_.back().key = std::move(key);
    return true;
  }
  bool end_object() {
    if (auto twice = std::get<JsonObject>(open_.back().value.value_).finish()) {
      std::string quoted;
      append_json_string(quoted, *twice);
      failure_ =
          fail("json-duplicate-key", fmt::format("the key {} stands twice in one object", quoted),
               std::string(at_), "keep one of the two");
      return false;
    }
    return close();
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what": the last part is
    // kept.
    std::string_view what = error.what();
    const auto column = what.find("column ");
    const auto colon = what.find(": ", column == std::string_view::npos ? 0 : column);
    if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
    failure_ = refused(position, fmt::format("{}", fmt::join(printable(what), "")));
    return false;
  }

  Failure refused(size_t position, std::string what) const {
    return fail("json-syntax", std::move(what), place(position), "correct the JSON text");
  }

  Result<Json> take() {
    if (failure_) return std::move(*failure_);
    return std::move(root_);
  }

 private:
  struct Open {
    Json value;
    std::string key;
  };

  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Open& parent = open_.back();
    if (auto* object = std::get_if<JsonObject>(&parent.value.value_)) {
      object->append(std::move(parent.key), std::move(value));
    } else {
      std::get<std::vector<Json>>(parent.value.value_).push_back(std::move(value));
    }
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= static_cast<size_t>(Json::kMaxDepth)) {
      failure_ = fail("json-too-deep",
                      fmt::format("values are nested deeper than {} levels", Json::kMaxDepth),
                      std::string(at_), "flatten the document");
      return false;
    }
    open_.push_back({std::move(value), {}});
    return true;
  }
  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }
  // Messages quote the text read so far, control characters included.
  static std::vector<std::string> printable(std::string_view what) {
    std::vector<std::string> parts;
    for (const char c : repair_utf8(what).text) {
      parts.push_back(static_cast<unsigned char>(c) < 0x20 ? fmt::format("\\x{:02x}", c)
                                                           : std::string(1, c));
    }
    return parts;
  }
  std::string place(size_t position) const {
    const size_t offset = std::min(position == 0 ? 0 : position - 1, text_.size());
    const std::string_view before = text_.substr(0, offset);
    const auto line = 1 + std::ranges::count(before, '\n');
    const auto newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
    return fmt::format("{}{}line {}, column {} (byte {})", at_, at_.empty() ? "" : ": ", line,
                       column, offset);
  }

  std::string_view text_;
  std::string_view at_;
  Json root_;
  std::vector<Open> open_;
  std::optional<Failure> failure_;
};

std::span<const JsonObject::Member> JsonObject::members() const { return members_; }
size_t JsonObject::size() const { return members_.size(); }

void JsonObject::append(std::string key, Json value) {
  members_.emplace_back(std::move(key), std::move(value));
}

std::optional<std::string> JsonObject::finish() {
  const auto key = [&](uint32_t i) -> const std::string& { return members_[i].first; };
  if (members_.size() < kIndexed) {
    for (size_t i = 0; i < members_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (members_[i].first == members_[j].first) return members_[i].first;
      }
    }
    return std::nullopt;
  }
  by_key_.resize(members_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0u);
  std::ranges::sort(by_key_, {}, key);
  const auto twice = std::ranges::adjacent_find(by_key_, {}, key);
  if (twice != by_key_.end()) return key(*twice);
  return std::nullopt;
}

size_t JsonObject::position(std::string_view key) const {
  if (by_key_.empty()) {
    const auto found = std::ranges::find(members_, key, &Member::first);
    return static_cast<size_t>(found - members_.begin());
  }
  const auto found = std::ranges::lower_bound(
      by_key_, key, {}, [&](uint32_t i) -> std::string_view { return members_[i].first; });
  if (found == by_key_.end() || members_[*found].first != key) return members_.size();
  return *found;
}

const Json* JsonObject::find(std::string_view key) const {
  const size_t at = position(key);
  return at == members_.size() ? nullptr : &members_[at].second;
}

void JsonObject::set(std::string key, Json value) {
  const size_t at = position(key);
  if (at < members_.size()) {
    members_[at].second = std::move(value);
    return;
  }
  append(std::move(key), std::move(value));
  if (members_.size() == kIndexed) {
    finish();
  } else if (!by_key_.empty()) {
    const auto key_of = [&](uint32_t i) -> const std::string& { return members_[i].first; };
    const auto place = std::ranges::upper_bound(by_key_, members_.back().first, {}, key_of);
    by_key_.insert(place, static_cast<uint32_t>(at));
  }
}

Json::Json(uint64_t value) {
  if (value <= static_cast<uint64_t>(INT64_MAX)) {
    value_ = static_cast<int64_t>(value);
  } else {
    value_ = value;
  }
}

// The double nearest to the float's shortest text prints as that text.
Json::Json(float value)
    : value_(std::isfinite(value) ? *parse_f64(number_text(value)) : double{value}) {}

Result<Json> Json::parse(std::string_view text, std::string_view at) {
  JsonBuilder builder(text, at);
  // The parser would take a NUL for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return builder.refused(nul, "a NUL byte");
  }
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string_view Json::kind_text() const {
  constexpr std::string_view kTexts[] = {"null",     "a boolean", "an integer", "an integer",
                                         "a number", "a string",  "an array",   "an object"};
  return kTexts[value_.index()];
}

std::optional<bool> Json::as_bool() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  return std::nullopt;
}

std::optional<int64_t> Json::as_i64() const {
  if (const auto* value = std::get_if<int64_t>(&value_)) return *value;
  return std::nullopt;
}

std::optional<uint64_t> Json::as_u64() const {
  if (const auto* value = std::get_if<uint64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<int64_t>(&value_); value != nullptr && *value >= 0) {
    return static_cast<uint64_t>(*value);
  }
  return std::nullopt;
}

std::optional<double> Json::as_f64() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<uint64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::span<const Json> Json::items() const {
  const auto* values = std::get_if<std::vector<Json>>(&value_);
  return values == nullptr ? std::span<const Json>() : std::span<const Json>(*values);
}

std::span<const JsonObject::Member> Json::members() const {
  const auto* object = std::get_if<JsonObject>(&value_);
  return object == nullptr ? std::span<const JsonObject::Member>() : object->members();
}

const Json* Json::find(std::string_view key) const {
  const auto* object = std::get_if<JsonObject>(&value_);
  return object == nullptr ? nullptr : object->find(key);
}

Json& Json::set(std::string key, Json value) {
  auto* object = std::get_if<JsonObject>(&value_);
  CAPRA_CHECK(object != nullptr);
  object->set(std::move(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  auto* values = std::get_if<std::vector<Json>>(&value_);
  CAPRA_CHECK(values != nullptr);
  values->push_back(std::move(value));
  return *this;
}

namespace {

void append(std::string& out, const Json& value, int indent, int depth) {
  const auto line = [&](int level) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent) * static_cast<size_t>(level), ' ');
  };
  switch (value.kind()) {
    case Json::Kind::Null:
      out += "null";
      return;
    case Json::Kind::Bool:
      out += *value.as_bool() ? "true" : "false";
      return;
    case Json::Kind::Integer:
      out += number_text(*value.as_i64());
      return;
    case Json::Kind::Unsigned:
      out += number_text(*value.as_u64());
      return;
    case Json::Kind::Number:
      append_json_number(out, *value.as_f64());
      return;
    case Json::Kind::String:
      append_json_string(out, *value.as_string());
      return;
    case Json::Kind::Array: {
      out += '[';
      bool first = true;
      for (const Json& item : value.items()) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        append(out, item, indent, depth + 1);
      }
      if (!first) line(depth);
      out += ']';
      return;
    }
    case Json::Kind::Object: {
      out += '{';
      bool first = true;
      for (const auto& [key, member] : value.members()) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        append_json_string(out, key);
        out += indent < 0 ? ":" : ": ";
        append(out, member, indent, depth + 1);
      }
      if (!first) line(depth);
      out += '}';
      return;
    }
  }
}

template <class T>
void append_number(std::string& out, T value) {
  if (value == 0 && std::signbit(value)) {
    out += "-0.0";  // "-0" would read back as the integer 0
  } else if (std::isfinite(value)) {
    out += number_text(value);
  } else {
    out += '"' + number_text(value) + '"';
  }
}

}  // namespace

std::string Json::text(int indent) const {
  std::string out;
  append(out, *this, indent, 0);
  return out;
}

Result<Json> read_json_file(const std::string& path) {
  CAPRA_ASSIGN(const std::string text, read_file(path));
  return Json::parse(text, path);
}

void append_json_string(std::string& out, std::string_view text) {
  std::string repaired;
  if (first_invalid_utf8(text)) {
    repaired = repair_utf8(text).text;
    text = repaired;
  }
  out += '"';
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        break;
    }
  }
  out.append(text.substr(plain));
  out += '"';
}

void append_json_number(std::string& out, double value) { append_number(out, value); }
void append_json_number(std::string& out, float value) { append_number(out, value); }

}  // namespace capra
