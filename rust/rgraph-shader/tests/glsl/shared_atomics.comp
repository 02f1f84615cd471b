#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer Count { uint n; } count;
shared uint sum;
void main() { if (gl_LocalInvocationIndex == 0u) sum = 0u; barrier(); atomicAdd(sum, 1u); barrier(); count.n = sum; }
