#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
#define place uv
#define uv place
void main() { color = vec4(1.0); }
