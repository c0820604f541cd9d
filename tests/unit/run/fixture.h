/* A model of two links by hand with one state, for tests of the output writers without a simulation. */
#ifndef SDRS_TEST_OUTPUT_FIXTURE_H
#define SDRS_TEST_OUTPUT_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "run/run.h"

enum { FIXTURE_LINKS = 2, FIXTURE_DOFS = 6, FIXTURE_COORDINATES = 7 };

typedef struct {
  Scene scene;
  SceneLink scene_links[FIXTURE_LINKS];
  Model model;
  ModelLink links[FIXTURE_LINKS];
  int dof_link[FIXTURE_DOFS];
  double q[FIXTURE_COORDINATES], rate[FIXTURE_DOFS];
  Pose pose[FIXTURE_LINKS];
  Vec3 center[FIXTURE_LINKS];
  SimState state;
  StepReport report;
  SimContact contact;
  char folder[32];
} Fixture;

static inline void fixture_init(Fixture* f) {
  *f = (Fixture){0};
  f->scene = (Scene){.path = (char*)"scene.yaml", .name = (char*)"two", .links = f->scene_links, .link_count = 2};
  f->scene_links[0].joint.type = JOINT_FIXED;
  f->scene_links[1].joint = (SceneJoint){.type = JOINT_FREE, .free_axes = FREE_ALL};
  f->links[0] = (ModelLink){.name = "ground", .parent = -1};
  f->links[1] = (ModelLink){.name = "box,\"1\"", .parent = -1, .dof_count = 6, .coordinate_count = 7};
  for (int i = 0; i < FIXTURE_LINKS; i++) f->links[i].joint = scene_joint(&f->scene_links[i].joint);
  for (int i = 0; i < FIXTURE_DOFS; i++) f->dof_link[i] = 1;
  f->model = (Model){.scene = &f->scene,
                     .links = f->links,
                     .link_count = 2,
                     .dof_count = 6,
                     .coordinate_count = 7,
                     .dof_link = f->dof_link};
  f->model.simulation = (SceneSimulation){.dt = 0.01, .steps = 3, .record_every = 1};
  for (int i = 0; i < FIXTURE_LINKS; i++) f->pose[i].r = mat3_identity();
  f->pose[1].t = vec3(0.1, -1.0 / 3.0, 1e-300);
  f->center[1] = vec3(0.2, 0, 5e-324);
  for (int i = 0; i < FIXTURE_COORDINATES; i++) f->q[i] = 0.1 * (i + 1);
  f->state = (SimState){.q = f->q, .rate = f->rate, .pose = f->pose, .center = f->center};
  f->report = (StepReport){.outcome = STEP_ROUNDING_FLOOR,
                           .iterations = 3,
                           .trials = 4,
                           .residual = 1e-5,
                           .terms = {1, 2, 3, 4, 5, 6.5, 7, 6},
                           .active_pairs = 8,
                           .candidate_pairs = 9,
                           .certified_intervals = 10,
                           .factor_retries = 11,
                           .substeps = 12};
  f->contact = (SimContact){.a = 0, .b = 1, .gap = 1e-3, .force = {0, 0, 9.81}};
  strcpy(f->folder, "/tmp/sdrs-output-XXXXXX");
}

/* The frame of the fixture's state: the initial one for step 0. */
static inline RunFrame fixture_frame(Fixture* f, int step) {
  f->state.step = step;
  f->state.time = 0.01 * step;
  RunFrame frame = {.state = &f->state,
                    .measure = {0.5, -0.25, 0.25, (double)INFINITY, {1.5, -2, 0}, {0, 0.1, 1e-300}}};
  if (step > 0) {
    frame.report = &f->report;
    frame.contacts = &f->contact;
    frame.contact_count = 1;
  }
  return frame;
}

/* Content of a file of the fixture's folder, owned by the caller; NULL when there is none. */
__attribute__((noinline, unused)) static char* fixture_read(const Fixture* f, const char* name) {
  Text path = {0};
  text_add(&path, "%s/%s", f->folder, name);
  char* data = NULL;
  size_t length;
  (void)file_read(path.data, &data, &length);
  text_free(&path);
  return data;
}

static inline void fixture_remove(const Fixture* f) {
  static const char* const names[] = {"trajectory.csv", "joints.csv", "contacts.csv", "solver.csv", "path.csv"};
  Text path = {0};
  for (int i = 0; i < 5; i++) {
    path.length = 0;
    text_add(&path, "%s/%s", f->folder, names[i]);
    unlink(path.data);
    text_add(&path, "~");
    unlink(path.data);
  }
  text_free(&path);
  rmdir(f->folder);
}

#endif
