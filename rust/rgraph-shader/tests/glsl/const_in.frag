#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
float same(const in float x) { return x; }
void main() { color = vec4(same(uv.x)); }
