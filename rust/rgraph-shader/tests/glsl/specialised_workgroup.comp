#version 450
layout(local_size_x_id = 3, local_size_y = 2) in;
layout(local_size_x = 8) in;
void main() {}
