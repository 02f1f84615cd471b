#version 430
layout(local_size_x = 2) in;
void main() {}
