#version 450
layout(local_size_x = 1) in;
layout(push_constant) uniform Push { vec4 tint; } push;
layout(set = 0, binding = 0) buffer Words { uint all[]; } words;
void main() { words.all[0] = 1u; }
