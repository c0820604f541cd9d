/* Models whose controllers follow inputs: values that are constant within each time step. The library sets inputs, and
 * the gradient check varies them. */
#ifndef SDRS_MODEL_INPUTS_H
#define SDRS_MODEL_INPUTS_H

#include "model/model.h"

/* A model with its own initial state and, if `driven`, its own controller inputs. It borrows all other data from a
 * shared model. */
typedef struct {
  Model model;                          /* owns initial_coordinates and initial_velocities */
  bool driven;                          /* true: the controllers follow `signals`; false: the signals of the scene */
  bool has_coordinates, has_velocities; /* true: the initial coordinates or velocities have been set */
  const double* closure_coordinates;    /* initial coordinates of the shared model (size: nq), from which the lengths of
                                           closures (kinematic loops) are computed */
  int scene_parameter_count;            /* number of parameters over all signals of the scene */
  int rows, row_capacity;               /* number of input rows, and of allocated rows */
  SceneSignal* signals;                 /* one signal per controller, constant within a step; owns their values */
  ModelController* controllers;         /* copies of the model's controllers, used if `driven` */
} DrivenModel;

/* Returns the number of inputs per time step: the channels of all controllers (nu). */
int model_input_count(const Model* model);
/* Sets *driven to a model that copies the initial coordinates (nq) and velocities (nv) of `model` and borrows all other
 * data. The controllers follow the scene's signals. The caller frees *driven with driven_model_free. Allocates memory.
 */
void driven_model_create(DrivenModel* driven, const Model* model);
/* Sets *driven to a copy of `from` with controller inputs for exactly `steps` time steps. Missing rows repeat the last
 * row of `from`. Overwrites *driven without freeing it. Allocates memory. */
void driven_model_copy(DrivenModel* driven, const DrivenModel* from, int steps);
/* Frees the data that *driven owns and zeroes *driven. Accepts a zeroed struct. driven must not be NULL. */
void driven_model_free(DrivenModel* driven);
/* Sets the controller inputs of the time steps first ... first + rows - 1 to copies of values (rows x nu), which must
 * be finite. Missing rows before `first` repeat the last row, or, if there is none, take the means of the signals of
 * `shared` over each step. May allocate. */
void driven_model_set_inputs(DrivenModel* driven, const Model* shared, int first, const double* values, int rows);
/* Copies the inputs of the first `steps` time steps into values (steps x nu). The model must be driven and have as many
 * rows. */
void driven_model_get_inputs(const DrivenModel* driven, int steps, double* values);
/* Frees the controller inputs that were set, so that the controllers follow the signals of the shared model again.
 * Cannot fail. */
void driven_model_clear_inputs(DrivenModel* driven, const Model* shared);
/* Copies the derivatives with respect to the inputs of the first `steps` time steps into out (steps x nu). slopes:
 * derivatives with respect to the parameters of all signals (ModelGradient.control; size: parameter_count of the driven
 * model). The model must be driven and have as many rows. */
void driven_model_input_derivatives(const DrivenModel* driven, int steps, const double* slopes, double* out);
/* Sets the model's initial coordinates to q (nq) [m, rad]. Quaternions w x y z in q are normalized. Returns false, with
 * nothing changed, if a number is not finite or a quaternion is zero. */
bool driven_model_set_coordinates(DrivenModel* driven, const double* q);
/* Sets the model's initial velocities to v (nv) [m/s, rad/s]. Returns false, with nothing changed, if a number is not
 * finite. */
bool driven_model_set_velocities(DrivenModel* driven, const double* v);

#endif
