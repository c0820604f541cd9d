#include <assert.h>
#include <errno.h>
#include <string.h>
#include "run/states.h"
#include "run/writer.h"

/* Table of the writers of all files in the run folder. A new file needs one row here. */
static const RunWriter* const WRITERS[] = {&WRITER_TRAJECTORY, &WRITER_JOINTS,     &WRITER_CONTACTS, &WRITER_SOLVER,
                                           &WRITER_PATH,       &WRITER_VELOCITIES, &WRITER_FORCES,   &WRITER_CLOSURES,
                                           &WRITER_PRESSURE,   &WRITER_REACTIONS,  &WRITER_IMU,      &WRITER_RANGE};
enum { WRITER_COUNT = sizeof WRITERS / sizeof WRITERS[0] };

struct RunFolder {
  WriterContext context;
  char* paths[WRITER_COUNT];
  FileStream files[WRITER_COUNT];
  char* folder;
  FolderLock claim;
  StoredStates states;
  Text text; /* buffer for the rows of one file and one state; its memory is reused */
};

/* Reports that an action on a file failed. If errno is 0, the message says that fewer bytes were written than
 * requested. Keeps errno. Returns STATUS_IO. */
static Status report_failure(Diagnostics* diagnostics, const char* path, const char* action) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot %s: %s", action,
                  errno ? strerror(errno) : "fewer bytes were written than requested");
  return STATUS_IO;
}

static Status write_text(RunFolder* output, int index, Diagnostics* diagnostics) {
  errno = 0;
  size_t length = output->text.length;
  bool whole = fwrite(output->text.data, 1, length, output->files[index].stream) == length;
  return whole ? STATUS_OK : report_failure(diagnostics, output->paths[index], "write");
}

static bool is_requested(const RunFolder* output, int index) {
  unsigned requested_output = WRITERS[index]->requested_output;
  return requested_output == 0 || (output->context.model->simulation.output & requested_output) != 0;
}

/* Opens a file of the run and writes its header. For a file that is not requested, only stores the path, so that the
 * file of an earlier run is removed at the end. */
static Status open_file(RunFolder* output, int index, const char* folder, Diagnostics* diagnostics) {
  output->paths[index] = file_join(folder, WRITERS[index]->file);
  if (!is_requested(output, index)) return STATUS_OK;
  if (file_stream_open(&output->files[index], output->paths[index]) != STATUS_OK)
    return report_failure(diagnostics, output->paths[index], "open for writing");
  output->text.length = 0;
  WRITERS[index]->header(&output->text, output->context.model);
  return write_text(output, index, diagnostics);
}

Status run_folder_open(RunFolder** result, const char* folder, const Model* model, Diagnostics* diagnostics) {
  *result = NULL;
  FolderLock claim;
  if (folder_lock(&claim, folder, diagnostics) != STATUS_OK) return STATUS_IO;
  RunFolder* output = MEMORY_NEW(RunFolder, 1);
  output->claim = claim;
  output->context.model = model;
  output->context.rotations = MEMORY_NEW(Quat, model->link_count);
  for (int i = 0; i < model->link_count; i++) output->context.rotations[i] = (Quat){1, 0, 0, 0};
  kept_states_read_start_rotations(model, output->context.rotations);
  output->folder = memory_copy_text(folder);
  Status status = STATUS_OK;
  for (int i = 0; i < WRITER_COUNT && status == STATUS_OK; i++) status = open_file(output, i, folder, diagnostics);
  if (status == STATUS_OK)
    *result = output;
  else
    run_folder_discard(output);
  return status;
}

Status run_folder_add(RunFolder* output, const RunFrame* frame, Diagnostics* diagnostics) {
  assert(output && frame);
  for (int i = 0; i < WRITER_COUNT; i++) {
    if ((!frame->report && !WRITERS[i]->initial) || !is_requested(output, i)) continue;
    output->text.length = 0;
    WRITERS[i]->rows(&output->text, &output->context, frame);
    if (output->text.length > 0 && write_text(output, i, diagnostics) != STATUS_OK) return STATUS_IO;
  }
  return STATUS_OK;
}

void run_folder_store_state(RunFolder* output, Sim* sim) {
  kept_states_add(&output->states, sim, output->context.rotations, output->context.model->link_count);
}

/* Flushes all files to the disk before the first is renamed, so that no file is renamed if another does not fit on the
 * disk. */
static Status flush_all(RunFolder* output, Diagnostics* diagnostics) {
  for (int i = 0; i < WRITER_COUNT; i++) {
    errno = 0;
    if (!is_requested(output, i)) continue;
    if (fflush(output->files[i].stream) != 0 || ferror(output->files[i].stream))
      return report_failure(diagnostics, output->paths[i], "write");
  }
  return STATUS_OK;
}

Status run_folder_close(RunFolder* output, Diagnostics* diagnostics) {
  if (!output) return STATUS_OK;
  Status status = flush_all(output, diagnostics);
  if (status == STATUS_OK) status = kept_states_write(&output->states, output->folder, diagnostics);
  for (int i = 0; i < WRITER_COUNT && status == STATUS_OK; i++) {
    errno = 0;
    if (!is_requested(output, i))
      remove(output->paths[i]);
    else if (file_stream_close(&output->files[i]) != STATUS_OK)
      status = report_failure(diagnostics, output->paths[i], "write");
  }
  run_folder_discard(output);
  return status;
}

void run_folder_discard(RunFolder* output) {
  if (!output) return;
  for (int i = 0; i < WRITER_COUNT; i++) {
    file_stream_discard(&output->files[i]);
    memory_free(output->paths[i]);
  }
  memory_free(output->context.rotations);
  memory_free(output->folder);
  kept_states_free(&output->states);
  folder_unlock(&output->claim);
  text_free(&output->text);
  memory_free(output);
}
