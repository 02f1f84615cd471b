#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D marks;
void main() { imageAtomicOr(marks, ivec2(gl_GlobalInvocationID.xy), 1u); }
