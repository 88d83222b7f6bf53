#include "cli/run.h"

int main(int argc, char** argv) { return kernelcast::cli::run(argc, argv); }
