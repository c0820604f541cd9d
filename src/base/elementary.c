/* SLEEF's functions whose results are consistent ("cinz": no fused operation, one code for all processors). */
#include <sleef.h>
#include "base/base.h"

double math_sin(double x) { return Sleef_cinz_sind1_u10purec(x); }
double math_cos(double x) { return Sleef_cinz_cosd1_u10purec(x); }
double math_acos(double x) { return Sleef_cinz_acosd1_u10purec(x); }
double math_atan2(double y, double x) { return Sleef_cinz_atan2d1_u10purec(y, x); }
double math_log(double x) { return Sleef_cinz_logd1_u10purec(x); }
double math_log10(double x) { return Sleef_cinz_log10d1_u10purec(x); }
double math_pow(double x, double y) { return Sleef_cinz_powd1_u10purec(x, y); }
double math_cbrt(double x) { return Sleef_cinz_cbrtd1_u10purec(x); }
double math_hypot(double x, double y) { return Sleef_cinz_hypotd1_u05purec(x, y); }
