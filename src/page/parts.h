/* Declarations that the writers of a page share. Private to page/.
 * The page has its data twice over: a JSON text that says what there is, and one block of numbers that it points into.
 * A place in the block is [offset in bytes, count, bytes of each]; little-endian, 4-byte floats, 2- or 4-byte integers.
 */
#ifndef SDRS_PAGE_PARTS_H
#define SDRS_PAGE_PARTS_H

#include "page/page.h"

/* The block may grow to this, and its part of earlier designs to that: with three.js and in base64 (4/3) a page stays
 * below 5 MB. */
#define PAGE_BYTES 3.0e6
#define PAGE_DESIGN_BYTES 0.8e6

typedef struct {
  const PageSource* source;
  Diagnostics* diagnostics;
  Text text, block; /* owned */
  Json json;        /* writes to text */
  int* rows;        /* of the run that are shown; owned  (row_count) */
  int row_count;
} Page;

/* Numbers of the block are written one after the other between page_start and page_end. */
typedef struct {
  size_t offset;
  int bytes;
} PageArray;
/* Begins an array of numbers of so many bytes each (2 or 4) at the end of the block. Nothing here fails. */
PageArray page_start(Page* page, int bytes);
/* Appends a number as a float of 4 bytes. */
void page_add_float(Page* page, double value);
/* Appends x, y, z as floats. */
void page_add_vector(Page* page, Vec3 v);
/* Appends an integer of as many bytes as the array's numbers have. */
void page_add_index(Page* page, PageArray array, int value);
/* Writes the place of what was added since page_start, under `key` (NULL in a list). The block is filled up to a
 * multiple of 4 bytes. */
void page_end(Page* page, const char* key, PageArray array);

/* ---------------------------------------------------------------- scene.c */
/* Links with shapes and colours, ground, times and poses. Metres, world frame; the run's rows must have been chosen. */
void page_add_scene(Page* page);
/* Vertices and triangles under two keys of the open object. vertices[vertex_count], triangles (triangle_count x 3),
 * indices of vertices. */
void page_add_surface(Page* page, const Vec3* vertices, int vertex_count, const int (*triangles)[3],
                      int triangle_count);

/* Approximate size of a link's hulls in the block [bytes]. */
double page_surface_bytes(const Model* model, int link);

/* ---------------------------------------------------------------- tables.c */
/* The moments that fit into the page; sets rows. page->rows (row_count) is the page's, set in any case, the first
 * and last rows among them. STATUS_IO or STATUS_BAD_INPUT of a file of the run that cannot be read. */
Status page_choose_rows(Page* page);
/* joints.csv, solver.csv, velocities.csv, forces.csv, closures.csv, pressure.csv and contacts.csv of the run, as far as
 * they are there. STATUS_IO or STATUS_BAD_INPUT with diagnostics for one that cannot be read. */
Status page_add_tables(Page* page);
/* All rows of a file with their numbers: an object under `key`. Nothing for folder NULL, a file that is not there,
 * or one without rows. STATUS_IO, STATUS_BAD_INPUT with diagnostics. */
Status page_add_table(Page* page, const char* key, const char* folder, const char* file);

/* ---------------------------------------------------------------- design.c */
/* The designs of an optimization that were kept. *count: how many have their shapes on the page; 0 without a design
 * folder. STATUS_IO, STATUS_BAD_INPUT with diagnostics. */
Status page_add_designs(Page* page, int* count);

/* ---------------------------------------------------------------- template.c */
/* The template, NUL-terminated; "" where the build has none. Constant. */
const char* page_template(void);

#endif
