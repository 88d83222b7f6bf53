// kernelcast-cuda PLAN RECORD [LIBRARY]: runs what the plan holds on the machine's NVIDIA GPU. Started by
// `kernelcast probe --backend cuda`; a process of its own because a driver may crash or hang. It needs the standard
// library and dlopen only, so that tools/gpu/gpu_session.sh can build it with a bare compiler on the machine with the
// GPU. Exit status: 0 it ran (single launches may have failed, the record says which), 1 there is no device to run on
// or it gave up, which the record says too, 2 usage and files.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "probe/cuda/plan.h"

namespace {

using namespace kernelcast::probe::cuda;

bool write(const std::string& path, const Record& record) {
  const std::string beside = path + ".part";
  {
    std::ofstream out(beside, std::ios::binary);
    out << bytes_of(record);
    if (!out.flush()) return false;
  }
  return std::rename(beside.c_str(), path.c_str()) == 0;
}

int run(int argc, char** argv) {
  std::ifstream in(argv[1], std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "kernelcast-cuda: %s cannot be read\n", argv[1]);
    return 2;
  }
  const Plan plan = plan_of(std::string(std::istreambuf_iterator<char>(in), {}));
  const Record record = run_plan(plan, argc > 3 ? argv[3] : "", [&](const Record& r) { (void)write(argv[2], r); });
  if (!write(argv[2], record)) {
    std::fprintf(stderr, "kernelcast-cuda: %s cannot be written\n", argv[2]);
    return 2;
  }
  if (record.failure.empty()) return 0;
  std::fprintf(stderr, "kernelcast-cuda: %s\n", record.failure.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: kernelcast-cuda PLAN RECORD [LIBRARY]\n");
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kernelcast-cuda: %s\n", e.what());
    return 2;
  }
}
