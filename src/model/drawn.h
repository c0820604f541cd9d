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
 * a polyhedron whose faces lie at most `tolerance` [m] inside of the solid. A polyhedron has at most 20000 vertices,
 * even if the tolerance is then violated. Polyhedra that satisfy the tolerance are kept. tolerance > 0 (asserted). The
 * caller frees the copy with model_drawn_free. */
void model_drawn_create(ModelDrawn* drawn, const Model* model, double tolerance);
/* Frees the copy and its polyhedra. Accepts a zeroed struct. */
void model_drawn_free(ModelDrawn* drawn);
/* Returns the largest distance of the hull's polyhedron from the round or smooth solid of the scene [m]. The distance
 * is measured from each face to the parallel tangent plane of the solid. Returns 0 for polyhedra, for solids with
 * `segments` or `resolution`, and for unions and subtractions, where the distance is not measured. Allocates nothing.
 */
double model_drawn_deviation(const Model* model, int hull);

#endif
