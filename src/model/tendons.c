/* Cords through points of links (docs/derivations/loads.md, L5). */
#include "model/build.h"

double tendon_length(const SceneTendon* tendon, const Pose* poses) {
  double sum = 0;
  Vec3 last = tendon_point(&tendon->points[0], poses);
  for (int i = 1; i < tendon->count; i++) {
    Vec3 next = tendon_point(&tendon->points[i], poses);
    sum += vec3_norm(vec3_sub(next, last));
    last = next;
  }
  return sum;
}

double tendon_stretch(const SceneTendon* tendon, double length) {
  return tendon->stiffness > 0 ? fmax(length - tendon->rest_length, 0) : 0;
}

double model_tendon_energy(const Model* model, const Pose* poses) {
  double sum = 0;
  for (int k = 0; k < model->tendon_count; k++) {
    const SceneTendon* tendon = model->tendons[k].source;
    double stretch = tendon_stretch(tendon, tendon_length(tendon, poses));
    sum += 0.5 * tendon->stiffness * stretch * stretch;
  }
  return sum;
}

static int find_home(const Model* model, const SceneTendon* tendon) {
  for (int i = 0; i < tendon->count; i++)
    if (tendon->points[i].link >= 0 && model->links[tendon->points[i].link].tree >= 0) return tendon->points[i].link;
  return -1;
}

void build_tendons(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->tendon_count = scene->tendon_count;
  model->tendons = MEMORY_NEW(ModelTendon, scene->tendon_count);
  for (int k = 0; k < scene->tendon_count; k++) {
    ModelTendon* tendon = &model->tendons[k];
    *tendon = (ModelTendon){.source = &scene->tendons[k], .point_first = model->tendon_point_count};
    model->tendon_point_count += tendon->source->count;
    tendon->home = find_home(model, tendon->source);
    tendon->tension_first = build_signal(model, &tendon->tension, &tendon->source->tension);
  }
}
