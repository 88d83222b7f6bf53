; ARGS: predict {} --device v100 --grid 1 --block 64
; EXIT: 1
; STDERR: ir_parameter_of_no_type\.ll: .*kernel_arg_type of function 'k' is malformed: expected one string

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @k(ptr addrspace(1) %a, i32 %n) !kernel_arg_type !1 !kernel_arg_name !1 !kernel_arg_addr_space !1 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
!1 = !{i32 5}
