/* model/drawn: the polyhedra that represent round and smooth solids in files. */
#ifndef SDRS_MODEL_DRAWN_H
#define SDRS_MODEL_DRAWN_H

#include "model/model.h"

/* A copy of a model in which the polyhedra of round solids are finer. The copy borrows masses, bounds and everything
 * else from the model, which must outlive the copy. */
typedef struct {
  Model model;
  bool* owns_polyhedron; /* for each hull: true if the copy owns the hull's polyhedron */
} ModelDrawn;

/* Builds the copy. Each round solid without `segments` or `resolution` in the scene, and each convex smooth shape, gets
 * a polyhedron whose faces lie at most `tolerance` [m] inside of the solid, or the finest one with 20000 vertices at
 * most. Polyhedra that satisfy the tolerance are kept. tolerance > 0 (asserted). The caller frees the copy with
 * model_drawn_free. */
void model_drawn_create(ModelDrawn* drawn, const Model* model, double tolerance);
/* Frees the copy and its polyhedra. Accepts a zeroed struct. */
void model_drawn_free(ModelDrawn* drawn);
/* Returns the largest distance of a face of the hull's polyhedron from the tangent plane of the solid with the same
 * normal [m]: the largest distance of the polyhedron from the solid that the scene describes. Returns 0 for other
 * solids, for those with `segments` or `resolution`, and for unions and subtractions, where it is not measured.
 * Allocates nothing. */
double model_drawn_deviation(const Model* model, int hull);

#endif
