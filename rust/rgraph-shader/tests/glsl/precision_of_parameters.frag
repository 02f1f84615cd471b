#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
vec3 mixed(mediump vec3 a, lowp float t, highp vec3 b) { return mix(a, b, t); }
void main() { color = vec4(mixed(vec3(0.0), uv.x, vec3(1.0)), 1.0); }
