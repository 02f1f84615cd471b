#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D picture;
vec4 twice(sampler2D from, vec2 at) { return 2.0 * texture(from, at); }
void main() { color = twice(picture, uv); }
