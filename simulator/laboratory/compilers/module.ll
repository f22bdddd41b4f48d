; What LLVM makes of: an alias, weak and common variables, a table of functions, a structure by value, 128-bit integers,
; copies of memory, narrow parameters, and assembly with a scope and registers of its own.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%Item = type { i8, [3 x i16], double }
@counter = weak addrspace(1) global i32 40, align 4
@"odd.name$1" = internal addrspace(1) global [3 x i32] [i32 3, i32 5, i32 7]
@functions = internal addrspace(1) constant [2 x ptr] [ptr @addOne, ptr @times3]
@packed = internal addrspace(1) constant <{ i8, i32, ptr addrspace(1) }> <{ i8 9, i32 -2, ptr addrspace(1) @"odd.name$1" }>
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i64 @llvm.bitreverse.i64(i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
define i32 @addOne(i32 %x) noinline {
  %r = add i32 %x, 1
  ret i32 %r
}
define i32 @times3(i32 %x) noinline {
  %r = mul i32 %x, 3
  ret i32 %r
}
@"other$name" = alias i32 (i32), ptr @times3
define i64 @weigh(ptr byval(%Item) align 8 %p, i1 %b, <3 x i8> %v) noinline {
  %h = getelementptr %Item, ptr %p, i32 0, i32 1, i32 2
  %half = load i16, ptr %h
  %wide = sext i16 %half to i64
  %d = getelementptr %Item, ptr %p, i32 0, i32 2
  %double = load double, ptr %d
  %whole = fptosi double %double to i64
  %e = extractelement <3 x i8> %v, i32 1
  %byte = zext i8 %e to i64
  %sum = add i64 %wide, %whole
  %more = add i64 %sum, %byte
  %r = select i1 %b, i64 %more, i64 -1
  ret i64 %r
}
define i128 @product(i128 %a, i128 %b) noinline {
  %m = mul i128 %a, %b
  %s = lshr i128 %m, 7
  %x = xor i128 %s, %b
  ret i128 %x
}
define void @kernel(ptr %out, i1 %flag, i8 %byte, i16 %half, <2 x i32> %pair, [3 x i32] %list, %Item %item, i128 %wide, ptr addrspace(1) noalias align 16 %wides) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %tid to i64
  %local = alloca [12 x i32], align 8
  call void @llvm.memset.p0.i64(ptr %local, i8 1, i64 48, i1 false)
  %at = and i32 %tid, 7
  %slot = getelementptr i32, ptr %local, i32 %at
  store i32 %tid, ptr %slot
  %copy = alloca %Item, align 8
  store %Item %item, ptr %copy
  %odd = and i32 %tid, 1
  %place = getelementptr ptr, ptr addrspacecast (ptr addrspace(1) @functions to ptr), i32 %odd
  %function = load ptr, ptr %place
  %called = call i32 %function(i32 %tid)
  %again = call i32 @"other$name"(i32 %called)
  %first = load i32, ptr %local
  %third = extractvalue [3 x i32] %list, 2
  %y = extractelement <2 x i32> %pair, i32 1
  switch i32 %odd, label %other [ i32 0, label %even ]
even:
  %pw = getelementptr i8, ptr addrspace(1) @packed, i32 5
  %pointer = load ptr addrspace(1), ptr addrspace(1) %pw, align 1
  %named = getelementptr i32, ptr addrspace(1) %pointer, i32 1
  %five = load i32, ptr addrspace(1) %named
  br label %join
other:
  %s = sext i8 %byte to i32
  %h = sext i16 %half to i32
  %sh = add i32 %s, %h
  br label %join
join:
  %phi = phi i32 [ %five, %even ], [ %sh, %other ]
  %weight = call i64 @weigh(ptr byval(%Item) align 8 %copy, i1 %flag, <3 x i8> <i8 1, i8 2, i8 3>)
  %narrow = trunc i64 %weight to i32
  %turned = call i32 @llvm.fshl.i32(i32 %again, i32 %third, i32 %tid)
  %asm = call i32 asm sideeffect "{\0A\09.reg .pred p;\0A\09.reg .b32 t<2>;\0A\09setp.gt.s32 p, $1, 12;\0A\09selp.b32 t0, 1, 2, p;\0A\09@!p mov.b32 t0, 5;\0A\09add.u32 $0, t0, $2;\0A\09}", "=r,r,r"(i32 %tid, i32 %y)
  %halves = call { i32, i32 } asm "mov.b64 {$0, $1}, $2;", "=r,=r,l"(i64 %weight)
  %high = extractvalue { i32, i32 } %halves, 1
  %old = atomicrmw add ptr addrspace(1) @counter, i32 0 monotonic
  %a = add i32 %turned, %phi
  %b = xor i32 %a, %narrow
  %c = add i32 %b, %asm
  %d = add i32 %c, %high
  %e = add i32 %d, %old
  %f = sub i32 %e, %first
  %to = getelementptr i32, ptr %out, i32 %tid
  store i32 %f, ptr %to
  %t128 = zext i32 %tid to i128
  %n = add i128 %wide, %t128
  %product = call i128 @product(i128 %n, i128 %wide)
  %reversed = call i64 @llvm.bitreverse.i64(i64 %t64)
  %left = call i64 @llvm.usub.sat.i64(i64 %t64, i64 5)
  %both = or i64 %reversed, %left
  %r128 = zext i64 %both to i128
  %result = xor i128 %product, %r128
  %wideTo = getelementptr i128, ptr addrspace(1) %wides, i32 %tid
  store i128 %result, ptr addrspace(1) %wideTo
  ret void
}
!nvvm.annotations = !{!0, !1}
!0 = !{ptr @kernel, !"kernel", i32 1}
!1 = !{ptr @kernel, !"maxntidx", i32 64}
