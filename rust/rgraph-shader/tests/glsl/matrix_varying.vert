#version 450
layout(location = 0) out mat3 turn;
layout(location = 3) out vec2 after;
void main() { gl_Position = vec4(0.0); turn = mat3(1.0); after = vec2(0.0); }
