// Stands for the system's `assert.h` while glslang compiles: a failed assertion is an exception that `glsl.cpp` catches,
// so that a text of a stranger ends with an error and not with the process. `build.rs` puts the calls of `read` and `look`
// into glslang's headers.
#undef assert
#define assert(x) ((x) ? static_cast<void>(0) : ::rgraph::failed(#x))
#ifndef RGRAPH_ASSERT_H
#define RGRAPH_ASSERT_H
namespace rgraph {

// An invariant of glslang's does not hold.
struct Failed {
  const char* what;
};
[[noreturn]] inline void failed(const char* what) { throw Failed{what}; }

// A text asks for more work than is allowed.
struct TooMuch {};

// Tokens and types that are left to this thread's compilation.
inline thread_local long long tokens = 0;
inline thread_local long long types = 0;
// The files of this thread's compilation: glslang's own declarations are read with others, and not counted.
inline thread_local const void* ours = nullptr;
// Set once the user's text is being read.
inline thread_local bool reads = false;

// A token was read.
inline void read(const void* includer) {
  if (includer != ours) return;
  reads = true;
  if (--tokens < 0) throw TooMuch{};
}

// A type is looked at.
inline void look() {
  if (reads && --types < 0) throw TooMuch{};
}

}  // namespace rgraph
#endif
