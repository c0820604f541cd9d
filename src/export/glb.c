/* Writes binary glTF 2.0 files. One buffer holds positions, normals and poses, with one accessor and one buffer view
 * for each array. */
#include <assert.h>

#include "export/format.h"

/* Constants of the glTF format. */
enum { GLTF_FLOAT = 5126, GLTF_ARRAY_BUFFER = 34962, GLTF_TRIANGLES = 4 };
enum { GLB_MAGIC = 0x46546C67, GLB_JSON = 0x4E4F534A, GLB_BINARY = 0x004E4942, GLB_HEAD = 12, GLB_CHUNK_HEAD = 8 };
/* Half the side of the square that represents a half-space, relative to the size of the bounding box of the run. */
#define GROUND_HALF_RATIO 1.0
#define ROUGHNESS 0.7
/* Distance between the origins of neighbouring runs, relative to the size of the widest run. */
#define PART_PITCH 1.1

typedef struct {
  size_t offset, length; /* offset and length in the buffer [bytes] */
  int count, width;      /* number of elements; numbers per element */
  bool vertices;         /* true: vertex data; false: animation data */
  double low[4], high[4];
} Accessor;

/* A run and the indices of its nodes, meshes and accessors in the file. */
typedef struct {
  const char* name; /* name of the run's node; NULL: its links are children of the root node */
  const Model* model;
  const RunPoses* run;
  int* rows; /* rows of the run that become frames (size: row_count) */
  int row_count;
  int* node; /* indices of the links with visible shapes, which become nodes (size: node_count) */
  int node_count;
  Vec3 low, high;    /* bounding box of all shapes over the run [m] */
  float (*color)[3]; /* colour of each link: red, green and blue in linear light (size: links) */
  Vec3 offset;       /* translation of the run's node [m] */
  int first_node;    /* node index of the run's first link */
  int first_mesh; /* index of mesh and material of the run's first link; mesh m has accessors 2 m (positions) and 2 m +
                     1 (size: normals) */
  int first_motion; /* index of the accessor with the run's times; the accessors with positions and rotations of its
                       links follow */
} PlacedPart;

typedef struct {
  PlacedPart* parts;
  int part_count;
  Text buffer;
  Accessor* accessors;
  int accessor_count, accessor_capacity;
} Glb;

/* ---------------------------------------------------------------- arrays */

static Accessor* start_accessor(Glb* g, int width, bool vertices) {
  g->accessors = memory_grow_array(g->accessors, sizeof(Accessor), g->accessor_count, &g->accessor_capacity);
  Accessor* accessor = &g->accessors[g->accessor_count++];
  *accessor = (Accessor){.offset = g->buffer.length, .width = width, .vertices = vertices};
  for (int k = 0; k < 4; k++) accessor->low[k] = INFINITY, accessor->high[k] = -INFINITY;
  return accessor;
}

/* Appends an element to an accessor. The bounds of the accessor include the element, rounded to floats. */
static void add_element(Glb* g, Accessor* accessor, const double* values, int count) {
  assert(count >= 1 && count <= 4);
  assert(count == accessor->width);
  for (int k = 0; k < count; k++) {
    volatile float single = (float)
        values[k]; /* volatile prevents gcc from omitting the rounding to float (see tests/unit/export/test_surface) */
    bytes_add_float(&g->buffer, (double)single);
    accessor->low[k] = fmin(accessor->low[k], (double)single);
    accessor->high[k] = fmax(accessor->high[k], (double)single);
  }
  accessor->count++;
  accessor->length = g->buffer.length - accessor->offset;
}

static void add_vector(Glb* g, Accessor* accessor, Vec3 v) {
  add_element(g, accessor, (const double[]){v.x, v.y, v.z}, 3);
}

/* ---------------------------------------------------------------- selection of rows */

static Pose pose_at(const PlacedPart* p, int row, int link) { return run_poses_at_row(p->run, row)[link]; }

/* Selects the rows that become frames, about 1 / fps apart, with the first and the last row. Their times increase
 * strictly as floats. */
static void select_rows(PlacedPart* p, double fps) {
  const RunPoses* run = p->run;
  p->rows = MEMORY_NEW(int, run->row_count + 1);
  p->rows[p->row_count++] = 0;
  for (int row = 1; row < run->row_count; row++) {
    double since = run->time[row] - run->time[p->rows[p->row_count - 1]];
    bool due = since * fps >= 1.0 - 1e-6, last = row == run->row_count - 1;
    bool rises = (float)run->time[row] > (float)run->time[p->rows[p->row_count - 1]];
    if (rises && (due || last)) p->rows[p->row_count++] = row;
  }
}

static void select_nodes(PlacedPart* p) {
  p->node = MEMORY_NEW(int, p->model->link_count + 1);
  for (int i = 0; i < p->model->link_count; i++)
    if (p->model->links[i].hull_count > 0) p->node[p->node_count++] = i;
}

static void compute_bounds(PlacedPart* p) {
  p->low = vec3(INFINITY, INFINITY, INFINITY);
  p->high = vec3_scale(p->low, -1);
  for (int h = 0; h < p->model->hull_count; h++) {
    const ModelHull* hull = &p->model->hulls[h];
    if (!hull->kind->bounded) continue;
    for (int i = 0; i < p->row_count; i++) {
      Vec3 center = pose_apply(pose_at(p, p->rows[i], hull->link), hull->center);
      Vec3 reach = vec3(hull->radius, hull->radius, hull->radius);
      p->low = vec3_min(p->low, vec3_sub(center, reach));
      p->high = vec3_max(p->high, vec3_add(center, reach));
    }
  }
  if (p->low.x <= p->high.x) return;
  p->low = p->high = vec3(0, 0, 0);
}

/* Returns half the side of the square that represents a half-space [m]. */
static double ground_half_side(const PlacedPart* p) {
  double extent = vec3_norm(vec3_sub(p->high, p->low));
  return GROUND_HALF_RATIO * (extent > 0 ? extent : 1.0);
}

/* Places the parts side by side along x or y, whichever takes less space. */
static void place_parts(Glb* g) {
  Vec3 widest = vec3(0, 0, 0);
  for (int i = 0; i < g->part_count; i++) {
    Vec3 size = vec3_sub(g->parts[i].high, g->parts[i].low);
    widest = vec3(fmax(widest.x, size.x), fmax(widest.y, size.y), 0);
  }
  Vec3 step = widest.x <= widest.y ? vec3(PART_PITCH * widest.x, 0, 0) : vec3(0, PART_PITCH * widest.y, 0);
  for (int i = 0; i < g->part_count; i++) g->parts[i].offset = vec3_scale(step, i);
}

static void number_nodes(Glb* g) {
  int node = 1, mesh = 0; /* node 0 is the root */
  for (int i = 0; i < g->part_count; i++) {
    PlacedPart* p = &g->parts[i];
    if (p->name) node++; /* the node of the part precedes the nodes of its links */
    p->first_node = node;
    p->first_mesh = mesh;
    node += p->node_count;
    mesh += p->node_count;
  }
}

/* ---------------------------------------------------------------- surfaces */

typedef void (*TriangleVisitor)(Glb* g, Accessor* accessor, const Vec3 corner[3]);

static Vec3 triangle_normal(const Vec3 corner[3]) {
  Vec3 normal = vec3_cross(vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[0]));
  double length = vec3_norm(normal);
  return length > 0 ? vec3_scale(normal, 1 / length) : vec3(0, 0, 1);
}

static void add_corners(Glb* g, Accessor* accessor, const Vec3 corner[3]) {
  assert(accessor->vertices);
  for (int k = 0; k < 3; k++) add_vector(g, accessor, corner[k]);
}

/* Appends the normal of a triangle for each of its corners. Shading is flat, because the solids are polyhedra. */
static void add_normals(Glb* g, Accessor* accessor, const Vec3 corner[3]) {
  for (int k = 0; k < 3; k++) add_vector(g, accessor, triangle_normal(corner));
}

/* Visits the two triangles of the square that represents a half-space, in the link's frame. */
static void visit_half_space(Glb* g, const PlacedPart* p, const ModelHull* hull, Accessor* accessor,
                             TriangleVisitor visit) {
  static const double side[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  Vec3 u, v, middle = vec3_scale(vec3_add(p->low, p->high), 0.5), corner[4];
  double half = ground_half_side(p);
  middle = pose_apply_inverse(pose_at(p, 0, hull->link), middle);
  plane_axes(hull->normal, &u, &v);
  middle = vec3_add_scaled(middle, hull->offset - vec3_dot(hull->normal, middle), hull->normal);
  for (int k = 0; k < 4; k++) {
    corner[k] = vec3_add_scaled(middle, half * side[k][0], u);
    corner[k] = vec3_add_scaled(corner[k], half * side[k][1], v);
  }
  visit(g, accessor, (const Vec3[]){corner[0], corner[1], corner[2]});
  visit(g, accessor, (const Vec3[]){corner[0], corner[2], corner[3]});
}

static void visit_triangles(Glb* g, const PlacedPart* p, int index, Accessor* accessor, TriangleVisitor visit) {
  const ModelLink* link = &p->model->links[index];
  for (int k = 0; k < link->hull_count; k++) {
    const ModelHull* hull = &p->model->hulls[link->hull_first + k];
    if (!hull->kind->bounded) visit_half_space(g, p, hull, accessor, visit);
    for (int t = 0; t < hull->solid.triangle_count; t++) {
      const int* c = hull->solid.triangles[t];
      const Vec3* vertices = hull->solid.vertices;
      visit(g, accessor, (const Vec3[]){vertices[c[0]], vertices[c[1]], vertices[c[2]]});
    }
  }
}

/* ---------------------------------------------------------------- motion */

static Quat nearest_quaternion(Quat q, Quat last) {
  double dot = q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z;
  return dot < 0 ? (Quat){-q.w, -q.x, -q.y, -q.z} : q;
}

/* Appends the accessors of a part's animation: times, then position and rotation of every node. */
static void add_motion(Glb* g, PlacedPart* p) {
  p->first_motion = g->accessor_count;
  Accessor* times = start_accessor(g, 1, false);
  for (int i = 0; i < p->row_count; i++) add_element(g, times, &p->run->time[p->rows[i]], 1);
  for (int n = 0; n < p->node_count; n++) {
    Accessor* place = start_accessor(g, 3, false);
    for (int i = 0; i < p->row_count; i++) add_vector(g, place, pose_at(p, p->rows[i], p->node[n]).t);
    Accessor* turn = start_accessor(g, 4, false);
    Quat last = quat_identity();
    for (int i = 0; i < p->row_count; i++) {
      last = nearest_quaternion(quat_from_mat3(pose_at(p, p->rows[i], p->node[n]).r), last);
      add_element(g, turn, (const double[]){last.x, last.y, last.z, last.w}, 4);
    }
  }
}

static bool has_motion(const PlacedPart* p) { return p->row_count > 1 && p->node_count > 0; }

/* Appends all arrays: surfaces in the order of the meshes, then animations. */
static void add_arrays(Glb* g) {
  for (int i = 0; i < g->part_count; i++) {
    const PlacedPart* p = &g->parts[i];
    for (int n = 0; n < p->node_count; n++) {
      visit_triangles(g, p, p->node[n], start_accessor(g, 3, true), add_corners);
      visit_triangles(g, p, p->node[n], start_accessor(g, 3, true), add_normals);
    }
  }
  for (int i = 0; i < g->part_count; i++)
    if (has_motion(&g->parts[i])) add_motion(g, &g->parts[i]);
}

/* ---------------------------------------------------------------- the text */

/* Writes the name of a node: `name/link`, or the link's name for a part without name. */
static void write_name(Json* json, const PlacedPart* p, int n) {
  const char* link = p->model->links[p->node[n]].name;
  Text name = {0};
  if (p->name) text_add(&name, "%s/", p->name);
  text_add(&name, "%s", link);
  json_text(json, "name", name.data);
  text_free(&name);
}

static void write_children(Json* json, int first, int count) {
  if (count == 0) return;
  json_open(json, "children", '[');
  for (int n = 0; n < count; n++) json_integer(json, NULL, first + n);
  json_close(json, ']');
}

/* Writes the root node, which rotates Z to Y because glTF has Y up. */
static void write_root(Json* json, const Glb* g) {
  /* quaternion in the order x y z w, as in glTF */
  const double half = 0.70710678118654752440, up[4] = {-half, 0, 0, half};
  const PlacedPart* first = &g->parts[0];
  json_open(json, NULL, '{');
  json_text(json, "name", first->model->scene->name);
  json_vector(json, "rotation", up, 4);
  if (!first->name) write_children(json, first->first_node, first->node_count);
  if (first->name) json_open(json, "children", '[');
  for (int i = 0; i < g->part_count && first->name; i++) json_integer(json, NULL, g->parts[i].first_node - 1);
  if (first->name) json_close(json, ']');
  json_close(json, '}');
}

static void write_part(Json* json, const PlacedPart* p) {
  json_open(json, NULL, '{');
  json_text(json, "name", p->name);
  json_vector(json, "translation", (const double[]){p->offset.x, p->offset.y, p->offset.z}, 3);
  write_children(json, p->first_node, p->node_count);
  json_close(json, '}');
}

static void write_link(Json* json, const PlacedPart* p, int n) {
  Pose pose = pose_at(p, p->rows[0], p->node[n]);
  Quat q = quat_from_mat3(pose.r);
  json_open(json, NULL, '{');
  write_name(json, p, n);
  json_integer(json, "mesh", p->first_mesh + n);
  json_vector(json, "translation", (const double[]){pose.t.x, pose.t.y, pose.t.z}, 3);
  json_vector(json, "rotation", (const double[]){q.x, q.y, q.z, q.w}, 4);
  json_close(json, '}');
}

static void write_nodes(Json* json, const Glb* g) {
  json_open(json, "nodes", '[');
  write_root(json, g);
  for (int i = 0; i < g->part_count; i++) {
    const PlacedPart* p = &g->parts[i];
    if (p->name) write_part(json, p);
    for (int n = 0; n < p->node_count; n++) write_link(json, p, n);
  }
  json_close(json, ']');
}

static void write_mesh(Json* json, const PlacedPart* p, int n) {
  int mesh = p->first_mesh + n;
  json_open(json, NULL, '{');
  write_name(json, p, n);
  json_open(json, "primitives", '[');
  json_open(json, NULL, '{');
  json_open(json, "attributes", '{');
  json_integer(json, "POSITION", 2 * mesh);
  json_integer(json, "NORMAL", 2 * mesh + 1);
  json_close(json, '}');
  json_integer(json, "material", mesh);
  json_integer(json, "mode", GLTF_TRIANGLES);
  json_close(json, '}');
  json_close(json, ']');
  json_close(json, '}');
}

static void write_material(Json* json, const PlacedPart* p, int n) {
  const float* color = p->color[p->node[n]];
  json_open(json, NULL, '{');
  write_name(json, p, n);
  json_open(json, "pbrMetallicRoughness", '{');
  json_vector(json, "baseColorFactor", (const double[]){(double)color[0], (double)color[1], (double)color[2], 1.0}, 4);
  json_number(json, "metallicFactor", 0.0);
  json_number(json, "roughnessFactor", ROUGHNESS);
  json_close(json, '}');
  json_close(json, '}');
}

/* Writes an array with one object per link of every part. */
static void write_each(Json* json, const Glb* g, const char* key,
                       void (*write)(Json* json, const PlacedPart* p, int n)) {
  json_open(json, key, '[');
  for (int i = 0; i < g->part_count; i++)
    for (int n = 0; n < g->parts[i].node_count; n++) write(json, &g->parts[i], n);
  json_close(json, ']');
}

static void write_channel(Json* json, int sampler, int node, const char* path) {
  json_open(json, NULL, '{');
  json_integer(json, "sampler", sampler);
  json_open(json, "target", '{');
  json_integer(json, "node", node);
  json_text(json, "path", path);
  json_close(json, '}');
  json_close(json, '}');
}

static void write_channels(Json* json, const Glb* g) {
  int sampler = 0;
  json_open(json, "channels", '[');
  for (int i = 0; i < g->part_count; i++) {
    const PlacedPart* p = &g->parts[i];
    for (int s = 0; has_motion(p) && s < 2 * p->node_count; s++)
      write_channel(json, sampler++, p->first_node + s / 2, s % 2 ? "rotation" : "translation");
  }
  json_close(json, ']');
}

static void write_samplers(Json* json, const Glb* g) {
  json_open(json, "samplers", '[');
  for (int i = 0; i < g->part_count; i++) {
    const PlacedPart* p = &g->parts[i];
    for (int s = 0; has_motion(p) && s < 2 * p->node_count; s++) {
      json_open(json, NULL, '{');
      json_integer(json, "input", p->first_motion);
      json_integer(json, "output", p->first_motion + 1 + s);
      json_text(json, "interpolation", "LINEAR");
      json_close(json, '}');
    }
  }
  json_close(json, ']');
}

/* Writes the animation, with linear interpolation of positions and spherical interpolation of rotations. */
static void write_animation(Json* json, const Glb* g) {
  bool any = false;
  for (int i = 0; i < g->part_count; i++) any = any || has_motion(&g->parts[i]);
  if (!any) return;
  json_open(json, "animations", '[');
  json_open(json, NULL, '{');
  json_text(json, "name", "run");
  write_channels(json, g);
  write_samplers(json, g);
  json_close(json, '}');
  json_close(json, ']');
}

static void write_accessor(Json* json, const Accessor* accessor, int index) {
  static const char* const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  json_open(json, NULL, '{');
  json_integer(json, "bufferView", index);
  json_integer(json, "componentType", GLTF_FLOAT);
  json_integer(json, "count", accessor->count);
  json_text(json, "type", types[accessor->width]);
  json_vector(json, "min", accessor->low, accessor->width);
  json_vector(json, "max", accessor->high, accessor->width);
  json_close(json, '}');
}

static void write_view(Json* json, const Accessor* accessor) {
  json_open(json, NULL, '{');
  json_integer(json, "buffer", 0);
  json_integer(json, "byteOffset", (int64_t)accessor->offset);
  json_integer(json, "byteLength", (int64_t)accessor->length);
  if (accessor->vertices) json_integer(json, "target", GLTF_ARRAY_BUFFER);
  json_close(json, '}');
}

static void write_arrays(Json* json, const Glb* g) {
  json_open(json, "accessors", '[');
  for (int i = 0; i < g->accessor_count; i++) write_accessor(json, &g->accessors[i], i);
  json_close(json, ']');
  json_open(json, "bufferViews", '[');
  for (int i = 0; i < g->accessor_count; i++) write_view(json, &g->accessors[i]);
  json_close(json, ']');
  json_open(json, "buffers", '[');
  json_open(json, NULL, '{');
  json_integer(json, "byteLength", (int64_t)g->buffer.length);
  json_close(json, '}');
  json_close(json, ']');
}

/* Writes the JSON chunk. glTF forbids empty arrays, so the file of a scene without shapes has only the root node. */
static void write_text(Text* text, const Glb* g) {
  Json json = {.out = text};
  json_open(&json, NULL, '{');
  json_open(&json, "asset", '{');
  json_text(&json, "version", "2.0");
  json_text(&json, "generator", "sdrs");
  json_close(&json, '}');
  json_integer(&json, "scene", 0);
  json_open(&json, "scenes", '[');
  json_open(&json, NULL, '{');
  json_open(&json, "nodes", '[');
  json_integer(&json, NULL, 0);
  json_close(&json, ']');
  json_close(&json, '}');
  json_close(&json, ']');
  write_nodes(&json, g);
  if (g->accessor_count > 0) {
    write_each(&json, g, "meshes", write_mesh);
    write_each(&json, g, "materials", write_material);
    write_animation(&json, g);
    write_arrays(&json, g);
  }
  json_close(&json, '}');
}

/* ---------------------------------------------------------------- the file */

static void pad_to_word(Text* text, char filler) {
  while (text->length % 4 != 0) text_add_bytes(text, &filler, 1);
}

static void add_chunk(Text* out, uint32_t type, const Text* content) {
  bytes_add_integer(out, (uint32_t)content->length, 4);
  bytes_add_integer(out, type, 4);
  text_add_bytes(out, content->data, content->length);
}

static void write_file(Text* out, Glb* g) {
  Text text = {0};
  write_text(&text, g);
  pad_to_word(&text, ' ');
  pad_to_word(&g->buffer, '\0');
  size_t binary = g->buffer.length > 0 ? GLB_CHUNK_HEAD + g->buffer.length : 0;
  bytes_add_integer(out, GLB_MAGIC, 4);
  bytes_add_integer(out, 2, 4);
  bytes_add_integer(out, (uint32_t)(GLB_HEAD + GLB_CHUNK_HEAD + text.length + binary), 4);
  add_chunk(out, GLB_JSON, &text);
  if (binary > 0) add_chunk(out, GLB_BINARY, &g->buffer);
  text_free(&text);
}

static PlacedPart part_create(const char* name, const Model* model, const RunPoses* run, double fps) {
  PlacedPart part = {.name = name, .model = model, .run = run};
  part.color = (float(*)[3])memory_alloc(sizeof(float[3]) * (size_t)(model->link_count + 1));
  link_colors(model, part.color);
  select_rows(&part, fps);
  select_nodes(&part);
  compute_bounds(&part);
  return part;
}

void export_glb_parts(Text* out, const GlbPart* parts, int count, double fps, int* moments) {
  assert(count >= 1 && fps >= 0);
  Glb g = {.parts = MEMORY_NEW(PlacedPart, count + 1), .part_count = count};
  *moments = 0;
  for (int i = 0; i < count; i++) {
    g.parts[i] = part_create(count > 1 ? parts[i].name : NULL, parts[i].model, parts[i].run, fps);
    if (g.parts[i].row_count > *moments) *moments = g.parts[i].row_count;
  }
  place_parts(&g);
  number_nodes(&g);
  add_arrays(&g);
  write_file(out, &g);
  for (int i = 0; i < count; i++) {
    memory_free(g.parts[i].rows);
    memory_free(g.parts[i].node);
    memory_free(g.parts[i].color);
  }
  memory_free(g.parts);
  memory_free(g.accessors);
  text_free(&g.buffer);
}
