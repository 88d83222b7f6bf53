// Fields of structures that a kernel takes by value.
#include "profile/structure_fields.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace kernelcast {
namespace {

Parameter number(const std::string& name, const std::string& type, int bytes) {
  Parameter p;
  p.name = name;
  p.type = type;
  p.bytes = bytes;
  p.integer = type.front() == 'i';
  return p;
}

template <class T>
void put(StructureSpec& s, std::size_t offset, T value) {
  s.bytes.resize(std::max(s.bytes.size(), offset + sizeof value));
  s.known.resize(s.bytes.size());
  std::memcpy(s.bytes.data() + offset, &value, sizeof value);
  s.known.replace(offset, sizeof value, sizeof value, '\1');
}

TEST(StructureFields, NumbersAreReadInTheirTypes) {
  KernelProfile profile;
  profile.parameters = {number("p+0", "i32", 4),  number("p+4", "i8", 1),   number("p+8", "f64", 8),
                        number("p+16", "f32", 4), number("p+24", "i64", 8), number("other+0", "i32", 4)};
  Launch launch;
  StructureSpec& s = launch.structures["p"];
  put<std::int32_t>(s, 0, -7);
  put<std::int8_t>(s, 4, 3);
  put<double>(s, 8, 0.25);
  put<float>(s, 16, 1.5F);
  put<std::int32_t>(s, 24, 1);  // half of what the field holds
  name_fields(profile, launch);
  EXPECT_EQ(launch.args, (std::map<std::string, ArgValue>{
                             {"p+0", std::int64_t{-7}}, {"p+4", std::int64_t{3}}, {"p+8", 0.25}, {"p+16", 1.5}}));
}

TEST(StructureFields, WhatTheLaunchGivesStays) {
  KernelProfile profile;
  profile.parameters = {number("p+0", "i32", 4)};
  profile.buffers = {{"p+8", MemorySpace::global, -1, 256, -1}, {"p+16", MemorySpace::global, -1, 256, -1}};
  Launch launch;
  put<std::int32_t>(launch.structures["p"], 0, 5);
  launch.structures["p"].pointers = {{8, {100, ""}}, {16, {200, "zero"}}};
  launch.args["p+0"] = std::int64_t{6};
  launch.buffers["p+8"] = {50, "uniform"};
  name_fields(profile, launch);
  EXPECT_EQ(std::get<std::int64_t>(launch.args.at("p+0")), 6);
  EXPECT_EQ(launch.buffers.at("p+8").elements, 50);
  EXPECT_EQ(launch.buffers.at("p+16").fill, "zero");
}

}  // namespace
}  // namespace kernelcast
