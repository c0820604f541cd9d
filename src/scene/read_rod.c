/* Reads elastic rods. A rod is a chain of links that bushings join (docs/derivations/loads.md, L50). */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "scene/parts.h"
#include "scene/write_text.h"

/* Default number of segments of a rod. Each line between two points has at least one segment. */
#define SEGMENTS_DEFAULT 16
/* Shear coefficient of a round section at a Poisson's ratio of 0.3 (Cowper 1966). */
#define SHEAR_FACTOR 0.9
/* Smallest cosine of the angle between the directions of neighbouring segments of a rod. Opposite directions have no
 * mean direction. */
#define FOLD_COSINE (-0.999)

/* Links and cross-section of the rod that is being read. */
typedef struct {
  Reader* reader;
  const Node* item;
  const RodForm* form;
  char* name;
  Vec3* nodes;      /* end points of the segments in the world frame (count + 1) [m] */
  Quat* turns;      /* orientation of each link in the world frame, with z along its segment (size: count) */
  int count, first; /* number of segments; index of the first link */
} RodChain;

static double segment_length(const RodChain* chain, int i) {
  assert(i >= 0 && i < chain->count);
  return vec3_norm(vec3_sub(chain->nodes[i + 1], chain->nodes[i]));
}

/* ---------------------------------------------------------------- the curve */

/* Returns the points of a rod's axis [m] as an array. Returns NULL after an error. The caller frees the array. */
static Vec3* read_curve(Reader* reader, const Node* list) {
  static const ValueRange range = RANGE_BETWEEN(-READER_LENGTH_MAX, READER_LENGTH_MAX);
  int before = reader->problem_count, count = 0;
  size_t mark = reader_enter_key(reader, "points");
  if (list->count < 2) reader_error(reader, list->place, "a rod needs at least 2 points, got %d", list->count);
  Vec3* points = MEMORY_NEW(Vec3, list->count);
  for (const Node* item = list->first; item && reader->problem_count == before; item = item->next, count++) {
    double v[3] = {0};
    size_t below = reader_enter_index(reader, count);
    reader_numbers(reader, item, &range, "m", 3, v);
    points[count] = vec3(v[0], v[1], v[2]);
    if (count > 0 && reader->problem_count == before && !(vec3_norm(vec3_sub(points[count], points[count - 1])) > 0))
      reader_error(reader, item->place, "the point equals the previous point: remove one of the two");
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
  if (reader->problem_count == before) return points;
  memory_free(points);
  return NULL;
}

/* Divides the lines between the points of a rod into segments of similar length. segment_count: requested number of
 * segments; each line has at least one. */
static void divide_curve(RodChain* chain, const Vec3* points, int point_count, int segment_count) {
  assert(point_count >= 2);
  double length = 0, along = 0;
  for (int k = 1; k < point_count; k++) length += vec3_norm(vec3_sub(points[k], points[k - 1]));
  chain->nodes = MEMORY_NEW(Vec3, segment_count + point_count);
  chain->nodes[0] = points[0];
  int done = 0;
  for (int k = 1; k < point_count; k++) {
    along += vec3_norm(vec3_sub(points[k], points[k - 1]));
    int upto = segment_count <= point_count - 1 ? k : (int)round(segment_count * along / length);
    int parts = upto - done > 1 ? upto - done : 1;
    done = upto > done ? upto : done;
    for (int i = 1; i <= parts; i++)
      chain->nodes[++chain->count] =
          i == parts ? points[k]
                     : vec3_add_scaled(points[k - 1], (double)i / parts, vec3_sub(points[k], points[k - 1]));
  }
}

/* Computes the frames of the segments so that neighbouring segments have no relative twist. Returns false after an
 * error. */
static bool compute_segment_frames(RodChain* chain) {
  chain->turns = MEMORY_NEW(Quat, chain->count);
  Vec3 before = vec3(0, 0, 1);
  for (int i = 0; i < chain->count; i++) {
    Vec3 along = vec3_normalized(vec3_sub(chain->nodes[i + 1], chain->nodes[i]));
    double cosine = vec3_dot(before, along);
    if (i > 0 && cosine < FOLD_COSINE) {
      reader_error(chain->reader, chain->form->points->place,
                   "the rod reverses its direction at (%.6g, %.6g, %.6g): add points so that the rod bends by less "
                   "than half a turn",
                   chain->nodes[i].x, chain->nodes[i].y, chain->nodes[i].z);
      return false;
    }
    Vec3 axis = vec3_cross(before, along);
    Quat turn = cosine < FOLD_COSINE ? (Quat){0, 1, 0, 0} : quat_normalized((Quat){1 + cosine, axis.x, axis.y, axis.z});
    if (cosine < FOLD_COSINE) { /* the first segment points down: half a turn about x maps z to -z, and a small rotation
                                   maps -z to the segment */
      axis = vec3_cross(vec3(0, 0, -1), along);
      turn = quat_mul(quat_normalized((Quat){1 - along.z, axis.x, axis.y, axis.z}), turn);
    }
    chain->turns[i] = quat_normalized(i > 0 ? quat_mul(turn, chain->turns[i - 1]) : turn);
    before = along;
  }
  return true;
}

/* ---------------------------------------------------------------- links */

static void set_positions(Node* node, SourcePosition place) {
  node->place = place;
  node->key_line = place.line;
  node->key_column = place.column;
  for (Node* child = node->first; child; child = child->next) set_positions(child, place);
}

/* Appends a segment of the rod as a link in YAML. The shape is a capsule. The mass is the mass of the cylinder without
 * the round ends. */
static void write_segment(const RodChain* chain, int i, Text* out) {
  const RodForm* form = chain->form;
  double length = segment_length(chain, i), r = form->radius, rotation[4];
  double mass = form->density * M_PI * r * r * length, across = mass * (3 * r * r + length * length) / 12;
  Text name = {0};
  text_add(&name, "%s_%d", chain->name, i);
  text_add(out, "- {name: ");
  write_text(out, name.data);
  text_free(&name);
  write_key_number(out, "mass", mass);
  write_key_numbers(out, "inertia", (const double[]){across, across, mass * r * r / 2, 0, 0, 0}, 6);
  write_key_vector(out, "position", vec3_scale(vec3_add(chain->nodes[i], chain->nodes[i + 1]), 0.5));
  quat_store(chain->turns[i], rotation);
  write_key_numbers(out, "rotation", rotation, 4);
  text_add(out, ", shape: {type: capsule");
  write_key_number(out, "radius", r);
  write_key_number(out, "length", length);
  text_add(out, "}, groups: [");
  write_text(out, chain->name);
  text_add(out, "], collide: %s", form->collide ? "true" : "false");
  if (node_has_key(chain->item, "friction")) write_key_number(out, "friction", form->friction);
  if (!form->color) text_add(out, ", color: \"#c77b30\"");
  text_add(out, "}\n");
}

/* Reads the links of the rod from a YAML text, as if the text were part of the scene. */
static void read_segments(RodChain* chain) {
  Reader* reader = chain->reader;
  Text text = {0};
  for (int i = 0; i < chain->count; i++) write_segment(chain, i, &text);
  Node* list = document_read_yaml(reader->document, reader->scene->path, text.data, text.length, reader->diagnostics);
  text_free(&text);
  const Node* color = chain->form->color;
  for (Node* link = list ? list->first : NULL; link && !reader->exhausted; link = link->next) {
    set_positions(link, chain->item->place);
    Node* color_copy = color ? document_deep_copy(reader->document, color) : NULL;
    if (color_copy) node_append(link, color_copy);
    read_link(reader, link, &(Repeat){0});
  }
}

/* ---------------------------------------------------------------- bushings */

/* Sets the stiffness of a bushing that represents the elasticity of a piece of the rod. share: length of the piece [m].
 * bends: true if the bushing also resists rotation. */
static void set_bushing_stiffness(const RodForm* form, double share, bool bends, SceneBushing* bushing) {
  assert(share > 0);
  double r = form->radius, area = M_PI * r * r, second = M_PI * r * r * r * r / 4;
  double shear = SHEAR_FACTOR * form->shear * area, bend = bends ? form->young * second : 0;
  const double stiffness[6] = {
      shear / share, shear / share, form->young * area / share,
      bend / share,  bend / share,  bends ? form->shear * 2 * second / share : 0,
  };
  for (int k = 0; k < 6; k++) {
    bushing->stiffness[k][k] = stiffness[k];
    bushing->damping[k][k] = form->damping * stiffness[k];
  }
}

/* Adds the bushing between segment i and segment i + 1. The bushing's axes are halfway between the axes of both
 * segments. */
static void add_bushing_between(const RodChain* chain, int i) {
  assert(i >= 0 && i + 1 < chain->count);
  double length[2] = {segment_length(chain, i), segment_length(chain, i + 1)};
  SceneBushing bushing = {.place = chain->item->place, .link = {chain->first + i, chain->first + i + 1}};
  Quat a = chain->turns[i], b = chain->turns[i + 1];
  Quat between = quat_normalized((Quat){a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z});
  for (int side = 0; side < 2; side++) {
    bushing.position[side] = vec3(0, 0, side == 0 ? length[0] / 2 : -length[1] / 2);
    bushing.rotation[side] = quat_identity();
    if (chain->form->rest == ROD_REST_POINTS)
      bushing.rotation[side] = quat_normalized(quat_mul(quat_conjugate(side == 0 ? a : b), between));
  }
  set_bushing_stiffness(chain->form, (length[0] + length[1]) / 2, true, &bushing);
  scene_append_bushing(chain->reader, &bushing);
}

/* ---------------------------------------------------------------- ends */

/* Stores an end of the rod until the initial poses of links are known. node: the map `from` or `to`, NULL if the end is
 * free. last: true for the end at the last point. */
static void store_end(const RodChain* chain, const Node* node, bool last) {
  Reader* reader = chain->reader;
  RodEndForm form;
  if (!node) return;
  size_t mark = reader_enter_key(reader, last ? "to" : "from");
  if (schema_read(reader, node, "rod_end", &form)) {
    int i = last ? chain->count - 1 : 0;
    double length = segment_length(chain, i);
    RodEnd end = {.link = form.link,
                  .trail = memory_copy_text(reader->trail.data + reader->root_trail_length),
                  .node = chain->nodes[last ? chain->count : 0],
                  .rotation = chain->turns[i],
                  .count = chain->count,
                  .step = last ? -1 : 1,
                  .reach = M_PI * chain->form->radius};
    end.bushing = (SceneBushing){.place = node->place,
                                 .link = {chain->first + i, -1},
                                 .position = {vec3(0, 0, last ? length / 2 : -length / 2)},
                                 .rotation = {quat_identity(), quat_identity()}};
    set_bushing_stiffness(chain->form, length / 2, form.type == ROD_END_CLAMPED, &end.bushing);
    reader->rod_ends =
        memory_grow_array(reader->rod_ends, sizeof(RodEnd), reader->rod_end_count, &reader->rod_end_capacity);
    reader->rod_ends[reader->rod_end_count++] = end;
  }
  reader_leave(reader, mark);
}

/* Returns the pose of a link in the world at the start of the run. Joint coordinates are taken from `initial`, or are
 * zero. */
static Pose initial_link_pose(const Scene* scene, int link) {
  assert(link >= 0 && link < scene->link_count);
  const SceneLink* l = &scene->links[link];
  Joint joint = scene_joint(&l->joint);
  double q[JOINT_MAX_COORDINATE] = {0};
  joint_zero(&joint, q);
  for (int k = 0; k < scene->initial_count; k++)
    if (scene->initials[k].link == link && scene->initials[k].has_coordinates)
      memcpy(q, scene->initials[k].coordinates, sizeof q);
  Pose relative = pose_mul((Pose){mat3_from_quat(l->joint.rotation), l->joint.position}, joint_motion(&joint, q));
  return l->parent < 0 ? relative : pose_mul(initial_link_pose(scene, l->parent), relative);
}

/* Returns the first link between a link and its root whose initial pose depends on a signal: the nonzero target of a
 * prescribed joint without an item in `initial`. Returns -1 if there is none. */
static int find_signal_driven_link(const Scene* scene, int link) {
  for (; link >= 0; link = scene->links[link].parent) {
    bool given = false;
    for (int k = 0; k < scene->initial_count; k++) given = given || scene->initials[k].link == link;
    for (int k = 0; k < scene->controller_count && !given; k++) {
      const SceneController* c = &scene->controllers[k];
      if (c->link != link || c->type != CONTROLLER_PRESCRIBED || c->target.integrated) continue;
      bool is_valid = c->target.values && (c->target.terms == 0 || c->target.phase);
      if (!is_valid) continue; /* its values are invalid, which was reported */
      for (int i = 0; i < c->target.channels; i++)
        if (c->target.values[i] != 0) return link;
      for (int i = 0; i < c->target.channels * c->target.terms; i++)
        if (c->target.phase[i] != 0) return link;
    }
  }
  return -1;
}

static void exclude_pair(Reader* reader, int a, int b, SourcePosition place) {
  assert(a >= 0 && b >= 0);
  const SceneLink* links = reader->scene->links;
  contact_add_exclusion(&reader->scene->contact, memory_copy_text(links[a].name), memory_copy_text(links[b].name),
                        place);
}

/* Excludes contact between segments that are close along the rod. These are neighbours, and segments with less rod
 * between them than pi times the rod's radius, half the circumference of the narrowest circle that the rod can form. */
static void exclude_near_segments(const RodChain* chain) {
  for (int i = 0; i < chain->count; i++) {
    double between = 0;
    for (int j = i + 1; j < chain->count && (j == i + 1 || between < M_PI * chain->form->radius); j++) {
      if (!reader_count_values(chain->reader, chain->item->place, 8)) return;
      exclude_pair(chain->reader, chain->first + i, chain->first + j, chain->item->place);
      between += segment_length(chain, j);
    }
  }
}

static void exclude_end(Reader* reader, const RodEnd* end, int link) {
  double between = 0;
  for (int k = 0; k < end->count && (k == 0 || between < end->reach); k++) {
    int segment = end->bushing.link[0] + k * end->step;
    exclude_pair(reader, link, segment, end->bushing.place);
    between += reader->scene->shapes[reader->scene->links[segment].shapes[0].shape].length;
  }
}

static void attach_end(Reader* reader, RodEnd* end) {
  SceneBushing* bushing = &end->bushing;
  int link = read_link_or_world(reader, end->link, "link");
  if (link == bushing->link[0])
    reader_error(reader, bushing->place, "a rod cannot end on its own segment: name another link, or world");
  if (link < -1 || link == bushing->link[0] || (link >= 0 && reader->joint_broken[link])) return;
  int moved = find_signal_driven_link(reader->scene, link);
  if (moved >= 0) {
    reader_error(reader, bushing->place,
                 "a signal sets the start position of '%s': give the same coordinates in `initial`, so that the rod is "
                 "attached there",
                 text_excerpt(reader->scene->links[moved].name).text);
    return;
  }
  Pose pose = link < 0 ? pose_identity() : initial_link_pose(reader->scene, link);
  bushing->link[1] = link;
  bushing->position[1] = pose_apply_inverse(pose, end->node);
  bushing->rotation[1] = quat_normalized(quat_mul(quat_conjugate(quat_from_mat3(pose.r)), end->rotation));
  scene_append_bushing(reader, bushing);
  if (link >= 0) exclude_end(reader, end, link);
}

void attach_rod_ends(Reader* reader) {
  for (int k = 0; k < reader->rod_end_count; k++) {
    size_t mark = reader->trail.length;
    text_add(&reader->trail, "%s", reader->rod_ends[k].trail);
    attach_end(reader, &reader->rod_ends[k]);
    reader_leave(reader, mark);
  }
}

/* ---------------------------------------------------------------- the rod */

/* Largest error of a rod's weight in a fluid without a warning, as a fraction of the rod's weight. */
#define DISPLACEMENT_ERROR_MAX 0.01

/* Warns if the round ends of the segments, which overlap, displace much fluid. Each segment displaces the volume of its
 * capsule, but has the mass of the cylinder without the ends. */
static void check_displacement(const RodChain* chain) {
  const SceneFluid* fluid = &chain->reader->scene->fluid;
  double length = 0, r = chain->form->radius;
  for (int i = 0; i < chain->count; i++) length += segment_length(chain, i);
  double excess = 4 * r * chain->count / (3 * length);
  if (!fluid->given || !(fluid->density * excess > DISPLACEMENT_ERROR_MAX * chain->form->density)) return;
  reader_warning(
      chain->reader, chain->item->place,
      "the rod displaces %.3g times its volume of fluid, because the round ends of its segments overlap: give "
      "fewer segments, or add %.6g times the density of the fluid to the rod's density",
      1 + excess, excess);
}

static void read_rod(Reader* reader, const Node* item) {
  RodForm form;
  if (!schema_read(reader, item, "rod", &form)) {
    reader->names_incomplete = true;
    return;
  }
  if (!node_has_key(item, "shear")) form.shear = form.young / (2 * (1 + 0.3));
  RodChain chain = {.reader = reader, .item = item, .form = &form, .first = reader->scene->link_count};
  int before = reader->problem_count;
  chain.name = reader_name(reader, form.name);
  Vec3* points = chain.name && reader->problem_count == before ? read_curve(reader, form.points) : NULL;
  if (points) {
    int segment_count = node_has_key(item, "segments")          ? form.segments
                        : form.points->count > SEGMENTS_DEFAULT ? form.points->count - 1
                                                                : SEGMENTS_DEFAULT;
    divide_curve(&chain, points, form.points->count, segment_count);
    if (compute_segment_frames(&chain)) read_segments(&chain);
  }
  if (points && reader->problem_count == before && reader->scene->link_count == chain.first + chain.count) {
    store_end(&chain, form.from, false);
    for (int i = 0; i + 1 < chain.count; i++) add_bushing_between(&chain, i);
    store_end(&chain, form.to, true);
    exclude_near_segments(&chain);
    check_displacement(&chain);
  } else {
    reader->names_incomplete = true;
  }
  memory_free(points);
  memory_free(chain.name);
  memory_free(chain.nodes);
  memory_free(chain.turns);
}

void read_rods(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "rods");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    read_rod(reader, entry);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}
