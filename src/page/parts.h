/* Private to page/: declarations shared by the writers of a page.
 * A page holds a JSON text that describes its content, and one block of numbers that the text refers to. A reference is
 * [offset in bytes, count, bytes of each]; little-endian, 4-byte floats, 2- or 4-byte integers. */
#ifndef SDRS_PAGE_PARTS_H
#define SDRS_PAGE_PARTS_H

#include "page/page.h"

/* Largest size of the block, and of the earlier designs in it [bytes]: with three.js and base64 (4/3) a page stays
 * below 5 MB. */
#define PAGE_BYTES 3.0e6
#define PAGE_DESIGN_BYTES 0.8e6

typedef struct {
  const PageSource* source;
  Diagnostics* diagnostics;
  Text text, block; /* owned */
  Json json;        /* writes to text */
  int* rows;        /* rows of the run that are shown; owned  (row_count) */
  int row_count;
} Page;

/* An array in the block: its numbers are written between page_start and page_end. */
typedef struct {
  size_t offset;
  int bytes;
} PageArray;
/* Begins an array of numbers of `bytes` (2 or 4) bytes at the end of the block. */
PageArray page_start(Page* page, int bytes);
/* Appends a number as a 4-byte float. */
void page_add_float(Page* page, double value);
/* Appends x, y, z as floats. */
void page_add_vector(Page* page, Vec3 v);
/* Appends an integer with the array's number of bytes. */
void page_add_index(Page* page, PageArray array, int value);
/* Ends an array: writes its reference under `key` (NULL in a list) and pads the block to a multiple of 4 bytes. */
void page_end(Page* page, const char* key, PageArray array);

/* ---------------------------------------------------------------- scene.c */
/* Writes links with shapes and colours, ground, times and poses; metres, world frame. The run's rows must have been
 * selected. */
void page_add_scene(Page* page);
/* Writes vertices (vertex_count) and triangles (triangle_count x 3, vertex indices) under two keys of the open object.
 */
void page_add_surface(Page* page, const Vec3* vertices, int vertex_count, const int (*triangles)[3],
                      int triangle_count);

/* Approximate size of a link's hulls in the block [bytes]. */
double page_surface_bytes(const Model* model, int link);

/* ---------------------------------------------------------------- tables.c */
/* Selects the rows that fit into the page, always the first and the last, and sets page->rows (row_count), owned by the
 * page, also on failure. STATUS_IO or STATUS_BAD_INPUT for a file of the run that cannot be read. */
Status page_choose_rows(Page* page);
/* Writes the existing ones of joints.csv, solver.csv, velocities.csv, forces.csv, closures.csv, pressure.csv and
 * contacts.csv. STATUS_IO or STATUS_BAD_INPUT with errors for one that cannot be read. */
Status page_add_tables(Page* page);
/* Writes all rows of a file as an object under `key`; nothing for folder NULL, a missing file, or one without rows.
 * STATUS_IO, STATUS_BAD_INPUT with errors. */
Status page_add_table(Page* page, const char* key, const char* folder, const char* file);

/* ---------------------------------------------------------------- design.c */
/* Writes the stored designs of an optimization. *count: number with shapes on the page; 0 without a design folder.
 * STATUS_IO, STATUS_BAD_INPUT with errors. */
Status page_add_designs(Page* page, int* count);

/* ---------------------------------------------------------------- template.c */
/* The template, NUL-terminated, static; "" if the build has none. */
const char* page_template(void);

#endif
