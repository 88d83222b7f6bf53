// kernelcast-opencl launch|batch REQUEST REPLY: runs what the request holds on the machine's OpenCL device. Started by
// `kernelcast tune --measure` and `kernelcast probe --backend opencl`.
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "probe/opencl_wire.h"

namespace {

using namespace kernelcast;

std::string launched(const std::string& request) {
  probe::OpenclReply reply;
  const probe::OpenclLaunch launch = probe::launch_of(request);
  probe::OpenclRunner runner;
  reply.device = runner.device_name();
  reply.failure = runner.unavailable();
  reply.no_device = !reply.failure.empty();
  try {
    if (!reply.no_device) reply.timing = runner.time(launch);
  } catch (const Error& e) {
    reply.failure = e.what();
  }
  return probe::bytes_of(reply);
}

std::string batched(const std::string& request) {
  const probe::OpenclBatch batch = probe::batch_of(request);
  try {
    return probe::bytes_of(probe::run_batch(batch));
  } catch (const Error& e) {
    probe::OpenclBatchReply reply;
    reply.failure = e.what();
    return probe::bytes_of(reply);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string what = argv[1];
  if (what != "launch" && what != "batch") return 2;
  try {
    const std::string request = read_text_file(argv[2]);
    write_text_file(argv[3], what == "batch" ? batched(request) : launched(request));
  } catch (const Error&) {
    return 1;
  }
  return 0;
}
