// Whether another thread of the same core, perhaps of another virtual machine, takes its share of the core's width.
// Part of tools/validate/offload_live.py, which compiles it.
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define EIGHT(text) text text text text text text text text

// Hertz. Additions that depend on each other take a cycle each.
double clock_here(void) {
  unsigned long sum = 1, step = 3;
  const double from = seconds_now();
  for (int i = 0; i < 2500; ++i) __asm__ volatile(EIGHT("add %1, %0\n") : "+r"(sum) : "r"(step));
  return 20000 / (seconds_now() - from);
}

// Instructions that do nothing in a cycle; a cycle is what one of a chain of additions takes, whatever the clock.
static double empty_rate_here(void) {
  unsigned long sum = 1, step = 3;
  double chain = 1e30, empty = 0;
  for (int round = 0; round < 8; ++round) {
    const double from = seconds_now();
    for (int i = 0; i < 500; ++i) __asm__ volatile(EIGHT("add %1, %0\n") : "+r"(sum) : "r"(step));
    const double middle = seconds_now();
    for (int i = 0; i < 500; ++i) __asm__ volatile(EIGHT("nop\n nop\n nop\n nop\n"));
    empty += seconds_now() - middle;
    if (middle - from < chain) chain = middle - from;  // the clock is the same in all rounds
  }
  return 4 * 8 * chain / empty;
}

// The least of these processors' rates; the caller stays where it was allowed to run.
double empty_rate(const int* processors, int count) {
  cpu_set_t before, one;
  double least = 1e30;
  sched_getaffinity(0, sizeof before, &before);
  for (int i = 0; i < count; ++i) {
    CPU_ZERO(&one);
    CPU_SET((unsigned)processors[i], &one);
    if (sched_setaffinity(0, sizeof one, &one)) continue;
    const double rate = empty_rate_here();
    if (rate < least) least = rate;
  }
  sched_setaffinity(0, sizeof before, &before);
  return least;
}

// The caller runs on this processor from now on.
void stay_on(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((unsigned)processor, &one);
  sched_setaffinity(0, sizeof one, &one);
}
