; ARGS: predict {} --device v100 --grid 1 --block 64
; EXIT: 1
; STDERR: broken_ir\.ll
define void @k(ptr %p) {
  store float 1.0, ptr %q
  ret void
}
