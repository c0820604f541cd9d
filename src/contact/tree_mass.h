/* Masses of trees, for the inertia of a pair in impacts (docs/derivations/impact.md, I7). */
#ifndef SDRS_CONTACT_TREE_MASS_H
#define SDRS_CONTACT_TREE_MASS_H

#include "model/model.h"

/* Returns the mass of each tree of the model [kg] (trees). The caller frees the array with memory_free. */
double* tree_masses(const Model* model);

/* Returns 1 / (mass of the link's tree) [1/kg]. Returns 0 for a link that is fixed or prescribed. mass: result of
 * tree_masses. */
double tree_inverse_mass(const Model* model, const double* mass, int link);

#endif
