// Barriers in shared memory at which threads arrive and wait apart: mbarriers from sm_80 on. Before it nothing waits
// here.
#pragma once

typedef uint64_t __mbarrier_t, __mbarrier_token_t;
KC_D uint32_t __mbarrier_maximum_count() { return (1u << 20) - 1; }
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
#define KC_MBARRIER(b) "r"((unsigned)__cvta_generic_to_shared(b))
#define KC_ARRIVES(name, text)                                                            \
  KC_D __mbarrier_token_t name(__mbarrier_t* b) {                                         \
    __mbarrier_token_t token;                                                             \
    asm volatile("/* of CUDA */ " text ".shared.b64 %0, [%1];" : "=l"(token) : KC_MBARRIER(b) : "memory"); \
    return token;                                                                         \
  }
KC_ARRIVES(__mbarrier_arrive, "mbarrier.arrive")
KC_ARRIVES(__mbarrier_arrive_and_drop, "mbarrier.arrive_drop")
#undef KC_ARRIVES
    KC_D void __mbarrier_init(__mbarrier_t* b, uint32_t count) {
  asm volatile("/* of CUDA */ mbarrier.init.shared.b64 [%0], %1;" ::KC_MBARRIER(b), "r"(count) : "memory");
}
KC_D void __mbarrier_inval(__mbarrier_t* b) {
  asm volatile("/* of CUDA */ mbarrier.inval.shared.b64 [%0];" ::KC_MBARRIER(b) : "memory");
}
KC_D uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  uint32_t count;
  asm("/* of CUDA */ mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}
#define KC_TESTS(name, text, T, c)                                                              \
  KC_D bool name(__mbarrier_t* b, T what) {                                                     \
    unsigned done;                                                                              \
    asm volatile("/* of CUDA */ {\n.reg .pred P;\n" text ".shared.b64 P, [%1], %2;\nselp.b32 %0, 1, 0, P;\n}" \
                 : "=r"(done)                                                                   \
                 : KC_MBARRIER(b), c(what)                                                      \
                 : "memory");                                                                   \
    return done != 0;                                                                           \
  }
KC_TESTS(__mbarrier_test_wait, "mbarrier.test_wait", __mbarrier_token_t, "l")
KC_TESTS(__kc_test_parity, "mbarrier.test_wait.parity", uint32_t, "r")
#undef KC_TESTS
#undef KC_MBARRIER
KC_D void __pipeline_arrive_on(__mbarrier_t* b) {
  asm volatile("/* of CUDA */ cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(b)) : "memory");
}
#else
KC_D __mbarrier_token_t __mbarrier_arrive(__mbarrier_t*) { return 0; }
KC_D __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t*) { return 0; }
KC_D void __mbarrier_init(__mbarrier_t* b, uint32_t count) { *b = count; }
KC_D void __mbarrier_inval(__mbarrier_t*) {}
KC_D uint32_t __mbarrier_token_pending_count(__mbarrier_token_t) { return 0; }
KC_D bool __mbarrier_test_wait(__mbarrier_t*, __mbarrier_token_t) { return true; }
KC_D bool __kc_test_parity(__mbarrier_t*, uint32_t) { return true; }
KC_D void __pipeline_arrive_on(__mbarrier_t*) {}
#endif
KC_D bool __mbarrier_test_wait_parity(__mbarrier_t* b, bool phase) { return __kc_test_parity(b, phase); }
// A try is a test: how long it sleeps is not modelled.
KC_D bool __mbarrier_try_wait(__mbarrier_t* b, __mbarrier_token_t token, uint32_t) {
  return __mbarrier_test_wait(b, token);
}
KC_D bool __mbarrier_try_wait_parity(__mbarrier_t* b, bool phase, uint32_t) { return __kc_test_parity(b, phase); }
