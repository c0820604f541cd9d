/* The tables of a run on a page: which moments there is room for, numbers to plot, contacts with their places. */
#include <stdlib.h>
#include <string.h>
#include "output/page.h"
#include "output/plot.h"

/* The block of a run's moments may grow to this: with designs, three.js and base64 (4/3) a page stays below 5 MB. */
#define MOMENT_BYTES 2.0e6
/* Of a row of contacts.csv: moment, links, place of its points, gap, force, and three points. */
enum { CONTACT_BYTES = 4 * (1 + 2 + 1 + 1 + 3 + 9) };

/* ---------------------------------------------------------------- files */

/* An absent file is an empty table: a run may have been thinned out by hand, and a scene has none. */
static Status read_table(const Page* page, const char* folder, const char* file, CsvTable* table) {
  Text path = {0};
  *table = (CsvTable){0};
  Status status = STATUS_OK;
  if (folder) {
    text_add(&path, "%s/%s", folder, file);
    if (file_exists(path.data)) status = csv_read(table, path.data, page->diagnostics);
  }
  text_free(&path);
  return status;
}

static int number_columns(const CsvTable* table) {
  int count = 0;
  for (int column = 0; column < table->column_count && table->row_count > 0; column++)
    if (!isnan(csv_value(table, 0, column))) count++;
  return count;
}

/* ---------------------------------------------------------------- moments */

/* Bytes that one recorded moment takes, poses and tables together. */
static Status moment_bytes(Page* page, double* bytes) {
  static const char* const files[] = {"joints.csv", "solver.csv", "contacts.csv"};
  const Model* model = page->source->model;
  *bytes = 16.0;
  for (int i = 0; i < model->link_count; i++) *bytes += model->links[i].tree < 0 ? 0.0 : 28.0;
  Status status = STATUS_OK;
  for (int i = 0; i < 3 && status == STATUS_OK; i++) {
    CsvTable table;
    status = read_table(page, page->source->folder, files[i], &table);
    *bytes +=
        i < 2 ? 4.0 * number_columns(&table) : CONTACT_BYTES * (double)table.row_count / page->source->run->row_count;
    csv_free(&table);
  }
  return status;
}

static void take_row(Page* page, int row) { page->rows[page->row_count++] = row; }

/* Moments about 1 / fps apart, or every n-th; the first and the last always. */
Status page_choose_rows(Page* page) {
  const RunPoses* run = page->source->run;
  double bytes, fps = page->source->fps;
  Status status = moment_bytes(page, &bytes);
  int stride = (int)fmin(ceil(run->row_count * bytes / MOMENT_BYTES), run->row_count);
  if (stride < 1 || fps > 0) stride = 1;
  page->rows = MEMORY_NEW(int, run->row_count);
  take_row(page, 0);
  for (int row = stride; row < run->row_count; row += stride) {
    double since = run->time[row] - run->time[page->rows[page->row_count - 1]];
    if (!(fps > 0) || since * fps >= 1.0 - 1e-6) take_row(page, row);
  }
  if (page->rows[page->row_count - 1] != run->row_count - 1) take_row(page, run->row_count - 1);
  return status;
}

/* The moment that is shown at exactly this time, -1 = none. Times rise. */
static int moment_at(const Page* page, double time) {
  const double* times = page->source->run->time;
  int low = 0, high = page->row_count - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (times[page->rows[middle]] < time)
      low = middle + 1;
    else
      high = middle;
  }
  return times[page->rows[low]] == time ? low : -1;
}

/* Of every row of a table its moment, -1 = not shown. Owned by the caller; NULL without a column `time`. */
static int* moments_of(const Page* page, const CsvTable* table) {
  int time = csv_column(table, "time");
  if (time < 0) return NULL;
  int* moment = MEMORY_NEW(int, table->row_count + 1);
  for (int row = 0; row < table->row_count; row++) moment[row] = moment_at(page, csv_value(table, row, time));
  return moment;
}

/* ---------------------------------------------------------------- columns */

/* moment: NULL = all rows. */
static void add_columns(Page* page, const CsvTable* table, const char* file, const int* moment) {
  json_open(&page->json, "columns", '[');
  for (int column = 0; column < table->column_count; column++) {
    if (table->row_count == 0 || isnan(csv_value(table, 0, column))) continue;
    json_open(&page->json, NULL, '{');
    json_text(&page->json, "name", table->names[column]);
    json_text(&page->json, "unit", plot_unit(file, table->names[column]));
    PageArray array = page_start(page, 4);
    for (int row = 0; row < table->row_count; row++)
      if (!moment || moment[row] >= 0) page_add_float(page, csv_value(table, row, column));
    page_end(page, "values", array);
    json_close(&page->json, '}');
  }
  json_close(&page->json, ']');
}

static void add_moments(Page* page, const CsvTable* table, const int* moment) {
  PageArray array = page_start(page, 4);
  for (int row = 0; row < table->row_count; row++)
    if (moment[row] >= 0) page_add_index(page, array, moment[row]);
  page_end(page, "moments", array);
}

Status page_add_table(Page* page, const char* key, const char* folder, const char* file) {
  CsvTable table;
  Status status = read_table(page, folder, file, &table);
  if (status == STATUS_OK && table.row_count > 0) {
    json_open(&page->json, key, '{');
    json_text(&page->json, "file", file);
    add_columns(page, &table, file, NULL);
    json_close(&page->json, '}');
  }
  csv_free(&table);
  return status;
}

/* A table with times: its rows at the moments that are shown. */
static Status add_timed_table(Page* page, const char* file) {
  CsvTable table;
  Status status = read_table(page, page->source->folder, file, &table);
  int* moment = moments_of(page, &table);
  if (status == STATUS_OK && moment) {
    json_open(&page->json, NULL, '{');
    json_text(&page->json, "file", file);
    add_moments(page, &table, moment);
    add_columns(page, &table, file, moment);
    json_close(&page->json, '}');
  }
  memory_free(moment);
  csv_free(&table);
  return status;
}

/* ---------------------------------------------------------------- contacts */

/* A row of contacts.csv that is shown. */
typedef struct {
  int moment, a, b; /* links */
  double gap, force[3];
} ContactRow;

static void refuse(const Page* page, int line, const char* text) {
  Text path = {0};
  text_add(&path, "%s/contacts.csv", page->source->folder);
  diagnostics_add(page->diagnostics, SEVERITY_ERROR, (SourcePlace){path.data, line, 0}, "%s", text);
  text_free(&path);
}

static int find_link(const Model* model, const char* name) {
  for (int i = 0; i < model->link_count; i++)
    if (strcmp(model->links[i].name, name) == 0) return i;
  return -1;
}

/* false with a diagnostic: a link that the scene does not have, or a number that is none. */
static bool read_contact(const Page* page, const CsvTable* table, const int columns[6], int row, ContactRow* contact) {
  const Model* model = page->source->model;
  contact->a = find_link(model, csv_cell(table, row, columns[0]));
  contact->b = find_link(model, csv_cell(table, row, columns[1]));
  contact->gap = csv_value(table, row, columns[2]);
  bool good = contact->a >= 0 && contact->b >= 0 && isfinite(contact->gap);
  for (int k = 0; k < 3; k++) {
    contact->force[k] = csv_value(table, row, columns[3 + k]);
    good = good && isfinite(contact->force[k]);
  }
  if (!good) refuse(page, table->lines[row], "not a contact of this scene: two of its links, gap and force as numbers");
  return good;
}

static bool read_contacts(const Page* page, const CsvTable* table, ContactRow* rows, int* count) {
  static const char* const names[6] = {"a", "b", "gap", "fx", "fy", "fz"};
  int columns[6], *moment = moments_of(page, table);
  bool good = moment != NULL;
  for (int k = 0; k < 6; k++) good = (columns[k] = csv_column(table, names[k])) >= 0 && good;
  if (!good) refuse(page, 1, "not the columns of contacts.csv: time, a, b, gap, fx, fy, fz");
  *count = 0;
  for (int row = 0; row < table->row_count && good; row++) {
    if (moment[row] < 0) continue;
    rows[*count].moment = moment[row];
    good = read_contact(page, table, columns, row, &rows[(*count)++]);
  }
  memory_free(moment);
  return good;
}

static void add_contact_numbers(Page* page, const ContactRow* rows, int count) {
  PageArray array = page_start(page, 4);
  for (int i = 0; i < count; i++) page_add_index(page, array, rows[i].moment);
  page_end(page, "moments", array);
  array = page_start(page, 4);
  for (int i = 0; i < count; i++) page_add_index(page, array, rows[i].a);
  page_end(page, "a", array);
  array = page_start(page, 4);
  for (int i = 0; i < count; i++) page_add_index(page, array, rows[i].b);
  page_end(page, "b", array);
  array = page_start(page, 4);
  for (int i = 0; i < count; i++) page_add_float(page, rows[i].gap);
  page_end(page, "gaps", array);
  array = page_start(page, 4);
  for (int i = 0; i < 3 * count; i++) page_add_float(page, rows[i / 3].force[i % 3]);
  page_end(page, "forces", array);
}

/* first[i] to first[i + 1]: the points of row i. */
static void add_contact_points(Page* page, const ContactRow* rows, int count) {
  int *first = MEMORY_NEW(int, count + 1), total = 0;
  PageArray array = page_start(page, 4);
  for (int i = 0; i < count; i++) {
    const Pose* poses = run_row_poses(page->source->run, page->rows[rows[i].moment]);
    Vec3 points[CONTACT_POINTS_MAX];
    int found = contact_points(page->source->model, poses, rows[i].a, rows[i].b, rows[i].gap, points);
    for (int k = 0; k < 3 * found; k++) {
      const double x[3] = {points[k / 3].x, points[k / 3].y, points[k / 3].z};
      page_add_float(page, x[k % 3]);
    }
    first[i + 1] = total += found;
  }
  page_end(page, "points", array);
  array = page_start(page, 4);
  for (int i = 0; i <= count; i++) page_add_index(page, array, first[i]);
  page_end(page, "first", array);
  memory_free(first);
}

static Status add_contacts(Page* page) {
  CsvTable table;
  Status status = read_table(page, page->source->folder, "contacts.csv", &table);
  if (status == STATUS_OK && table.row_count > 0) {
    ContactRow* rows = MEMORY_NEW(ContactRow, table.row_count);
    int count;
    if (!read_contacts(page, &table, rows, &count)) status = STATUS_BAD_INPUT;
    json_open(&page->json, "contacts", '{');
    if (status == STATUS_OK) add_contact_numbers(page, rows, count);
    if (status == STATUS_OK) add_contact_points(page, rows, count);
    json_close(&page->json, '}');
    memory_free(rows);
  }
  csv_free(&table);
  return status;
}

Status page_add_tables(Page* page) {
  json_open(&page->json, "tables", '[');
  Status status = add_timed_table(page, "joints.csv");
  if (status == STATUS_OK) status = add_timed_table(page, "solver.csv");
  json_close(&page->json, ']');
  return status == STATUS_OK ? add_contacts(page) : status;
}
