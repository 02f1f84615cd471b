// glslang behind one function without objects: nothing of it crosses the border to Rust, exceptions least of all.

#include "assert.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "SPIRV/GlslangToSpv.h"
#include "SPIRV/Logger.h"
#include "glslang/Public/ResourceLimits.h"
#include "glslang/Public/ShaderLang.h"

namespace {

// Tokens that a compilation may read, those that macros and files stand for included.
constexpr long long MOST_TOKENS = 1 << 21;
// Types that it may look at, as often as it does: types that hold two of another type each are looked through anew.
constexpr long long MOST_TYPES = 1 << 24;
// Files that are open at once, and inclusions in all: a file may include itself.
constexpr size_t MOST_DEPTH = 64;
constexpr size_t MOST_INCLUSIONS = 4096;
// Version of texts that have none.
constexpr int DEFAULT_VERSION = 450;

}  // namespace

extern "C" {

// A line `#include` that was resolved: in which file, as it is written, and the file that it names.
struct rgraph_glsl_include {
  size_t in;
  const char* header;
  size_t file;
};

struct rgraph_glsl_request {
  int stage;  // EShLanguage
  bool preprocess;
  // Texts: the first is compiled, others are files that it includes. Names are their numbers, zero-terminated.
  const char* const* texts;
  const int* lengths;
  const char* const* names;
  size_t files;
  const rgraph_glsl_include* includes;
  size_t include_count;
};

// Of one call: words of SPIR-V, or text. `rgraph_glsl_free` takes both back.
struct rgraph_glsl_output {
  uint32_t* words;
  size_t count;
  char* text;
  size_t length;
};

}  // extern "C"

namespace {

enum Outcome { DONE = 0, REFUSED = 1, TOO_MUCH = 2, FAILED = 3 };

// Files by number. Each inclusion is looked up in the list, so nothing is read while a text compiles.
class Files : public glslang::TShader::Includer {
 public:
  explicit Files(const rgraph_glsl_request& request) : request(request) {}

  IncludeResult* includeLocal(const char* header, const char* includer, size_t depth) override {
    if (depth > MOST_DEPTH || ++count > MOST_INCLUSIONS) throw rgraph::TooMuch{};
    const size_t in = std::strtoul(includer, nullptr, 10);
    for (size_t at = 0; at < request.include_count; ++at) {
      const rgraph_glsl_include& one = request.includes[at];
      if (one.in == in && std::strcmp(one.header, header) == 0) {
        return new IncludeResult(request.names[one.file], request.texts[one.file],
                                 static_cast<size_t>(request.lengths[one.file]), nullptr);
      }
    }
    return nullptr;
  }
  IncludeResult* includeSystem(const char* header, const char* includer, size_t depth) override {
    return includeLocal(header, includer, depth);
  }
  void releaseInclude(IncludeResult* result) override { delete result; }

 private:
  const rgraph_glsl_request& request;
  size_t count = 0;
};

void put(const std::string& text, rgraph_glsl_output* out) {
  out->text = static_cast<char*>(std::malloc(text.size() + 1));
  if (!out->text) throw std::bad_alloc();
  std::memcpy(out->text, text.data(), text.size());
  out->length = text.size();
}

Outcome compile(const rgraph_glsl_request& request, rgraph_glsl_output* out) {
  static std::once_flag once;
  std::call_once(once, [] { glslang::InitializeProcess(); });
  const EShLanguage stage = static_cast<EShLanguage>(request.stage);
  const EShMessages messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules | EShMsgDisplayErrorColumn);
  Files files(request);
  rgraph::tokens = MOST_TOKENS;
  rgraph::types = MOST_TYPES;
  rgraph::reads = false;
  rgraph::ours = static_cast<glslang::TShader::Includer*>(&files);
  glslang::TShader shader(stage);
  shader.setStringsWithLengthsAndNames(request.texts, request.lengths, request.names, 1);
  // Texels are fetched without a sampler in other languages too.
  shader.setPreamble(
      "#extension GL_GOOGLE_include_directive : enable\n#extension GL_EXT_samplerless_texture_functions : enable\n");
  shader.setEnvInput(glslang::EShSourceGlsl, stage, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_3);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_6);
  const TBuiltInResource* limits = GetDefaultResources();
  if (request.preprocess) {
    std::string text;
    const bool good = shader.preprocess(limits, DEFAULT_VERSION, ENoProfile, false, false, messages, &text, files);
    put(good ? text : shader.getInfoLog(), out);
    return good ? DONE : REFUSED;
  }
  if (!shader.parse(limits, DEFAULT_VERSION, false, messages, files)) {
    put(shader.getInfoLog(), out);
    return REFUSED;
  }
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(messages)) {
    put(program.getInfoLog(), out);
    return REFUSED;
  }
  std::vector<unsigned int> words;
  spv::SpvBuildLogger logger;
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  glslang::GlslangToSpv(*program.getIntermediate(stage), words, &logger, &options);
  const std::string said = logger.getAllMessages();
  if (words.empty() || said.find("Missing functionality") != std::string::npos ||
      said.find("error:") != std::string::npos) {
    put(said, out);
    return REFUSED;
  }
  out->words = static_cast<uint32_t*>(std::malloc(words.size() * sizeof(uint32_t)));
  if (!out->words) throw std::bad_alloc();
  std::memcpy(out->words, words.data(), words.size() * sizeof(uint32_t));
  out->count = words.size();
  return DONE;
}

}  // namespace

// Thread-safe: a compilation has only its own objects, and glslang's tables of built-ins are made under its lock.
extern "C" int rgraph_glsl_compile(const rgraph_glsl_request* request, rgraph_glsl_output* out) {
  try {
    return compile(*request, out);
  } catch (const rgraph::TooMuch&) {
    return TOO_MUCH;
  } catch (const rgraph::Failed& failed) {
    try {
      put(failed.what, out);
    } catch (...) {
    }
    return FAILED;
  } catch (...) {
    return TOO_MUCH;
  }
}

extern "C" void rgraph_glsl_free(rgraph_glsl_output* out) {
  std::free(out->words);
  std::free(out->text);
}
