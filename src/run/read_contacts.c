/* Reads contacts.csv of a recorded run. */
#include <stdlib.h>
#include <string.h>
#include "run/run.h"

static const char* const COLUMNS[] = {"time", "a", "b", "gap", "fx", "fy", "fz"};
enum { COLUMN_TIME, COLUMN_A, COLUMN_B, COLUMN_GAP, COLUMN_FX, COLUMN_FY, COLUMN_FZ, COLUMN_COUNT };

typedef struct {
  const CsvTable* table;
  const char* path;
  const Model* model;
  int column[COLUMN_COUNT], moment[3],
      account[3]; /* column indices; the indices in moment and account are -1 if the run did not record these columns */
  int last_links[2]; /* links of the previous row, compared first, because rows are in the order of the links */
  Diagnostics* diagnostics;
} ContactReader;

static bool find_columns(ContactReader* reader) {
  static const char* const moment[] = {"mx", "my", "mz"};
  static const char* const account[] = {"friction_load", "friction_owed", "friction_lost"};
  for (int k = 0; k < 3; k++) reader->moment[k] = csv_find_column(reader->table, moment[k]);
  for (int k = 0; k < 3; k++) reader->account[k] = csv_find_column(reader->table, account[k]);
  for (int k = 0; k < COLUMN_COUNT; k++) {
    reader->column[k] = csv_find_column(reader->table, COLUMNS[k]);
    if (reader->column[k] >= 0) continue;
    diagnostics_add(reader->diagnostics, SEVERITY_ERROR, (SourcePosition){reader->path, 1, 0},
                    "the file has no column '%s': write the run again", COLUMNS[k]);
    return false;
  }
  return true;
}

static bool read_link(ContactReader* reader, int row, int column, int* link) {
  const char* name = csv_cell(reader->table, row, reader->column[column]);
  int count = reader->model->link_count, *last_links = &reader->last_links[column == COLUMN_B];
  for (int k = 0; k < count; k++) {
    *link = *last_links + k < count ? *last_links + k : *last_links + k - count;
    if (strcmp(reader->model->links[*link].name, name) != 0) continue;
    *last_links = *link;
    return true;
  }
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, (SourcePosition){reader->path, reader->table->lines[row], 0},
                  "the scene has no link '%s', because the run was made from another scene: give the scene of the run",
                  name);
  return false;
}

/* Sets value (3) to the numbers of three columns of a row. A column that the file lacks gives NAN. Returns false with a
 * diagnostic if a number is invalid. */
static bool read_optional(ContactReader* reader, int row, const int column[3], double value[3]) {
  for (int k = 0; k < 3; k++) {
    value[k] = (double)NAN;
    if (column[k] >= 0 && !csv_read_number(reader->table, reader->path, row, column[k], &value[k], reader->diagnostics))
      return false;
  }
  return true;
}

static bool read_row(ContactReader* reader, int row, RunContact* contact) {
  double v[COLUMN_COUNT] = {0};
  for (int k = 0; k < COLUMN_COUNT; k++)
    if (k != COLUMN_A && k != COLUMN_B &&
        !csv_read_number(reader->table, reader->path, row, reader->column[k], &v[k], reader->diagnostics))
      return false;
  double m[3], account[3];
  if (!read_optional(reader, row, reader->moment, m) || !read_optional(reader, row, reader->account, account))
    return false;
  *contact = (RunContact){.time = v[COLUMN_TIME],
                          .gap = v[COLUMN_GAP],
                          .force = vec3(v[COLUMN_FX], v[COLUMN_FY], v[COLUMN_FZ]),
                          .moment = vec3(m[0], m[1], m[2]),
                          .friction_load = account[0],
                          .friction_owed = account[1],
                          .friction_lost = account[2]};
  return read_link(reader, row, COLUMN_A, &contact->a) && read_link(reader, row, COLUMN_B, &contact->b);
}

Status run_contacts_read(RunContacts* contacts, const char* path, const Model* model, Diagnostics* diagnostics) {
  *contacts = (RunContacts){0};
  CsvTable table = {0};
  Status status = csv_read(&table, path, diagnostics);
  ContactReader reader = {.table = &table, .path = path, .model = model, .diagnostics = diagnostics};
  bool good = status == STATUS_OK && find_columns(&reader);
  if (good) contacts->rows = MEMORY_NEW(RunContact, table.row_count + 1);
  for (int row = 0; good && row < table.row_count; row++, contacts->count++)
    good = read_row(&reader, row, &contacts->rows[row]);
  csv_free(&table);
  return status != STATUS_OK ? status : good ? STATUS_OK : STATUS_BAD_INPUT;
}

void run_contacts_free(RunContacts* contacts) {
  memory_free(contacts->rows);
  *contacts = (RunContacts){0};
}

/* ---------------------------------------------------------------- row by row */

struct RunContactRows {
  CsvRows* rows;
  ContactReader reader;
};

static bool check_rows(RunContactRows* contacts) {
  RunContact contact;
  contacts->reader.table = csv_rows_header(contacts->rows);
  bool good = find_columns(&contacts->reader);
  for (int row = 0; good && row < csv_rows_count(contacts->rows); row++) {
    contacts->reader.table = csv_rows_read(contacts->rows, row);
    good = read_row(&contacts->reader, 0, &contact);
  }
  return good;
}

Status run_contact_rows_open(RunContactRows** result, const char* path, const Model* model, Diagnostics* diagnostics) {
  RunContactRows* contacts = MEMORY_NEW(RunContactRows, 1);
  *result = NULL;
  contacts->reader = (ContactReader){.path = path, .model = model, .diagnostics = diagnostics};
  Status status = csv_rows_open(&contacts->rows, path, diagnostics);
  if (status == STATUS_OK && !check_rows(contacts)) status = STATUS_BAD_INPUT;
  if (status == STATUS_OK)
    *result = contacts;
  else
    run_contact_rows_close(contacts);
  return status;
}

void run_contact_rows_close(RunContactRows* contacts) {
  if (!contacts) return;
  csv_rows_close(contacts->rows);
  memory_free(contacts);
}

CsvRows* run_contact_rows_table(const RunContactRows* contacts) { return contacts->rows; }

bool run_contact_rows_read(RunContactRows* contacts, int row, RunContact* contact) {
  Diagnostics ignored = {0};
  contacts->reader.table = csv_rows_read(contacts->rows, row);
  contacts->reader.diagnostics = &ignored;
  bool good = read_row(&contacts->reader, 0, contact);
  diagnostics_free(&ignored);
  return good;
}
