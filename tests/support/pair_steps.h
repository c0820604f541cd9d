/* One pair of bodies in two moments, t and t + dt, for the derivatives of its contact and friction forces. Everything
 * that Phi (docs/derivations/adjoint.md, A4) depends on besides the field is one vector of displacements:
 *   world displacements of the vertices of a and of b at t, the same at t + dt  (3 each),
 *   support, friction, smoothing,
 *   twists (w, v) of a half-space about the origin of its frame at t and at t + dt (present for every pair). */
#ifndef SDRS_TESTS_SUPPORT_PAIR_STEPS_H
#define SDRS_TESTS_SUPPORT_PAIR_STEPS_H

#include "contact/adjoint.h"
#include "support/pairs.h"

typedef struct {
  Vec3* points[2]; /* local */
  int count[2];
  bool half_space; /* b is { x : normal . x <= offset } in its frame */
  Vec3 normal;
  double offset;
  Pose now[2], next[2];
  Vec3 reference[2]; /* world */
  double support, size;
  FrictionParameters friction;
  double twist[2][6]; /* the field */
} PairStep;

/* How the pair moves from t to t + dt. Speeds are in units of sqrt(smoothing). */
typedef struct {
  double speed, spin; /* along the plane, of a against b; spin about its normal at the rim of a */
  double approach;    /* towards each other, in units of the gap */
  bool both;          /* b moves too, and both tumble a little */
  bool ground;        /* a half-space moves by prescription */
} PairMotion;

/* gap in units of the support, at t. */
PairStep pair_step_create(PairKind kind, const PairMotion* motion, Random* random, double gap);
/* Two pyramids tip to tip: one contact point. */
PairStep pair_step_tips(const PairMotion* motion, Random* random, double gap);
void pair_step_free(PairStep* step);

int pair_step_inputs(const PairStep* step);
/* A displacement of each input that counts as 1. */
void pair_step_units(const PairStep* step, double* unit);
/* Phi of contact and of friction from the forward functions, everything found anew. false: no contact. */
bool pair_step_phi(const PairStep* step, const double* x, double phi[2]);
/* By plane_adjoint and friction_adjoint: values, and derivatives by all inputs (each `inputs` long). */
void pair_step_adjoint(const PairStep* step, double phi[2], double* contact, double* friction);
/* Unknowns of the slip: 2 or 3. */
int pair_step_slip_order(const PairStep* step);

#endif
