#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) writeonly buffer Words { uint all[]; } words;
void main() { words.all[gl_GlobalInvocationID.x] = 1u; }
