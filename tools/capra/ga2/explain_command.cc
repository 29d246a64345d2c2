// capra ga2 explain: every pass in words, and pictures of what came out.
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "capra/io/json.h"
#include "capra/targets/ga2/explain/drawings.h"
#include "capra/targets/ga2/explain/walk.h"
#include "tools/capra/ga2/request.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

struct Picture {
  const char* file;
  std::string (*draw)(const ga2::Program& program);
};

constexpr std::array kPictures = {Picture{"memory_map.svg", ga2::memory_map_svg},
                                  Picture{"tiles.svg", ga2::tiles_svg},
                                  Picture{"scales.svg", ga2::scales_svg}};

// All pictures or none.
Status write_pictures(const ga2::Program& program, const std::vector<std::string>& paths) {
  std::vector<Output> outputs;
  outputs.reserve(kPictures.size());
  for (size_t i = 0; i < kPictures.size(); ++i) {
    CAPRA_ASSIGN(Output output, Output::open(paths[i]));
    CAPRA_TRY(output.write(kPictures[i].draw(program)));
    outputs.push_back(std::move(output));
  }
  std::vector<std::string> finished;
  finished.reserve(paths.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].is_file()) finished.push_back(paths[i]);
    Status status = outputs[i].finish();
    if (status.ok()) continue;
    std::error_code ignored;
    for (const std::string& path : finished) std::filesystem::remove(path, ignored);
    return status;
  }
  return {};
}

// Returns the paths.
Result<std::vector<std::string>> write_pictures(const ga2::Program& program,
                                                const std::string& folder) {
  std::vector<std::string> paths;
  if (folder.empty()) return paths;
  std::error_code error;
  const bool is_new = !std::filesystem::exists(folder, error);
  std::filesystem::create_directories(folder, error);
  if (error) {
    return fail("output-unwritable", "the folder cannot be made: " + error.message(), folder,
                "name a folder that can be written to");
  }
  paths.reserve(kPictures.size());
  for (const Picture& picture : kPictures) {
    paths.push_back((std::filesystem::path(folder) / picture.file).string());
  }
  Status written = write_pictures(program, paths);
  if (written.ok()) return paths;
  if (is_new) std::filesystem::remove(folder, error);
  return written.take_failure();
}

Json explained_json(const std::vector<ga2::Chapter>& chapters,
                    const std::vector<std::string>& pictures) {
  Json passes = Json::array();
  for (const ga2::Chapter& chapter : chapters) {
    Json lines = Json::array();
    for (const std::string& line : chapter.lines) lines.push(line);
    Json pass = Json::object();
    pass.set("title", chapter.title).set("lines", std::move(lines));
    passes.push(std::move(pass));
  }
  Json files = Json::array();
  for (const std::string& path : pictures) files.push(path);
  Json document = Json::object();
  document.set("passes", std::move(passes)).set("pictures", std::move(files));
  return document;
}

}  // namespace

Result<int> run_ga2_explain(const Ga2ExplainOptions& options) {
  CAPRA_ASSIGN(const ga2::CompileRequest request, open_request(options));
  CAPRA_ASSIGN(const ga2::Program program, compile_request(request));
  ga2::CompileOptions kept = request.options;
  kept.reuse = false;
  CAPRA_ASSIGN(
      const std::vector<ga2::Chapter> chapters,
      ga2::walk(request, program, ga2::compile(request.network, request.calibration, kept)));
  CAPRA_ASSIGN(const std::vector<std::string> pictures, write_pictures(program, options.output));
  if (options.json) {
    CAPRA_TRY(print_result(explained_json(chapters, pictures).text(2) + "\n"));
    return kDone;
  }
  std::string text;
  for (const ga2::Chapter& chapter : chapters) {
    if (!text.empty()) text += "\n";
    text.append("== ").append(chapter.title).append("\n");
    for (const std::string& line : chapter.lines) text.append(line).append("\n");
  }
  CAPRA_TRY(print_result(text));
  return kDone;
}

}  // namespace capra::driver
