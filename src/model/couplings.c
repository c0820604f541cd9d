/* Joints coupled: which coordinates, and the offset that they have at the start (docs/derivations/closures.md, Z7). */
#include "model/build.h"

/* An offset given agrees with the start to this, relative to 1 + |coordinate|: decimals in a file, not rounding. */
#define SAME_OFFSET 1e-6

static double sum_at_start(const Model* model, const ModelCoupling* c) {
  double sum = 0;
  for (int k = 0; k < c->count; k++) sum += c->slope[k] * model->initial_coordinates[c->coordinate[k]];
  return sum;
}

void place_couplings(Model* model) {
  for (int k = 0; k < model->coupling_count; k++) {
    const SceneCoupling* source = &model->scene->couplings[k];
    ModelCoupling* c = &model->couplings[k];
    c->offset = source->has_offset ? source->offset : sum_at_start(model, c);
  }
}

static void check_coupling(Builder* builder, const SceneCoupling* source, const ModelCoupling* c) {
  const Model* model = builder->model;
  bool moves = false;
  for (int k = 0; k < c->count; k++) moves = moves || model->links[model->dof_link[c->dof[k]]].prescribed < 0;
  double start = sum_at_start(model, c), first = fabs(model->initial_coordinates[c->coordinate[0]]);
  if (!moves)
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place, "all joints of this coupling are prescribed");
  if (fabs(start - c->offset) <= SAME_OFFSET * (1 + first)) return;
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place,
                  "the joints of this coupling start with an offset of %.9g, not %.9g: give initial coordinates that "
                  "agree with it, or leave it out",
                  start, c->offset);
}

void build_couplings(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->coupling_count = scene->coupling_count;
  model->couplings = MEMORY_NEW(ModelCoupling, scene->coupling_count);
  for (int k = 0; k < scene->coupling_count; k++) {
    const SceneCoupling* source = &scene->couplings[k];
    ModelCoupling* c = &model->couplings[k];
    *c = (ModelCoupling){.count = source->count, .row = model->closure_row_count++};
    for (int i = 0; i < c->count; i++) {
      const ModelLink* link = &model->links[source->terms[i].link];
      c->dof[i] = link->dof_first + source->terms[i].coordinate;
      c->coordinate[i] = link->coordinate_first + source->terms[i].coordinate;
      c->slope[i] = i == 0 ? 1 : -source->terms[i].ratio;
    }
  }
  place_couplings(model);
  for (int k = 0; k < model->coupling_count; k++) check_coupling(builder, &scene->couplings[k], &model->couplings[k]);
}
