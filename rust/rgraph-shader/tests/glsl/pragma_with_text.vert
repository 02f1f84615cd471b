#version 450
#pragma parameters "strength.txt"
void main() { gl_Position = vec4(0.0); }
