/* Joint couplings: builds their terms, and their offsets from the initial state (docs/derivations/closures.md, Z7). */
#include "model/build.h"

/* Tolerance of a given offset relative to 1 + |coordinate|, for the rounding of decimals in a file. */
#define OFFSET_TOLERANCE 1e-6

static double initial_sum(const Model* model, const ModelCoupling* c) {
  double sum = 0;
  for (int k = 0; k < c->count; k++) sum += c->slope[k] * model->initial_coordinates[c->coordinate[k]];
  return sum;
}

void place_couplings(Model* model) {
  for (int k = 0; k < model->coupling_count; k++) {
    const SceneCoupling* source = &model->scene->couplings[k];
    ModelCoupling* c = &model->couplings[k];
    c->offset = source->has_offset ? source->offset : initial_sum(model, c);
  }
}

static void check_coupling(Builder* builder, const SceneCoupling* source, const ModelCoupling* c) {
  const Model* model = builder->model;
  bool moves = false;
  for (int k = 0; k < c->count; k++) moves = moves || model->links[model->dof_link[c->dof[k]]].prescribed < 0;
  double start = initial_sum(model, c), first = fabs(model->initial_coordinates[c->coordinate[0]]);
  if (!moves)
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place,
                    "all joints of the coupling are prescribed, so the coupling cannot move any: remove the coupling, "
                    "or drive one joint by a pd controller instead");
  if (fabs(start - c->offset) <= OFFSET_TOLERANCE * (1 + first)) return;
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place,
                  "the joints of the coupling start with the offset %.9g, but 'offset' is %.9g: give initial "
                  "coordinates that agree with 'offset', or remove 'offset'",
                  start, c->offset);
}

/* Returns the index of the coupling that makes a degree of freedom depend on a single other one, or -1 if there is
 * none. */
static int find_single_coupling(const Model* model, int dof) {
  for (int k = 0; k < model->coupling_count; k++)
    if (model->couplings[k].count == 2 && model->couplings[k].dof[0] == dof) return k;
  return -1;
}

/* Adds an error for a cycle of couplings that locks its coordinates: a coordinate depends on itself by a ratio other
 * than 1, or on another by two ratios. Each cycle is reported once. */
static void check_cycle(Builder* builder, int index) {
  const Model* model = builder->model;
  const ModelCoupling* c = &model->couplings[index];
  if (c->count != 2) return;
  const char* name = model->links[model->dof_link[c->dof[0]]].name;
  const SourcePosition place = builder->scene->couplings[index].place;
  double ratio = -c->slope[1];
  int at = c->dof[1], first = find_single_coupling(model, c->dof[0]);
  if (first < index && model->couplings[first].dof[1] == at && -model->couplings[first].slope[1] != ratio)
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, place,
                    "couplings[%d].ratio: two couplings tie '%.60s' to the same joint with different ratios, %.6g and "
                    "%.6g, so neither joint can move: remove one of the couplings",
                    index, name, -model->couplings[first].slope[1], ratio);
  for (int step = 0; step < model->coupling_count && at != c->dof[0]; step++) {
    int next = find_single_coupling(model, at);
    if (next <= index) return; /* no cycle, or reported from its lowest index */
    ratio *= -model->couplings[next].slope[1];
    at = model->couplings[next].dof[1];
  }
  if (at != c->dof[0] || fabs(ratio - 1) <= OFFSET_TOLERANCE) return;
  diagnostics_add(
      builder->diagnostics, SEVERITY_ERROR, place,
      "couplings[%d].of: the couplings form a cycle through '%.60s' with the total ratio %.6g, so the joint cannot "
      "move: remove one of the couplings, or choose ratios with the product 1",
      index, name, ratio);
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
  for (int k = 0; k < model->coupling_count; k++) check_cycle(builder, k);
}
