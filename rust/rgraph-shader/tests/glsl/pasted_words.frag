#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
#define JOIN(a, b) a##b
void main() { color = vec4(JOIN(u, v), 0.0, 1.0); }
