/* Reads the stored state from which a run starts, and checks that the state fits the model. */
#include <stdlib.h>
#include <string.h>

#include "model/build.h"

static void append_numbers(Text* text, const double* values, int count) {
  for (int k = 0; k < count; k++) text_add(text, " %a", values[k]);
}

static void append_clock(const Model* model, Text* text) {
  text_add(text, "%a %d", model->simulation.dt, (int)model->simulation.integrator);
}

static void append_tree(const Model* model, Text* text) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    const SceneJoint* joint = &model->scene->links[i].joint;
    text_add(text, "\n%s %d %d %u", link->name, link->parent, (int)joint->type, joint->free_axes);
    append_numbers(text, &link->origin.r.m[0][0], 9);
    append_numbers(text, &link->origin.t.x, 3);
    append_numbers(text, &joint->axes[0].x, 6);
    append_numbers(text, joint->parameters, JOINT_MAX_PARAMETER);
  }
  text_add(text, "\n%d", model->armature); /* an armature needs the coordinates of one more step */
}

static void append_hulls(const Model* model, Text* text) {
  for (int k = 0; k < model->hull_count; k++)
    text_add(text, "%d %d %d\n", model->hulls[k].link, model->hulls[k].points.count, model->hulls[k].kind->bounded);
}

static void append_pairs(const Model* model, Text* text) {
  text_add(text, "%s", contact_model_name(model->contact_model));
  for (int i = 0; i < model->link_count; i++) text_add(text, " %d", model->links[i].collide);
  for (int k = 0; k < model->excluded_count; k++) text_add(text, " %llx", (unsigned long long)model->excluded[k]);
  for (int k = 0; k < model->pair_item_count && model->pair_law_count > 0; k++) {
    const ScenePair* pair = &model->scene->contact.pairs[model->pair_items[k].item];
    if (pair->has_model)
      text_add(text, " %llx %s", (unsigned long long)model->pair_items[k].key, contact_model_name(pair->model));
  }
}

static void append_contact(const Model* model, Text* text) {
  const ModelContact* c = &model->contact;
  const double numbers[] = {c->support, c->stiffness, c->friction, c->smoothing, c->rest_speed, c->restitution};
  append_numbers(text, numbers, sizeof(numbers) / sizeof(numbers[0]));
  append_numbers(text, c->law_parameters, CONTACT_LAW_PARAMETERS_MAX);
  for (int k = 0; k < model->pair_law_count; k++) {
    append_numbers(text, &model->pair_laws[k].contact.support, 1);
    append_numbers(text, &model->pair_laws[k].contact.stiffness, 1);
    const ScenePair* pair = &model->scene->contact.pairs[model->pair_laws[k].item];
    for (int i = 0; i < CONTACT_LAW_PARAMETERS_MAX; i++)
      if (pair->law_parameter_given[i]) append_numbers(text, &pair->law_parameters[i], 1);
    if (pair->hierarchy_given) text_add(text, " %d", pair->hierarchy);
  }
  for (int k = 0; k < model->hull_count; k++) {
    const ModelHull* hull = &model->hulls[k];
    append_numbers(text, &hull->normal.x, 3);
    append_numbers(text, &hull->offset, 1);
    if (hull_is_round(hull)) append_numbers(text, &hull->smooth->core.rounding, 1);
    for (int i = 0; i < hull_contact_geometry(hull).ring_count; i++) {
      append_numbers(text, &hull->smooth->rings[i].center.x, 3);
      append_numbers(text, &hull->smooth->rings[i].axis.x, 3);
      append_numbers(text, &hull->smooth->rings[i].radius, 1);
    }
    for (int m = 0; m < hull->solid.vertex_count; m++) append_numbers(text, &hull->solid.vertices[m].x, 3);
  }
}

static void compute_hash(const Text* text, int64_t words[4]) {
  char hex[65], part[17] = {0};
  hash_sha256(text->data ? text->data : "", text->length, hex);
  for (int k = 0; k < 4; k++) {
    memcpy(part, hex + (size_t)16 * (size_t)k, 16);
    words[k] = (int64_t)strtoull(part, NULL, 16);
  }
}

void model_identity(const Model* model, int64_t words[MODEL_IDENTITY]) {
  static void (*const add[MODEL_PARTS])(const Model*, Text*) = {append_clock, append_tree, append_hulls, append_pairs,
                                                                append_contact};
  Text text = {0};
  for (int part = 0; part < MODEL_PARTS; part++) {
    text.length = 0;
    add[part](model, &text);
    compute_hash(&text, words + (size_t)4 * (size_t)part);
  }
  text_free(&text);
}

static const char* const DIFFERENCE_TEXTS[MODEL_ALIKE] = {
    "another simulation.dt or integrator", "other links or joints", "other numbers of vertices in the hulls",
    "another contact model or other pairs in contact"};

/* Returns the first part (MODEL_CLOCK, ...) in which the model differs from the model of a stored state, or -1. saved:
 * identity stored with the state. in_memory: true if the state is in memory; it may then belong to another contact law.
 */
static int find_difference(const Model* model, const int64_t* saved, bool in_memory) {
  int64_t identity[MODEL_IDENTITY];
  model_identity(model, identity);
  for (int part = 0; part < MODEL_ALIKE; part++)
    if (!(in_memory && part == MODEL_PAIRS) && memcmp(identity + 4 * part, saved + 4 * part, sizeof(int64_t[4])) != 0)
      return part;
  return -1;
}

void build_start(Builder* builder) {
  Model* model = builder->model;
  const NumberFile* file = builder->scene->start.state;
  int64_t saved[MODEL_IDENTITY], step;
  if (!file || builder->diagnostics->error_count > 0) return;
  if (!number_file_get_integers(file, "identity", saved, MODEL_IDENTITY, builder->diagnostics)) return;
  if (!number_file_get_integers(file, "step", &step, 1, builder->diagnostics)) return;
  int part = find_difference(model, saved, !file->path);
  if (part >= 0)
    diagnostics_add(
        builder->diagnostics, SEVERITY_ERROR, builder->scene->start.place,
        "start: the state %s was recorded with %s: make the scene agree with the recorded run, or record a new state",
        file->path ? file->path : "given", DIFFERENCE_TEXTS[part]);
  else if (step < 1 || step > 1000000000)
    diagnostics_add(
        builder->diagnostics, SEVERITY_ERROR, builder->scene->start.place,
        "start: the state %s is damaged: its step is %lld, but must lie between 1 and 1000000000; record a new state",
        file->path ? file->path : "given", (long long)step);
  else {
    model->start = file;
    model->start_step = (int)step;
  }
}
