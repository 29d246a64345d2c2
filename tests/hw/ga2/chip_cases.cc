// Writes programs for the chip and what the simulator ends with: those of the golden files and of
// the published battery, random ones, and some that the chip must refuse.
//   chip_cases GOLDEN OUT COUNT   GOLDEN: the folder of golden files; COUNT: how many random
//   programs
// OUT gets what hw/ga2/bench/chip_bench.sv reads, and expected.txt, which is what it should write.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capra/io/json.h"
#include "capra/targets/ga2/isa/hex_text.h"
#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/sim/run.h"
#include "tests/targets/ga2/battery/random_network.h"
#include "tests/targets/ga2/random_programs.h"

namespace capra::ga2 {
namespace {

// Without what the library does for a file that must appear whole: nobody reads these before they
// are all there.
Status write_text(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail("file-unwritable", "cannot write " + path);
  return {};
}

// Cases as they are written, in order.
class Cases {
 public:
  explicit Cases(std::string folder) : folder_(std::move(folder)) {}

  /// A program and what the simulator makes of it.
  Status add(const std::string& name, std::span<const Instruction> program,
             std::span<const uint32_t> external) {
    return add(name, hex_text(program), program, external, "halted");
  }

  /// Words that the chip stops at: legal instructions, and behind them one that is not. It ends as
  /// if a HALT stood there, and says `error`.
  Status add_illegal(const std::string& name, std::vector<Instruction> program,
                     const Encoded& illegal, std::span<const uint32_t> external) {
    const std::string text = fmt::format("{}{}\n", hex_text(program), hex_line(illegal));
    program.emplace_back(Halt{});
    return add(name, text, program, external, "error");
  }

  Status finish() const {
    CAPRA_TRY(write_text(folder_ + "/cases.txt", list_));
    return write_text(folder_ + "/expected.txt", expected_);
  }

  size_t count() const { return count_; }

 private:
  Status add(const std::string& name, std::string_view text, std::span<const Instruction> program,
             std::span<const uint32_t> external, std::string_view end) {
    Machine machine({external.begin(), external.end()});
    CAPRA_TRY(machine.run(program));
    ++count_;
    std::filesystem::create_directories(folder_ + "/" + name);
    fmt::format_to(std::back_inserter(list_), "{} {} {}\n", name, program.size(), external.size());
    CAPRA_TRY(write_text(folder_ + "/" + name + "/program.hex", text));
    CAPRA_TRY(write_text(folder_ + "/" + name + "/external.hex", memory_hex_text(external)));
    expect(name, end, program.size() - 1, machine);
    return {};
  }

  void expect(std::string_view name, std::string_view end, size_t at, const Machine& machine) {
    const Counters& counters = machine.counters();
    fmt::format_to(std::back_inserter(expected_), "case {}\n{} at {}\ncounters {} {} {} {} {}\n",
                   name, end, at, counters.total, counters.matrix, counters.transfer,
                   counters.vector, counters.instructions);
    expect('s', machine.scratchpad());
    expect('e', machine.external());
  }

  void expect(char memory, std::span<const uint32_t> words) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == 0) continue;
      fmt::format_to(std::back_inserter(expected_), "{} {} {:08x}\n", memory, i, words[i]);
    }
  }

  std::string folder_;
  std::string list_;
  std::string expected_;
  size_t count_ = 0;
};

// A graph's program on its test sample.
Status add_graph(Cases& cases, const std::string& name, const CompileRequest& request) {
  CAPRA_ASSIGN(const Program program,
               compile(request.network, request.calibration, request.options));
  CAPRA_ASSIGN(const std::vector<uint32_t> image, external_image(program, *request.test));
  return cases.add(name, program.instructions, image);
}

// A golden file that holds a run: its program, where it fits the one without reuse of buffers, and
// the one of the fast schedule.
Status add_golden(Cases& cases, const std::filesystem::path& path) {
  const std::string name = path.stem().string();
  CAPRA_ASSIGN(const Json file, read_json_file(path.string()));
  const Json* expected = file.find("expected");
  if (expected == nullptr || expected->find("listing") == nullptr) return {};
  CAPRA_ASSIGN(CompileRequest request, read_request(file, name));
  CAPRA_TRY(add_graph(cases, name, request));
  request.options.reuse = false;
  const Status kept = add_graph(cases, name + "_noreuse", request);
  if (!kept.ok() && kept.error().code != "memory-full") return fail(kept.error());
  request.options.reuse = true;
  request.options.schedule = Schedule::Fast;
  return add_graph(cases, name + "_fast", request);
}

// Seeds of the published battery that have no golden file; those from 106 on have published totals.
Status add_battery(Cases& cases) {
  const auto add = [&](CaseKind kind, int64_t first, int64_t last) -> Status {
    for (int64_t seed = first; seed <= last; ++seed) {
      const Case made = random_case(kind, seed);
      const std::string name = fmt::format("{}_seed_{}", case_kind_name(kind), seed);
      CAPRA_TRY(add_graph(cases, name, {made.network, made.calibration, made.test}));
    }
    return {};
  };
  CAPRA_TRY(add(CaseKind::Fresh, 106, 111));
  CAPRA_TRY(add(CaseKind::Graph, 30, 59));
  CAPRA_TRY(add(CaseKind::Slice, 10, 19));
  return add(CaseKind::Int4, 5, 14);
}

// Instructions that a decoder must refuse, each with a legal one before it.
Status add_illegal_ones(Cases& cases) {
  const std::vector<uint32_t> external = {1, 2, 3, 4};
  const std::vector<Instruction> before = {Load{5, 0, 4}};
  const auto add = [&](const std::string& name, const Encoded& words) {
    return cases.add_illegal("illegal_" + name, before, words, external);
  };
  for (uint32_t opcode = 9; opcode < 16; ++opcode) {
    CAPRA_TRY(add(fmt::format("opcode_{}", opcode), {0, 0, 0x12345678, opcode << 28 | 0x10}));
  }
  const Instruction empty[] = {Load{}, Store{}, Requantize{}, Softmax{}, Add{}, Argmax{}, Unpack{}};
  for (const Instruction& one : empty) {
    CAPRA_TRY(add(fmt::format("empty_{}", one.index()), encode(one)));
  }
  const Instruction full[] = {Load{0, 0, 4097}, Requantize{0, 0, 4097, 1, 0, 0}};
  for (const Instruction& one : full) {
    CAPRA_TRY(add(fmt::format("too_long_{}", one.index()), encode(one)));
  }
  const std::array<uint32_t, 3> shapes[] = {{0, 1, 1}, {1, 0, 1},  {1, 1, 0},
                                            {5, 1, 1}, {1, 65, 1}, {1, 1, 5}};
  for (const auto& [m, k, n] : shapes) {
    CAPRA_TRY(add(fmt::format("shape_{}_{}_{}", m, k, n),
                  encode(Multiply{100, 0, 50, m, k, n, 0, 1, 1, 1})));
  }
  const Instruction zeros[] = {Halt{},
                               Load{0, 0, 1},
                               Store{0, 0, 1},
                               Multiply{100, 0, 50, 1, 1, 1, 0, 1, 1, 1},
                               Requantize{0, 0, 1, 1, 0, 0},
                               Softmax{0, 0, 1},
                               Add{0, 0, 0, 1},
                               Argmax{0, 1, 1},
                               Unpack{8, 0, 1}};
  for (const Instruction& one : zeros) {
    Encoded words = encode(one);
    words[0] |= 1;
    CAPRA_TRY(add(fmt::format("low_bit_{}", one.index()), words));
  }
  return {};
}

Status write_cases(const std::string& golden, const std::string& out, int64_t random_count) {
  Cases cases(out);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(golden)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const std::filesystem::path& path : paths) CAPRA_TRY(add_golden(cases, path));
  CAPRA_TRY(add_battery(cases));
  CAPRA_TRY(add_illegal_ones(cases));
  std::mt19937_64 random(2);
  const RandomProgram shapes = every_shape(random);
  CAPRA_TRY(cases.add("every_shape", shapes.instructions, shapes.external));
  for (int64_t i = 0; i < random_count; ++i) {
    const RandomProgram program = random_program(random);
    CAPRA_TRY(cases.add(fmt::format("random_{:03}", i), program.instructions, program.external));
  }
  CAPRA_TRY(cases.finish());
  fmt::print("{} programs\n", cases.count());
  return {};
}

}  // namespace
}  // namespace capra::ga2

int main(int argc, char** argv) {
  int64_t count = 0;
  const std::string text = argc == 4 ? argv[3] : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (argc != 4 || error != std::errc()) {
    std::fputs("usage: chip_cases GOLDEN OUT COUNT\n", stderr);
    return 2;
  }
  const capra::Status status = capra::ga2::write_cases(argv[1], argv[2], count);
  if (status.ok()) return 0;
  std::fputs(capra::to_text(status.error()).c_str(), stderr);
  return 1;
}
