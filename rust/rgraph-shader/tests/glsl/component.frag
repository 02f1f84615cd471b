#version 450
layout(location = 0) in vec2 uv;
layout(location = 0, component = 0) out vec3 color;
layout(location = 0, component = 3) out float alpha;
void main() { color = vec3(uv, 0.0); alpha = 1.0; }
