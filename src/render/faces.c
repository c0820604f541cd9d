#include <assert.h>
#include <string.h>
#include "render/drawing.h"

/* Distance of the near plane from the eye, relative to the distance of the camera's target. */
#define NEAR_SHARE 1e-3

/* Brightness of a white face in light from above (SKY_LIGHT), from below (BOUNCE_LIGHT) and from the lamp (LAMP_LIGHT).
 */
#define SKY_LIGHT 0.55f
#define BOUNCE_LIGHT 0.34f
#define LAMP_LIGHT 0.60f

/* EDGE_DARKNESS: darkening of sharp edges. EDGE_FACE_WIDTH: width of a face below which the darkening is reduced [px],
 * so that edges do not cover small faces. */
#define EDGE_DARKNESS 0.45f
#define EDGE_FACE_WIDTH 4.0
/* Distance of a missing edge [px], too large to have an effect. */
#define EDGE_NONE 1e9f

/* Floors fade into the background between these distances from the camera's target, in multiples of the camera's
 * reach. */
#define FADE_BEGIN 2.0
#define FADE_END 4.5

/* ---------------------------------------------------------------- light, plane and edges of a face */

/* A planar polygon in the world frame. */
typedef struct {
  Vec3 corner[4];
  int corner_count;
  Vec3 normal;    /* outward unit normal */
  unsigned sharp; /* bit k is set if the edge from corner k to k + 1 is sharp */
  const float* color;
  bool has_tint; /* true for a triangle with the displacement values `tint` at its corners */
  double tint[3];
  int hull;
  bool floor, fades;
} Polygon;

/* Sets face->nearness: the coefficients of 1 / distance as a linear function of the pixel. point, normal: point and
 * unit normal n of the face's plane. In camera axes the plane is n . p = d, and 1 / distance = n . (X, Y, 1) / d. X and
 * Y are the direction's right and up components per unit along forward. Returns false if the plane is seen from behind
 * or edge-on. */
static bool set_nearness(const RenderCamera* camera, DrawnFace* face, Vec3 point, Vec3 normal) {
  double d = vec3_dot(normal, vec3_sub(point, camera->eye));
  if (!(d < 0.0)) return false;
  double a = vec3_dot(normal, camera->right) / (camera->focal * d);
  double b = -vec3_dot(normal, camera->up) / (camera->focal * d);
  face->nearness[0] = vec3_dot(normal, camera->forward) / d - 0.5 * camera->width * a - 0.5 * camera->height * b;
  face->nearness[1] = a;
  face->nearness[2] = b;
  return isfinite(face->nearness[0]) && isfinite(a) && isfinite(b);
}

/* Sets `form` to the coefficients of coordinate / distance, which is a linear function of the pixel on a face. The
 * coordinate of a point p is axis . (p - origin). */
static void set_coordinate(const RenderCamera* camera, const DrawnFace* face, Vec3 axis, Vec3 origin, float form[3]) {
  double eye = vec3_dot(axis, vec3_sub(camera->eye, origin));
  double a = vec3_dot(axis, camera->right) / camera->focal, b = -vec3_dot(axis, camera->up) / camera->focal;
  double ahead = vec3_dot(axis, camera->forward) - 0.5 * camera->width * a - 0.5 * camera->height * b;
  form[0] = (float)(eye * face->nearness[0] + ahead);
  form[1] = (float)(eye * face->nearness[1] + a);
  form[2] = (float)(eye * face->nearness[2] + b);
}

static void set_light(const Drawing* drawing, DrawnFace* face, Vec3 normal) {
  const ShadowMap* map = &drawing->shadow;
  double facing = vec3_dot(normal, map->light);
  float upward = 0.5f + 0.5f * (float)vec3_dot(normal, drawing->stage->up);
  face->ambient = BOUNCE_LIGHT + (SKY_LIGHT - BOUNCE_LIGHT) * upward;
  if (!(facing > 0.0)) return;
  face->lamp = LAMP_LIGHT * (float)facing;
  if (map->size == 0) return;
  const Vec3 axes[3] = {map->s, map->t, map->light};
  for (int k = 0; k < 3; k++)
    set_coordinate(drawing->camera, face, vec3_scale(axes[k], 1.0 / map->texel), map->origin,
                   face->shadow_coordinates[k]);
  face->slope[0] = (float)(-vec3_dot(normal, map->s) / facing);
  face->slope[1] = (float)(-vec3_dot(normal, map->t) / facing);
}

/* Sets face->tint: the coefficients of the value on the displacement scale divided by the distance, as a linear
 * function of the pixel. The value at a point p of the triangle is tint[0] + slope . (p - corner[0]). With the edges
 * e1, e2 from corner[0] and N = e1 x e2, slope = ((tint[1] - tint[0]) e2 x N + (tint[2] - tint[0]) N x e1) / N . N. */
static void set_tint(const RenderCamera* camera, DrawnFace* face, const Polygon* polygon) {
  Vec3 origin = polygon->corner[0], e1 = vec3_sub(polygon->corner[1], origin),
       e2 = vec3_sub(polygon->corner[2], origin);
  Vec3 normal = vec3_cross(e1, e2);
  double square = vec3_dot(normal, normal);
  Vec3 slope = vec3_add_scaled(vec3_scale(vec3_cross(e2, normal), (polygon->tint[1] - polygon->tint[0]) / square),
                               (polygon->tint[2] - polygon->tint[0]) / square, vec3_cross(normal, e1));
  set_coordinate(camera, face, slope, origin, face->tint);
  for (int k = 0; k < 3; k++) face->tint[k] += (float)(polygon->tint[0] * face->nearness[k]);
  face->has_tint = true;
}

static int add_floor(Drawing* drawing, const DrawnFace* face, Vec3 normal, bool fades) {
  const RenderCamera* camera = drawing->camera;
  drawing->floors = memory_grow_array(drawing->floors, sizeof(Floor), drawing->floor_count, &drawing->floor_capacity);
  Floor* grid = &drawing->floors[drawing->floor_count];
  double spacing = grid_spacing(2.0 * camera->reach), major = grid_major_spacing(spacing);
  Vec3 u, v;
  plane_axes(normal, &u, &v);
  double along_u = vec3_dot(u, camera->target), along_v = vec3_dot(v, camera->target);
  double start_u = major * floor(along_u / major), start_v = major * floor(along_v / major);
  Vec3 start = vec3_add(vec3_scale(u, start_u), vec3_scale(v, start_v));
  set_coordinate(camera, face, u, start, grid->u);
  set_coordinate(camera, face, v, start, grid->v);
  grid->center_u = (float)(along_u - start_u);
  grid->center_v = (float)(along_v - start_v);
  grid->spacing = (float)spacing;
  grid->major = (float)major;
  grid->fade_begin = (float)(FADE_BEGIN * camera->reach);
  grid->fade_end = (float)(FADE_END * camera->reach);
  grid->fades = fades;
  return drawing->floor_count++;
}

/* Sets the coefficients of the distance from the line through two corners [px]. The distance is a linear function of
 * the pixel, positive on the side of the third corner. from: index of the first corner. */
static void set_edge(const double x[3], const double y[3], int from, float edge[3]) {
  assert(from >= 0 && from < 3);
  int to = (from + 1) % 3, third = (from + 2) % 3;
  double a = y[from] - y[to], b = x[to] - x[from], length = math_hypot(a, b);
  double c = -a * x[from] - b * y[from], side = a * x[third] + b * y[third] + c;
  double scale = length > 0.0 ? (side < 0.0 ? -1.0 : 1.0) / length : 0.0;
  edge[0] = (float)(c * scale);
  edge[1] = (float)(a * scale);
  edge[2] = (float)(b * scale);
}

/* Sets the sharp edges of a triangle that the near plane does not clip. sharp: bit k is set if the edge from corner k
 * to k + 1 is sharp. */
static void set_edges(DrawnFace* face, const DrawnTriangle* triangle, unsigned sharp) {
  const double *x = triangle->x, *y = triangle->y;
  double area = fabs((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]));
  double around = math_hypot(x[1] - x[0], y[1] - y[0]) + math_hypot(x[2] - x[1], y[2] - y[1]) +
                  math_hypot(x[0] - x[2], y[0] - y[2]);
  double width = around > 0.0 ? 2.0 * area / around : 0.0; /* diameter of the inscribed circle */
  face->edge_strength = EDGE_DARKNESS * (float)fmin(1.0, width / EDGE_FACE_WIDTH);
  for (int k = 0; k < 3; k++)
    if (sharp & 1u << k) set_edge(x, y, k, face->edge[k]);
}

/* Clips a polygon at the near plane. Sets out[5] to the corners in camera axes (right, up, forward) and returns their
 * number. near: distance of the near plane from the eye [m]. */
static int clip_near(const RenderCamera* camera, const Polygon* polygon, double near, Vec3 out[5]) {
  assert(near > 0 && polygon->corner_count >= 3 && polygon->corner_count <= 4);
  Vec3 in[4];
  for (int k = 0; k < polygon->corner_count; k++) {
    Vec3 d = vec3_sub(polygon->corner[k], camera->eye);
    in[k] = vec3(vec3_dot(camera->right, d), vec3_dot(camera->up, d), vec3_dot(camera->forward, d));
  }
  int count = 0;
  for (int k = 0; k < polygon->corner_count; k++) {
    Vec3 a = in[k], b = in[(k + 1) % polygon->corner_count];
    if (a.z >= near) out[count++] = a;
    if ((a.z >= near) != (b.z >= near)) out[count++] = vec3_add_scaled(a, (near - a.z) / (b.z - a.z), vec3_sub(b, a));
  }
  return count;
}

static bool is_outside_image(const RenderCamera* camera, const DrawnTriangle* triangle) {
  const double *x = triangle->x, *y = triangle->y;
  return !(fmax(fmax(x[0], x[1]), x[2]) > 0.0 && fmin(fmin(x[0], x[1]), x[2]) < camera->width &&
           fmax(fmax(y[0], y[1]), y[2]) > 0.0 && fmin(fmin(y[0], y[1]), y[2]) < camera->height);
}

static void add_triangle(Drawing* drawing, const Vec3 corner[3]) {
  const RenderCamera* camera = drawing->camera;
  DrawnTriangle triangle = {.face = (uint32_t)drawing->face_count};
  for (int k = 0; k < 3; k++) {
    triangle.x[k] = 0.5 * camera->width + camera->focal * corner[k].x / corner[k].z;
    triangle.y[k] = 0.5 * camera->height - camera->focal * corner[k].y / corner[k].z;
  }
  if (is_outside_image(camera, &triangle)) return;
  drawing->triangles = memory_grow_array(drawing->triangles, sizeof(DrawnTriangle), drawing->triangle_count,
                                         &drawing->triangle_capacity);
  drawing->triangles[drawing->triangle_count++] = triangle;
}

static void add_polygon(Drawing* drawing, const Polygon* polygon) {
  const RenderCamera* camera = drawing->camera;
  DrawnFace face = {
      .hull = polygon->hull, .floor = -1, .edge = {{EDGE_NONE, 0, 0}, {EDGE_NONE, 0, 0}, {EDGE_NONE, 0, 0}}};
  if (!set_nearness(camera, &face, polygon->corner[0], polygon->normal)) return;
  Vec3 seen[5];
  int count = clip_near(camera, polygon, NEAR_SHARE * vec3_norm(vec3_sub(camera->target, camera->eye)), seen);
  int first_piece = drawing->triangle_count;
  for (int k = 2; k < count; k++) add_triangle(drawing, (Vec3[3]){seen[0], seen[k - 1], seen[k]});
  if (drawing->triangle_count == first_piece) return;
  memcpy(face.color, polygon->color, sizeof face.color);
  set_light(drawing, &face, polygon->normal);
  if (polygon->has_tint) set_tint(camera, &face, polygon);
  if (polygon->corner_count == 3 && count == 3) set_edges(&face, &drawing->triangles[first_piece], polygon->sharp);
  if (polygon->floor) face.floor = add_floor(drawing, &face, polygon->normal, polygon->fades);
  drawing->faces = memory_grow_array(drawing->faces, sizeof(DrawnFace), drawing->face_count, &drawing->face_capacity);
  drawing->faces[drawing->face_count++] = face;
}

static bool is_floor(const Drawing* drawing, HullPart part, Vec3 normal) {
  return part != HULL_BODY && vec3_dot(normal, drawing->stage->up) > STAGE_FLOOR_COSINE;
}

/* Sets the values of a triangle's corners on the displacement scale. */
static void set_polygon_tint(const RenderStage* stage, const ModelHull* hull, const int corner[3], Polygon* polygon) {
  polygon->has_tint = stage->displacement != NULL;
  for (int k = 0; k < 3 && polygon->has_tint && stage->largest_displacement > 0.0; k++)
    polygon->tint[k] = stage->displacement[hull->vertex_first + corner[k]] / stage->largest_displacement;
}

static void add_hull(Drawing* drawing, int index, Pose pose) {
  const RenderStage* stage = drawing->stage;
  const ModelHull* hull = &stage->model->hulls[index];
  const ConvexHull* solid = &hull->solid;
  for (int i = 0; i < solid->triangle_count; i++) {
    Polygon polygon = {.corner_count = 3, .hull = index, .color = stage->color[hull->link]};
    for (int k = 0; k < 3; k++) polygon.corner[k] = pose_apply(pose, solid->vertices[solid->triangles[i][k]]);
    Vec3 normal =
        vec3_cross(vec3_sub(polygon.corner[1], polygon.corner[0]), vec3_sub(polygon.corner[2], polygon.corner[0]));
    double length = vec3_norm(normal);
    if (!(length > 0.0)) continue;
    polygon.normal = vec3_scale(normal, 1.0 / length);
    polygon.sharp = stage->edges[stage->edge_first[index] + i];
    polygon.floor = is_floor(drawing, stage->part[index], polygon.normal);
    polygon.fades = stage->part[index] == HULL_TERRAIN;
    set_polygon_tint(stage, hull, solid->triangles[i], &polygon);
    add_polygon(drawing, &polygon);
  }
}

/* Adds a half-space as a square about the camera's target, up to the distance at which floors have faded out. */
static void add_half_space(Drawing* drawing, int index, Pose pose) {
  const RenderStage* stage = drawing->stage;
  const ModelHull* hull = &stage->model->hulls[index];
  Polygon polygon = {.corner_count = 4, .hull = index, .color = stage->color[hull->link], .floor = true, .fades = true};
  polygon.normal = mat3_mul_vec(pose.r, hull->normal);
  Vec3 target = drawing->camera->target, on_plane = pose_apply(pose, vec3_scale(hull->normal, hull->offset));
  double above = vec3_dot(polygon.normal, vec3_sub(target, on_plane));
  Vec3 center = vec3_add_scaled(target, -above, polygon.normal), u, v;
  plane_axes(polygon.normal, &u, &v);
  double half = FADE_END * drawing->camera->reach;
  for (int k = 0; k < 4; k++) {
    double along_u = k == 1 || k == 2 ? half : -half, along_v = k >= 2 ? half : -half;
    polygon.corner[k] = vec3_add_scaled(vec3_add_scaled(center, along_u, u), along_v, v);
  }
  add_polygon(drawing, &polygon);
}

static void add_layer(Drawing* drawing, int layer) {
  const Model* model = drawing->stage->model;
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* hull = &model->hulls[h];
    if (layer > 0 && (model->links[hull->link].tree < 0 || !hull->kind->bounded)) continue;
    Pose pose = drawing->layers[layer].poses[hull->link];
    if (!hull->kind->bounded)
      add_half_space(drawing, h, pose);
    else
      add_hull(drawing, h, pose);
  }
}

/* ---------------------------------------------------------------- triangles by bands */

static void triangle_bands(const Drawing* drawing, const DrawnTriangle* triangle, int* first, int* last) {
  double top = fmin(fmin(triangle->y[0], triangle->y[1]), triangle->y[2]) / BAND_ROWS;
  double bottom = fmax(fmax(triangle->y[0], triangle->y[1]), triangle->y[2]) / BAND_ROWS;
  *first = top > 0.0 ? (int)top : 0;
  *last = bottom < drawing->band_count ? (int)bottom : drawing->band_count - 1;
}

/* Sorts the triangles into bins, one for each layer and band of pixel rows, by a counting sort: counts the entries of
 * each bin, then stores them. */
static void sort_into_bins(Drawing* drawing) {
  int bin_count = drawing->layer_count * drawing->band_count;
  drawing->bin_first_entry = MEMORY_NEW(int, bin_count + 2);
  int* next = drawing->bin_first_entry + 1; /* next free entry of each bin; after the second pass the end of the bin */
  for (int pass = 0; pass < 2; pass++) {
    for (int layer = 0; layer < drawing->layer_count; layer++)
      for (int i = drawing->layer_first_triangle[layer]; i < drawing->layer_first_triangle[layer + 1]; i++) {
        int first, last;
        triangle_bands(drawing, &drawing->triangles[i], &first, &last);
        for (int band = first; band <= last; band++) {
          int* slot = &next[layer * drawing->band_count + band];
          if (pass == 1) drawing->bins[*slot] = i;
          ++*slot;
        }
      }
    if (pass == 1) break;
    int total = 0;
    for (int bin = 0; bin < bin_count; bin++) {
      int count = next[bin];
      next[bin] = total;
      total += count;
    }
    drawing->bins = MEMORY_NEW(int, total + 1);
  }
}

/* ---------------------------------------------------------------- complete picture */

/* Returns the direction to the lamp, which is behind the viewer's left shoulder. */
static Vec3 lamp_direction(const RenderStage* stage, const RenderCamera* camera) {
  Vec3 light = vec3_add_scaled(stage->up, -0.50, camera->right);
  light = vec3_add_scaled(light, 0.25, camera->up);
  return vec3_normalized(vec3_add_scaled(light, -0.35, camera->forward));
}

void drawing_create(Drawing* drawing, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                    int layer_count) {
  assert(layer_count >= 1);
  *drawing = (Drawing){.stage = stage, .camera = camera, .layers = layers, .layer_count = layer_count};
  drawing->band_count = ((int)camera->height + BAND_ROWS - 1) / BAND_ROWS;
  drawing->layer_first_triangle = MEMORY_NEW(int, layer_count + 1);
  shadow_create(&drawing->shadow, stage, layers[0].poses, camera, lamp_direction(stage, camera));
  for (int layer = 0; layer < layer_count; layer++) {
    add_layer(drawing, layer);
    drawing->layer_first_triangle[layer + 1] = drawing->triangle_count;
  }
  sort_into_bins(drawing);
}

void drawing_destroy(Drawing* drawing) {
  shadow_destroy(&drawing->shadow);
  memory_free(drawing->faces);
  memory_free(drawing->floors);
  memory_free(drawing->triangles);
  memory_free(drawing->layer_first_triangle);
  memory_free(drawing->bin_first_entry);
  memory_free(drawing->bins);
  *drawing = (Drawing){0};
}
