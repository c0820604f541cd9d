/* Private to page/. Declarations that the writers of a page share. A page contains a JSON text that describes its
 * content, and one block of numbers. The JSON text refers to an array in the block by [offset in bytes, count, bytes of
 * each number]. Numbers are little-endian: 4-byte floats, or 2- or 4-byte integers. */
#ifndef SDRS_PAGE_PARTS_H
#define SDRS_PAGE_PARTS_H

#include "page/page.h"

/* Largest sizes of the block (PAGE_BYTES) and of the earlier designs in it (PAGE_DESIGN_BYTES). With three.js and
 * base64 (factor 4/3) a page stays below 5 MB. */
#define PAGE_BYTES 3.0e6
#define PAGE_DESIGN_BYTES 0.8e6

typedef struct {
  const PageSource* source;
  Diagnostics* diagnostics;
  Text text, block; /* owned */
  Json json;        /* writes to `text` */
  int* rows;        /* indices of the run's recorded rows that the page contains (size: row_count); owned */
  int row_count;
} Page;

/* An array in the block, to which numbers are appended between page_start_array and page_end_array. */
typedef struct {
  size_t offset;
  int bytes;
} PageArray;
/* Begins an array at the end of the block. bytes: size of each number, 2 or 4. */
PageArray page_start_array(Page* page, int bytes);
/* Appends a number to the block as a 4-byte float. */
void page_add_float(Page* page, double value);
/* Appends x, y, z to the block as 4-byte floats. */
void page_add_vector(Page* page, Vec3 v);
/* Appends an integer to the block, with the array's bytes per number. */
void page_add_index(Page* page, PageArray array, int value);
/* Ends an array. Writes its reference with the key `key`, or without key in a list if `key` is NULL. Pads the block to
 * a multiple of 4 bytes. */
void page_end_array(Page* page, const char* key, PageArray array);

/* Writes links with shapes and colours, the ground, times and poses, in metres in the world frame. Call after
 * page_select_rows. */
void page_add_scene(Page* page);
/* Writes a surface to the open object: vertices[vertex_count] and triangles[triangle_count], three vertex indices each.
 */
void page_add_surface(Page* page, const Vec3* vertices, int vertex_count, const int (*triangles)[3],
                      int triangle_count);

/* Returns the approximate size of a link's hulls in the block [bytes]. */
double page_surface_bytes(const Model* model, int link);

/* Selects the rows of the run that fit into the page, with the first and the last row. Sets page->rows[row_count],
 * which the page owns, also on failure. Returns STATUS_IO or STATUS_BAD_INPUT if a file of the run cannot be read. */
Status page_select_rows(Page* page);
/* Writes the tables of the run: joints.csv, solver.csv, velocities.csv, forces.csv, closures.csv, pressure.csv and
 * contacts.csv. Omits missing files. Returns STATUS_IO or STATUS_BAD_INPUT with errors if a file cannot be read. */
Status page_add_tables(Page* page);
/* Writes all rows of a file as an object with the key `key`. Writes nothing if `folder` is NULL or the file is missing
 * or empty. Returns STATUS_IO or STATUS_BAD_INPUT with errors. */
Status page_add_table(Page* page, const char* key, const char* folder, const char* file);

/* Writes the stored designs of an optimization. Sets *count to the number of designs with shapes, 0 without a design
 * folder. Returns STATUS_IO or STATUS_BAD_INPUT with errors. */
Status page_add_designs(Page* page, int* count);

/* Returns the static page template, or "" if the build has none. */
const char* page_template(void);

#endif
