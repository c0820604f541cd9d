/* Divides the ground below a grid of heights into convex pieces. */
#include <string.h>

#include "geometry/geometry.h"

/* Largest distance from a plane at which a height still counts as lying in it, relative to the largest height. */
#define PLANE_TOLERANCE 1e-12

typedef struct {
  const HeightGrid* grid;
  const HeightFieldFrame* place;
  double bottom, flat; /* bottom: z of the lower face [m]; flat: largest deviation of heights from a plane, in the unit
                          of the samples */
  bool* is_assigned;   /* true if the cell belongs to a patch (size: (rows - 1) x (columns - 1)) */
} HeightField;

/* Rectangle of grid cells: columns i to i + width, rows j to j + depth. */
typedef struct {
  int i, j, width, depth;
} Patch;

static double grid_value(const HeightField* f, int i, int j) { return f->grid->values[j * f->grid->columns + i]; }

static Vec3 sample_at(const HeightField* f, int i, int j) {
  const HeightFieldFrame* p = f->place;
  return vec3(p->origin.x + p->size.x * ((double)i / (f->grid->columns - 1) - 0.5),
              p->origin.y + p->size.y * ((double)j / (f->grid->rows - 1) - 0.5),
              p->origin.z + p->size.z * grid_value(f, i, j));
}

static bool cell_is_flat(const HeightField* f, int i, int j) {
  double twist = grid_value(f, i, j) - grid_value(f, i + 1, j) - grid_value(f, i, j + 1) + grid_value(f, i + 1, j + 1);
  return fabs(twist) <= f->flat;
}

/* Returns true if cell (i, j) is not in a patch, is flat, and lies in the plane of cell (i0, j0). */
static bool cell_extends_plane(const HeightField* f, int i0, int j0, int i, int j) {
  if (f->is_assigned[j * (f->grid->columns - 1) + i] || !cell_is_flat(f, i, j)) return false;
  double v = grid_value(f, i0, j0), dx = grid_value(f, i0 + 1, j0) - v, dy = grid_value(f, i0, j0 + 1) - v;
  for (int k = 0; k < 4; k++) {
    int ik = i + k % 2, jk = j + k / 2;
    if (!(fabs(grid_value(f, ik, jk) - (v + dx * (ik - i0) + dy * (jk - j0))) <= f->flat)) return false;
  }
  return true;
}

static bool row_extends_patch(const HeightField* f, const Patch* p, int j) {
  for (int i = p->i; i < p->i + p->width; i++)
    if (!cell_extends_plane(f, p->i, p->j, i, j)) return false;
  return true;
}

/* Returns the widest coplanar patch that begins at cell (i, j), extended in depth as far as possible. */
static Patch find_patch(const HeightField* f, int i, int j) {
  Patch p = {i, j, 1, 1};
  if (!cell_is_flat(f, i, j)) return p;
  while (i + p.width < f->grid->columns - 1 && cell_extends_plane(f, i, j, i + p.width, j)) p.width++;
  while (j + p.depth < f->grid->rows - 1 && row_extends_patch(f, &p, j + p.depth)) p.depth++;
  return p;
}

/* Creates a convex piece from a patch. Corners 0 to 3 are on the lower face, counter-clockwise from above. Corners 4 to
 * 7 are on the surface above corners 0 to 3. */
static void create_piece(const HeightField* f, const Patch* p, ConvexHull* out) {
  static const int RIGHT[4] = {0, 1, 1, 0}, BACK[4] = {0, 0, 1, 1};
  static const int SIDES[8][3] = {{0, 1, 5}, {0, 5, 4}, {1, 2, 6}, {1, 6, 5},
                                  {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
  static const int ENDS[2][4][3] = {{{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}},
                                    {{0, 2, 1}, {0, 3, 2}, {4, 5, 7}, {5, 6, 7}}};
  *out = (ConvexHull){MEMORY_NEW(Vec3, 8), 8, memory_alloc(sizeof(int[12][3])), 12};
  for (int k = 0; k < 4; k++) {
    Vec3 top = sample_at(f, p->i + RIGHT[k] * p->width, p->j + BACK[k] * p->depth);
    out->vertices[4 + k] = top;
    out->vertices[k] = vec3(top.x, top.y, f->bottom);
  }
  const Vec3* top = out->vertices + 4; /* the surface of a cell folds along the diagonal with the higher midpoint */
  bool other = top[1].z + top[3].z > top[0].z + top[2].z;
  memcpy(out->triangles, SIDES, sizeof(SIDES));
  memcpy(out->triangles + 8, ENDS[other], sizeof(ENDS[other]));
}

static HeightField field_create(const HeightGrid* grid, const HeightFieldFrame* place) {
  int count = grid->columns * grid->rows;
  double low = INFINITY, largest = 0;
  for (int k = 0; k < count; k++) {
    low = fmin(low, grid->values[k]);
    largest = fmax(largest, fabs(grid->values[k]));
  }
  return (HeightField){grid, place, place->origin.z + place->size.z * low - place->base, PLANE_TOLERANCE * largest,
                       MEMORY_NEW(bool, (grid->columns - 1) * (grid->rows - 1))};
}

int height_field_pieces(const HeightGrid* grid, const HeightFieldFrame* place, ConvexHull** pieces) {
  HeightField f = field_create(grid, place);
  int count = 0, capacity = 0, columns = grid->columns - 1;
  *pieces = NULL;
  for (int j = 0; j < grid->rows - 1; j++)
    for (int i = 0; i < columns; i++) {
      if (f.is_assigned[j * columns + i]) continue;
      Patch p = find_patch(&f, i, j);
      for (int row = p.j; row < p.j + p.depth; row++)
        for (int k = p.i; k < p.i + p.width; k++) f.is_assigned[row * columns + k] = true;
      *pieces = memory_grow_array(*pieces, sizeof(ConvexHull), count, &capacity);
      create_piece(&f, &p, &(*pieces)[count++]);
    }
  memory_free(f.is_assigned);
  return count;
}
