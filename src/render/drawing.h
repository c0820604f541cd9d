/* State of the drawing of one image: visible faces and their triangles. Private to render/. */
#ifndef SDRS_RENDER_DRAWING_H
#define SDRS_RENDER_DRAWING_H

#include "render/picture.h"

/* Number of pixel rows that are drawn together, so that their samples fit into the second-level cache. */
enum { BAND_ROWS = 16 };

/* A planar face. A member called a form contains the coefficients f of a linear function of the pixel (x, y): f[0] +
 * f[1] x + f[2] y. */
typedef struct {
  double nearness[3]; /* form: 1 / distance along forward [1/m] */
  float color[3];
  float ambient, lamp;            /* brightness from the sky, and from the lamp outside shadows */
  float shadow_coordinates[3][3]; /* forms: coordinates in the shadow map, times nearness */
  float slope[2];   /* derivatives of the face's height with respect to the coordinates x and y of the shadow map */
  float edge[3][3]; /* forms: distance to each edge of the triangle [px]; large if the edge is not sharp */
  float edge_strength;
  bool has_tint; /* true if the face has the colours of the displacement scale */
  float tint[3]; /* form: value on the displacement scale, times nearness */
  int hull;
  int floor; /* index in Drawing.floors; -1: no grid */
} DrawnFace;

/* Grid on a floor face. The plane coordinates u and v are relative to a crossing of major grid lines near the camera's
 * target. Floats would not resolve coordinates far from their origin. */
typedef struct {
  float u[3], v[3];           /* forms: plane coordinates [m], times nearness */
  float center_u, center_v;   /* centre of the circle outside which the grid fades out [m] */
  float spacing, major;       /* distance of grid lines, and of major grid lines [m] */
  float fade_begin, fade_end; /* distances from the centre at which the fading begins and ends [m] */
  bool fades;                 /* true: the grid fades into the background; false: it ends at the edges of the face */
} Floor;

/* A triangle in the image: a face, or the region of a face in front of the near plane. */
typedef struct {
  double x[3], y[3]; /* image positions of the corners [px] */
  uint32_t face;
} DrawnTriangle;

/* Faces, floors and triangles of the image, and the triangles of each band of rows. */
typedef struct {
  const RenderStage* stage;
  const RenderCamera* camera;
  const RenderLayer* layers;
  int layer_count, band_count;
  ShadowMap shadow;
  DrawnFace* faces;
  int face_count, face_capacity;
  Floor* floors;
  int floor_count, floor_capacity;
  DrawnTriangle* triangles;
  int triangle_count, triangle_capacity;
  int* layer_first_triangle; /* for each layer, the index in `triangles` of its first triangle (size: layers + 1) */
  int* bin_first_entry; /* for each layer and band of rows, the index of its first entry in `bins` (size: layers x bands
                           + 1) */
  int* bins; /* indices in `triangles` of the triangles that cover each band of rows, in the order of `triangles` */
} Drawing;

/* Collects the faces of layers[layer_count] in front of the camera and sorts their triangles into bands of rows.
 * layer_count >= 1. Borrows stage, camera and layers. The caller frees the drawing with drawing_destroy. */
void drawing_create(Drawing* drawing, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                    int layer_count);
/* Frees the drawing's arrays and zeroes the drawing. */
void drawing_destroy(Drawing* drawing);

/* Returns the grey level of the background at height y [px], in linear light, 0 to 1. */
float background_grey(const Drawing* drawing, float y);
/* Sets color[3 count] to the colours of a face at `count` pixels of a row: (x, y), (x + 1, y), ... The face must cover
 * these pixels. shadowed: false to ignore the shadow map. Thread-safe. */
void face_colors(const Drawing* drawing, const DrawnFace* face, float x, float y, int count, bool shadowed,
                 float* color);

#endif
