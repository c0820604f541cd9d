/* Draws the overlays of an image: paths of centres of mass, contacts, forces and separating planes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "contact/contact.h"
#include "render/picture.h"

/* Sizes of the overlays [px] in an image of REFERENCE_HEIGHT pixels height, with which they scale. PATH_WIDTH: width of
 * a path. MARK_HALF: half size of the mark at the end of a path. DOT_WIDTH: diameter of a contact point. SHAFT_WIDTH:
 * width of the shaft of a force arrow. RIM_WIDTH: width of the light outline around arrows and points. */
#define PATH_WIDTH 1.6
#define MARK_HALF 4.0
#define DOT_WIDTH 7.0
#define SHAFT_WIDTH 3.0
#define RIM_WIDTH 1.2
#define REFERENCE_HEIGHT 720.0
/* HEAD_LENGTH, HEAD_HALF: length and half width of an arrow's head, in widths of the shaft. HEAD_SHARE: largest length
 * of the head relative to the arrow. */
#define HEAD_LENGTH 4.2
#define HEAD_HALF 1.9
#define HEAD_SHARE 0.6
/* Smallest length of a drawn arrow [px]. A shorter arrow would consist of its head only. */
#define ARROW_MIN 2.0
/* A separating plane is drawn if the distance of the hulls is below this multiple of the contact support. 4 is twice
 * the contact range. */
#define NEAR_SUPPORTS 4.0
/* SQUARE_SHARE: half side of the square that represents a plane, relative to the radius of the smaller hull
 * of the pair. SQUARE_REACH: its upper limit, relative to the radius of the visible scene. */
#define SQUARE_SHARE 0.7
#define SQUARE_REACH 0.15
#define SQUARE_OPACITY 0.28
/* Quantile of the forces that determines the scale of the arrows. Arrows of larger forces, such as impact forces, may
 * leave the image. */
#define FORCE_QUANTILE 0.95

const uint8_t FORCE_COLOR[3] = {0xC4, 0x0C, 0x2E};
static const uint8_t CONTACT_COLOR[3] = {0x18, 0x18, 0x1C}, PLANE_COLOR[3] = {0x7A, 0x3E, 0xB8},
                     PAPER[3] = {0xFF, 0xFF, 0xFF};

static double pixel_scale(const RenderImage* image) { return image->height / REFERENCE_HEIGHT; }

/* Returns the centre of mass [m, world] of a link, or of all movable links if link is RENDER_PATH_ALL. */
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
  assert(row >= 0 && row < run->row_count);
  double scale = pixel_scale(image), width = fmax(1.0, PATH_WIDTH * scale), x = 0, y = 0, distance;
  bool before = false;
  for (int i = 0; i <= row; i++) {
    double next_x, next_y;
    bool seen =
        camera_project(camera, center_of_mass(model, run_poses_at_row(run, i), link), &next_x, &next_y, &distance);
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

void image_arrow(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3]) {
  double length = math_hypot(x1 - x0, y1 - y0), width = fmax(1.5, SHAFT_WIDTH * pixel_scale(image));
  if (!(length >= ARROW_MIN) || !isfinite(length)) return;
  double ux = (x1 - x0) / length, uy = (y1 - y0) / length;
  double head = fmin(HEAD_LENGTH * width, HEAD_SHARE * length), half = head * HEAD_HALF / HEAD_LENGTH;
  double neck_x = x1 - head * ux, neck_y = y1 - head * uy, rim = RIM_WIDTH;
  const double tip[3][2] = {
      {x1, y1}, {neck_x - half * uy, neck_y + half * ux}, {neck_x + half * uy, neck_y - half * ux}};
  double wide = half + 1.5 * rim;
  const double pale[3][2] = {{x1 + 2.0 * rim * ux, y1 + 2.0 * rim * uy},
                             {neck_x - rim * ux - wide * uy, neck_y - rim * uy + wide * ux},
                             {neck_x - rim * ux + wide * uy, neck_y - rim * uy - wide * ux}};
  image_stroke(image, x0, y0, neck_x, neck_y, width + 2.0 * rim, PAPER, 0.8);
  image_polygon(image, pale, 3, PAPER, 0.8);
  image_stroke(image, x0, y0, neck_x, neck_y, width, color, 1.0);
  image_polygon(image, tip, 3, color, 1.0);
}

void image_contact_dot(RenderImage* image, double x, double y) {
  double width = fmax(4.0, DOT_WIDTH * pixel_scale(image));
  image_stroke(image, x, y, x, y, width + 2.0 * RIM_WIDTH, PAPER, 0.9);
  image_stroke(image, x, y, x, y, width, CONTACT_COLOR, 1.0);
}

void image_plane_square(RenderImage* image, const double corner[4][2]) {
  image_polygon(image, corner, 4, PLANE_COLOR, SQUARE_OPACITY);
  for (int k = 0; k < 4; k++) {
    const double *a = corner[k], *b = corner[(k + 1) % 4];
    image_stroke(image, a[0], a[1], b[0], b[1], 1.2, PLANE_COLOR, 0.8);
  }
}

typedef struct {
  RenderImage* image;
  const RenderCamera* camera;
  const Model* model;
  const ContactSpot* spots;
  int count;
} OverlayPen;

static void draw_plane(const OverlayPen* pen, const ContactSpot* spot) {
  const ModelHull *a = &pen->model->hulls[spot->hull_a], *b = &pen->model->hulls[spot->hull_b];
  double radius = b->kind->bounded ? fmin(a->radius, b->radius) : a->radius;
  double half = fmin(SQUARE_SHARE * radius, SQUARE_REACH * pen->camera->reach), corner[4][2], distance;
  Vec3 u, v;
  plane_axes(spot->normal, &u, &v);
  for (int k = 0; k < 4; k++) {
    double along = k == 1 || k == 2 ? half : -half, across = k >= 2 ? half : -half;
    Vec3 point = vec3_add_scaled(vec3_add_scaled(spot->point, along, u), across, v);
    if (!camera_project(pen->camera, point, &corner[k][0], &corner[k][1], &distance)) return;
  }
  image_plane_square(pen->image, (const double(*)[2])corner);
}

static void draw_contact(const OverlayPen* pen, const ContactSpot* spot) {
  double x, y, distance;
  if (spot->touching && camera_project(pen->camera, spot->point, &x, &y, &distance))
    image_contact_dot(pen->image, x, y);
}

/* Returns true if a link is movable and is not part of a mechanism. */
static bool is_single_body(const Model* model, int link) {
  int members = 0, tree = model->links[link].tree;
  for (int i = 0; i < model->link_count; i++) members += model->links[i].tree == tree;
  return tree >= 0 && members == 1;
}

bool is_force_shown_on_a(const Model* model, const RunContact* contact) {
  if (model->links[contact->b].tree < 0) return true;
  return is_single_body(model, contact->a) && !is_single_body(model, contact->b);
}

static void draw_force(const OverlayPen* pen, const RunContact* contact, double metres_per_newton) {
  Vec3 from;
  double x0, y0, x1, y1, distance, sign = is_force_shown_on_a(pen->model, contact) ? -1.0 : 1.0;
  if (!contact_spots_center(pen->model, pen->spots, pen->count, contact->a, contact->b, &from)) return;
  Vec3 to = vec3_add_scaled(from, sign * metres_per_newton, contact->force);
  if (camera_project(pen->camera, from, &x0, &y0, &distance) && camera_project(pen->camera, to, &x1, &y1, &distance))
    image_arrow(pen->image, x0, y0, x1, y1, FORCE_COLOR);
}

/* Draws the forces at a time [s]. Times are compared exactly, because trajectory and contacts contain identical
 * numbers. */
static void draw_forces(const OverlayPen* pen, double time, const RunContacts* contacts, double metres_per_newton) {
  for (int i = 0; i < contacts->count; i++)
    if (contacts->rows[i].time == time) draw_force(pen, &contacts->rows[i], metres_per_newton);
}

void render_marks(RenderImage* image, const RenderCamera* camera, const Model* model, const Pose* poses, double time,
                  const RunContacts* contacts, const RenderMarks* marks) {
  if (!(marks->show & (RENDER_CONTACTS | RENDER_FORCES | RENDER_PLANES))) return;
  ContactSpot* spots;
  int count = contact_find_close_pairs(model, poses, NEAR_SUPPORTS * model->contact.support, &spots);
  OverlayPen pen = {image, camera, model, spots, count};
  for (int i = 0; i < count && (marks->show & RENDER_PLANES); i++) draw_plane(&pen, &spots[i]);
  if (contacts && (marks->show & RENDER_FORCES)) draw_forces(&pen, time, contacts, marks->metres_per_newton);
  for (int i = 0; i < count && (marks->show & RENDER_CONTACTS); i++) draw_contact(&pen, &spots[i]);
  memory_free(spots);
}

static int compare_numbers(const void* left, const void* right) {
  double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* Returns the value rounded up to 1, 2 or 5 times a power of ten. */
static double round_up(double value) {
  double decade = math_pow(10.0, floor(math_log10(value))), share = value / decade;
  return decade * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

double force_unit(const RunContacts* contacts) {
  double* force = MEMORY_NEW(double, contacts->count + 1);
  for (int i = 0; i < contacts->count; i++) force[i] = vec3_norm(contacts->rows[i].force);
  qsort(force, (size_t)contacts->count, sizeof *force, compare_numbers);
  double common = contacts->count > 0 ? force[(int)(FORCE_QUANTILE * (contacts->count - 1))] : 0.0;
  memory_free(force);
  return common > 0.0 ? round_up(common / FORCE_SPAN) : 1.0;
}
