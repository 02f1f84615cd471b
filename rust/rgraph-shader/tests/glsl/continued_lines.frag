#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
#define SUM(x) \
    ((x) + \
    1.0)
void main() { color = vec4(SUM(uv.x)); }
