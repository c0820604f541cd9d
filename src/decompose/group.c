/* Groups pieces into hulls. Merges groups pairwise, then moves single pieces between groups. Then repeatedly merges one
 * pair and splits another group, while the total volume of the hulls decreases. Changes apply to mirror images, too, so
 * that the result stays symmetric. */
#include <assert.h>
#include <string.h>

#include "decompose/blocks.h"

/* The improvement of the groups ends after ITERATIONS_MAX iterations, or when the total hull volume decreases by less
 * than the fraction GAIN_MIN. */
#define ITERATIONS_MAX 12
#define GAIN_MIN 1e-4

/* Assignment of pieces to groups. Group numbers are in 0 .. count - 1; some are unused. */
typedef struct {
  const Blocks* pieces;
  const MirrorImages* images;
  int count;       /* number of pieces */
  int* group;      /* group of each piece (size: count) */
  bool* is_merged; /* true for a group that was just merged and must not be split again (size: count) */
  double* volume;  /* volume of the convex hull of each group, negative if unknown (size: count) */
  bool* changed;   /* true for a group that has changed since its best split was computed (size: count) */
  bool* touch;     /* touch[i * count + j]: true if pieces i and j touch (size: count x count) */
} Grouping;

/* ---------------------------------------------------------------- groups */

static int first_piece(const Grouping* g, int group) {
  assert(group >= 0 && group < g->count);
  for (int k = 0; k < g->count; k++)
    if (g->group[k] == group) return k;
  return -1;
}

static int group_image(const Grouping* g, int group, int planes) {
  assert(group >= 0 && group < g->count);
  return g->group[mirror_image(g->images, first_piece(g, group), planes)];
}

static bool in_symmetry(const Grouping* g, int planes) { return !(planes & ~g->images->planes); }

/* Sets images to the numbers of the distinct mirror images of a group, including the group itself. Returns how many
 * there are. */
static int images_of_group(const Grouping* g, int group, int images[8]) {
  assert(group >= 0 && group < g->count);
  int count = 0;
  for (int planes = 0; planes < 8; planes++) {
    if (!in_symmetry(g, planes)) continue;
    int image = group_image(g, group, planes);
    bool splits = false;
    for (int k = 0; k < count; k++) splits |= images[k] == image;
    if (!splits) images[count++] = image;
  }
  return count;
}

/* Returns the approximate volume of the convex hull of a group [unit size^3]. */
static double group_volume(const Grouping* g, int group) {
  int total = 0;
  for (int k = 0; k < g->count; k++)
    if (g->group[k] == group) total += g->pieces->items[k].estimate.count;
  if (total == 0) return 0;
  Vec3* points = MEMORY_NEW(Vec3, total);
  total = 0;
  for (int k = 0; k < g->count; k++) {
    if (g->group[k] != group) continue;
    const HullEstimate* e = &g->pieces->items[k].estimate;
    memcpy(points + total, e->points, sizeof(Vec3) * (size_t)e->count);
    total += e->count;
  }
  double volume = hull_estimate(points, total).volume;
  memory_free(points);
  return volume;
}

static double get_group_volume(Grouping* g, int group) {
  if (g->volume[group] < 0) g->volume[group] = group_volume(g, group);
  return g->volume[group];
}

static void invalidate_group(Grouping* g, int group) {
  int images[8], count = images_of_group(g, group, images);
  for (int k = 0; k < count; k++) g->volume[images[k]] = -1, g->changed[images[k]] = true;
}

static double total_volume(Grouping* g, int* groups) {
  double sum = 0;
  *groups = 0;
  for (int k = 0; k < g->count; k++) {
    if (first_piece(g, k) < 0) continue;
    sum += get_group_volume(g, k);
    ++*groups;
  }
  return sum;
}

/* ---------------------------------------------------------------- moving a piece */

/* Moves a piece to a group, and the mirror images of the piece to the mirror images of the group. */
static void move_piece(Grouping* g, int piece, int group) {
  assert(piece >= 0 && piece < g->count && group >= 0 && group < g->count);
  int to[8], of[8], count = 0;
  for (int planes = 0; planes < 8; planes++) {
    if (!in_symmetry(g, planes)) continue;
    of[count] = mirror_image(g->images, piece, planes);
    to[count++] = group_image(g, group, planes);
  }
  for (int k = 0; k < count; k++) g->group[of[k]] = to[k];
}

/* Returns the change of the total volume of all hulls if a piece moves to group `to`, or HUGE_VAL if its present group
 * would become empty. */
static double moving_cost(Grouping* g, int piece, int to) {
  assert(piece >= 0 && piece < g->count && to != g->group[piece]);
  int from = g->group[piece], images[8], kept[8], count = 0;
  double before_from = get_group_volume(g, from), before_to = get_group_volume(g, to);
  int from_count = images_of_group(g, from, images);
  bool related = false;
  for (int k = 0; k < from_count; k++) related |= images[k] == to;
  int to_count = images_of_group(g, to, images);
  for (int planes = 0; planes < 8; planes++)
    if (in_symmetry(g, planes)) kept[count++] = g->group[mirror_image(g->images, piece, planes)];
  move_piece(g, piece, to);
  double change = HUGE_VAL;
  if (first_piece(g, from) >= 0) {
    change = from_count * (group_volume(g, from) - before_from);
    if (!related && change < 0) change += to_count * (group_volume(g, to) - before_to);
  }
  count = 0;
  for (int planes = 0; planes < 8; planes++)
    if (in_symmetry(g, planes)) g->group[mirror_image(g->images, piece, planes)] = kept[count++];
  return change;
}

/* Finds the group to which a piece should move: among the groups that the piece touches, the group with the smallest
 * change of the total volume. Sets *best to this group and returns the change. Returns HUGE_VAL if the piece touches no
 * other group. */
static double find_best_group(Grouping* g, int piece, int* best) {
  double least = HUGE_VAL;
  for (int other = 0; other < g->count; other++) {
    int to = g->group[other];
    bool first = to != g->group[piece] && g->touch[piece * g->count + other];
    for (int k = 0; first && k < other; k++) first = g->group[k] != to || !g->touch[piece * g->count + k];
    if (!first) continue;
    double change = moving_cost(g, piece, to);
    if (change < least) least = change, *best = to;
    if (change >= 0 && !isfinite(change)) break;
  }
  return least;
}

/* Moves single pieces to their best groups until no move reduces the total volume of the hulls by more than `gain`. */
static void move_pieces(Grouping* g, double gain) {
  bool moved = true;
  for (int round = 0; moved && round < 4; round++) {
    moved = false;
    for (int piece = 0; piece < g->count; piece++) {
      int to = -1;
      if (!(find_best_group(g, piece, &to) < -gain)) continue;
      invalidate_group(g, g->group[piece]);
      invalidate_group(g, to);
      move_piece(g, piece, to);
      moved = true;
    }
  }
}

/* ---------------------------------------------------------------- splitting a group */

/* A partition of a group into several groups. */
typedef struct {
  double saved;     /* reduction of the total volume, with mirror images */
  int added_groups; /* number of additional groups, with mirror images */
  int* part;        /* part[i]: lowest index of a piece in the new group of piece i (size: count) */
} GroupSplit;

/* Returns the mirror planes in which the group is its own mirror image (bit = axis), or -1 if it is symmetric only in a
 * combination of planes. */
static int symmetry_planes(const Grouping* g, int group) {
  int mirrored = 0, size = 1, all = 0, images[8];
  for (int axis = 0; axis < 3; axis++)
    if (g->images->planes >> axis & 1 && group_image(g, group, 1 << axis) == group) mirrored |= 1 << axis, size *= 2;
  for (int planes = 0; planes < 8; planes++) all += in_symmetry(g, planes);
  return images_of_group(g, group, images) * size == all ? mirrored : -1;
}

/* Returns the best split of a group, usually into two groups: merges its pieces pairwise and stops before the last
 * merge. */
static GroupSplit find_split(Grouping* g, int group) {
  assert(group >= 0 && group < g->count);
  GroupSplit split = {.part = MEMORY_NEW(int, g->count)};
  int symmetric_planes = symmetry_planes(g, group), count = 0;
  int *piece = MEMORY_NEW(int, g->count), *place = MEMORY_NEW(int, g->count), *cluster = MEMORY_NEW(int, g->count);
  Blocks some = {MEMORY_NEW(Block, g->count), 0};
  MirrorImages images = {.planes = symmetric_planes};
  for (int k = 0; symmetric_planes >= 0 && k < g->count; k++) {
    if (g->group[k] != group) continue;
    place[k] = count, piece[count++] = k;
    some.items[some.count++] = block_copy(&g->pieces->items[k]);
  }
  for (int axis = 0; symmetric_planes >= 0 && axis < 3; axis++) {
    if (!(symmetric_planes >> axis & 1)) continue;
    images.of[axis] = MEMORY_NEW(int, count);
    for (int k = 0; k < count; k++) images.of[axis][k] = place[g->images->of[axis][piece[k]]];
  }
  if (count > 1) blocks_merge(&some, &images, 2, -1, cluster);
  if (count > 1 && some.count > 1) {
    int group_images[8], copies = images_of_group(g, group, group_images);
    split.saved = get_group_volume(g, group);
    for (int k = 0; k < some.count; k++) split.saved -= some.items[k].estimate.volume;
    split.saved *= copies;
    split.added_groups = copies * (some.count - 1);
    for (int k = 0; k < count; k++) split.part[piece[k]] = piece[cluster[k]];
  }
  for (int axis = 0; axis < 3; axis++) memory_free(images.of[axis]);
  blocks_free(&some);
  memory_free(piece), memory_free(place), memory_free(cluster);
  return split;
}

static int unused_group(const Grouping* g) {
  for (int k = 0; k < g->count; k++)
    if (first_piece(g, k) < 0) return k;
  return -1;
}

static void apply_split(Grouping* g, int group, const GroupSplit* split) {
  int* old = MEMORY_NEW(int, g->count);
  memcpy(old, g->group, sizeof(int) * (size_t)g->count);
  invalidate_group(g, group);
  for (int planes = 0; planes < 8; planes++) {
    if (!in_symmetry(g, planes)) continue;
    int image = old[mirror_image(g->images, first_piece(&(Grouping){.count = g->count, .group = old}, group), planes)];
    bool done = false;
    for (int k = 0; k < g->count; k++) done |= old[k] == image && g->group[k] != image;
    int names[IMAGES_MAX], firsts[IMAGES_MAX], count = 0;
    for (int k = 0; !done && k < g->count; k++) {
      if (old[k] != group) continue;
      int at = 0;
      while (at < count && firsts[at] != split->part[k]) at++;
      if (at == count) {
        firsts[count] = split->part[k];
        names[count] = count == 0 ? image : unused_group(g);
        count++;
      }
      g->group[mirror_image(g->images, k, planes)] = names[at];
      g->volume[names[at]] = -1, g->changed[names[at]] = true;
    }
  }
  memory_free(old);
}

/* Repeatedly splits the group whose split saves the most volume, while a split saves volume. Adds at most `capacity`
 * groups. splits: best split of every group. */
static void split_groups(Grouping* g, int capacity, GroupSplit* splits) {
  for (;;) {
    int best = -1;
    for (int k = 0; k < g->count; k++) {
      if (first_piece(g, k) < 0) continue;
      if (g->changed[k]) {
        memory_free(splits[k].part);
        splits[k] = find_split(g, k);
        g->changed[k] = false;
      }
      if (splits[k].added_groups == 0 || splits[k].added_groups > capacity || g->is_merged[k]) continue;
      if (best < 0 || splits[k].saved > splits[best].saved) best = k;
    }
    if (best < 0 || !(splits[best].saved > 0)) return;
    capacity -= splits[best].added_groups;
    apply_split(g, best, &splits[best]);
  }
}

/* ---------------------------------------------------------------- complete grouping */

/* Returns the convex hulls of all groups as blocks. Sets *images to the mirror images of these blocks. */
static Blocks group_blocks(const Grouping* g, MirrorImages* images) {
  Blocks blocks = {MEMORY_NEW(Block, g->count), 0};
  int* number = MEMORY_NEW(int, g->count);
  const Block** all = MEMORY_NEW(const Block*, g->count);
  *images = (MirrorImages){.planes = g->images->planes};
  for (int group = 0; group < g->count; group++) {
    int first = first_piece(g, group);
    if (first < 0) continue;
    int count = 0;
    for (int k = first; k < g->count; k++)
      if (g->group[k] == group) all[count++] = &g->pieces->items[k];
    number[group] = blocks.count;
    blocks.items[blocks.count++] = count == 1 ? block_copy(all[0]) : block_join_all(all, count);
  }
  for (int axis = 0; axis < 3; axis++) {
    if (!(images->planes >> axis & 1)) continue;
    images->of[axis] = MEMORY_NEW(int, blocks.count);
    for (int group = 0; group < g->count; group++)
      if (first_piece(g, group) >= 0) images->of[axis][number[group]] = number[group_image(g, group, 1 << axis)];
  }
  memory_free(number), memory_free(all);
  return blocks;
}

/* Merges groups by blocks_merge until at most `most` remain. Returns the added volume [unit size^3]. */
static double merge_groups(Grouping* g, int most, double free_volume) {
  MirrorImages images;
  Blocks blocks = group_blocks(g, &images);
  int* cluster = MEMORY_NEW(int, blocks.count);
  int *name = MEMORY_NEW(int, g->count), *number = MEMORY_NEW(int, g->count), count = 0;
  double added = blocks_merge(&blocks, &images, most, free_volume, cluster);
  for (int group = 0; group < g->count; group++)
    if (first_piece(g, group) >= 0) number[group] = count, name[count++] = group;
  memset(g->is_merged, 0, sizeof(bool) * (size_t)g->count);
  for (int k = 0; k < g->count; k++) {
    int to = name[cluster[number[g->group[k]]]];
    if (to != g->group[k]) g->volume[to] = -1, g->changed[to] = g->is_merged[to] = true;
    g->group[k] = to;
  }
  memory_free(number), memory_free(name), memory_free(cluster);
  blocks_free(&blocks);
  mirror_images_free(&images);
  return added;
}

static void find_touching_pieces(Grouping* g) {
  g->touch = MEMORY_NEW(bool, g->count * g->count);
  for (int i = 0; i < g->count; i++)
    for (int j = i + 1; j < g->count; j++)
      g->touch[i * g->count + j] = g->touch[j * g->count + i] =
          block_distance(&g->pieces->items[i], &g->pieces->items[j]) <= TOUCH_DISTANCE;
}

static void improve_groups(Grouping* g, int most) {
  int groups, *kept = MEMORY_NEW(int, g->count);
  double volume = total_volume(g, &groups), gain = GAIN_MIN * volume;
  GroupSplit* splits = MEMORY_NEW(GroupSplit, g->count);
  find_touching_pieces(g);
  move_pieces(g, 0.01 * gain);
  split_groups(g, most - groups, splits);
  volume = total_volume(g, &groups);
  for (int round = 0; round < ITERATIONS_MAX; round++) {
    memcpy(kept, g->group, sizeof(int) * (size_t)g->count);
    merge_groups(g, groups - 1, -1);
    total_volume(g, &groups);
    split_groups(g, most - groups, splits);
    move_pieces(g, 0.01 * gain);
    double now = total_volume(g, &groups);
    if (!(now < volume - gain)) {
      if (!(now < volume)) memcpy(g->group, kept, sizeof(int) * (size_t)g->count);
      break;
    }
    volume = now;
  }
  for (int k = 0; k < g->count; k++) memory_free(splits[k].part);
  memory_free(splits);
  memory_free(kept);
}

/* Renumbers the groups without gaps, in the order of group_blocks. */
static void number_groups(Grouping* g) {
  int *number = MEMORY_NEW(int, g->count + 1), count = 0;
  for (int group = 0; group < g->count; group++)
    if (first_piece(g, group) >= 0) number[group] = count++;
  for (int k = 0; k < g->count; k++) g->group[k] = number[g->group[k]];
  memory_free(number);
}

double blocks_group(Blocks* blocks, const bool mirror[3], int count, double free_volume, int* group) {
  assert(count >= 1);
  MirrorImages images = blocks_add_images(blocks, mirror), left;
  int n = blocks->count;
  Grouping g = {.pieces = blocks, .images = &images, .count = n, .group = group};
  g.volume = MEMORY_NEW(double, n + 1), g.is_merged = MEMORY_NEW(bool, n + 1), g.changed = MEMORY_NEW(bool, n + 1);
  for (int k = 0; k < n; k++) group[k] = k, g.volume[k] = -1, g.changed[k] = true;
  double added = merge_groups(&g, count, free_volume);
  bool free = added <= free_volume * n;
  if (!free) improve_groups(&g, count);
  Blocks merged = group_blocks(&g, &left);
  number_groups(&g);
  mirror_images_free(&left);
  mirror_images_free(&images);
  memory_free(g.volume), memory_free(g.touch), memory_free(g.is_merged), memory_free(g.changed);
  blocks_free(blocks);
  *blocks = merged;
  return free ? 0 : added;
}
