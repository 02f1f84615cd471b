#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Clock { uint64_t ticks; int64_t delta; } clock;
void main() { clock.ticks += 1ul; clock.delta = -1l; }
