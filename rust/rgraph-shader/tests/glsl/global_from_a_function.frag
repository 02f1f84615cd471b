#version 450
layout(location = 0) out vec4 color;
layout(push_constant) uniform Push { float strength; } push;
float half_of(float x) { return 0.5 * x; }
float level = half_of(push.strength);
void main() { color = vec4(level); }
