// The Khronos validator behind one function without objects: nothing of it crosses the border to Rust.

#include <cstdint>
#include <cstring>

#include "spirv-tools/libspirv.h"

// 0 if `words` may go to a driver of Vulkan 1.3; else 1, with the reason, cut to `capacity` bytes with its final zero.
// `at` is the word that it is about. Thread-safe: each call has its own context.
extern "C" int rgraph_validate_spirv(const uint32_t* words, size_t count, char* reason, size_t capacity, size_t* at) {
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
  spv_validator_options options = spvValidatorOptionsCreate();
  if (!context || !options) return 1;
  // Names of ids are text of strangers; numbers are enough.
  spvValidatorOptionsSetFriendlyNames(options, false);
  spv_diagnostic diagnostic = nullptr;
  spv_const_binary_t binary = {words, count};
  const spv_result_t result = spvValidateWithOptions(context, options, &binary, &diagnostic);
  if (result != SPV_SUCCESS && diagnostic && diagnostic->error && capacity > 0) {
    std::strncpy(reason, diagnostic->error, capacity - 1);
    *at = diagnostic->position.index;
  }
  spvDiagnosticDestroy(diagnostic);
  spvValidatorOptionsDestroy(options);
  spvContextDestroy(context);
  return result == SPV_SUCCESS ? 0 : 1;
}
