/* Functions for DrivenModel, a model with its own initial state and inputs. */
#include "model/inputs.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "linalg/arrays.h"

int model_input_count(const Model* model) {
  int count = 0;
  for (int c = 0; c < model->controller_count; c++) count += model->controllers[c].target.source->channels;
  return count;
}

static double* copy_doubles(const double* values, int count) {
  double* copy = MEMORY_NEW(double, count);
  if (count > 0) memcpy(copy, values, sizeof(double) * (size_t)count);
  return copy;
}

void driven_model_create(DrivenModel* d, const Model* model) {
  *d = (DrivenModel){.model = *model, .scene_parameter_count = model->parameter_count};
  d->model.initial_coordinates = NULL;
  d->model.initial_velocities = NULL;
  d->closure_coordinates = model->initial_coordinates;
  d->model.initial_coordinates = copy_doubles(model->initial_coordinates, model->coordinate_count);
  d->model.initial_velocities = copy_doubles(model->initial_velocities, model->dof_count);
}

static void free_signals(DrivenModel* d) {
  for (int c = 0; d->signals && c < d->model.controller_count; c++) memory_free(d->signals[c].values);
  memory_free(d->signals);
  memory_free(d->controllers);
  d->signals = NULL;
  d->controllers = NULL;
}

void driven_model_free(DrivenModel* d) {
  free_signals(d);
  memory_free(d->model.initial_coordinates);
  memory_free(d->model.initial_velocities);
  *d = (DrivenModel){0};
}

/* Numbers the parameters of the input signals after those of the scene's signals, which loads and tendons follow: every
 * value of every time step is one parameter. */
static void number_parameters(DrivenModel* d) {
  Model* m = &d->model;
  m->parameter_count = d->scene_parameter_count;
  for (int c = 0; c < m->controller_count; c++) {
    d->signals[c].rows = d->rows;
    m->controllers[c].parameter_first = m->parameter_count;
    m->parameter_count += signal_parameter_count(&m->controllers[c].target);
  }
}

/* Sets the members of the model that say whether the initial state of prescribed joints is given. Inputs are constant
 * within a step, so no initial state follows from them. */
static void mark_given_start(DrivenModel* d) {
  d->model.prescribed_coordinates_are_given = d->driven || d->has_coordinates;
  d->model.prescribed_velocities_are_given = d->driven || d->has_velocities;
}

/* Replaces the model's controllers by copies that follow input signals without rows. */
static void create_input_signals(DrivenModel* d) {
  Model* m = &d->model;
  d->signals = MEMORY_NEW(SceneSignal, m->controller_count);
  d->controllers = MEMORY_NEW(ModelController, m->controller_count);
  for (int c = 0; c < m->controller_count; c++) {
    const SceneSignal* source = m->controllers[c].target.source;
    d->signals[c] = (SceneSignal){.type = SIGNAL_ZERO_ORDER_HOLD,
                                  .place = source->place,
                                  .channels = source->channels,
                                  .interval = m->simulation.dt};
    d->controllers[c] = m->controllers[c];
    d->controllers[c].target = (Signal){.source = &d->signals[c]};
  }
  m->controllers = d->controllers;
  d->driven = true;
  mark_given_start(d);
  d->rows = d->row_capacity = 0;
}

static void reserve_rows(DrivenModel* d, int rows) {
  if (rows <= d->row_capacity) return;
  int row_capacity = rows + rows / 2 + 16;
  for (int c = 0; c < d->model.controller_count; c++) {
    size_t row = sizeof(double) * (size_t)d->signals[c].channels;
    d->signals[c].values =
        memory_resize(d->signals[c].values, row * (size_t)d->row_capacity, row * (size_t)row_capacity);
  }
  d->row_capacity = row_capacity;
}

static double* input_at(const DrivenModel* d, int controller, int row) {
  assert(row >= 0 && row < d->row_capacity);
  const SceneSignal* signal = &d->signals[controller];
  return signal->values + (size_t)row * (size_t)signal->channels;
}

/* Appends controller inputs for all time steps up to `first` - 1. They repeat the last row, or, if there is none, take
 * the means of the scene's signals over each step. */
static void append_rows_until(DrivenModel* d, const Model* shared, int first) {
  bool none = d->rows == 0;
  double rate[JOINT_MAX_DOF], dt = d->model.simulation.dt;
  for (; d->rows < first; d->rows++)
    for (int c = 0; c < d->model.controller_count; c++) {
      double* row = input_at(d, c, d->rows);
      if (none)
        signal_mean(&shared->controllers[c].target, (SignalSpan){d->rows * dt, (d->rows + 1) * dt}, row, rate);
      else
        memcpy(row, input_at(d, c, d->rows - 1), sizeof(double) * (size_t)d->signals[c].channels);
    }
}

void driven_model_set_inputs(DrivenModel* d, const Model* shared, int first, const double* values, int rows) {
  assert(first >= 0 && rows >= 0);
  if (!d->driven) create_input_signals(d);
  reserve_rows(d, first + rows);
  append_rows_until(d, shared, first);
  for (int k = 0; k < rows; k++)
    for (int c = 0; c < d->model.controller_count; c++) {
      int channels = d->signals[c].channels;
      memcpy(input_at(d, c, first + k), values, sizeof(double) * (size_t)channels);
      values += channels;
    }
  d->rows = first + rows;
  number_parameters(d);
}

void driven_model_get_inputs(const DrivenModel* d, int steps, double* values) {
  assert(d->driven && steps <= d->rows);
  for (int row = 0; row < steps; row++)
    for (int c = 0; c < d->model.controller_count; c++) {
      int channels = d->signals[c].channels;
      memcpy(values, input_at(d, c, row), sizeof(double) * (size_t)channels);
      values += channels;
    }
}

void driven_model_input_derivatives(const DrivenModel* d, int steps, const double* slopes, double* out) {
  assert(d->driven && steps <= d->rows);
  for (int row = 0; row < steps; row++)
    for (int c = 0; c < d->model.controller_count; c++) {
      int channels = d->signals[c].channels;
      memcpy(out, slopes + d->model.controllers[c].parameter_first + row * channels, sizeof(double) * (size_t)channels);
      out += channels;
    }
}

void driven_model_clear_inputs(DrivenModel* d, const Model* shared) {
  free_signals(d);
  d->model.controllers = shared->controllers;
  d->model.parameter_count = shared->parameter_count;
  d->driven = false;
  mark_given_start(d);
  d->rows = d->row_capacity = 0;
}

void driven_model_copy(DrivenModel* d, const DrivenModel* from, int steps) {
  assert(steps >= 0);
  driven_model_create(d, &from->model);
  d->closure_coordinates = from->closure_coordinates;
  d->scene_parameter_count = from->scene_parameter_count;
  d->has_coordinates = from->has_coordinates;
  d->has_velocities = from->has_velocities;
  mark_given_start(d);
  if (!from->driven) return;
  create_input_signals(d);
  reserve_rows(d, steps);
  for (d->rows = 0; d->rows < steps; d->rows++)
    for (int c = 0; c < d->model.controller_count; c++) {
      int row = d->rows < from->rows ? d->rows : from->rows - 1;
      memcpy(input_at(d, c, d->rows), input_at(from, c, row), sizeof(double) * (size_t)d->signals[c].channels);
    }
  number_parameters(d);
}

/* ---------------------------------------------------------------- the start */

bool driven_model_set_coordinates(DrivenModel* d, const double* q) {
  const Model* m = &d->model;
  if (!array_finite(m->coordinate_count, q)) return false;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->coordinate_count == link->dof_count) continue;
    const double* r = q + link->coordinate_first + link->coordinate_count - 4;
    double norm = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
    if (!(norm > 0) || !isfinite(norm)) return false;
  }
  if (m->coordinate_count > 0) memcpy(m->initial_coordinates, q, sizeof(double) * (size_t)m->coordinate_count);
  d->model.closure_coordinates = d->closure_coordinates;
  d->has_coordinates = true;
  mark_given_start(d);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->coordinate_count == link->dof_count) continue;
    double* r = m->initial_coordinates + link->coordinate_first + link->coordinate_count - 4;
    double norm = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
    if (fabs(norm - 1) < 4e-16) continue; /* already of unit length; the bits must not change */
    Quat unit = quat_normalized((Quat){r[0], r[1], r[2], r[3]});
    r[0] = unit.w;
    r[1] = unit.x;
    r[2] = unit.y;
    r[3] = unit.z;
  }
  return true;
}

bool driven_model_set_velocities(DrivenModel* d, const double* v) {
  if (!array_finite(d->model.dof_count, v)) return false;
  if (d->model.dof_count > 0) memcpy(d->model.initial_velocities, v, sizeof(double) * (size_t)d->model.dof_count);
  d->has_velocities = true;
  mark_given_start(d);
  return true;
}
