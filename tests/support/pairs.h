/* Pairs of bodies at contact range, one of each contact type. */
#ifndef SDRS_TESTS_SUPPORT_PAIRS_H
#define SDRS_TESTS_SUPPORT_PAIRS_H

#include "support/bodies.h"

typedef enum {
  PAIR_TETRAHEDRA,   /* 4 vertices each */
  PAIR_VERTEX_FACE,  /* a box stands on its corner over the face of another */
  PAIR_EDGE_EDGE,    /* two boxes on their edges, crossed */
  PAIR_FACES,        /* parallel faces, partly over each other */
  PAIR_NEARLY_FACES, /* the same, tilted by 1e-4 */
  PAIR_RANDOM_8,     /* random hulls of so many vertices */
  PAIR_RANDOM_17,
  PAIR_RANDOM_64,
  PAIR_RANDOM_512,
  PAIR_UNEQUAL, /* 6 vertices against 200 of a body 20 times as large */
  PAIR_HALF_SPACE_FACE,
  PAIR_HALF_SPACE_RANDOM, /* 40 vertices */
  PAIR_KINDS,
  PAIR_ROUNDED = PAIR_KINDS, /* 8 vertices each, with balls about them (C6) */
  PAIR_ROUNDED_HALF_SPACE,   /* 3 vertices with balls */
  PAIR_BALLS,                /* one vertex each */
  PAIR_KINDS_WITH_ROUNDED,
} PairKind;

typedef struct {
  Body a, b;
  double support;
  double size; /* radius of a */
} Pair;

const char* pair_kind_name(PairKind kind);
/* `gap` in units of the support; bodies of radius `size`, in a random common pose. */
Pair pair_create(PairKind kind, Random* random, double size, double support, double gap);
void pair_free(Pair* pair);
/* Start plane from the closest points, as the contact system takes it. */
Plane pair_start(const Pair* pair);
PlaneOutcome pair_solve(const Pair* pair, Plane start, PlaneSolution* solution);
/* From the closest points; fails the test unless the potential is not zero. */
PlaneSolution pair_solution(const Pair* pair, const char* what);

#endif
