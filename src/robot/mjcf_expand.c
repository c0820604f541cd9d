/* Expands MuJoCo's meta-elements before other elements are read. <replicate> becomes frames with copies, <attach> a
 * frame with the elements of another model, and a cable <composite> its bodies. Elements that refer to copied elements,
 * such as actuators, are copied, too. Copies get new names. */
#include <assert.h>
#include <string.h>

#include "robot/mjcf.h"

/* Attributes that name another element, with the kind of that element. Names are unique within a kind. */
static const struct {
  const char *attribute, *kind;
} REFERENCES[] = {{"joint", "joint"},    {"joint1", "joint"},    {"joint2", "joint"},      {"jointinparent", "joint"},
                  {"body", "body"},      {"body1", "body"},      {"body2", "body"},        {"target", "body"},
                  {"site", "site"},      {"site1", "site"},      {"site2", "site"},        {"refsite", "site"},
                  {"cranksite", "site"}, {"slidersite", "site"}, {"sidesite", "site"},     {"geom", "geom"},
                  {"geom1", "geom"},     {"geom2", "geom"},      {"tendon", "tendon"},     {"tendon1", "tendon"},
                  {"tendon2", "tendon"}, {"mesh", "mesh"},       {"material", "material"}, {"texture", "texture"},
                  {"hfield", "hfield"},  {"class", "class"},     {"childclass", "class"},  {"actuator", "actuator"}};
/* Sections that refer to bodies and their elements. Tendons come before equality constraints and actuators, which refer
 * to tendons. */
static const char* const SECTIONS[] = {"asset", "tendon", "equality", "actuator", "contact"};
enum { SECTION_COUNT = sizeof SECTIONS / sizeof SECTIONS[0] };

/* State of expanding a model file. */
typedef struct {
  MjcfModel* model;
  XmlElement* root;
  const char* path;   /* path of the file */
  const char* folder; /* folder of the file relative to that of the first file: "" or ending with a slash */
} Expansion;

/* Renaming of copied elements: each name in `names` gets the prefix and the suffix. Entries of `names` are texts "kind
 * name". */
typedef struct {
  MjcfModel* model;
  Names names;
  const char *prefix, *suffix;
} Renaming;

/* ---------------------------------------------------------------- names */

static const char* kind_of_reference(const char* attribute) {
  for (size_t i = 0; i < sizeof REFERENCES / sizeof REFERENCES[0]; i++)
    if (strcmp(REFERENCES[i].attribute, attribute) == 0) return REFERENCES[i].kind;
  return NULL;
}

/* Returns the kind within which an element's name is unique: the section of actuators, tendons and equality
 * constraints, otherwise the tag. A freejoint is a joint. */
static const char* kind_of_element(const XmlElement* element) {
  const char* section = element->parent ? element->parent->name : "";
  if (strcmp(section, "actuator") == 0 || strcmp(section, "tendon") == 0 || strcmp(section, "equality") == 0)
    return section;
  return strcmp(element->name, "freejoint") == 0 ? "joint" : element->name;
}

static const char* kind_of(const XmlElement* element, const char* attribute) {
  return strcmp(attribute, "name") == 0 ? kind_of_element(element) : kind_of_reference(attribute);
}

static bool has_name(const Renaming* renaming, const char* kind, const char* name) {
  Text key = {0};
  text_add(&key, "%s %s", kind, name);
  bool has = names_find(&renaming->names, key.data) >= 0;
  text_free(&key);
  return has;
}

static void add_name(Renaming* renaming, const char* kind, const char* name) {
  Text key = {0};
  if (has_name(renaming, kind, name)) return;
  text_add(&key, "%s %s", kind, name);
  names_add(&renaming->names, mjcf_own_text(renaming->model, &key), 0);
}

/* Adds the names of an element and of its descendants to the names that are changed in copies. */
static void collect(Renaming* renaming, const XmlElement* element) {
  const XmlAttribute* name = xml_attribute(element, "name");
  if (name) add_name(renaming, kind_of_element(element), name->value);
  for (const XmlElement* child = element->first; child; child = child->next) collect(renaming, child);
}

static void rename_attribute(Text* out, const XmlElement* element, const XmlAttribute* attribute, void* context) {
  const Renaming* renaming = context;
  const char* kind = kind_of(element, attribute->name);
  bool other = kind && has_name(renaming, kind, attribute->value);
  text_add(out, "%s%s%s", other ? renaming->prefix : "", attribute->value, other ? renaming->suffix : "");
}

/* Returns true if an element or its descendants refer to a renamed element. only: true if they must refer to nothing
 * else. References to classes and assets do not count. */
static bool refers_to_renamed(const Renaming* renaming, const XmlElement* element, bool only) {
  bool found = only;
  for (int i = 0; i < element->attribute_count; i++) {
    const XmlAttribute* attribute = &element->attributes[i];
    const char* kind = kind_of_reference(attribute->name);
    if (!kind || words_index("class|mesh|material|texture|hfield", kind) >= 0) continue;
    bool refers = has_name(renaming, kind, attribute->value) || (only && strcmp(attribute->value, "world") == 0);
    found = only ? found && refers : found || refers;
  }
  for (const XmlElement* child = element->first; child; child = child->next)
    found =
        only ? found && refers_to_renamed(renaming, child, only) : found || refers_to_renamed(renaming, child, only);
  return found;
}

/* ---------------------------------------------------------------- replicate */

enum { REPLICAS_MAX = 100000 };

static int count_elements(const XmlElement* element) {
  int size = 1;
  for (const XmlElement* child = element->first; child; child = child->next) size += count_elements(child);
  return size;
}

/* Returns the number of copies of a <replicate>, or 0 after an error. */
static int replica_count(MjcfModel* model, const XmlElement* element) {
  const XmlAttribute* attribute = xml_attribute(element, "count");
  double count = 0;
  mjcf_numbers(model, (MjcfElement){element, ""}, "count", 1, 1, &count);
  if (!attribute || count != floor(count) || !(count >= 1) || !(count <= REPLICAS_MAX) ||
      count * count_elements(element) > XML_ELEMENT_MAX) {
    mjcf_error(model, attribute ? attribute->place : element->place,
               "count of <replicate> must be a whole number from 1 to %d, and all copies together may have at most %d "
               "elements",
               REPLICAS_MAX, XML_ELEMENT_MAX);
    return 0;
  }
  return (int)count;
}

static XmlElement* make_frame(MjcfModel* model, const XmlElement* from, UrdfPose pose, const char* class_name) {
  Text position = {0}, turn = {0};
  text_add(&position, "%.17g %.17g %.17g", pose.position.x, pose.position.y, pose.position.z);
  text_add(&turn, "%.17g %.17g %.17g %.17g", pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z);
  const char* const pairs[] = {"pos",      position.data, "quat", turn.data, class_name ? "childclass" : NULL,
                               class_name, NULL};
  XmlElement* frame = xml_make(&model->documents[0], "frame", from->place, pairs);
  text_free(&position);
  text_free(&turn);
  return frame;
}

/* Returns the suffix of copy `index`: `sep` and the index, with as many digits as the count has. */
static const char* make_suffix(MjcfModel* model, const XmlElement* element, int index, int count) {
  assert(index >= 0 && index < count);
  const XmlAttribute* separator = xml_attribute(element, "sep");
  int digits = 1;
  Text text = {0};
  for (int n = count; n >= 10; n /= 10) digits++;
  text_add(&text, "%s%0*d", separator ? separator->value : "", digits, index);
  return mjcf_own_text(model, &text);
}

/* Replaces each element of a section that refers to replicated elements by `count` copies, one per replica. */
static void replicate_references(Expansion* x, Renaming* renaming, const XmlElement* element, int count,
                                 XmlElement* section) {
  assert(count >= 1);
  XmlDocument* document = &x->model->documents[0];
  for (XmlElement *item = section->first, *before = NULL, *next; item; item = next) {
    next = item->next;
    if (!refers_to_renamed(renaming, item, false)) {
      before = item;
      continue;
    }
    collect(renaming, item);
    XmlElement* copies = xml_make(document, section->name, item->place, (const char* const[]){NULL});
    for (int i = 0; i < count; i++) {
      renaming->suffix = make_suffix(x->model, element, i, count);
      xml_append(copies, xml_copy(document, item, NULL, rename_attribute, renaming));
    }
    xml_splice(item, before, copies);
    before = copies->last;
  }
}

/* Returns a container of frames, each with a copy of the content of <replicate>, or NULL after an error. Frame n is
 * rotated by n times the angles of `euler` and displaced from the previous frame by `offset` in its axes, as in
 * MuJoCo 3.3.8. */
static XmlElement* replicate(Expansion* x, const XmlElement* element) {
  MjcfModel* model = x->model;
  XmlDocument* document = &model->documents[0];
  const XmlAttribute* class_name = xml_attribute(element, "childclass");
  Renaming renaming = {.model = model, .prefix = "", .suffix = ""};
  double offset[3] = {0}, euler[3] = {0};
  int count = replica_count(model, element);
  if (count == 0) return NULL;
  mjcf_numbers(model, (MjcfElement){element, ""}, "offset", 3, 3, offset);
  mjcf_numbers(model, (MjcfElement){element, ""}, "euler", 3, 3, euler);
  UrdfPose pose = {{0, 0, 0}, {1, 0, 0, 0}};
  UrdfPose step = {{offset[0], offset[1], offset[2]}, {1, 0, 0, 0}};
  for (const XmlElement* child = element->first; child; child = child->next) collect(&renaming, child);
  XmlElement* frames = xml_make(document, "replicas", element->place, (const char* const[]){NULL});
  for (int i = 0; i < count; i++) {
    XmlElement* frame = make_frame(model, element, pose, class_name ? class_name->value : NULL);
    renaming.suffix = make_suffix(model, element, i, count);
    for (const XmlElement* child = element->first; child; child = child->next)
      xml_append(frame, xml_copy(document, child, NULL, rename_attribute, &renaming));
    xml_append(frames, frame);
    const double angles[3] = {(i + 1) * euler[0], (i + 1) * euler[1], (i + 1) * euler[2]};
    pose = (UrdfPose){urdf_pose_mul(pose, step).position, mjcf_euler(model, element->place, angles)};
  }
  for (int s = 0; s < SECTION_COUNT; s++)
    for (XmlElement* section = x->root->first; section; section = section->next)
      if (strcmp(section->name, SECTIONS[s]) == 0) replicate_references(x, &renaming, element, count, section);
  names_free(&renaming.names);
  return frames;
}

/* ---------------------------------------------------------------- attach */

static const XmlElement* find_named(const XmlElement* section, const char* tag, const char* name) {
  for (const XmlElement* item = section->first; item; item = item->next) {
    const XmlAttribute* item_name = xml_attribute(item, "name");
    if (strcmp(item->name, tag) == 0 && item_name && strcmp(item_name->value, name) == 0) return item;
    const XmlElement* deeper = find_named(item, tag, name);
    if (deeper) return deeper;
  }
  return NULL;
}

static bool is_file_stem(const char* path, const char* name) {
  char* stem = file_stem(path);
  bool same = strcmp(stem, name) == 0;
  memory_free(stem);
  return same;
}

/* Returns true if the model in a file has the name `name`. Errors of the file are reported when it is attached. */
static bool has_model_name(const Expansion* x, const char* file, const char* name) {
  char *path = file_resolve(x->path, file), *text;
  size_t length;
  XmlDocument document = {0};
  Diagnostics unsaid = {0};
  bool same = false;
  if (file_read_reported(path, &text, &length, &unsaid) == STATUS_OK) {
    bool read = xml_read(&document, path, text, length, &unsaid);
    const XmlAttribute* model_name = read ? xml_attribute(document.root, "model") : NULL;
    same = model_name && strcmp(model_name->value, name) == 0;
    memory_free(text);
  }
  xml_free(&document);
  diagnostics_free(&unsaid);
  memory_free(path);
  return same;
}

/* Returns the <model> asset that an <attach> names by the attribute `model`, or NULL after an error. */
static const XmlElement* model_asset(Expansion* x, const XmlElement* element) {
  const XmlAttribute* name = xml_attribute(element, "model");
  for (const XmlElement* asset = xml_child(x->root, "asset"); asset; asset = xml_next(asset)) {
    const XmlElement* found = find_named(asset, "model", name->value);
    if (found && xml_attribute(found, "file")) return found;
    for (found = xml_child(asset, "model"); found;
         found = xml_next(found)) { /* an asset without a name has the name of its file or of the model in it */
      const XmlAttribute* file = xml_attribute(found, "file");
      if (xml_attribute(found, "name") || !file) continue;
      if (is_file_stem(file->value, name->value) || has_model_name(x, file->value, name->value)) return found;
    }
  }
  mjcf_error(x->model, name->place, "<attach>: no <model> with 'file' is named '%s' in <asset>",
             text_excerpt(name->value).text);
  return NULL;
}

/* Returns the default name of an asset: its file name without folder and extension. Returns NULL if the asset has a
 * name or no file. */
static const char* default_asset_name(MjcfModel* model, const XmlElement* asset) {
  const XmlAttribute* file = xml_attribute(asset, "file");
  if (!file || xml_attribute(asset, "name")) return NULL;
  Text text = {0};
  char* stem = file_stem(file->value);
  text_add(&text, "%s", stem);
  memory_free(stem);
  return mjcf_own_text(model, &text);
}

static void collect_classes(Renaming* renaming, const XmlElement* element) {
  const XmlAttribute* name = xml_attribute(element, "class");
  add_name(renaming, "class", name ? name->value : "main");
  for (const XmlElement* child = xml_child(element, "default"); child; child = xml_next(child))
    collect_classes(renaming, child);
}

/* Adds names of an attached model to the renaming: those in the attached tree, and those of all assets and classes. */
static void collect_model(Renaming* renaming, const XmlElement* root, const XmlElement* tree) {
  if (tree != root)
    collect(renaming, tree);
  else
    for (const XmlElement* world = xml_child(root, "worldbody"); world; world = xml_next(world))
      collect(renaming, world);
  for (const XmlElement* section = root->first; section; section = section->next) {
    if (strcmp(section->name, "default") == 0) collect_classes(renaming, section);
    if (strcmp(section->name, "asset") != 0) continue;
    collect(renaming, section);
    for (const XmlElement* asset = section->first; asset; asset = asset->next) {
      const char* stem = default_asset_name(renaming->model, asset);
      if (stem) add_name(renaming, asset->name, stem);
    }
  }
}

/* Adds the default classes of an attached model below a separate root. Elements without a class then use the attached
 * model's class `main`. */
static void attach_defaults(Renaming* renaming, const XmlElement* root, const char* main_class) {
  MjcfModel* model = renaming->model;
  XmlDocument* document = &model->documents[0];
  XmlElement* defaults = xml_make(document, "mujoco", root->place, (const char* const[]){NULL});
  for (const XmlElement* item = xml_child(root, "default"); item; item = xml_next(item))
    xml_append(defaults,
               xml_copy(document, item, (const char* const[]){"class", main_class, NULL}, rename_attribute, renaming));
  xml_append(defaults, xml_make(document, "default", root->place, (const char* const[]){"class", main_class, NULL}));
  for (const XmlElement* item = defaults->first; item; item = item->next) mjcf_add_default(model, item);
}

/* Elements of sections that have no attribute `class`. */
static const char CLASSLESS[] = "exclude|hfield|skin|texture|model|plugin";

/* Copies items of a section of an attached model with new names: all assets, and other items that refer only to the
 * attached tree, or all if `all_items`. main_class: class of items without a class, or NULL. */
static void attach_section(Expansion* x, Renaming* renaming, const XmlElement* from, bool all_items,
                           const char* main_class) {
  XmlDocument* document = &x->model->documents[0];
  bool assets = strcmp(from->name, "asset") == 0;
  XmlElement* section = xml_make(document, from->name, from->place, (const char* const[]){NULL});
  for (const XmlElement* item = from->first; item; item = item->next) {
    const char* stem = assets ? default_asset_name(x->model, item) : NULL;
    if (strcmp(item->name, "model") == 0 || (!assets && !all_items && !refers_to_renamed(renaming, item, true)))
      continue;
    if (!assets) collect(renaming, item);
    Text name = {0};
    text_add(&name, "%s%s", renaming->prefix, stem ? stem : "");
    bool classed = main_class && words_index(CLASSLESS, item->name) < 0;
    const char* const more[] = {classed ? "class"
                                : stem  ? "name"
                                        : NULL,
                                classed ? main_class : name.data, classed && stem ? "name" : NULL, name.data, NULL};
    xml_append(section, xml_copy(document, item, more, rename_attribute, renaming));
    text_free(&name);
  }
  xml_append(x->root, section);
}

static void add_key(MjcfModel* model, const Renaming* renaming, const XmlElement* key) {
  const XmlAttribute* name = xml_attribute(key, "name");
  Text prefixed = {0};
  if (!name) return; /* --key cannot name a keyframe without a name */
  text_add(&prefixed, "%s%s", renaming->prefix, name->value);
  model->attached_keys = memory_grow_array(model->attached_keys, sizeof(MjcfAttachedKey), model->attached_key_count,
                                           &model->attached_key_capacity);
  model->attached_keys[model->attached_key_count++] = (MjcfAttachedKey){mjcf_own_text(model, &prefixed), key};
}

static void attach_sections(Expansion* x, Renaming* renaming, const XmlElement* root, bool all_items,
                            const char* main_class) {
  for (int s = 0; s < SECTION_COUNT; s++)
    for (const XmlElement* section = xml_child(root, SECTIONS[s]); section; section = xml_next(section))
      attach_section(x, renaming, section, all_items, main_class);
  for (const XmlElement* frame = xml_child(root, "keyframe"); frame; frame = xml_next(frame)) {
    mjcf_report_unsupported(x->model, frame);
    for (const XmlElement* key = xml_child(frame, "key"); key; key = xml_next(key)) add_key(x->model, renaming, key);
  }
  for (const XmlElement* section = root->first; section; section = section->next)
    if (words_index("sensor|extension|deformable", section->name) >= 0) mjcf_report_unsupported(x->model, section);
}

/* Copies items of the model's own sections that refer only to a repeated tree, without assets. The appended copies are
 * not copied again. */
static void repeat_sections(Expansion* x, Renaming* renaming) {
  const XmlElement* last = x->root->last;
  for (int s = 0; s < SECTION_COUNT; s++) {
    if (strcmp(SECTIONS[s], "asset") == 0) continue;
    for (const XmlElement* section = x->root->first;; section = section->next) {
      if (strcmp(section->name, SECTIONS[s]) == 0) attach_section(x, renaming, section, false, NULL);
      if (section == last) break;
    }
  }
}

/* Returns the body or frame that an <attach> names. If the element names none, returns the root, which stands for all
 * worldbodies. Returns NULL after an error. */
static const XmlElement* attached_tree(Expansion* x, const XmlElement* element, const XmlElement* root) {
  const XmlAttribute *body = xml_attribute(element, "body"), *frame = xml_attribute(element, "frame");
  const XmlAttribute* name = body ? body : frame;
  if (!name || !*name->value || strcmp(name->value, "world") == 0) return root;
  const XmlElement* found = NULL;
  for (const XmlElement* world = xml_child(root, "worldbody"); world && !found; world = xml_next(world))
    found = find_named(world, name->name, name->value);
  if (!found)
    mjcf_error(x->model, name->place, "<attach>: the model has no %s named '%s'", name->name,
               text_excerpt(name->value).text);
  return found;
}

/* Returns true if element a precedes element b in the tree below `parent`, which contains b. Sets *searching to false
 * when the depth-first search has found a or b. */
static bool is_before(const XmlElement* parent, const XmlElement* a, const XmlElement* b, bool* searching) {
  for (const XmlElement* item = parent->first; item && *searching; item = item->next) {
    if (item == a || item == b) {
      *searching = false;
      return item == a;
    }
    if (is_before(item, a, b, searching)) return true;
  }
  return false;
}

/* Returns true if MuJoCo accepts an <attach> without `model`, which copies a body or frame of the same model. Otherwise
 * reports an error. tree: the copied element. */
static bool check_repeat(Expansion* x, const XmlElement* element, const XmlElement* tree) {
  const XmlAttribute* prefix = xml_attribute(element, "prefix");
  bool inside = false, searching = true;
  if (tree == x->root) {
    mjcf_error(x->model, element->place, "<attach> needs 'model', or 'body' or 'frame' of the same model");
    return false;
  }
  if (!prefix || !*prefix->value) {
    mjcf_error(
        x->model, element->place,
        "<attach> without 'model' needs a 'prefix', so that the names of the copy differ from those of the original");
    return false;
  }
  for (const XmlElement* item = element; item; item = item->parent) inside = inside || item == tree;
  if (inside || !is_before(x->root, tree, element, &searching)) {
    mjcf_error(x->model, element->place, "<attach> without 'model': the <%s> to copy must be before <attach>%s",
               tree->name, inside ? ", and must not contain <attach>" : "");
    return false;
  }
  return true;
}

/* Returns the default class of elements in a tree: the nearest `childclass` of an enclosing element, or NULL. */
static const XmlAttribute* find_enclosing_class(const XmlElement* tree) {
  const XmlAttribute* found = NULL;
  for (const XmlElement* item = tree->parent; item && !found; item = item->parent)
    found = xml_attribute(item, "childclass");
  return found;
}

static bool expand_within(Expansion* x, XmlElement* parent, int depth);

static bool expand_worlds(Expansion* x, int depth) {
  for (XmlElement* world = x->root->first; world; world = world->next)
    if (strcmp(world->name, "worldbody") == 0 && !expand_within(x, world, depth)) return false;
  return true;
}

/* Reads the attached model, expands its meta-elements and returns its root element. Returns NULL after an error. */
static XmlElement* read_attached(Expansion* x, const XmlElement* element, int depth) {
  const XmlElement* asset = model_asset(x, element);
  if (!asset) return NULL;
  const XmlAttribute* file = xml_attribute(asset, "file");
  Text folder = {0};
  char *slash, *seen = file_resolve(x->folder, file->value);
  text_add(&folder, "%s", seen);
  memory_free(seen);
  slash = strrchr(folder.data, '/');
  folder.data[slash ? slash - folder.data + 1 : 0] = '\0';
  Expansion inner = {.model = x->model, .folder = mjcf_own_text(x->model, &folder)};
  inner.root = mjcf_read_model(x->model, file, x->path, inner.folder, element->place);
  if (!inner.root) return NULL;
  inner.path = inner.root->place.file;
  return expand_worlds(&inner, depth) ? inner.root : NULL;
}

/* Returns a container with a frame that contains a copy of `tree`, or of all worldbodies if tree is the root. The frame
 * has the class `class_name`. */
static XmlElement* copy_tree(Expansion* x, Renaming* renaming, const XmlElement* element, const XmlElement* root,
                             const XmlElement* tree, const char* class_name) {
  XmlDocument* document = &x->model->documents[0];
  XmlElement* frames = xml_make(document, "attached", element->place, (const char* const[]){NULL});
  XmlElement* frame = make_frame(x->model, element, (UrdfPose){{0, 0, 0}, {1, 0, 0, 0}}, class_name);
  xml_append(frames, frame);
  if (tree != root)
    xml_append(frame, xml_copy(document, tree, NULL, rename_attribute, renaming));
  else
    for (const XmlElement* world = xml_child(root, "worldbody"); world; world = xml_next(world))
      for (const XmlElement* child = world->first; child; child = child->next)
        xml_append(frame, xml_copy(document, child, NULL, rename_attribute, renaming));
  return frames;
}

/* Returns a container with a copy of a body or frame of the same model, for an <attach> without `model`. Returns NULL
 * after an error. */
static XmlElement* repeat_tree(Expansion* x, const XmlElement* element) {
  const XmlElement* tree = attached_tree(x, element, x->root);
  if (!tree || !check_repeat(x, element, tree)) return NULL;
  Renaming renaming = {.model = x->model, .prefix = xml_attribute(element, "prefix")->value, .suffix = ""};
  const XmlAttribute* around = find_enclosing_class(tree);
  collect(&renaming, tree);
  XmlElement* frames = copy_tree(x, &renaming, element, x->root, tree, around ? around->value : "main");
  repeat_sections(x, &renaming);
  names_free(&renaming.names);
  return frames;
}

/* Returns a container with a frame that contains the attached tree, or NULL after an error. */
static XmlElement* attach_tree(Expansion* x, const XmlElement* element, int depth) {
  MjcfModel* model = x->model;
  if (!xml_attribute(element, "model")) return repeat_tree(x, element);
  XmlElement* root = read_attached(x, element, depth);
  const XmlElement* tree = root ? attached_tree(x, element, root) : NULL;
  const XmlAttribute* prefix = xml_attribute(element, "prefix");
  if (!tree) return NULL;
  Renaming renaming = {.model = model, .prefix = prefix ? prefix->value : "", .suffix = ""};
  Text main_class = {0}, around = {0};
  text_add(&main_class, "%smain of %s", renaming.prefix, root->place.file);
  const char* attached_class = mjcf_own_text(model, &main_class);
  const XmlAttribute* class_name = tree == root ? NULL : find_enclosing_class(tree);
  text_add(&around, "%s%s", renaming.prefix, class_name ? class_name->value : "");
  collect_model(&renaming, root, tree);
  attach_defaults(&renaming, root, attached_class);
  XmlElement* frames = copy_tree(x, &renaming, element, root, tree, class_name ? around.data : attached_class);
  attach_sections(x, &renaming, root, tree == root, attached_class);
  text_free(&around);
  names_free(&renaming.names);
  return frames;
}

/* ---------------------------------------------------------------- the tree */

/* Expands the meta-elements below `parent`, inner before outer elements. Returns false after an error. */
static bool expand_within(Expansion* x, XmlElement* parent, int depth) {
  assert(depth >= 0);
  XmlElement* before = NULL;
  if (depth == XML_DEPTH_MAX) {
    mjcf_error(x->model, parent->place, "elements are nested more than 64 levels deep: reduce the nesting");
    return false;
  }
  for (XmlElement *child = parent->first, *next; child; child = next) {
    bool attaches = strcmp(child->name, "attach") == 0, replicates = strcmp(child->name, "replicate") == 0;
    bool composes = strcmp(child->name, "composite") == 0;
    next = child->next;
    if (!attaches && !composes && !expand_within(x, child, depth + 1)) return false;
    if (!attaches && !replicates && !composes) {
      before = child;
      continue;
    }
    const XmlElement* container = attaches   ? attach_tree(x, child, depth + 1)
                                  : composes ? mjcf_expand_composite(x->model, x->root, child)
                                             : replicate(x, child);
    if (!container) return false;
    xml_splice(child, before, container);
    before = container->last;
  }
  return true;
}

bool mjcf_expand(MjcfModel* model) {
  Expansion x = {.model = model, .root = model->documents[0].root, .path = model->path, .folder = ""};
  return expand_worlds(&x, 0);
}
