#version 450
layout(location = 0) in vec3 position;
layout(location = 0) out vec2 uv;
out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };
void main() { gl_Position = vec4(position, 1.0); gl_PointSize = 1.0; uv = position.xy; }
