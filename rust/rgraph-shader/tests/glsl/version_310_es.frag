#version 310 es
precision highp float;
layout(location = 0) out vec4 color;
void main() { color = vec4(0.25); }
