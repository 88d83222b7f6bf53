// A library for LD_PRELOAD: one call of a system function fails. FAIL_CALL is "NAME:N:ERROR": the N-th call of NAME fails with the error of
// that number; ERROR 0 stands for a short transfer (of one byte) of read and write. Calls that concern files whose names do not hold
// FAIL_PATH are not counted; of read, write, close, fchmod and fstat that is the name which the descriptor was opened with. Once the call has
// failed, the file FAIL_MARK exists.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_int calls;
enum { most_descriptors = 4096 };
static atomic_bool meant[most_descriptors];

static int concerns(const char* path) {
  const char* wanted = getenv("FAIL_PATH");
  return wanted == NULL || strstr(path, wanted) != NULL;
}

// -1: the call goes on; else the error it fails with.
static int failure(const char* name) {
  const char* plan = getenv("FAIL_CALL");
  const size_t length = strlen(name);
  if (plan == NULL || strncmp(plan, name, length) != 0 || plan[length] != ':') return -1;
  char* end = NULL;
  const long which = strtol(plan + length + 1, &end, 10);
  if (atomic_fetch_add(&calls, 1) + 1 != which) return -1;
  const char* mark = getenv("FAIL_MARK");
  if (mark != NULL) {
    const int fd = REAL(open)(mark, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) REAL(close)(fd);
  }
  return atoi(end + 1);
}

static int of_path(const char* name, const char* path) { return concerns(path) ? failure(name) : -1; }
static int of_descriptor(const char* name, int fd) {
  return fd >= 0 && fd < most_descriptors && meant[fd] ? failure(name) : -1;
}
static int fails(int error) {
  errno = error;
  return -1;
}

#define OPEN(name)                                                 \
  int name(const char* path, int flags, ...) {                     \
    va_list more;                                                  \
    va_start(more, flags);                                         \
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                  \
    const int error = of_path("open", path);                       \
    if (error > 0) return fails(error);                            \
    const int fd = REAL(name)(path, flags, mode);                  \
    if (fd >= 0 && fd < most_descriptors) meant[fd] = concerns(path) != 0; \
    return fd;                                                     \
  }
OPEN(open)
OPEN(open64)

ssize_t read(int fd, void* to, size_t size) {
  const int error = of_descriptor("read", fd);
  if (error > 0) return fails(error);
  return REAL(read)(fd, to, error == 0 && size > 0 ? 1 : size);
}
ssize_t write(int fd, const void* from, size_t size) {
  const int error = of_descriptor("write", fd);
  if (error > 0) return fails(error);
  return REAL(write)(fd, from, error == 0 && size > 0 ? 1 : size);
}
int close(int fd) {
  const int error = of_descriptor("close", fd);
  if (fd >= 0 && fd < most_descriptors) meant[fd] = 0;
  const int done = REAL(close)(fd);  // Linux closes in any case
  return error > 0 ? fails(error) : done;
}
int fchmod(int fd, mode_t mode) {
  const int error = of_descriptor("fchmod", fd);
  return error > 0 ? fails(error) : REAL(fchmod)(fd, mode);
}
int fstat(int fd, struct stat* to) {
  const int error = of_descriptor("fstat", fd);
  return error > 0 ? fails(error) : REAL(fstat)(fd, to);
}
int stat(const char* path, struct stat* to) {
  const int error = of_path("stat", path);
  return error > 0 ? fails(error) : REAL(stat)(path, to);
}
int faccessat(int folder, const char* path, int mode, int flags) {
  const int error = of_path("faccessat", path);
  return error > 0 ? fails(error) : REAL(faccessat)(folder, path, mode, flags);
}
int rename(const char* from, const char* to) {
  const int error = of_path("rename", to);
  return error > 0 ? fails(error) : REAL(rename)(from, to);
}
char* mkdtemp(char* pattern) {
  const int error = of_path("mkdtemp", pattern);
  if (error <= 0) return REAL(mkdtemp)(pattern);
  errno = error;
  return NULL;
}
int mkdir(const char* path, mode_t mode) {
  const int error = of_path("mkdir", path);
  return error > 0 ? fails(error) : REAL(mkdir)(path, mode);
}
int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const arguments[], char* const environment[]) {
  const int error = of_path("posix_spawn", path);
  return error > 0 ? error : REAL(posix_spawn)(child, path, actions, attributes, arguments, environment);
}
