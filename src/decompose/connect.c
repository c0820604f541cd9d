/* Checks that the hulls of every connected surface of the mesh are connected. */
#include <stdlib.h>

#include "decompose/check.h"

/* Smallest number of sample points of a connected surface of the mesh. Points and triangle centres are always sampled;
 * triangles are subdivided until this number is reached. */
#define SAMPLES_MIN 2000

typedef struct {
  Vec3* points; /* sample points of the surface, mesh coordinates */
  int count;
  Vec3 low, high;
} ComponentSamples;

static ComponentSamples surface_samples(const Part* part, UnitFrame frame) {
  int rings = 1;
  while ((rings + 1) * (rings + 2) / 2 * part->triangle_count < SAMPLES_MIN) rings++;
  int each = (rings + 1) * (rings + 2) / 2 - 2;
  ComponentSamples s = {.points = MEMORY_NEW(Vec3, part->point_count + each * part->triangle_count)};
  for (int i = 0; i < part->point_count; i++) s.points[s.count++] = part->points[i];
  for (int t = 0; t < part->triangle_count; t++) {
    const int* corner = part->triangles[t];
    Vec3 a = part->points[corner[0]], u = vec3_sub(part->points[corner[1]], a),
         v = vec3_sub(part->points[corner[2]], a);
    s.points[s.count++] = vec3_add_scaled(vec3_add_scaled(a, 1.0 / 3, u), 1.0 / 3, v);
    for (int i = 0; i <= rings; i++)
      for (int j = 0; i + j <= rings; j++)
        if (i != rings && j != rings && i + j > 0)
          s.points[s.count++] = vec3_add_scaled(vec3_add_scaled(a, (double)i / rings, u), (double)j / rings, v);
  }
  s.low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), s.high = vec3_scale(s.low, -1);
  for (int i = 0; i < s.count; i++) {
    s.points[i] = vec3_add_scaled(frame.center, frame.scale, s.points[i]);
    s.low = vec3_min(s.low, s.points[i]);
    s.high = vec3_max(s.high, s.points[i]);
  }
  return s;
}

/* Face planes and bounding box of a hull, moved outward by the tolerance within which it covers sample points. */
typedef struct {
  CutPlane* planes;
  int count;
  Vec3 low, high;
} EnlargedHull;

static EnlargedHull create_enlarged_hull(const ConvexHull* hull, double slack) {
  EnlargedHull holder = {.planes = MEMORY_NEW(CutPlane, hull->triangle_count + 1)};
  for (int t = 0; t < hull->triangle_count; t++) {
    CutPlane p = hull_plane(hull, t);
    p.offset += slack;
    if (vec3_dot(p.n, p.n) > 0) holder.planes[holder.count++] = p;
  }
  holder.low = holder.high = hull->vertices[0];
  for (int i = 1; i < hull->vertex_count; i++) {
    holder.low = vec3_min(holder.low, hull->vertices[i]);
    holder.high = vec3_max(holder.high, hull->vertices[i]);
  }
  holder.low = vec3_sub(holder.low, vec3(slack, slack, slack));
  holder.high = vec3_add(holder.high, vec3(slack, slack, slack));
  return holder;
}

static bool box_contains(Vec3 low, Vec3 high, Vec3 p) {
  return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y && p.z >= low.z && p.z <= high.z;
}

static bool contains(const EnlargedHull* holder, Vec3 p) {
  if (!box_contains(holder->low, holder->high, p)) return false;
  for (int k = 0; k < holder->count; k++)
    if (vec3_dot(holder->planes[k].n, p) > holder->planes[k].offset) return false;
  return true;
}

static bool contains_any(const EnlargedHull* holder, const ComponentSamples* s) {
  if (s->low.x > holder->high.x || s->low.y > holder->high.y || s->low.z > holder->high.z ||
      holder->low.x > s->high.x || holder->low.y > s->high.y || holder->low.z > s->high.z)
    return false;
  for (int i = 0; i < s->count; i++)
    if (contains(holder, s->points[i])) return true;
  return false;
}

typedef struct {
  const Decomposition* decomposition;
  const HullLink* links; /* sorted by decreasing depth */
  int link_count;
  const EnlargedHull* enlarged_hulls;
  bool* is_of_surface; /* true if the hull contains samples of the surface (size: hull_count) */
  int* set;            /* disjoint-set forest: hulls with the same root are connected (size: hull_count) */
} Connection;

static void join_hulls(Connection* c) {
  disjoint_sets_init(c->set, c->decomposition->hull_count);
  for (int k = 0; k < c->link_count; k++)
    if (c->is_of_surface[c->links[k].a] && c->is_of_surface[c->links[k].b])
      disjoint_sets_unite(c->set, c->links[k].a, c->links[k].b);
}

typedef struct {
  int root, samples;
} SetSamples;

static int compare_samples(const void* a, const void* b) {
  const SetSamples *p = a, *q = b;
  if (p->samples != q->samples) return p->samples > q->samples ? -1 : 1;
  return p->root < q->root ? -1 : p->root > q->root;
}

/* Marks every set of connected hulls that contains the point: stamp[root] = stamp_number, with the root hull of the
 * set. */
static void stamp_sets(const Connection* c, Vec3 point, int stamp_number, int* stamp) {
  for (int h = 0; h < c->decomposition->hull_count; h++) {
    if (!c->is_of_surface[h]) continue;
    int root = disjoint_sets_find(c->set, h);
    if (stamp[root] != stamp_number && contains(&c->enlarged_hulls[h], point)) stamp[root] = stamp_number;
  }
}

/* Returns the sets of connected hulls in descending order of their numbers of samples. The caller frees the array. */
static SetSamples* count_samples(const Connection* c, const ComponentSamples* s, int* stamp) {
  int hulls = c->decomposition->hull_count;
  SetSamples* sets = MEMORY_NEW(SetSamples, hulls + 1);
  for (int h = 0; h < hulls; h++) sets[h].root = h, stamp[h] = 0;
  for (int i = 0; i < s->count; i++) {
    stamp_sets(c, s->points[i], i + 1, stamp);
    for (int h = 0; h < hulls; h++) sets[h].samples += stamp[h] == i + 1;
  }
  qsort(sets, (size_t)hulls, sizeof *sets, compare_samples);
  return sets;
}

/* Finds the sets of connected hulls that are needed to cover the surface. Each sample belongs to the first set that
 * contains it. Sets needed[root] to true for sets with samples, and returns their number. A neighbour that only touches
 * the surface has no samples. */
static int find_needed_sets(const Connection* c, const ComponentSamples* s, bool* needed) {
  int hulls = c->decomposition->hull_count, count = 0;
  int* stamp = MEMORY_NEW(int, hulls + 1);
  SetSamples* sets = count_samples(c, s, stamp);
  for (int h = 0; h < hulls; h++) stamp[h] = 0, needed[h] = false;
  for (int i = 0; i < s->count; i++) {
    stamp_sets(c, s->points[i], i + 1, stamp);
    int k = 0;
    while (k < hulls && sets[k].samples > 0 && stamp[sets[k].root] != i + 1) k++;
    if (k < hulls && sets[k].samples > 0) needed[sets[k].root] = true;
  }
  for (int h = 0; h < hulls; h++) count += needed[h];
  memory_free(sets);
  memory_free(stamp);
  return count;
}

static int count_sets(const Connection* c, bool* needed) {
  int count = 0;
  for (int h = 0; h < c->decomposition->hull_count; h++) {
    needed[h] = c->is_of_surface[h] && disjoint_sets_find(c->set, h) == h;
    count += needed[h];
  }
  return count;
}

/* Returns the depth of the shallowest link that is needed to connect the hulls of the surface. Builds a maximum
 * spanning forest, which joins sets of hulls by links of decreasing depth. */
static double weakest_link(Connection* c) {
  double depth = HUGE_VAL;
  disjoint_sets_init(c->set, c->decomposition->hull_count);
  for (int k = 0; k < c->link_count; k++) {
    HullLink link = c->links[k];
    if (!c->is_of_surface[link.a] || !c->is_of_surface[link.b] ||
        disjoint_sets_find(c->set, link.a) == disjoint_sets_find(c->set, link.b))
      continue;
    disjoint_sets_unite(c->set, link.a, link.b);
    depth = fmin(depth, link.depth);
  }
  return isfinite(depth) ? depth : 0;
}

/* Finds the hulls that lie inside the surface by the winding number at their centres. Hulls inside the solid contain no
 * surface samples. */
static void find_inner_hulls(Connection* c, const Part* part, UnitFrame frame) {
  SurfaceTree tree = surface_tree_create(part->points, (const int(*)[3])part->triangles, part->triangle_count);
  for (int h = 0; h < c->decomposition->hull_count; h++) {
    const ConvexHull* hull = &c->decomposition->hulls[h];
    Vec3 sum = vec3(0, 0, 0);
    for (int i = 0; i < hull->vertex_count; i++) sum = vec3_add(sum, vec3_sub(hull->vertices[i], frame.center));
    c->is_of_surface[h] = surface_tree_winding(&tree, vec3_scale(sum, 1 / (hull->vertex_count * frame.scale))) != 0;
  }
  surface_tree_free(&tree);
}

static MeshComponent connect_component(Connection* c, const Part* part, UnitFrame frame) {
  MeshComponent component = {0};
  int hulls = c->decomposition->hull_count;
  bool *needed = MEMORY_NEW(bool, hulls + 1), inside = c->decomposition->inside;
  ComponentSamples samples = surface_samples(part, frame);
  for (int h = 0; h < hulls && !inside; h++) c->is_of_surface[h] = contains_any(&c->enlarged_hulls[h], &samples);
  if (inside) find_inner_hulls(c, part, frame);
  join_hulls(c);
  component.pieces = count_sets(c, needed);
  if (component.pieces > 1 && !inside) component.pieces = find_needed_sets(c, &samples, needed);
  component.hulls = MEMORY_NEW(int, hulls + 1);
  for (int h = 0; h < hulls; h++) {
    c->is_of_surface[h] = c->is_of_surface[h] && needed[disjoint_sets_find(c->set, h)];
    if (c->is_of_surface[h]) component.hulls[component.hull_count++] = h;
  }
  component.overlap = weakest_link(c);
  memory_free(samples.points);
  memory_free(needed);
  return component;
}

static int compare_depths(const void* a, const void* b) {
  const HullLink *p = a, *q = b;
  if (p->depth != q->depth) return p->depth > q->depth ? -1 : 1;
  return p->a != q->a ? (p->a < q->a ? -1 : 1) : (p->b > q->b) - (p->b < q->b);
}

void decomposition_connect(Decomposition* d, HullLink* links, int link_count, const Part* solid, UnitFrame frame) {
  Part* parts;
  d->component_count = part_components(solid, &parts);
  d->components = MEMORY_NEW(MeshComponent, d->component_count + 1);
  qsort(links, (size_t)link_count, sizeof *links, compare_depths);
  EnlargedHull* enlarged_hulls = MEMORY_NEW(EnlargedHull, d->hull_count + 1);
  for (int h = 0; h < d->hull_count; h++)
    enlarged_hulls[h] = create_enlarged_hull(&d->hulls[h], COVER_TOLERANCE * d->diagonal);
  Connection c = {
      d, links, link_count, enlarged_hulls, MEMORY_NEW(bool, d->hull_count + 1), MEMORY_NEW(int, d->hull_count + 1)};
  d->apart = 0;
  for (int k = 0; k < d->component_count; k++) {
    d->components[k] = connect_component(&c, &parts[k], frame);
    d->apart += d->components[k].pieces > 1;
    part_free(&parts[k]);
  }
  d->connected = d->apart == 0;
  memory_free(parts);
  for (int h = 0; h < d->hull_count; h++) memory_free(enlarged_hulls[h].planes);
  memory_free(enlarged_hulls);
  memory_free(c.is_of_surface);
  memory_free(c.set);
}
