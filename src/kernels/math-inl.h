// exp2 and GELU on vectors, per target.
//
// exp2: t = n + f with n the nearest integer, 2^f by a polynomial of degree 6 (relative error
// 2.0e-9 before rounding), 2^n by building the exponent. Within 2 ulp on [-126, 127]; below it
// stays at 2^-126.
//
// GELU: x * Phi(x) = max(x, 0) - u * Q(u) with u = |x| and Q the upper tail of the normal
// distribution. Q(u) = 2^P(u); log2 Q is so smooth that P of degree 8 keeps u * Q(u) within 5.8e-8
// (before rounding) for u in [0, 9], beyond which u * Q(u) is nothing to float32. No division, no
// case distinction, and the negative tail keeps its sign and decays to zero.
//
// Both polynomials were fitted by iteratively reweighted least squares towards equal error.
#if defined(VIVACE_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VIVACE_KERNELS_MATH_INL_H_
#undef VIVACE_KERNELS_MATH_INL_H_
#else
#define VIVACE_KERNELS_MATH_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace vivace::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// 2^t for t <= 127.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp2(D d, V t) {
  t = hn::Max(t, hn::Set(d, -126.0f));
  const auto n = hn::NearestInt(t);
  const V f = hn::Sub(t, hn::ConvertTo(d, n));
  V p = hn::Set(d, 0.00015353362f);
  p = hn::MulAdd(p, f, hn::Set(d, 0.00133988739f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.00961843692f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.0555033237f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.240226477f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.693147182f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const hn::RebindToSigned<D> di;
  const auto exponent = hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, exponent));
}

/// x * Phi(x), the exact (erf) form.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluErf(D d, V x) {
  const V u = hn::Abs(x);
  const V z = hn::Min(u, hn::Set(d, 9.0f));
  V p = hn::Set(d, -2.70537583e-07f);
  p = hn::MulAdd(p, z, hn::Set(d, 5.01618888e-06f));
  p = hn::MulAdd(p, z, hn::Set(d, -3.63129539e-06f));
  p = hn::MulAdd(p, z, hn::Set(d, -0.000631238217f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.0077920435f));
  p = hn::MulAdd(p, z, hn::Set(d, -0.0530720763f));
  p = hn::MulAdd(p, z, hn::Set(d, -0.458986968f));
  p = hn::MulAdd(p, z, hn::Set(d, -1.15113604f));
  p = hn::MulAdd(p, z, hn::Set(d, -1.0f));
  return hn::NegMulAdd(u, Exp2(d, p), hn::Max(x, hn::Zero(d)));
}

}  // namespace HWY_NAMESPACE
}  // namespace vivace::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
