#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { float grey = uv.y; color = vec4(grey.xxx, 1.0) + 0.5.xxxx; }
