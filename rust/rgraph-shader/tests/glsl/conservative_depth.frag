#version 450
layout(location = 0) out vec4 color;
layout(depth_greater) out float gl_FragDepth;
void main() { color = vec4(1.0); gl_FragDepth = 0.5; }
