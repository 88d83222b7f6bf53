// kernelcast-opencl REQUEST REPLY: runs one launch on the machine's OpenCL device. Started by `kernelcast tune
// --measure`.
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "probe/opencl_wire.h"

int main(int argc, char** argv) {
  using namespace kernelcast;
  if (argc != 3) return 2;
  try {
    probe::OpenclReply reply;
    const probe::OpenclLaunch launch = probe::launch_of(read_text_file(argv[1]));
    probe::OpenclRunner runner;
    reply.device = runner.device_name();
    reply.failure = runner.unavailable();
    reply.no_device = !reply.failure.empty();
    try {
      if (!reply.no_device) reply.timing = runner.time(launch);
    } catch (const Error& e) {
      reply.failure = e.what();
    }
    write_text_file(argv[2], probe::bytes_of(reply));
  } catch (const Error&) {
    return 1;
  }
  return 0;
}
