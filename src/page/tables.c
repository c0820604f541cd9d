/* Writes the tables of a run to a page. Selects the rows of the run that the page shows (moments). Writes the numbers
 * to plot, the contacts and the contact points of these moments. */
#include <assert.h>
#include "contact/contact.h"
#include "page/parts.h"

/* Approximate size of a row of contacts.csv on the page [bytes]: frame index, two links, gap, force, centre of pressure
 * and a contact point. */
enum { CONTACT_BYTES = 4 * (1 + 2 + 1 + 3 + 3 + 3) };
/* Contact range of the model [m]: hulls with a larger gap exert no contact force on each other. */
#define CONTACT_RANGE(model) (4.0 * (model)->contact.support)

/* Reads a table of the run. A missing file gives an empty table, because run folders may be incomplete and scenes have
 * no tables. */
static Status read_table(const Page* page, const char* folder, const char* file, CsvTable* table) {
  *table = (CsvTable){0};
  if (!folder) return STATUS_OK;
  char* path = file_join(folder, file);
  Status status = file_exists(path) ? csv_read(table, path, page->diagnostics) : STATUS_OK;
  memory_free(path);
  return status;
}

static int number_columns(const CsvTable* table) {
  int count = 0;
  for (int column = 0; column < table->column_count && table->row_count > 0; column++)
    if (!isnan(csv_number_or_nan(table, 0, column))) count++;
  return count;
}

/* Sets *bytes to the size of one recorded time on the page, with poses and tables. */
static Status moment_bytes(Page* page, double* bytes) {
  static const char* const files[] = {"joints.csv",   "solver.csv",   "velocities.csv", "forces.csv",
                                      "closures.csv", "pressure.csv", "contacts.csv"};
  enum { TABLES = 6, FILES = 7 };
  const Model* model = page->source->model;
  *bytes = 16.0;
  for (int i = 0; i < model->link_count; i++)
    *bytes += model->links[i].tree < 0 ? 0.0 : page->source->initial ? 56.0 : 28.0;
  Status status = STATUS_OK;
  for (int i = 0; i < FILES && status == STATUS_OK; i++) {
    CsvTable table;
    status = read_table(page, page->source->folder, files[i], &table);
    *bytes += i < TABLES ? 4.0 * number_columns(&table)
                         : CONTACT_BYTES * (double)table.row_count / page->source->run->row_count;
    csv_free(&table);
  }
  return status;
}

/* Returns the size that shapes leave for the moments on the page [bytes]. */
static double remaining_bytes(const Page* page) {
  double room = PAGE_BYTES - (page->source->design ? PAGE_DESIGN_BYTES : 0.0);
  for (int i = 0; i < page->source->model->link_count; i++) room -= page_surface_bytes(page->source->model, i);
  return fmax(room, PAGE_BYTES / 10);
}

static void append_row(Page* page, int row) {
  assert(row >= 0 && row < page->source->run->row_count);
  page->rows[page->row_count++] = row;
}

/* Selects rows about 1 / fps apart if fps > 0, otherwise every n-th row such that they fit into the page. Always
 * selects the first and the last row. */
Status page_select_rows(Page* page) {
  const RunPoses* run = page->source->run;
  double bytes, fps = page->source->fps;
  Status status = moment_bytes(page, &bytes);
  int stride = (int)fmin(ceil(run->row_count * bytes / remaining_bytes(page)), run->row_count);
  if (stride < 1 || fps > 0) stride = 1;
  page->rows = MEMORY_NEW(int, run->row_count);
  append_row(page, 0);
  for (int row = stride; row < run->row_count; row += stride) {
    double since = run->time[row] - run->time[page->rows[page->row_count - 1]];
    if (!(fps > 0) || since * fps >= 1.0 - 1e-6) append_row(page, row);
  }
  if (page->rows[page->row_count - 1] != run->row_count - 1) append_row(page, run->row_count - 1);
  return status;
}

/* Returns the index of the page's frame with exactly this time, or -1. The times of frames are ascending. */
static int find_frame(const Page* page, double time) {
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

/* Returns the index of the page's frame for every row of a table, -1 for rows between frames. Returns NULL if the table
 * has no column `time`. The caller frees the array. */
static int* find_frames(const Page* page, const CsvTable* table) {
  int time = csv_find_column(table, "time");
  if (time < 0) return NULL;
  int* moment = MEMORY_NEW(int, table->row_count + 1);
  for (int row = 0; row < table->row_count; row++) moment[row] = find_frame(page, csv_number_or_nan(table, row, time));
  return moment;
}

/* Writes the columns of a table. moment[rows]: index of the frame of each row, or -1 to omit the row. If moment is
 * NULL, writes all rows. */
static void add_columns(Page* page, const CsvTable* table, const char* file, const int* moment) {
  json_open(&page->json, "columns", '[');
  for (int column = 0; column < table->column_count; column++) {
    if (table->row_count == 0 || isnan(csv_number_or_nan(table, 0, column))) continue;
    json_open(&page->json, NULL, '{');
    json_text(&page->json, "name", table->names[column]);
    json_text(&page->json, "unit", run_column_unit(file, table->names[column]));
    PageArray array = page_start_array(page, 4);
    for (int row = 0; row < table->row_count; row++)
      if (!moment || moment[row] >= 0) page_add_float(page, csv_number_or_nan(table, row, column));
    page_end_array(page, "values", array);
    json_close(&page->json, '}');
  }
  json_close(&page->json, ']');
}

static void add_moments(Page* page, const CsvTable* table, const int* moment) {
  PageArray array = page_start_array(page, 4);
  for (int row = 0; row < table->row_count; row++)
    if (moment[row] >= 0) page_add_index(page, array, moment[row]);
  page_end_array(page, "moments", array);
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

/* Writes the rows of a table at the times of the page's frames. */
static Status add_timed_table(Page* page, const char* file) {
  CsvTable table;
  Status status = read_table(page, page->source->folder, file, &table);
  int* moment = find_frames(page, &table);
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

/* Contact forces of a run at the times of the page's frames. */
typedef struct {
  Page* page;
  const RunContacts* rows;
  int *row, *moment; /* indices of the written rows, and of their frames (size: count) */
  int count;
} ContactList;

static void select_contacts(ContactList* list) {
  for (int i = 0; i < list->rows->count; i++) {
    int moment = find_frame(list->page, list->rows->rows[i].time);
    if (moment < 0) continue;
    list->row[list->count] = i;
    list->moment[list->count++] = moment;
  }
}

static void add_contact_rows(const ContactList* list) {
  Page* page = list->page;
  const RunContact* rows = list->rows->rows;
  PageArray array = page_start_array(page, 4);
  for (int i = 0; i < list->count; i++) page_add_index(page, array, list->moment[i]);
  page_end_array(page, "moments", array);
  array = page_start_array(page, 4);
  for (int i = 0; i < list->count; i++) page_add_index(page, array, rows[list->row[i]].a);
  page_end_array(page, "a", array);
  array = page_start_array(page, 4);
  for (int i = 0; i < list->count; i++) page_add_index(page, array, rows[list->row[i]].b);
  page_end_array(page, "b", array);
  array = page_start_array(page, 4);
  for (int i = 0; i < list->count; i++) page_add_float(page, rows[list->row[i]].gap);
  page_end_array(page, "gaps", array);
  array = page_start_array(page, 4);
  for (int i = 0; i < list->count; i++) page_add_vector(page, rows[list->row[i]].force);
  page_end_array(page, "forces", array);
  if (list->count > 0 && !isnan(rows[list->row[0]].moment.x)) { /* simulation.output contains contact_points */
    array = page_start_array(page, 4);
    for (int i = 0; i < list->count; i++) page_add_vector(page, rows[list->row[i]].moment);
    page_end_array(page, "torques", array);
  }
  array = page_start_array(page, 2);
  for (int i = 0; i < list->count; i++)
    page_add_index(page, array, is_force_shown_on_a(page->source->model, &rows[list->row[i]]));
  page_end_array(page, "on_a", array);
}

/* Writes the contact points of all frames, and the centre of pressure of each contact row. In the written arrays, frame
 * m of the page has the points with indices first[m] to first[m + 1] - 1. The rows are ascending in time. */
static void add_contact_points(const ContactList* list) {
  Page* page = list->page;
  const Model* model = page->source->model;
  Vec3* center = MEMORY_NEW(Vec3, list->count + 1);
  int *first = MEMORY_NEW(int, page->row_count + 1), row = 0;
  PageArray array = page_start_array(page, 4);
  for (int m = 0; m < page->row_count; m++) {
    ContactSpot* spots;
    int count = contact_find_close_pairs(model, run_poses_at_row(page->source->run, page->rows[m]),
                                         CONTACT_RANGE(model), &spots);
    first[m + 1] = first[m];
    for (int i = 0; i < count; i++) {
      if (!spots[i].touching) continue;
      page_add_vector(page, spots[i].point);
      first[m + 1]++;
    }
    for (; row < list->count && list->moment[row] <= m; row++) {
      const RunContact* contact = &list->rows->rows[list->row[row]];
      if (!contact_spots_center(model, spots, count, contact->a, contact->b, &center[row]))
        center[row] = vec3((double)NAN, (double)NAN, (double)NAN);
    }
    memory_free(spots);
  }
  page_end_array(page, "points", array);
  array = page_start_array(page, 4);
  for (int m = 0; m <= page->row_count; m++) page_add_index(page, array, first[m]);
  page_end_array(page, "first", array);
  array = page_start_array(page, 4);
  for (int i = 0; i < list->count; i++) page_add_vector(page, center[i]);
  page_end_array(page, "centers", array);
  memory_free(center);
  memory_free(first);
}

static void write_contacts(Page* page, const RunContacts* rows) {
  ContactList list = {page, rows, MEMORY_NEW(int, rows->count + 1), MEMORY_NEW(int, rows->count + 1), 0};
  select_contacts(&list);
  json_open(&page->json, "contacts", '{');
  json_vector(&page->json, "color", (const double[]){FORCE_COLOR[0], FORCE_COLOR[1], FORCE_COLOR[2]}, 3);
  add_contact_rows(&list);
  add_contact_points(&list);
  json_close(&page->json, '}');
  memory_free(list.row);
  memory_free(list.moment);
}

/* Writes the contacts. Without contacts.csv writes contact points but no forces. */
static Status add_contacts(Page* page) {
  RunContacts rows = {0};
  Text path = {0};
  Status status = STATUS_OK;
  text_add(&path, "%s/contacts.csv", page->source->folder ? page->source->folder : "");
  if (page->source->folder && file_exists(path.data))
    status = run_contacts_read(&rows, path.data, page->source->model, page->diagnostics);
  if (status == STATUS_OK) write_contacts(page, &rows);
  run_contacts_free(&rows);
  text_free(&path);
  return status;
}

Status page_add_tables(Page* page) {
  json_open(&page->json, "tables", '[');
  Status status = add_timed_table(page, "joints.csv");
  if (status == STATUS_OK) status = add_timed_table(page, "solver.csv");
  if (status == STATUS_OK) status = add_timed_table(page, "velocities.csv");
  if (status == STATUS_OK) status = add_timed_table(page, "forces.csv");
  if (status == STATUS_OK) status = add_timed_table(page, "closures.csv");
  if (status == STATUS_OK) status = add_timed_table(page, "pressure.csv");
  json_close(&page->json, ']');
  return status == STATUS_OK ? add_contacts(page) : status;
}
