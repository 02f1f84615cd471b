#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Sums { uint all[]; } sums;
void main() {
    uint sum = subgroupAdd(gl_SubgroupInvocationID);
    if (subgroupElect()) sums.all[gl_SubgroupID] = sum + subgroupBallotBitCount(subgroupBallot(true));
}
