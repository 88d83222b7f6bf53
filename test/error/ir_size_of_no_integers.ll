; ARGS: predict {} --device v100 --grid 1 --block 64
; EXIT: 1
; STDERR: ir_size_of_no_integers\.ll: .*reqd_work_group_size of function 'k' is malformed: expected three integers

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @k(ptr addrspace(1) %a, i32 %n) !reqd_work_group_size !1 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
!1 = !{!"a", i32 1, float 2.0}
