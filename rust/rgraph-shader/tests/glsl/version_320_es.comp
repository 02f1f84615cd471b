#version 320 es
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Words { uint all[]; } words;
void main() { words.all[gl_GlobalInvocationID.x] = 1u; }
