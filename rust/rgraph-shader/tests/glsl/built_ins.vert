#version 460
#extension GL_EXT_multiview : require
void main() { gl_Position = vec4(gl_ViewIndex, gl_BaseVertex, gl_BaseInstance, gl_DrawID); }
