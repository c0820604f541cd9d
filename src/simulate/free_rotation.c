/* Torque-free rotation of a rigid body. Solves Euler's equations by power series (docs/derivations/spin.md, W1-W3). */
#include "simulate/free_rotation.h"

#include <assert.h>
#include <string.h>

enum {
  ORDER_MAX = 16,       /* largest order of the series */
  STORED_PIECES = 64,   /* number of pieces whose start states the reverse pass stores at once */
  PIECES_MAX = 1 << 17, /* largest number of pieces in a step, reached at some 16 000 rad per step; larger rotations are
                           rejected */
};
/* Largest rotation in one piece of the step [rad]. The terms of the series decrease at least as fast as the powers of
 * this angle (W2). */
#define PIECE_ANGLE 0.125
/* Largest remainder of the series relative to the angular velocity. It is below half a unit in the last place. */
#define SERIES_REMAINDER_MAX 2e-17

typedef struct {
  Quat turn;
  Vec3 momentum;
} RotationState;

/* Coefficients of t^k in the power series of the momentum p, the angular velocity J p and the rotation Q. */
typedef struct {
  int order;
  Vec3 momentum[ORDER_MAX + 1], rate[ORDER_MAX + 1];
  Quat turn[ORDER_MAX + 1];
} Series;

static Quat quat_add_scaled(Quat a, double s, Quat b) {
  return (Quat){a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static Quat quat_of_vector(Vec3 v) { return (Quat){0, v.x, v.y, v.z}; }

/* Sets *length to the duration of the next piece [s] and *order to the order of its series. left: remaining time of the
 * step [s]. Returns false if the angular speed is not finite. */
static bool choose_piece(Mat3 mobility, Vec3 momentum, double left, double* length, int* order) {
  double speed = vec3_norm(mat3_mul_vec(mobility, momentum));
  if (!isfinite(speed)) return false;
  *length = speed * left > PIECE_ANGLE ? PIECE_ANGLE / speed : left;
  double angle = speed * *length, power = angle;
  *order = 1;
  for (; power > SERIES_REMAINDER_MAX && *order < ORDER_MAX; power *= angle) (*order)++;
  return true;
}

/* Sets *s to the power series that starts in state `at`: (k + 1) p_{k+1} = sum p_j x w_{k-j}, 2 (k + 1) Q_{k+1} = sum
 * Q_j w_{k-j}, w = J p (W2). */
static void series_expand(Mat3 mobility, RotationState at, int order, Series* s) {
  s->order = order;
  s->momentum[0] = at.momentum;
  s->turn[0] = at.turn;
  for (int k = 0; k < order; k++) {
    s->rate[k] = mat3_mul_vec(mobility, s->momentum[k]);
    Vec3 momentum = {0, 0, 0};
    Quat turn = {0, 0, 0, 0};
    for (int j = 0; j <= k; j++) {
      momentum = vec3_add(momentum, vec3_cross(s->momentum[j], s->rate[k - j]));
      turn = quat_add_scaled(turn, 1.0, quat_mul(s->turn[j], quat_of_vector(s->rate[k - j])));
    }
    s->momentum[k + 1] = vec3_scale(momentum, 1.0 / (k + 1));
    s->turn[k + 1] = quat_add_scaled((Quat){0, 0, 0, 0}, 0.5 / (k + 1), turn);
  }
}

static RotationState series_sum(const Series* s, double t) {
  RotationState out = {s->turn[s->order], s->momentum[s->order]};
  for (int k = s->order - 1; k >= 0; k--) {
    out.momentum = vec3_add_scaled(s->momentum[k], t, out.momentum);
    out.turn = quat_add_scaled(s->turn[k], t, out.turn);
  }
  return out;
}

Quat free_rotation(Mat3 mobility, Vec3 momentum, double dt) {
  assert(!(dt < 0));
  RotationState at = {quat_identity(), momentum};
  Series series;
  double left = dt, length;
  int order;
  for (int piece = 0; left > 0; piece++, left -= length) {
    if (piece == PIECES_MAX || !choose_piece(mobility, at.momentum, left, &length, &order)) return (Quat){NAN, 0, 0, 0};
    series_expand(mobility, at, order, &series);
    at = series_sum(&series, length);
  }
  return quat_normalized(at.turn);
}

typedef struct {
  RotationState start;
  double length;
  int order;
} RotationPiece;

/* Repeats the forward pass and stores the pieces first ... first + STORED_PIECES - 1 in `stored`. Sets *turn to the
 * rotation of the whole step. Returns the number of pieces in the step. */
static int store_pieces(Mat3 mobility, Vec3 momentum, double dt, int first, RotationPiece stored[STORED_PIECES],
                        Quat* turn) {
  assert(first >= 0);
  RotationPiece now = {.start = {quat_identity(), momentum}};
  Series series;
  double left = dt;
  int piece = 0;
  for (; left > 0 && piece < PIECES_MAX; piece++, left -= now.length) {
    if (!choose_piece(mobility, now.start.momentum, left, &now.length, &now.order)) break;
    if (piece >= first && piece < first + STORED_PIECES) stored[piece - first] = now;
    series_expand(mobility, now.start, now.order, &series);
    now.start = series_sum(&series, now.length);
  }
  *turn = now.start.turn;
  return piece;
}

/* Replaces *bar, the derivatives of a scalar with respect to the state at the end of the piece, by its derivatives with
 * respect to the state at the start of the piece. Adds the derivative with respect to `mobility` to *mobility_bar. */
static void propagate_through_piece(Mat3 mobility, const RotationPiece* piece, RotationState* bar, Mat3* mobility_bar) {
  Series s;
  Vec3 momentum[ORDER_MAX + 1], rate[ORDER_MAX + 1];
  Quat turn[ORDER_MAX + 1];
  series_expand(mobility, piece->start, piece->order, &s);
  double power = 1;
  for (int k = 0; k <= s.order; k++, power *= piece->length) {
    momentum[k] = vec3_scale(bar->momentum, power);
    turn[k] = quat_add_scaled((Quat){0, 0, 0, 0}, power, bar->turn);
    rate[k] = vec3(0, 0, 0);
  }
  for (int k = s.order - 1; k >= 0; k--) {
    Vec3 by_momentum = vec3_scale(momentum[k + 1], 1.0 / (k + 1));
    Quat by_turn = quat_add_scaled((Quat){0, 0, 0, 0}, 0.5 / (k + 1), turn[k + 1]);
    for (int j = 0; j <= k; j++) {
      Vec3* w = &rate[k - j];
      momentum[j] = vec3_add(momentum[j], vec3_cross(s.rate[k - j], by_momentum));
      turn[j] = quat_add_scaled(turn[j], 1.0, quat_mul(by_turn, quat_conjugate(quat_of_vector(s.rate[k - j]))));
      Quat by_velocity = quat_mul(quat_conjugate(s.turn[j]), by_turn);
      *w = vec3_add(
          *w, vec3_add(vec3_cross(by_momentum, s.momentum[j]), vec3(by_velocity.x, by_velocity.y, by_velocity.z)));
    }
    /* rate[k] is complete here, because equations of lower order do not contain it */
    momentum[k] = vec3_add(momentum[k], mat3_tmul_vec(mobility, rate[k]));
    *mobility_bar = mat3_add(*mobility_bar, mat3_outer(rate[k], s.momentum[k]));
  }
  *bar = (RotationState){turn[0], momentum[0]};
}

void free_rotation_vjp(Mat3 mobility, Vec3 momentum, double dt, Vec3 turn_bar, Vec3* momentum_bar, Mat3* mobility_bar) {
  assert(!(dt < 0));
  RotationPiece stored[STORED_PIECES];
  Quat turn;
  int count = store_pieces(mobility, momentum, dt, 0, stored, &turn);
  /* a small rotation vector theta changes Q by Q (0, theta) / 2 */
  RotationState bar = {
      quat_add_scaled((Quat){0, 0, 0, 0}, 2.0, quat_mul(quat_normalized(turn), quat_of_vector(turn_bar))), {0, 0, 0}};
  int first = count > 0 ? (count - 1) / STORED_PIECES * STORED_PIECES : 0;
  for (; first >= 0; first -= STORED_PIECES) {
    if (count > STORED_PIECES) store_pieces(mobility, momentum, dt, first, stored, &turn);
    int last = count - first < STORED_PIECES ? count - first : STORED_PIECES;
    for (int k = last - 1; k >= 0; k--) propagate_through_piece(mobility, &stored[k], &bar, mobility_bar);
  }
  *momentum_bar = vec3_add(*momentum_bar, bar.momentum);
}
