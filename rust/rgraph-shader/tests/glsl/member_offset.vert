#version 450
layout(push_constant) uniform Push { layout(offset = 16) vec4 place; layout(offset = 48) float w; } push;
void main() { gl_Position = vec4(push.place.xyz, push.w); }
