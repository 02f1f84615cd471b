#version 450
layout(location = 0) flat out int id;
layout(location = 1) out uint bare;
void main() { gl_Position = vec4(0.0); id = gl_VertexIndex; bare = 1u; }
