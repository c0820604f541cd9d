#include "differentiate/rotation_vector.h"

/* Below this a^2 the closed forms lose digits and the series is short: 12 terms leave 4^12 / 26! = 4e-20. */
#define SERIES_BELOW 4.0
enum { SERIES_TERMS = 12 };

/* f_m = sum_n (-1)^n a^(2n) / (2n + m)!: f_0 = cos a, f_1 = sin a / a, f_m = 1/m! - a^2 f_(m+2), and
 * d f_m = (m f_(m+2) - f_(m+1)) a da. */
typedef struct {
  double f2, f3, f4, f5;
} Series;

static double series_sum(double first, int m, double square) {
  double sum = 0, term = first;
  for (int n = 0; n < SERIES_TERMS; n++) {
    sum += term;
    term *= -square / ((2 * n + m + 1) * (2 * n + m + 2));
  }
  return sum;
}

static Series series_at(Vec3 v) {
  double square = vec3_dot(v, v);
  if (!(square > SERIES_BELOW)) {
    Series s = {.f4 = series_sum(1.0 / 24, 4, square), .f5 = series_sum(1.0 / 120, 5, square)};
    s.f2 = 0.5 - square * s.f4;
    s.f3 = 1.0 / 6 - square * s.f5;
    return s;
  }
  double angle = sqrt(square);
  Series s = {.f2 = (1 - cos(angle)) / square, .f3 = (angle - sin(angle)) / (square * angle)};
  s.f4 = (0.5 - s.f2) / square;
  s.f5 = (1.0 / 6 - s.f3) / square;
  return s;
}

Vec3 rotation_vector_spin(Vec3 v, Vec3 rate) {
  Series s = series_at(v);
  Vec3 c = vec3_cross(v, rate);
  return vec3_add(vec3_add_scaled(rate, -s.f2, c), vec3_scale(vec3_cross(v, c), s.f3));
}

/* d(g . v x u) = dv . (u x g);  d(g . v x (v x u)) = dv . ((v x u) x g + u x (g x v));  a da = v . dv */
Vec3 rotation_vector_spin_grad(Vec3 v, Vec3 rate, Vec3 g) {
  Series s = series_at(v);
  Vec3 c = vec3_cross(v, rate), cc = vec3_cross(v, c);
  Vec3 by_first = vec3_cross(rate, g);
  Vec3 by_second = vec3_add(vec3_cross(c, g), vec3_cross(rate, vec3_cross(g, v)));
  double along = -(2 * s.f4 - s.f3) * vec3_dot(g, c) + (3 * s.f5 - s.f4) * vec3_dot(g, cc);
  return vec3_add_scaled(vec3_add_scaled(vec3_scale(v, along), -s.f2, by_first), s.f3, by_second);
}

/* J^-1 = 1 + 1/2 [v]x + c [v]x^2,  c = (1 - f_1 / (2 f2)) / a^2 = (f3 - 2 f4) / (2 f2) */
Vec3 rotation_vector_turn(Vec3 v, Vec3 turn) {
  Series s = series_at(v);
  Vec3 c = vec3_cross(v, turn);
  double second = (s.f3 - 2 * s.f4) / (2 * s.f2);
  return vec3_add(vec3_add_scaled(turn, 0.5, c), vec3_scale(vec3_cross(v, c), second));
}
