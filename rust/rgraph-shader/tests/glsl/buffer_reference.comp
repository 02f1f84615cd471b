#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer Target { vec4 value; };
layout(push_constant) uniform Push { Target target; uint count; } push;
void main() { push.target.value = vec4(push.count); }
