// Rust without its core library: structures by value, mangled names, constants, functions that are not inlined.
#![feature(no_core, lang_items, abi_ptx, intrinsics, rustc_attrs, auto_traits, arbitrary_self_types, link_llvm_intrinsics)]
#![allow(internal_features)]
#![no_core]
#![crate_type = "lib"]
#[lang = "pointee_sized"] pub trait PointeeSized {}
#[lang = "meta_sized"] pub trait MetaSized: PointeeSized {}
#[lang = "sized"] pub trait Sized: MetaSized {}
#[lang = "copy"] pub trait Copy {}
#[lang = "freeze"] unsafe auto trait Freeze {}
#[lang = "sync"] pub unsafe auto trait Sync {}
#[lang = "drop_glue"] unsafe fn drop_glue<T: PointeeSized>(_: *mut T) {}
#[lang = "add"] pub trait Add<R = Self> { type Output; fn add(self, r: R) -> Self::Output; }
#[lang = "mul"] pub trait Mul<R = Self> { type Output; fn mul(self, r: R) -> Self::Output; }
impl Copy for i32 {}
impl Copy for f32 {}
impl Copy for bool {}
impl<T> Copy for *mut T {}
impl Add for f32 { type Output = f32; fn add(self, r: f32) -> f32 { self + r } }
impl Mul for f32 { type Output = f32; fn mul(self, r: f32) -> f32 { self * r } }

extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"] fn tid() -> i32;
}
#[rustc_intrinsic] pub unsafe fn offset<P, D>(to: P, by: D) -> P;

#[repr(C)] pub struct Scale { by: f32, plus: f32, negate: bool }
#[inline(never)] pub fn scaled(x: f32, s: &Scale) -> f32 { if s.negate { s.plus + x * s.by * s.plus } else { x * s.by + s.plus } }

#[no_mangle] pub unsafe extern "ptx-kernel" fn scale(x: *mut f32, s: Scale) {
    let at: *mut f32 = offset(x, tid() as isize);
    *at = scaled(*at, &s);
}
impl Copy for isize {}
