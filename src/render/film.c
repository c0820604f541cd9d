#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/outside.h"
#include "render/picture.h"

/* Number of frames per thread that are drawn together for a film. */
#define FILM_BATCH 4

/* Returns the number of frames from the first to the last recorded time at options->fps. */
static int frame_count(const RenderSheet* sheet) {
  return 1 + (int)floor(fmin(sheet_duration(sheet) * sheet->options->fps, 1e8) + 1e-6);
}

typedef struct {
  const RenderSheet* sheet;
  const char* folder;
  RenderImage* images; /* one image for each thread (size: threads) */
  int* errors;         /* errno of every frame, 0 if the frame was written (size: frames) */
} FrameJob;

static void frame_path(Text* path, const char* folder, int frame) {
  text_add(path, "%s%sframe_%05d.png", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", frame);
}

static void write_frame(void* context, int frame, int thread) {
  const FrameJob* job = context;
  RenderImage* image = &job->images[thread];
  sheet_draw(job->sheet, frame / job->sheet->options->fps, 1, image);
  Text path = {0};
  frame_path(&path, job->folder, frame);
  errno = 0;
  if (image_write_png(image, path.data) != STATUS_OK) job->errors[frame] = errno ? errno : EIO;
  text_free(&path);
}

/* Removes frames of an earlier, longer run, which would become part of the next film. frame: first frame to remove. */
static void remove_later_frames(const char* folder, int frame) {
  assert(frame >= 0);
  for (bool more = true; more; frame++) {
    Text path = {0};
    frame_path(&path, folder, frame);
    more = unlink(path.data) == 0;
    text_free(&path);
  }
}

static Status report_frames(const FrameJob* job, int count, Diagnostics* diagnostics) {
  for (int i = 0; i < count; i++) {
    if (job->errors[i] == 0) continue;
    Text path = {0};
    frame_path(&path, job->folder, i);
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path.data, 0, 0}, "cannot write: %s",
                    strerror(job->errors[i]));
    text_free(&path);
    return STATUS_IO;
  }
  return STATUS_OK;
}

Status render_frames(const char* folder, RenderSubjects subjects, const RenderOptions* options, int* count,
                     Diagnostics* diagnostics) {
  *count = 0;
  if (file_make_folder_reported(folder, diagnostics) != STATUS_OK) return STATUS_IO;
  RenderSheet sheet;
  sheet_create(&sheet, subjects, options);
  int frames = frame_count(&sheet);
  FrameJob job = {&sheet, folder, MEMORY_NEW(RenderImage, options->threads), MEMORY_NEW(int, frames)};
  for (int i = 0; i < options->threads; i++) sheet_create_image(&sheet, &job.images[i]);
  parallel_for(options->threads, frames, 2, 1, write_frame, &job);
  Status status = report_frames(&job, frames, diagnostics);
  if (status == STATUS_OK) {
    remove_later_frames(folder, frames);
    *count = frames;
  }
  for (int i = 0; i < options->threads; i++) image_destroy(&job.images[i]);
  memory_free(job.images);
  memory_free(job.errors);
  sheet_destroy(&sheet);
  return status;
}

/* Starts ffmpeg. Returns 0, or the errno of the failure (ENOENT if ffmpeg is not installed). The path gets the prefix
 * `file:`, because ffmpeg could otherwise read it as an option or a protocol. */
static int start_ffmpeg(Program* ffmpeg, const char* path, const RenderSheet* sheet) {
  char size[32], rate[32];
  Text url = {0};
  RenderImage sample;
  sheet_create_image(sheet, &sample);
  snprintf(size, sizeof size, "%dx%d", sample.width, sample.height);
  snprintf(rate, sizeof rate, "%.6g", sheet->options->fps);
  image_destroy(&sample);
  text_add(&url, "file:%s", path);
  const char* words[] = {"ffmpeg",    "-hide_banner",
                         "-loglevel", "error",
                         "-y",        "-f",
                         "rawvideo",  "-pix_fmt",
                         "rgb24",     "-s",
                         size,        "-r",
                         rate,        "-i",
                         "-",         "-an",
                         "-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white",
                         "-c:v",      "libx264",
                         "-pix_fmt",  "yuv420p",
                         "-f",        "mp4",
                         url.data,    NULL};
  int error = program_start(ffmpeg, words, STDERR_FILENO, STDERR_FILENO);
  text_free(&url);
  return error;
}

static bool add_frame(const Program* ffmpeg, const RenderImage* image) {
  return program_send(ffmpeg, image->rgb, 3 * (size_t)image->width * (size_t)image->height);
}

typedef struct {
  const RenderSheet* sheet;
  RenderImage* images; /* images that are drawn together (size: batch) */
  int first;
} FilmBatch;

static void draw_frame(void* context, int index, int thread) {
  const FilmBatch* batch = context;
  (void)thread;
  sheet_draw(batch->sheet, (batch->first + index) / batch->sheet->options->fps, 1, &batch->images[index]);
}

static bool encode_run(const RenderSheet* sheet, const Program* ffmpeg, int frames) {
  int threads = sheet->options->threads, size = threads * FILM_BATCH;
  FilmBatch batch = {sheet, MEMORY_NEW(RenderImage, size), 0};
  for (int i = 0; i < size; i++) sheet_create_image(sheet, &batch.images[i]);
  bool good = true;
  for (; batch.first < frames && good; batch.first += size) {
    int count = frames - batch.first < size ? frames - batch.first : size;
    parallel_for(threads, count, 2, 1, draw_frame, &batch);
    for (int i = 0; i < count && good; i++) good = add_frame(ffmpeg, &batch.images[i]);
  }
  for (int i = 0; i < size; i++) image_destroy(&batch.images[i]);
  memory_free(batch.images);
  return good;
}

static Status report_start(const char* path, int error, Diagnostics* diagnostics) {
  SourcePosition place = {path, 0, 0};
  if (error == ENOENT)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "films are made by the program ffmpeg, which is not installed (Debian: apt install ffmpeg); "
                    "-o with a folder name that ends in '/' writes single pictures without it");
  else
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "cannot start ffmpeg: %s", strerror(error));
  return STATUS_IO;
}

/* ffmpeg writes a temporary file, which is renamed to `path` when it is complete. */
Status render_film(const char* path, RenderSubjects subjects, const RenderOptions* options, int* count,
                   Diagnostics* diagnostics) {
  *count = 0;
  FileStream film;
  if (file_stream_open(&film, path) != STATUS_OK) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot write: %s", strerror(errno));
    return STATUS_IO;
  }
  RenderSheet sheet;
  sheet_create(&sheet, subjects, options);
  Program ffmpeg;
  int error = start_ffmpeg(&ffmpeg, film.temporary ? film.temporary : path, &sheet), frames = frame_count(&sheet);
  bool sent = error == 0 && encode_run(&sheet, &ffmpeg, frames);
  bool whole = error == 0 && program_finish(&ffmpeg) && sent;
  sheet_destroy(&sheet);
  if (!whole) file_stream_discard(&film);
  if (error != 0) return report_start(path, error, diagnostics);
  if (whole && file_stream_close(&film) == STATUS_OK) {
    *count = frames;
    return STATUS_OK;
  }
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                  "ffmpeg failed to write the film: check the free space of the disk");
  return STATUS_IO;
}
