/* Imports friction and solref of geoms as friction and restitution of links. For two geoms, MuJoCo uses the larger
 * friction, or that of the geom with higher priority. Links with equal values form a group, and each pair of groups
 * gets its combined coefficients. */
#include <string.h>

#include "robot/mjcf.h"

/* Largest number of different combinations of friction, priority and solref. With more, all geoms get the largest
 * friction. */
enum { KINDS_MAX = 12 };

typedef struct {
  MjcfModel* model;
  Scene* scene;
  MjcfFriction kinds[KINDS_MAX];
  int kind_count;
  int* kind_of_link;    /* for each scene link, the index in `kinds` of its combination of friction, priority and
                               solref; -1: none (size: links) */
  bool used[KINDS_MAX]; /* for each kind (combination of friction, priority and solref), true if its links form a group
                         */
} Frictions;

static bool has_precedence(const MjcfFriction* a, const MjcfFriction* b) {
  return a->priority != b->priority ? a->priority > b->priority : a->value >= b->value;
}

static bool same_values(const MjcfFriction* a, const MjcfFriction* b) {
  return a->priority == b->priority && a->value == b->value && a->mix == b->mix &&
         memcmp(a->solref, b->solref, sizeof a->solref) == 0;
}

static bool same_kind(const MjcfFriction* a, const MjcfFriction* b) {
  return a->is_ground == b->is_ground && same_values(a, b);
}

/* Sets solref of a pair of geoms by MuJoCo's rules. The geom of higher priority decides. If both solref are time
 * constant and damping ratio, the result is their mean weighted by `mix`. Otherwise it is the componentwise minimum. */
static void pair_solref(const MjcfFriction* a, const MjcfFriction* b, double solref[2]) {
  double sum = a->mix + b->mix, weight = sum > 1e-15 ? a->mix / sum : 0.5;
  if (a->priority != b->priority) weight = a->priority > b->priority ? 1 : 0;
  bool mixed = a->priority != b->priority || (a->solref[0] > 0 && b->solref[0] > 0);
  for (int k = 0; k < 2; k++)
    solref[k] = mixed ? weight * a->solref[k] + (1 - weight) * b->solref[k] : fmin(a->solref[k], b->solref[k]);
}

/* In files of `sdrs export`, damping ratios from this value on mean no restitution. */
#define DAMPING_RATIO_MAX 5.0

double mjcf_restitution(const MjcfModel* model, const double solref[2]) {
  double z = solref[0] > 0 ? solref[1] : solref[0] < 0 ? -solref[1] / (2 * sqrt(-solref[0])) : 1;
  if (!(z < 1) && !(model->small_restitution && z < DAMPING_RATIO_MAX)) return 0;
  double s = sqrt(fabs(1 - z * z));
  if (s < 1e-6) return math_exp_nonpositive(-2);
  if (z > 1)
    return math_exp_nonpositive(-z / s * 0.5 * math_log((2 * z * z - 1 + 2 * z * s) / (2 * z * z - 1 - 2 * z * s)));
  return z > 0 ? math_exp_nonpositive(-z / s * math_atan2(2 * z * s, 2 * z * z - 1)) : 1;
}

static double pair_restitution(const MjcfModel* model, const MjcfFriction* a, const MjcfFriction* b) {
  double solref[2];
  pair_solref(a, b, solref);
  return mjcf_restitution(model, solref);
}

/* Returns the index in f->kinds of a combination of friction, priority and solref. Adds a new combination. Returns -1
 * if there are too many. */
static int find_or_add_kind(Frictions* f, const MjcfFriction* friction) {
  for (int k = 0; k < f->kind_count; k++)
    if (same_kind(&f->kinds[k], friction)) return k;
  if (f->kind_count == KINDS_MAX) return -1;
  f->kinds[f->kind_count] = *friction;
  return f->kind_count++;
}

/* Sets f->kind_of_link of each scene link to the kind of the geom with precedence among its geoms, and to -1 if there
 * is none. carrier[link of the robot]: link of the scene that has its geoms, or -1. Returns false if there are too many
 * kinds. */
static bool find_kinds(Frictions* f, const int* carrier) {
  MjcfModel* model = f->model;
  bool mixed = false;
  for (int i = 0; i < f->scene->link_count; i++) f->kind_of_link[i] = -1;
  for (int i = 0; i < model->friction_count; i++) {
    int link = carrier[model->frictions[i].link], kind = find_or_add_kind(f, &model->frictions[i]);
    if (kind < 0) return false;
    if (link < 0) continue;
    int before = f->kind_of_link[link];
    mixed = mixed || (before >= 0 && !same_values(&f->kinds[before], &f->kinds[kind]));
    bool floor = f->kinds[kind].is_ground, was = before >= 0 && f->kinds[before].is_ground;
    if (before < 0 || floor > was || (floor == was && has_precedence(&f->kinds[kind], &f->kinds[before])))
      f->kind_of_link[link] = kind;
  }
  if (mixed) mjcf_report_dropped(model, "friction and solref that differ within a link (largest friction)");
  return true;
}

static void group_name(Text* out, const MjcfFriction* kind) {
  text_add(out, "friction %.6g", kind->value);
  if (kind->priority != 0) text_add(out, " priority %d", kind->priority);
  if (kind->solref[0] != 1 || kind->solref[1] != 1)
    text_add(out, " solref %.6g %.6g", kind->solref[0], kind->solref[1]);
  if (kind->is_ground) text_add(out, " ground");
  if (kind->mix != 1) text_add(out, " solmix %.6g", kind->mix);
}

static void add_pair(Frictions* f, int a, int b, double value, double restitution) {
  SceneContact* contact = &f->scene->contact;
  size_t count = (size_t)contact->pair_count, size = sizeof(ScenePair);
  contact->pairs = memory_resize(contact->pairs, count * size, (count + 1) * size);
  ScenePair* pair = &contact->pairs[contact->pair_count++];
  *pair = (ScenePair){.place = {f->scene->path, 0, 0}};
  for (int side = 0; side < 2; side++) {
    Text name = {0};
    group_name(&name, &f->kinds[side == 0 ? a : b]);
    pair->name[side] = memory_copy_text(name.data);
    text_free(&name);
  }
  pair->material.given[MATERIAL_FRICTION] = true;
  pair->material.value[MATERIAL_FRICTION] = value;
  pair->material.given[MATERIAL_RESTITUTION] = restitution > 0;
  pair->material.value[MATERIAL_RESTITUTION] = restitution;
  f->used[a] = f->used[b] = true;
}

static void add_groups(Frictions* f) {
  for (int i = 0; i < f->scene->link_count; i++) {
    SceneLink* link = &f->scene->links[i];
    if (f->kind_of_link[i] < 0 || !f->used[f->kind_of_link[i]]) continue;
    Text name = {0};
    size_t count = (size_t)link->group_count;
    group_name(&name, &f->kinds[f->kind_of_link[i]]);
    link->groups = memory_resize(link->groups, count * sizeof(char*), (count + 1) * sizeof(char*));
    link->groups[link->group_count++] = memory_copy_text(name.data);
    text_free(&name);
  }
}

static bool is_kind_used(const Frictions* f, int kind) {
  for (int i = 0; i < f->scene->link_count; i++)
    if (f->kind_of_link[i] == kind) return true;
  return false;
}

void mjcf_read_frictions(MjcfModel* model, Scene* scene, const int* carrier) {
  Frictions f = {.model = model, .scene = scene, .kind_of_link = MEMORY_NEW(int, scene->link_count + 1)};
  double largest = -1;
  for (int i = 0; i < model->friction_count; i++) largest = fmax(largest, model->frictions[i].value);
  if (largest >= 0) scene->contact.friction = largest;
  if (!find_kinds(&f, carrier)) {
    robot_remark(model->report, model->diagnostics, (SourcePosition){model->path, 0, 0},
                 "geoms have more than %d combinations of friction, priority and solref: all geoms get the largest "
                 "friction, %.6g, and no restitution; use fewer combinations",
                 KINDS_MAX, largest);
    f.kind_count = 0;
  }
  for (int a = 0; a < f.kind_count; a++)
    for (int b = a; b < f.kind_count && is_kind_used(&f, a); b++) {
      double value = has_precedence(&f.kinds[a], &f.kinds[b]) ? f.kinds[a].value : f.kinds[b].value;
      double restitution = pair_restitution(model, &f.kinds[a], &f.kinds[b]);
      if (is_kind_used(&f, b) && (value != largest || restitution > 0)) add_pair(&f, a, b, value, restitution);
    }
  if (f.kind_count > 0) add_groups(&f);
  memory_free(f.kind_of_link);
}
