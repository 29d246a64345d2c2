// JSON values: strict reading, and writing with the shortest numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "capra/base/result.h"

namespace capra {

class Json;

/// Members in the order they were written or set. Keys are unique.
class JsonObject {
 public:
  using Member = std::pair<std::string, Json>;

  std::span<const Member> members() const;
  size_t size() const;
  const Json* find(std::string_view key) const;
  /// Adds a member, or replaces the value of one that is there.
  void set(std::string key, Json value);

 private:
  friend class JsonBuilder;
  static constexpr size_t kIndexed = 16;  // from here on members are found by binary search

  void append(std::string key, Json value);
  /// Indexes what append added; a key that is there twice is returned.
  std::optional<std::string> finish();
  size_t position(std::string_view key) const;

  std::vector<Member> members_;
  std::vector<uint32_t> by_key_;  // empty while there are fewer than kIndexed members
};

/// One JSON value. Integers keep 64 bits; other numbers are doubles.
class Json {
  friend class JsonBuilder;

 public:
  enum class Kind : uint8_t { Null, Bool, Integer, Unsigned, Number, String, Array, Object };

  Json() = default;
  Json(std::nullptr_t) {}                                // NOLINT(google-explicit-constructor)
  Json(bool value) : value_(value) {}                    // NOLINT(google-explicit-constructor)
  Json(int value) : value_(int64_t{value}) {}            // NOLINT(google-explicit-constructor)
  Json(int64_t value) : value_(value) {}                 // NOLINT(google-explicit-constructor)
  Json(uint64_t value);                                  // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                  // NOLINT(google-explicit-constructor)
  Json(float value);                                     // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Json(std::string_view value)
      : value_(std::string(value)) {}                      // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(std::vector<Json> values)
      : value_(std::move(values)) {}                      // NOLINT(google-explicit-constructor)
  Json(JsonObject object) : value_(std::move(object)) {}  // NOLINT(google-explicit-constructor)
  static Json object() { return JsonObject(); }
  static Json array() { return std::vector<Json>(); }

  /// Reads one document. Fails with `json-syntax` (invalid UTF-8 and lone surrogates are syntax
  /// errors), `json-duplicate-key` or `json-too-deep` (more than kMaxDepth levels); `at` names the
  /// file, and line, column and byte are added.
  static Result<Json> parse(std::string_view text, std::string_view at = {});
  static constexpr int kMaxDepth = 128;

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::Null; }
  bool is_object() const { return kind() == Kind::Object; }
  bool is_array() const { return kind() == Kind::Array; }
  bool is_string() const { return kind() == Kind::String; }
  /// `a string`, `an integer`, `null`...: what was found, for messages.
  std::string_view kind_text() const;

  std::optional<bool> as_bool() const;
  /// Only from a number written without fraction and exponent that fits.
  std::optional<int64_t> as_i64() const;
  std::optional<uint64_t> as_u64() const;
  std::optional<double> as_f64() const;  ///< any number
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  std::span<const Json> items() const;                  ///< empty unless an array
  std::span<const JsonObject::Member> members() const;  ///< empty unless an object
  const Json* find(std::string_view key) const;         ///< null unless an object that has it

  /// Only on objects; returns *this.
  Json& set(std::string key, Json value);
  /// Only on arrays; returns *this.
  Json& push(Json value);

  /// The document on one line, or indented by `indent` spaces a level.
  std::string text(int indent = -1) const;

 private:
  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, std::vector<Json>,
               JsonObject>
      value_ = nullptr;
};

/// Reads a file as one document: failures of read_file and Json::parse.
Result<Json> read_json_file(const std::string& path);

/// Appends `text` as a quoted JSON string; ill-formed UTF-8 becomes U+FFFD. ASCII beyond the
/// controls and well-formed UTF-8 stand as they are.
void append_json_string(std::string& out, std::string_view text);
/// Appends the shortest number; JSON has none for NaN and infinity, which become the strings "nan",
/// "inf" and "-inf".
void append_json_number(std::string& out, double value);
void append_json_number(std::string& out, float value);

}  // namespace capra
