/* Stands in for NVIDIA's run-time compiler, version 99.9, which knows sm_70, sm_80 and sm_90. Its "code" is a cubin with one
   kernel: that of the name expression, lowered to "lowered"; otherwise SYMBOL of the options; otherwise the function behind
   `extern "C" __global__ void`. The options REGISTERS (40), STACK (0) and SHARED (0) say what it takes. A source that holds
   "#include <vector>" or, with -DREFUSE=1, any source is refused; "SHOW" in the source has the options in the message. Each
   compilation adds a line to the file KERNELCAST_FAKE_NVRTC. MISSING leaves out a function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program {
  char *text, *name, *expression, log[4096], cubin[4096];
  size_t size;
};

static void put(char* at, unsigned long long value, int width) {
  for (int i = 0; i < width; ++i) at[i] = (char)(value >> 8 * i);
}

int nvrtcVersion(int* major, int* minor) {
  *major = 99;
  *minor = 9;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* n) {
  *n = 3;
  return 0;
}
int nvrtcGetSupportedArchs(int* archs) {
  archs[0] = 70, archs[1] = 80, archs[2] = 90;
  return 0;
}
const char* nvrtcGetErrorString(int status) { return status == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR"; }
int nvrtcCreateProgram(struct program** out, const char* text, const char* name, int n, const char* const* h, const char* const* i) {
  (void)n, (void)h, (void)i;
  struct program* p = calloc(1, sizeof *p);
  p->text = strdup(text);
  p->name = strdup(name);
  *out = p;
  return 0;
}
int nvrtcDestroyProgram(struct program** p) {
  free((*p)->text), free((*p)->name), free((*p)->expression), free(*p);
  *p = 0;
  return 0;
}
int nvrtcAddNameExpression(struct program* p, const char* text) {
  p->expression = strdup(text);
  return 0;
}
int nvrtcGetLoweredName(struct program* p, const char* text, const char** out) {
  *out = "lowered";
  return p->expression != 0 && strcmp(text, p->expression) == 0 ? 0 : 10;
}

/* The value of -DNAME=VALUE. */
static const char* defined(int n, const char* const* options, const char* name) {
  const size_t length = strlen(name);
  for (int i = 0; i < n; ++i)
    if (strncmp(options[i], "-D", 2) == 0 && strncmp(options[i] + 2, name, length) == 0 && options[i][2 + length] == '=')
      return options[i] + 3 + length;
  return 0;
}
static unsigned number(int n, const char* const* options, const char* name, unsigned otherwise) {
  const char* text = defined(n, options, name);
  return text != 0 ? (unsigned)atoi(text) : otherwise;
}

static void section(char* at, size_t name, unsigned type, size_t offset, size_t size, unsigned info) {
  put(at, name, 4), put(at + 4, type, 4), put(at + 24, offset, 8), put(at + 32, size, 8), put(at + 44, info, 4);
}

/* Sections: none, names, .nv.info, .text.KERNEL, .nv.shared.KERNEL. */
static void assemble(struct program* p, const char* kernel, int arch, unsigned registers, unsigned stack, unsigned shared) {
  char* out = p->cubin;
  memcpy(out, "\177ELF\2\1\1", 7);
  put(out + 8, 7, 1), put(out + 18, 190, 2), put(out + 48, (unsigned)arch, 4);
  char* names = out + 64;
  const size_t info_name = 1 + strlen(".names") + 1, text_name = info_name + strlen(".nv.info") + 1;
  const size_t shared_name = text_name + strlen(".text.") + strlen(kernel) + 1;
  strcpy(names + 1, ".names"), strcpy(names + info_name, ".nv.info");
  sprintf(names + text_name, ".text.%s", kernel), sprintf(names + shared_name, ".nv.shared.%s", kernel);
  const size_t names_size = shared_name + strlen(names + shared_name) + 1;
  const size_t info = 1024, code = 1056, table = 1088;
  put(out + info, 0x00082f04, 4), put(out + info + 4, 6, 4), put(out + info + 8, registers, 4);
  put(out + info + 12, 0x00081104, 4), put(out + info + 16, 6, 4), put(out + info + 20, stack, 4);
  section(out + table + 64, 1, 3, 64, names_size, 0);
  section(out + table + 128, info_name, 0x70000000, info, registers > 0 ? 24 : 0, 0);
  section(out + table + 192, text_name, 1, code, 32, 6);
  section(out + table + 256, shared_name, 8, code, shared + (arch >= 90 ? 1024 : 0), 3);
  put(out + 40, table, 8), put(out + 58, 64, 2), put(out + 60, 5, 2), put(out + 62, 1, 2);
  p->size = table + 5 * 64;
}

int nvrtcCompileProgram(struct program* p, int n, const char* const* options) {
  const char* counted = getenv("KERNELCAST_FAKE_NVRTC");
  FILE* file = counted != 0 ? fopen(counted, "a") : 0;
  if (file != 0) fprintf(file, "%s\n", p->name), fclose(file);
  int arch = 0;
  char all[2048] = "";
  for (int i = 0; i < n; ++i) {
    sscanf(options[i], "--gpu-architecture=sm_%d", &arch);
    snprintf(all + strlen(all), sizeof all - strlen(all), " %s", options[i]);
  }
  if (strstr(p->text, "#include <vector>") != 0 || number(n, options, "REFUSE", 0) > 0) {
    snprintf(p->log, sizeof p->log, "%s(1): warning: a warning comes first\n\n%s(2): catastrophic error: cannot open source file \"vector\"\n",
             p->name, p->name);
    return 6;
  }
  if (strstr(p->text, "SHOW") != 0) {
    snprintf(p->log, sizeof p->log, "error:%s of %s\n", all, p->expression != 0 ? p->expression : "no expression");
    return 6;
  }
  char kernel[128] = "lowered";
  const char* at = strstr(p->text, "extern \"C\" __global__ void ");
  const char* symbol = defined(n, options, "SYMBOL");
  if (p->expression == 0 && symbol != 0) sscanf(symbol, "%127s", kernel);
  if (p->expression == 0 && symbol == 0 && at != 0) sscanf(at + 27, "%127[^(]", kernel);
  assemble(p, kernel, arch, number(n, options, "REGISTERS", 40), number(n, options, "STACK", 0), number(n, options, "SHARED", 0));
  return 0;
}
int nvrtcGetProgramLogSize(struct program* p, size_t* size) {
  *size = strlen(p->log) + 1;
  return 0;
}
int nvrtcGetProgramLog(struct program* p, char* out) {
  strcpy(out, p->log);
  return 0;
}
int nvrtcGetCUBINSize(struct program* p, size_t* size) {
  *size = p->size;
  return 0;
}
#ifndef MISSING
int nvrtcGetCUBIN(struct program* p, char* out) {
  memcpy(out, p->cubin, p->size);
  return 0;
}
#endif
