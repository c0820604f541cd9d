/* Includes scenes and robots of other files in a scene. Each file is read separately, then merged with changed names,
 * positions and link indices. Files attached to a link of this scene are merged after this scene's links, other files
 * before. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/outside.h"
#include "scene/parts.h"

/* Largest nesting depth of included files. */
enum { INCLUDE_DEPTH_MAX = 8 };

/* An item of the scene's list `include`, which names another scene file, while this file is merged into the scene. */
typedef struct {
  Reader* reader;
  const Node* item;
  IncludeForm form;
  Scene part;
  char* prefix; /* text that is put before the names of the included file; owned */
  int attach;   /* index of the link of the including scene to which the file is attached; -1: the world */
  int* link;    /* for each link of the included file, its index in the including scene; -1 if the link is left out
                   (part.link_count) */
  int shape_first;
} Include;

/* ---------------------------------------------------------------- reading the part */

/* Reads the list `set`, the overrides for the included file, into an array. Sets *count to the length of the array. The
 * caller frees the array with memory_free. */
static LocatedOverride* read_set(Reader* reader, const Node* list, int* count) {
  LocatedOverride* set = MEMORY_NEW(LocatedOverride, list ? list->count : 0);
  *count = 0;
  for (const Node* item = list ? list->first : NULL; item; item = item->next)
    if (reader_is_text(reader, item)) set[(*count)++] = (LocatedOverride){item->text, item->place};
  return set;
}

static void append_source_file(Scene* scene, char* path) {
  size_t count = (size_t)scene->file_count;
  scene->files = memory_resize(scene->files, count * sizeof(char*), (count + 1) * sizeof(char*));
  scene->files[scene->file_count++] = path;
}

/* Returns true if `path` is the file being read, or one of the files that include this file. */
static bool includes_itself(const Reader* reader, const char* path) {
  char* file = realpath(path, NULL);
  bool found = false;
  for (const Reader* r = reader; file && r && !found; r = r->outer) {
    char* including = realpath(r->scene->path, NULL);
    found = including && strcmp(including, file) == 0;
    free(including);
  }
  free(file);
  return found;
}

/* Warns if a robot file has another gravity than the scene. Gives no warning if the scene's gravity is not the
 * default. */
static void compare_gravity(const Include* include) {
  Vec3 included = include->part.simulation.gravity, scene_gravity = include->reader->scene->simulation.gravity;
  bool is_default = scene_gravity.x == 0 && scene_gravity.y == 0 && scene_gravity.z == -9.81;
  if (is_default && vec3_norm(vec3_sub(included, scene_gravity)) > 1e-9)
    reader_warning(include->reader, include->form.file->place,
                   "the robot file has gravity [%.10g, %.10g, %.10g], but this scene has [0, 0, -9.81]: set "
                   "simulation.gravity to choose",
                   included.x, included.y, included.z);
}

static void read_included_file(Include* include) {
  Reader* reader = include->reader;
  char *path = file_resolve(reader->scene->path, include->form.file->text), *text = NULL;
  size_t length;
  int count, before = reader->diagnostics->error_count;
  LocatedOverride* set = read_set(reader, include->form.set, &count);
  if (includes_itself(reader, path)) {
    reader_error(reader, include->form.file->place,
                 "%s includes itself through the file named here: remove one of the includes", path);
  } else if (reader->include_depth >= INCLUDE_DEPTH_MAX) {
    reader_error(reader, include->form.file->place,
                 "includes are nested more than %d deep: include the inner files directly", INCLUDE_DEPTH_MAX);
  } else if (!file_is_quotable(path)) {
    reader_error(reader, include->form.file->place, "%s: %s", path, FILE_NOT_QUOTABLE);
  } else if (file_read(path, &text, &length) != STATUS_OK) {
    reader_error(reader, include->form.file->place, "cannot read %s: %s", path, file_error_text(errno));
  } else if (file_is_robot(path)) {
    if (count > 0) reader_error(reader, include->item->place, "'set' changes scenes: import the robot first");
    scene_read_robot(&include->part, path, reader->diagnostics);
    if (reader->diagnostics->error_count == before) compare_gravity(include);
  } else {
    scene_read_included(&include->part, path, text, length, reader, set, count);
  }
  if (reader->diagnostics->error_count > before) {
    reader->problem_count += reader->diagnostics->error_count - before;
    reader->names_incomplete = true;
  }
  memory_free(set);
  memory_free(text);
  memory_free(path);
}

/* ---------------------------------------------------------------- names */

static char* prefixed_name(const Include* include, const char* name) {
  assert(name);
  Text text = {0};
  text_add(&text, "%s%s", include->prefix, name);
  return text.data;
}

static void rename_text(const Include* include, char** text) {
  char* name = prefixed_name(include, *text);
  memory_free(*text);
  *text = name;
}

static bool is_named(const Node* list, const char* name) {
  for (const Node* item = list ? list->first : NULL; item; item = item->next)
    if (item->kind == NODE_SCALAR && strcmp(item->text, name) == 0) return true;
  return false;
}

/* Sets include->link to the indices that the included links get in the including scene, -1 for links that the key
 * `without` excludes and for their descendants. Reports names in `without` that the file does not have. */
static void map_links(Include* include) {
  const Scene* part = &include->part;
  include->link = MEMORY_NEW(int, part->link_count + 1);
  for (int i = 0; i < part->link_count; i++) {
    int parent = part->links[i].parent;
    bool out = is_named(include->form.without, part->links[i].name) || (parent >= 0 && include->link[parent] < 0);
    include->link[i] = out ? -1 : 0;
  }
  for (const Node* item = include->form.without ? include->form.without->first : NULL; item; item = item->next) {
    bool found = false;
    for (int i = 0; i < part->link_count && !found; i++) found = strcmp(part->links[i].name, item->text) == 0;
    if (!found)
      reader_error(include->reader, item->place,
                   "no link of the included file is named '%s': correct the name in 'without'",
                   text_excerpt(item->text).text);
  }
}

/* ---------------------------------------------------------------- copying the included items */

static void move_shapes(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  include->shape_first = scene->shape_count;
  for (int i = 0; i < part->shape_count; i++) {
    scene->shapes = memory_grow_array(scene->shapes, sizeof(SceneShape), scene->shape_count, &reader->shape_capacity);
    SceneShape* shape = &scene->shapes[scene->shape_count];
    *shape = part->shapes[i];
    part->shapes[i] = (SceneShape){0};
    if (*shape->name) {
      rename_text(include, &shape->name);
      names_add(&reader->shape_names, shape->name, scene->shape_count);
    }
    scene->shape_count++;
  }
}

/* Multiplies the pose of a root link of the included file from the left by the pose that the item of `include` gives.
 */
static void move_root(const Include* include, SceneLink* link) {
  Quat turn = pose_form_rotation(&include->form.pose);
  Vec3 moved = mat3_mul_vec(mat3_from_quat(turn), link->joint.position);
  link->parent = include->attach;
  link->joint.position = vec3_add(include->form.pose.position, moved);
  bool turned = turn.x != 0 || turn.y != 0 || turn.z != 0;
  if (turned) link->joint.rotation = quat_normalized(quat_mul(turn, link->joint.rotation));
}

static void move_link(Include* include, int index) {
  assert(index >= 0 && index < include->part.link_count);
  Reader* reader = include->reader;
  SceneLink* from = &include->part.links[index];
  int at = reader->scene->link_count;
  SceneLink* link = reader_append_link(reader, from->place);
  *link = *from;
  *from = (SceneLink){0};
  include->link[index] = at;
  rename_text(include, &link->name);
  if (link->joint.name) rename_text(include, &link->joint.name);
  for (int g = 0; g < link->group_count; g++) {
    rename_text(include, &link->groups[g]);
    names_add(&reader->group_names, link->groups[g], 0);
  }
  for (int s = 0; s < link->shape_count; s++) link->shapes[s].shape += include->shape_first;
  if (link->parent >= 0)
    link->parent = include->link[link->parent];
  else
    move_root(include, link);
  if (names_add(&reader->link_names, link->name, at)) return;
  reader_error(reader, include->item->place, "the name '%s' is taken by another link: give the include a 'prefix'",
               text_excerpt(link->name).text);
}

static void move_links(Include* include) {
  Reader* reader = include->reader;
  if (reader->scene->link_count + include->part.link_count > LINK_MAX) {
    reader_error(reader, include->item->place, "the scene has more than %d links: remove links", LINK_MAX);
    return;
  }
  if (!reader_count_values(reader, include->item->place, 64 * (int64_t)include->part.link_count)) return;
  for (int i = 0; i < include->part.link_count; i++)
    if (include->link[i] >= 0) move_link(include, i);
}

static void move_measures(const Include* include, SceneController* controller) {
  for (int k = 0; k < controller->measure_count; k++) {
    SceneMeasure* measure = &controller->measures[k];
    rename_text(include, &measure->name);
    measure->link = include->link[measure->link];
    if (measure->link >= 0) continue;
    reader_error(include->reader, include->item->place,
                 "feedback in the included file measures a link that 'without' omits: remove the link from 'without'");
    measure->link = 0;
  }
}

static void move_controllers(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  for (int c = 0; c < part->controller_count; c++) {
    int link = include->link[part->controllers[c].link];
    if (link < 0) continue;
    scene->controllers = memory_grow_array(scene->controllers, sizeof(SceneController), scene->controller_count,
                                           &reader->controller_capacity);
    SceneController* controller = &scene->controllers[scene->controller_count++];
    *controller = part->controllers[c];
    part->controllers[c] = (SceneController){0};
    controller->link = link;
    move_measures(include, controller);
  }
}

/* Converts the source of a field to the including scene. A source in the world moves with the pose of the include; a
 * source on a link gets the link's new index. The direction of a uniform field does not change. */
static void move_field(const Include* include, SceneField* field) {
  assert(include->link);
  if (field->to >= 0) {
    field->to = include->link[field->to];
    return;
  }
  if (field->type == FIELD_UNIFORM) return;
  Mat3 turn = mat3_from_quat(pose_form_rotation(&include->form.pose));
  field->at = vec3_add(include->form.pose.position, mat3_mul_vec(turn, field->at));
  field->to = include->attach;
  field->has_at = true;
  if (field->type == FIELD_DIPOLE) field->other = mat3_mul_vec(turn, field->other);
}

static void move_loads(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  for (int k = 0; k < part->load_count; k++) {
    int link = include->link[part->loads[k].link], to = part->loads[k].field.to;
    bool field = part->loads[k].field.type != FIELD_NONE;
    if (link < 0 || (field && to >= 0 && include->link[to] < 0)) continue;
    scene->loads = memory_grow_array(scene->loads, sizeof(SceneLoad), scene->load_count, &reader->load_capacity);
    SceneLoad* load = &scene->loads[scene->load_count++];
    *load = part->loads[k];
    part->loads[k].force = part->loads[k].torque = (SceneSignal){0};
    load->link = link;
    if (field) move_field(include, &load->field);
  }
}

/* Appends the tendons of the included file, with new indices of links. Points fixed to the world move with the pose of
 * the include. Tendons on a link that is left out are omitted. */
static void move_tendons(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  Mat3 turn = mat3_from_quat(pose_form_rotation(&include->form.pose));
  for (int k = 0; k < part->tendon_count; k++) {
    SceneTendon tendon = part->tendons[k];
    bool known = true;
    for (int i = 0; i < tendon.count; i++) {
      SceneTendonPoint* point = &tendon.points[i];
      if (point->link < 0) {
        point->point = vec3_add(include->form.pose.position, mat3_mul_vec(turn, point->point));
        point->link = include->attach;
        continue;
      }
      point->link = include->link[point->link];
      known = known && point->link >= 0;
    }
    for (int i = 0; i < tendon.wrap_count; i++) {
      SceneTendonWrap* wrap = &tendon.wraps[i];
      if (wrap->link >= 0) {
        wrap->link = include->link[wrap->link];
        known = known && wrap->link >= 0;
        continue;
      }
      wrap->position = vec3_add(include->form.pose.position, mat3_mul_vec(turn, wrap->position));
      wrap->side = vec3_add(include->form.pose.position, mat3_mul_vec(turn, wrap->side));
      wrap->axis = mat3_mul_vec(turn, wrap->axis);
      wrap->link = include->attach;
    }
    for (int i = 0; i < tendon.joint_count; i++) {
      tendon.joints[i].link = include->link[tendon.joints[i].link];
      known = known && tendon.joints[i].link >= 0;
    }
    if (!known) continue;
    tendon.end = include->link[tendon.end];
    part->tendons[k] = (SceneTendon){0};
    scene->tendons =
        memory_grow_array(scene->tendons, sizeof(SceneTendon), scene->tendon_count, &reader->tendon_capacity);
    scene->tendons[scene->tendon_count++] = tendon;
  }
}

/* Appends the bushings of the included file, with new indices of links. Frames fixed to the world move with the pose of
 * the include. */
static void move_bushings(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  Quat turn = pose_form_rotation(&include->form.pose);
  for (int k = 0; k < part->bushing_count; k++) {
    SceneBushing bushing = part->bushings[k];
    bushing.link[0] = include->link[bushing.link[0]];
    if (bushing.link[1] < 0) {
      bushing.position[1] =
          vec3_add(include->form.pose.position, mat3_mul_vec(mat3_from_quat(turn), bushing.position[1]));
      bushing.rotation[1] = quat_mul(turn, bushing.rotation[1]);
      bushing.link[1] = include->attach;
    } else {
      bushing.link[1] = include->link[bushing.link[1]];
      if (bushing.link[1] < 0) continue;
    }
    if (bushing.link[0] < 0) continue;
    scene->bushings =
        memory_grow_array(scene->bushings, sizeof(SceneBushing), scene->bushing_count, &reader->bushing_capacity);
    scene->bushings[scene->bushing_count++] = bushing;
  }
}

/* Returns true if all closures connect two links and are given in link frames. Otherwise the file cannot be attached to
 * a link. */
static bool closures_are_attachable(const Scene* part) {
  for (int k = 0; k < part->closure_count; k++)
    if (!part->closures[k].link_axes || part->closures[k].b < 0) return false;
  return true;
}

/* Appends the closures of the included file, with new indices of links. Points in the world move with the pose of the
 * include. Reports an error if the file is attached to a link but has a closure in the world, because the pose of the
 * link is not known yet. */
static void move_closures(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  Mat3 turn = mat3_from_quat(pose_form_rotation(&include->form.pose));
  if (include->attach >= 0 && !closures_are_attachable(part)) {
    reader_error(reader, include->item->place,
                 "a file with closures in world axes cannot be attached to a link: set 'axes: link' in each closure of "
                 "the file");
    return;
  }
  for (int k = 0; k < part->closure_count; k++) {
    SceneClosure closure = part->closures[k];
    closure.a = include->link[closure.a];
    closure.b = closure.b < 0 ? -1 : include->link[closure.b];
    if (closure.a < 0 || (closure.b < 0 && part->closures[k].b >= 0)) continue;
    if (!closure.link_axes) {
      closure.point = vec3_add(include->form.pose.position, mat3_mul_vec(turn, closure.point));
      closure.axis = mat3_mul_vec(turn, closure.axis);
    }
    if (closure.b < 0) closure.near[1] = vec3_add(include->form.pose.position, mat3_mul_vec(turn, closure.near[1]));
    scene->closures =
        memory_grow_array(scene->closures, sizeof(SceneClosure), scene->closure_count, &reader->closure_capacity);
    scene->closures[scene->closure_count++] = closure;
  }
}

static void move_couplings(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  for (int k = 0; k < part->coupling_count; k++) {
    SceneCoupling coupling = part->couplings[k];
    bool known = true;
    for (int t = 0; t < coupling.count; t++) {
      coupling.terms[t].link = include->link[coupling.terms[t].link];
      known = known && coupling.terms[t].link >= 0;
    }
    if (!known) continue;
    part->couplings[k] = (SceneCoupling){0};
    scene->couplings =
        memory_grow_array(scene->couplings, sizeof(SceneCoupling), scene->coupling_count, &reader->coupling_capacity);
    scene->couplings[scene->coupling_count++] = coupling;
  }
}

static void move_initials(Include* include) {
  Reader* reader = include->reader;
  Scene *scene = reader->scene, *part = &include->part;
  for (int k = 0; k < part->initial_count; k++) {
    int link = include->link[part->initials[k].link];
    if (link < 0) continue;
    scene->initials =
        memory_grow_array(scene->initials, sizeof(SceneInitial), scene->initial_count, &reader->initial_capacity);
    scene->initials[scene->initial_count] = part->initials[k];
    scene->initials[scene->initial_count++].link = link;
  }
}

/* Sets pair[] to the two names with the prefix of the include. The caller frees both texts. Returns false if a name
 * belongs to a link that is left out. */
static bool prefixed_pair(const Include* include, char* const names[2], char* pair[2]) {
  bool known = true;
  for (int n = 0; n < 2; n++) {
    pair[n] = prefixed_name(include, names[n]);
    known = known && (names_find(&include->reader->link_names, pair[n]) >= 0 ||
                      names_find(&include->reader->group_names, pair[n]) >= 0);
  }
  return known;
}

static void move_pairs(Include* include) {
  SceneContact *to = &include->reader->scene->contact, *from = &include->part.contact;
  for (int k = 0; k < from->pair_count; k++) {
    size_t count = (size_t)to->pair_count;
    ScenePair pair = from->pairs[k];
    if (prefixed_pair(include, from->pairs[k].name, pair.name)) {
      to->pairs = memory_resize(to->pairs, count * sizeof(ScenePair), (count + 1) * sizeof(ScenePair));
      to->pairs[to->pair_count++] = pair;
    } else {
      memory_free(pair.name[0]);
      memory_free(pair.name[1]);
    }
  }
}

static void move_exclusions(Include* include) {
  SceneContact *to = &include->reader->scene->contact, *from = &include->part.contact;
  for (int k = 0; k < from->exclude_count; k++) {
    char* pair[2];
    if (prefixed_pair(include, from->exclude[k], pair))
      contact_add_exclusion(to, pair[0], pair[1], from->exclude_place[k]);
    else
      memory_free(pair[0]), memory_free(pair[1]);
  }
}

/* Moves the paths of the included file, and of the files that it includes, to the including scene, because positions in
 * messages borrow them. */
static void move_source_files(Include* include) {
  Scene *scene = include->reader->scene, *part = &include->part;
  append_source_file(scene, part->path);
  part->path = NULL;
  for (int i = 0; i < part->file_count; i++) append_source_file(scene, part->files[i]);
  part->file_count = 0;
}

/* ---------------------------------------------------------------- the item */

static void read_prefix(Include* include) {
  const Node* node = include->form.prefix;
  include->prefix = node ? reader_name(include->reader, node) : memory_copy_text("");
  if (!include->prefix) include->prefix = memory_copy_text("");
  const char* bad = name_find_invalid_character(include->prefix);
  if (bad && node)
    reader_error(include->reader, node->place, "'prefix' must not contain the character %c: remove the character",
                 *bad);
}

static void read_item(Reader* reader, const Node* item, const IncludeForm* form) {
  Include include = {.reader = reader, .item = item, .form = *form, .attach = -1};
  int before = reader->problem_count;
  if (form->attach) include.attach = read_link_name(reader, form->attach);
  read_prefix(&include);
  if (form->file && reader->problem_count == before) read_included_file(&include);
  if (reader->problem_count == before && include.part.path) {
    map_links(&include);
    move_shapes(&include);
    move_links(&include);
    if (reader->problem_count == before) {
      move_controllers(&include);
      move_loads(&include);
      move_tendons(&include);
      move_bushings(&include);
      move_closures(&include);
      move_couplings(&include);
      move_initials(&include);
      move_exclusions(&include);
      move_pairs(&include);
    }
  }
  if (include.part.path) move_source_files(&include); /* positions in later messages borrow the path */
  scene_free(&include.part);
  memory_free(include.link);
  memory_free(include.prefix);
}

/* Items with the key `attach` name a link of the scene, so they are read after the links of the scene. */
void read_includes(Reader* reader, const Node* list, bool attached) {
  assert(reader->include_depth <= INCLUDE_DEPTH_MAX);
  if (!list) return;
  size_t mark = reader_enter_key(reader, "include");
  int index = 0;
  for (const Node* item = list->first; item && !reader->exhausted; item = item->next, index++) {
    IncludeForm form;
    size_t below = reader_enter_index(reader, index);
    bool waits = item->kind == NODE_MAP && node_has_key(item, "attach");
    if (waits == attached && schema_read(reader, item, "include", &form)) read_item(reader, item, &form);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}
