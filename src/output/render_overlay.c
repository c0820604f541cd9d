/* What is drawn over a picture on request: the way of a centre of mass. */
#include "output/render.h"

/* Width of the line, and half the side of the mark at its end [px at 720 px of height]. */
#define PATH_WIDTH 1.6
#define MARK_HALF 4.0
#define WIDTH_HEIGHT 720.0

/* Centre of mass of a link, or (RENDER_PATH_ALL) of all that can move [m]. */
static Vec3 center_of_mass(const Model* model, const Pose* poses, int link) {
  if (link >= 0) return pose_apply(poses[link], model->links[link].center);
  Vec3 sum = vec3(0, 0, 0);
  double mass = 0;
  for (int i = 0; i < model->link_count; i++) {
    if (model->links[i].tree < 0) continue;
    sum = vec3_add_scaled(sum, model->links[i].mass, pose_apply(poses[i], model->links[i].center));
    mass += model->links[i].mass;
  }
  return mass > 0 ? vec3_scale(sum, 1 / mass) : sum;
}

void render_path(RenderImage* image, const RenderCamera* camera, const Model* model, const RunPoses* run, int row,
                 int link) {
  double scale = image->height / WIDTH_HEIGHT, width = fmax(1.0, PATH_WIDTH * scale), x = 0, y = 0, distance;
  bool before = false;
  for (int i = 0; i <= row; i++) {
    double next_x, next_y;
    bool seen = camera_project(camera, center_of_mass(model, run_row_poses(run, i), link), &next_x, &next_y, &distance);
    if (seen && before) image_line(image, x, y, next_x, next_y, width);
    before = seen;
    x = next_x;
    y = next_y;
  }
  if (!before) return;
  double half = MARK_HALF * scale;
  image_line(image, x - half, y, x + half, y, width);
  image_line(image, x, y - half, x, y + half, width);
}
