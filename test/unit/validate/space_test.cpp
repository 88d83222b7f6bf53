// Spaces and Kernel Tuner's files.
#include "validate/recorded_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "kernelcast/error.h"
#include "validate/inputs.h"
#include "validate/measurement.h"

namespace kernelcast::validate {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

template <class F>
std::string failure(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

constexpr const char* t1 = R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "bx"}, {"Name": "tile"}]},
  "KernelSpecification": {"Language": "CUDA", "KernelName": "run", "KernelFile": "k.cu",
    "CompilerOptions": ["-std=c++11", "use_fast_math"],
    "LocalSize": {"X": "bx", "Y": "2", "Z": "1"}, "GridDivX": ["bx", "tile"], "ProblemSize": [1000, 64],
    "SharedMemory": "bx * 8",
    "Arguments": [{"Name": "out", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0] * ProblemSize[1]"},
                  {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 7},
                  {"Name": "c", "Type": "float", "MemoryType": "Vector", "MemType": "Constant", "Size": 9}]}})";

Configuration configuration(std::vector<std::pair<std::string, std::string>> parameters) {
  Configuration c;
  c.place = "c.json#1";
  c.gpu = "v100";
  c.parameters = std::move(parameters);
  c.measured_s = 1;
  return c;
}

TEST(Space, LaunchOfAConfiguration) {
  const SpaceDescription space = read_t1("t1.json", t1);
  EXPECT_TRUE(space.fast_math);
  const Measurement m = measurement_of(space, configuration({{"bx", "32"}, {"tile", "3"}}));
  EXPECT_EQ(m.kernel_id, "run");
  EXPECT_EQ(m.launch.grid, (Dim3{11, 64, 1}));  // ceil(1000 / 96); no divisor of y
  EXPECT_EQ(m.launch.block, (Dim3{32, 2, 1}));
  EXPECT_EQ(m.launch.dynamic_shared_bytes, 256);
  EXPECT_FALSE(m.block_of_kernel);
  EXPECT_THAT(m.defines, ElementsAre("bx=32", "tile=3", "grid_size_x=11", "grid_size_y=64", "grid_size_z=1"));
  ASSERT_EQ(m.positional.size(), 3U);
  EXPECT_EQ(m.positional[0].elements, 64000);
  EXPECT_EQ(m.positional[1].value, 7);
  EXPECT_TRUE(m.positional[2].constant_memory);
}

TEST(Space, ABlockOfUnknownNamesIsTheKernels) {
  std::string text = t1;
  text.replace(text.find("\"X\": \"bx\""), 9, "\"X\": \"??\"");
  text.replace(text.find("\"??\""), 4, "\"by\"");
  const Measurement m = measurement_of(read_t1("t1.json", text), configuration({{"bx", "32"}, {"tile", "3"}}));
  EXPECT_TRUE(m.block_of_kernel);
}

TEST(Space, ErrorsNameTheFileAndTheConfiguration) {
  const SpaceDescription space = read_t1("t1.json", t1);
  EXPECT_THAT(failure([&] { measurement_of(space, configuration({{"bx", "32"}})); }),
              HasSubstr("t1.json: expression \"tile\": nothing is called tile (for c.json#1)"));
  EXPECT_THAT(failure([&] { measurement_of(space, configuration({{"bx", "1.5"}, {"tile", "1"}})); }),
              HasSubstr("block size 1.5 of c.json#1 is not a whole number"));
  EXPECT_THAT(failure([] { read_t1("t1.json", "{"); }), HasSubstr("t1.json: not JSON"));
  EXPECT_THAT(failure([] { read_t1("t1.json", "{}"); }), HasSubstr("there is no \"KernelSpecification\""));
}

TEST(Space, CsvColumnsAreParameters) {
  const auto all =
      read_space_csv("s.csv", "kernel_id,gpu,bx,tile,time_ms,status\nk,v100,32,1,2.5,ok\nk,v100,64,1,,runtime\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0].parameters, ElementsAre(std::pair("bx", "32"), std::pair("tile", "1")));
  EXPECT_DOUBLE_EQ(*all[0].measured_s, 2.5e-3);
  EXPECT_FALSE(all[1].measured_s);
  EXPECT_EQ(all[1].status, "runtime");
  EXPECT_THAT(failure([] { read_space_csv("s.csv", "bx,time_ms\n1,soon\n"); }), HasSubstr("s.csv:2: column time_ms"));
  EXPECT_FALSE(is_rows_csv("kernel_id,bx\n1,grid_x\n"));
  EXPECT_TRUE(is_rows_csv("kernel_id,grid_x\n"));
}

TEST(KernelTuner, T4ResultsAndTheirFailures) {
  const auto all = read_tuner_results("t4.json", R"({"schema_version": "1.0.0", "results": [
    {"configuration": {"bx": 32, "v": "a", "f": 0.5, "on": true}, "times": {"runtimes": [3, 1, 2]}, "invalidity": "correct"},
    {"configuration": {"bx": 64}, "times": {}, "invalidity": "correct",
     "measurements": [{"name": "energy", "value": 3}, {"name": "time", "value": 5, "unit": "us"}]},
    {"configuration": {"bx": 96}, "times": {"runtimes": [1]}, "invalidity": "compile"}]})");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0].parameters,
              ElementsAre(std::pair("bx", "32"), std::pair("v", "a"), std::pair("f", "0.5"), std::pair("on", "1")));
  EXPECT_DOUBLE_EQ(*all[0].measured_s, 2e-3);  // the median of the runs, in milliseconds
  EXPECT_DOUBLE_EQ(*all[1].measured_s, 5e-6);
  EXPECT_FALSE(all[2].measured_s);
  EXPECT_EQ(all[2].status, "compile");
  EXPECT_EQ(all[1].place, "t4.json#2");
}

constexpr const char* cache = R"({"device_name": "NVIDIA RTX A4000", "kernel_name": "run", "tune_params_keys": ["bx"],
  "cache": {"32": {"bx": 32, "time": 4.0, "times": [5, 3, 9]}, "64": {"bx": 64, "time": "CompilationFailedConfig"},
            "96": {"bx": 96, "time": 1e20}, "128": {"bx": 128, "time": 0.5})";

TEST(KernelTuner, CachesOldAndOpen) {
  for (const char* ending : {"}}", ",", ""}) {  // closed, or as Kernel Tuner leaves it while it tunes
    const auto all = read_tuner_results("cache.json", std::string(cache) + ending);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0].gpu, "NVIDIA RTX A4000");
    EXPECT_DOUBLE_EQ(*all[0].measured_s, 5e-3);
    EXPECT_EQ(all[1].status, "CompilationFailedConfig");
    EXPECT_EQ(all[2].status, "failed");
    EXPECT_DOUBLE_EQ(*all[3].measured_s, 0.5e-3);
  }
  EXPECT_THAT(failure([] { read_tuner_results("x.json", "{\"rows\": []}"); }), HasSubstr("neither \"results\""));
  EXPECT_THAT(failure([] { read_tuner_results("x.json", t1); }), HasSubstr("give it with t1"));
}

class InputFilesOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kernelcast_inputs_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    write("t1.json", t1);
    write("cache.json", std::string(cache) + "}}");
    write("kernels.csv", "id,language,path,entry\nmine,cuda,k.cu,run\nother,cuda,k.cu,walk\n");
    write("rows.csv", "kernel_id,gpu,grid_x,block_x,args,problem,time_ms\nmine,v100,4,32,n=5,small,1\n");
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  [[nodiscard]] InputFiles files(const std::string& rows) const {
    InputFiles f;
    f.rows = path(rows);
    return f;
  }
  fs::path folder_;
};

TEST_F(InputFilesOnDisk, AT1FileNamesTheKernelByItself) {
  write("both.json", R"({"tune_params_keys": ["bx", "tile"], "device_name": "v100",
                        "cache": {"a": {"bx": 32, "tile": 1, "time": 2}}})");
  InputFiles f = files("both.json");
  f.t1 = path("t1.json");
  const Inputs in = read_inputs(f);
  EXPECT_EQ(in.kernels.at("run").path, "k.cu");
  EXPECT_THAT(in.kernels.at("run").defines, ElementsAre("kernel_tuner=1"));
  ASSERT_EQ(in.rows.size(), 1U);
  EXPECT_EQ(in.rows[0].kernel_id, "run");
}

TEST_F(InputFilesOnDisk, FlagsForTheLaunchAndARowForTheArguments) {
  InputFiles f = files("cache.json");
  f.kernels = path("kernels.csv");
  f.like = path("rows.csv");
  f.kernel = "mine";
  f.block = {"bx"};
  f.tile = {"2"};
  f.problem = {"1024", "3"};
  const Inputs in = read_inputs(f);
  const Measurement& m = in.rows.at(0);
  EXPECT_EQ(m.launch.grid, (Dim3{16, 3, 1}));
  EXPECT_EQ(m.launch.block, (Dim3{32, 1, 1}));
  EXPECT_EQ(m.problem, "small");
  EXPECT_EQ(std::get<std::int64_t>(m.launch.args.at("n")), 5);
}

TEST_F(InputFilesOnDisk, WhatIsMissingIsNamed) {
  const auto fails = [](const InputFiles& f) { return failure([&] { read_inputs(f); }); };
  InputFiles f = files("cache.json");
  EXPECT_THAT(fails(f), HasSubstr("kernels FILE, or t1 FILE"));
  f.kernels = path("kernels.csv");
  EXPECT_THAT(fails(f), HasSubstr("give t1 FILE, or block and problem"));
  f.block = {"bx"};
  f.problem = {"64"};
  EXPECT_THAT(fails(f), HasSubstr("name one with kernel"));
  f = files("rows.csv");
  EXPECT_THAT(fails(f), HasSubstr("kernels FILE is missing"));
  f.kernels = path("kernels.csv");
  f.block = {"1"};
  EXPECT_THAT(fails(f), HasSubstr("block is for spaces"));
  write("t4.json", R"({"results": [{"configuration": {"bx": 1, "tile": 1}, "times": {"runtimes": [1]}}]})");
  f = files("t4.json");
  f.t1 = path("t1.json");
  EXPECT_THAT(fails(f), HasSubstr("which GPU was measured: name it with device"));
}

TEST_F(InputFilesOnDisk, AConfigurationWithoutALaunchIsARowThatFails) {
  InputFiles f = files("some.json");
  f.kernels = path("kernels.csv");
  f.kernel = "mine";
  f.block = {"bx"};
  f.problem = {"64"};
  const auto cache_of = [&](const std::string& entries) {
    write("some.json", R"({"device_name": "v100", "tune_params_keys": ["bx"], "cache": {)" + entries + "}}");
  };
  const std::string none = R"("a": {"bx": 0, "time": 1})", good = R"("b": {"bx": 32, "time": 1})";
  cache_of(none + "," + good + R"(, "c": {"bx": 0, "time": "RuntimeFailedConfig"})");
  const Inputs in = read_inputs(f);
  ASSERT_EQ(in.rows.size(), 3U);
  EXPECT_THAT(in.rows[0].failure, HasSubstr("block size 0 of " + path("some.json") + "#a is not a whole number"));
  EXPECT_TRUE(in.rows[0].measured_s);
  EXPECT_EQ(in.rows[1].failure, "");
  EXPECT_EQ(in.rows[1].launch.grid.x, 2);
  EXPECT_FALSE(in.rows[2].measured_s);  // failed on the hardware, whatever the launch
  cache_of(none);
  EXPECT_THAT(failure([&] { read_inputs(f); }), HasSubstr("block size 0"));  // more likely the flags are wrong
  cache_of("");
  EXPECT_THAT(failure([&] { read_inputs(f); }), HasSubstr("some.json: there is no measurement in it"));
  cache_of(good + R"(, "d": {"bx": 64})");
  EXPECT_THAT(failure([&] { read_inputs(f); }), HasSubstr("some.json#d: there is no \"time\""));
}

TEST_F(InputFilesOnDisk, GzipIsReadLikeText) {
  const std::string name = path("rows.csv.gz");
  std::ifstream plain(path("rows.csv"));
  const std::string text((std::istreambuf_iterator<char>(plain)), {});
  gzFile file = gzopen(name.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(read_plain_or_gzip(name), text);
  fs::resize_file(name, fs::file_size(name) - 9);
  EXPECT_THAT(failure([&] { read_plain_or_gzip(name); }), HasSubstr("damaged or cut off"));
}

TEST(Select, KernelsDevicesAndEvenlySpreadRows) {
  const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  std::vector<Measurement> rows;
  for (int i = 0; i < 10; ++i) {
    Measurement m;
    m.kernel_id = i < 8 ? "a_1" : "b_1";
    m.gpu = i % 2 == 0 ? "NVIDIA RTX A4000" : "v100";
    m.place = std::to_string(i);
    rows.push_back(m);
  }
  const auto places = [](const std::vector<Measurement>& kept) {
    std::string text;
    for (const Measurement& m : kept) text += m.place;
    return text;
  };
  EXPECT_EQ(places(selected(rows, {}, catalog)), "0123456789");
  EXPECT_EQ(places(selected(rows, {{"a_*"}, {"a4000"}, 0}, catalog)), "0246");
  EXPECT_EQ(places(selected(rows, {{}, {}, 2}, catalog)).size(), 6U);  // 2 of a on either GPU, 1 of b
  EXPECT_THAT(failure([&] { selected(rows, {{"c*"}, {}, 0}, catalog); }), HasSubstr("kernel c*"));
  EXPECT_THAT(failure([&] { selected(rows, {{}, {"gtx280"}, 0}, catalog); }), HasSubstr("device gtx280"));
}

}  // namespace
}  // namespace kernelcast::validate
