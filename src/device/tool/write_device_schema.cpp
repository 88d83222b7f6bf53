// Prints the JSON Schema of device files; the target device_schema writes it into the tree.
#include <cstdio>

#include "kernelcast/device.h"

int main() { return std::fputs(kernelcast::device_schema_json().c_str(), stdout) < 0 ? 1 : 0; }
