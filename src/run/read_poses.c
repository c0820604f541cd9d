#include <assert.h>
#include <string.h>
#include "run/run.h"

static const char* const POSE_COLUMNS[] = {"px", "py", "pz", "qw", "qx", "qy", "qz"};
enum { POSE_COLUMN_COUNT = sizeof POSE_COLUMNS / sizeof POSE_COLUMNS[0] };

/* Number of columns of each link in trajectory.csv: 7 for the pose, 3 for the centre of mass. */
enum { COLUMNS_PER_LINK = 10 };

/* Sets columns (links x 7) to the indices of the columns of every link's pose. Tries the usual position of a column
 * first, because a search by name takes time proportional to the square of the number of links. Returns false with a
 * diagnostic if a column is missing. */
static bool find_columns(const CsvTable* table, const char* path, const Model* model, int* columns,
                         Diagnostics* diagnostics) {
  Text name = {0};
  bool found = true;
  for (int i = 0; i < model->link_count * POSE_COLUMN_COUNT && found; i++) {
    int link = i / POSE_COLUMN_COUNT, k = i % POSE_COLUMN_COUNT, expected = 1 + COLUMNS_PER_LINK * link + k;
    name.length = 0;
    text_add(&name, "%s/%s", model->links[link].name, POSE_COLUMNS[k]);
    bool expected_here = expected < table->column_count && strcmp(table->names[expected], name.data) == 0;
    columns[i] = expected_here ? expected : csv_find_column(table, name.data);
    found = columns[i] >= 0;
  }
  if (!found)
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 0},
        "the file has no column '%s', because the run was made from another scene: give the scene of the run",
        name.data);
  text_free(&name);
  return found;
}

static Pose read_pose(const double v[POSE_COLUMN_COUNT]) {
  Quat q = {v[3], v[4], v[5], v[6]};
  double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (!(square > 0.0)) q = quat_identity();
  return (Pose){mat3_from_quat(quat_normalized(q)), vec3(v[0], v[1], v[2])};
}

/* Sets *time and poses (links) to the values of a row. poses may be NULL. Returns false with a diagnostic if a number
 * is invalid. */
static bool read_row(double* time, Pose* poses, int links, int row, const CsvTable* table, const char* path,
                     const int* columns, Diagnostics* diagnostics) {
  if (!csv_read_number(table, path, row, 0, time, diagnostics)) return false;
  for (int link = 0; link < links; link++) {
    double v[POSE_COLUMN_COUNT];
    for (int k = 0; k < POSE_COLUMN_COUNT; k++)
      if (!csv_read_number(table, path, row, columns[link * POSE_COLUMN_COUNT + k], &v[k], diagnostics)) return false;
    if (poses) poses[link] = read_pose(v);
  }
  return true;
}

static bool check_header(const CsvTable* header, int rows, const char* path, Diagnostics* diagnostics) {
  if (rows > 0 && strcmp(header->names[0], "time") == 0) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 0},
                  rows == 0 ? "the file has no row, so the run has no state: run the simulation again"
                            : "the first column must be 'time': give a file that sdrs simulate wrote");
  return false;
}

static Status read_rows(RunPoses* run, const CsvTable* table, const char* path, const Model* model,
                        Diagnostics* diagnostics) {
  if (!check_header(table, table->row_count, path, diagnostics)) return STATUS_BAD_INPUT;
  run->row_count = table->row_count;
  run->link_count = model->link_count;
  run->time = MEMORY_NEW(double, table->row_count);
  run->pose = MEMORY_NEW(Pose, (size_t)table->row_count * (size_t)model->link_count + 1);
  int* columns = MEMORY_NEW(int, model->link_count* POSE_COLUMN_COUNT + 1);
  bool good = find_columns(table, path, model, columns, diagnostics);
  for (int row = 0; row < run->row_count && good; row++)
    good = read_row(&run->time[row], run->pose + (size_t)row * (size_t)run->link_count, run->link_count, row, table,
                    path, columns, diagnostics);
  memory_free(columns);
  return good ? STATUS_OK : STATUS_BAD_INPUT;
}

Status run_poses_read(RunPoses* run, const char* path, const Model* model, Diagnostics* diagnostics) {
  *run = (RunPoses){0};
  CsvTable table = {0};
  Status status = csv_read(&table, path, diagnostics);
  if (status == STATUS_OK) status = read_rows(run, &table, path, model, diagnostics);
  csv_free(&table);
  return status;
}

void run_poses_free(RunPoses* run) {
  memory_free(run->time);
  memory_free(run->pose);
  *run = (RunPoses){0};
}

const Pose* run_poses_at_row(const RunPoses* run, int row) {
  assert(row >= 0 && row < run->row_count);
  return run->pose + (size_t)row * (size_t)run->link_count;
}

int run_find_row(const RunPoses* run, double time) {
  assert(run->row_count > 0);
  if (!isfinite(time)) return run->row_count - 1;
  int best = 0;
  for (int row = 1; row < run->row_count; row++)
    if (fabs(run->time[row] - time) < fabs(run->time[best] - time)) best = row;
  return best;
}

/* ---------------------------------------------------------------- row by row */

struct RunPoseRows {
  CsvRows* rows;
  const Model* model;
  int* columns; /* index of the column of each pose component of each link (links x 7) */
};

static bool check_rows(RunPoseRows* poses, const char* path, Diagnostics* diagnostics) {
  const CsvTable* header = csv_rows_header(poses->rows);
  bool good = check_header(header, csv_rows_count(poses->rows), path, diagnostics) &&
              find_columns(header, path, poses->model, poses->columns, diagnostics);
  double time;
  for (int row = 0; row < csv_rows_count(poses->rows) && good; row++)
    good = read_row(&time, NULL, poses->model->link_count, 0, csv_rows_read(poses->rows, row), path, poses->columns,
                    diagnostics);
  return good;
}

Status run_pose_rows_open(RunPoseRows** result, const char* path, const Model* model, Diagnostics* diagnostics) {
  RunPoseRows* poses = MEMORY_NEW(RunPoseRows, 1);
  *result = NULL;
  poses->model = model;
  Status status = csv_rows_open(&poses->rows, path, diagnostics);
  if (status == STATUS_OK) {
    poses->columns = MEMORY_NEW(int, model->link_count* POSE_COLUMN_COUNT + 1);
    status = check_rows(poses, path, diagnostics) ? STATUS_OK : STATUS_BAD_INPUT;
  }
  if (status == STATUS_OK)
    *result = poses;
  else
    run_pose_rows_close(poses);
  return status;
}

void run_pose_rows_close(RunPoseRows* poses) {
  if (!poses) return;
  csv_rows_close(poses->rows);
  memory_free(poses->columns);
  memory_free(poses);
}

CsvRows* run_pose_rows_table(const RunPoseRows* poses) { return poses->rows; }

Pose run_pose_rows_read(const RunPoseRows* poses, int row, int link) {
  assert(link >= 0);
  const CsvTable* table = csv_rows_read(poses->rows, row);
  double v[POSE_COLUMN_COUNT];
  for (int k = 0; k < POSE_COLUMN_COUNT; k++)
    v[k] = csv_number_or_nan(table, 0, poses->columns[link * POSE_COLUMN_COUNT + k]);
  return read_pose(v);
}
