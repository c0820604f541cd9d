/* Elementary functions that give the same bits on every processor.
 * Functions that every line-search evaluation calls for every joint and body use plain arithmetic, which gives the same
 * bits everywhere. Other functions, and unusual arguments, use SLEEF's consistent functions ("cinz": no fused
 * operations, one code path for all processors).
 *
 * The polynomials, the reduction by pi/2 in three parts and the breakpoints of the arc tangent are taken from FreeBSD's
 * msun: Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc.
 * business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice
 * is preserved. */
#include <assert.h>
#include <math.h>
#include <sleef.h>
#include "base/base.h"

/* An angle reduced modulo pi/2 to [-pi/4, pi/4], as the sum remainder + tail of two doubles. */
typedef struct {
  double remainder, tail;
  int quarter; /* number of subtracted multiples of pi/2, modulo 4 */
} ReducedAngle;

/* Largest argument that reduce_angle reduces. For larger arguments the products of the multiple with the parts of pi/2
 * would not be exact. */
#define REDUCED_MAX 1.0e6

/* Reduces x modulo pi/2 (Cody and Waite). pi/2 is the sum of parts of 33 bits, and left[k] is pi/2 minus the parts 0 to
 * k. If cancellation leaves a remainder below enough[k] |x|, too many bits are lost, and a further part is used. */
static ReducedAngle reduce_angle(double x) {
  static const double part[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69};
  static const double left[] = {0x1.0b4611a626331p-34, 0x1.3198a2e037073p-69, 0x1.b839a252049c1p-104};
  static const double enough[] = {0x1p-16, 0x1p-49, 0};
  if (fabs(x) <= 0.78539816339744831) return (ReducedAngle){x, 0, 0};
  double n = x * 0.63661977236758134 + 0x1.8p52 - 0x1.8p52; /* rounded to a whole number */
  double r = x - n * part[0], w = n * left[0], y = r - w;
  for (int k = 1; k < 3 && fabs(y) < enough[k - 1] * fabs(x); k++) {
    double before = r;
    w = n * part[k];
    r = before - w;
    w = n * left[k] - ((before - r) - w);
    y = r - w;
  }
  return (ReducedAngle){y, (r - y) - w, (int)n & 3};
}

/* Returns sin(x + tail) for |x| <= pi/4. */
static double reduced_sine(double x, double tail) {
  if (fabs(x) < 0x1p-26) return tail == 0 ? x : x + tail; /* keeps the sign of -0 */
  double z = x * x, w = z * z, v = z * x;
  double r = 8.3333333333224895e-3 + z * (-1.9841269829857949e-4 + z * 2.7557313707070068e-6) +
             z * w * (-2.5050760253406863e-8 + z * 1.58969099521155010e-10);
  return x - ((z * (0.5 * tail - v * r) - tail) - v * -1.6666666666666632e-1);
}

/* Returns cos(x + tail) for |x| <= pi/4. */
static double reduced_cosine(double x, double tail) {
  double z = x * x, w = z * z;
  double r = z * (4.1666666666666602e-2 + z * (-1.3888888888874110e-3 + z * 2.4801587289476729e-5)) +
             w * w * (-2.7557314351390663e-7 + z * (2.0875723212981748e-9 + z * -1.1359647557788195e-11));
  double half = 0.5 * z, remainder = 1 - half;
  return remainder + (((1 - remainder) - half) + (z * r - x * tail));
}

void math_sincos(double x, double* sine, double* cosine) {
  assert(sine && cosine);
  if (!(fabs(x) < REDUCED_MAX)) {
    *sine = Sleef_cinz_sind1_u10purec(x);
    *cosine = Sleef_cinz_cosd1_u10purec(x);
    return;
  }
  ReducedAngle a = reduce_angle(x);
  double s = reduced_sine(a.remainder, a.tail), c = reduced_cosine(a.remainder, a.tail);
  *sine = a.quarter == 0 ? s : a.quarter == 1 ? c : a.quarter == 2 ? -s : -c;
  *cosine = a.quarter == 0 ? c : a.quarter == 1 ? -s : a.quarter == 2 ? -c : s;
}

double math_sin(double x) {
  double sine, cosine;
  math_sincos(x, &sine, &cosine);
  return sine;
}

double math_cos(double x) {
  double sine, cosine;
  math_sincos(x, &sine, &cosine);
  return cosine;
}

/* Returns the arc tangent of x in [0, 2^60]. Method: atan x = atan c + atan((x - c) / (1 + c x)), where c is the
 * nearest of 0, 1/2, 1, 3/2 and infinity. */
static double arc_tangent(double x) {
  static const double high[] = {0, 4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01,
                                1.57079632679489655800e+00};
  static const double low[] = {0, 2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17,
                               6.12323399573676603587e-17};
  int piece = (x >= 7.0 / 16) + (x >= 11.0 / 16) + (x >= 19.0 / 16) + (x >= 39.0 / 16);
  if (piece == 1) x = (2 * x - 1) / (2 + x);
  if (piece == 2) x = (x - 1) / (x + 1);
  if (piece == 3) x = (x - 1.5) / (1 + 1.5 * x);
  if (piece == 4) x = -1 / x;
  double z = x * x, w = z * z;
  double odd = z * (3.33333333333329318027e-01 +
                    w * (1.42857142725034663711e-01 +
                         w * (9.09088713343650656196e-02 +
                              w * (6.66107313738753120669e-02 +
                                   w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  double even =
      w *
      (-1.99999999998764832476e-01 +
       w * (-1.11111104054623557880e-01 +
            w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  double small = x * (odd + even);
  return piece == 0 ? x - small : high[piece] - ((small - low[piece]) - x);
}

double math_atan2(double y, double x) {
  double ratio = fabs(y / x);
  if (!(ratio > 0x1p-60 && ratio < 0x1p60))
    return Sleef_cinz_atan2d1_u10purec(y, x); /* also zeros, infinities and NaN */
  double angle = arc_tangent(ratio);
  if (x < 0) angle = 3.1415926535897931160e+00 - (angle - 1.2246467991473531772e-16);
  return y < 0 ? -angle : angle;
}

double math_hypot(double x, double y) {
  double square = x * x + y * y;
  return square > 0x1p-900 && square < 0x1p900 ? sqrt(square) : Sleef_cinz_hypotd1_u05purec(x, y);
}

double math_acos(double x) { return Sleef_cinz_acosd1_u10purec(x); }
double math_log(double x) { return Sleef_cinz_logd1_u10purec(x); }
double math_log10(double x) { return Sleef_cinz_log10d1_u10purec(x); }
double math_pow(double x, double y) { return Sleef_cinz_powd1_u10purec(x, y); }
double math_cbrt(double x) { return Sleef_cinz_cbrtd1_u10purec(x); }
