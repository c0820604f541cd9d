#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "render/picture.h"

/* Frames drawn at a time for a film: one picture a thread, a few rounds. */
#define FILM_BATCH 4

/* ---------------------------------------------------------------- moments */

/* Pictures from the first recorded moment to the last, at the asked rate. */
static int frame_count(const RenderSheet* sheet) {
  return 1 + (int)floor(fmin(sheet_duration(sheet) * sheet->options->fps, 1e8) + 1e-6);
}

/* ---------------------------------------------------------------- a folder of pictures */

typedef struct {
  const RenderSheet* sheet;
  const char* folder;
  RenderImage* images; /* (threads) */
  int* errors;         /* errno of every picture, 0 = written (frames) */
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

/* Pictures that a longer run left behind would end up in the next film. */
static void remove_later_frames(const char* folder, int frame) {
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
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path.data, 0, 0}, "cannot write: %s",
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
  for (int i = 0; i < options->threads; i++) sheet_image(&sheet, &job.images[i]);
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

/* ---------------------------------------------------------------- a film */

/* The encoder at work: pictures go in through a socket, which, unlike a pipe, reports a dead reader without a signal.
 */
typedef struct {
  pid_t process;
  int input;
} Encoder;

/* errno of the failure, ENOENT when ffmpeg is not installed, or 0. */
static int encoder_start(Encoder* encoder, const char* path, const RenderSheet* sheet) {
  char size[32], rate[32];
  RenderImage sample;
  sheet_image(sheet, &sample);
  snprintf(size, sizeof size, "%dx%d", sample.width, sample.height);
  snprintf(rate, sizeof rate, "%.6g", sheet->options->fps);
  image_destroy(&sample);
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
                         path,        NULL};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  int error = posix_spawnp(&encoder->process, words[0], &actions, NULL, (char* const*)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  encoder->input = ends[0];
  if (error != 0) close(ends[0]);
  return error;
}

static bool encoder_add(const Encoder* encoder, const RenderImage* image) {
  const uint8_t* data = image->rgb;
  size_t left = 3 * (size_t)image->width * (size_t)image->height;
  while (left > 0) {
    ssize_t sent = send(encoder->input, data, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    left -= (size_t)sent;
  }
  return true;
}

/* True when the program took everything and ended well. */
static bool encoder_finish(const Encoder* encoder) {
  close(encoder->input);
  int state;
  while (waitpid(encoder->process, &state, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

typedef struct {
  const RenderSheet* sheet;
  RenderImage* images; /* (batch) */
  int first;
} FilmBatch;

static void draw_frame(void* context, int index, int thread) {
  const FilmBatch* batch = context;
  (void)thread;
  sheet_draw(batch->sheet, (batch->first + index) / batch->sheet->options->fps, 1, &batch->images[index]);
}

static bool encode_run(const RenderSheet* sheet, const Encoder* encoder, int frames) {
  int threads = sheet->options->threads, size = threads * FILM_BATCH;
  FilmBatch batch = {sheet, MEMORY_NEW(RenderImage, size), 0};
  for (int i = 0; i < size; i++) sheet_image(sheet, &batch.images[i]);
  bool good = true;
  for (; batch.first < frames && good; batch.first += size) {
    int count = frames - batch.first < size ? frames - batch.first : size;
    parallel_for(threads, count, 2, 1, draw_frame, &batch);
    for (int i = 0; i < count && good; i++) good = encoder_add(encoder, &batch.images[i]);
  }
  for (int i = 0; i < size; i++) image_destroy(&batch.images[i]);
  memory_free(batch.images);
  return good;
}

static Status report_start(const char* path, int error, Diagnostics* diagnostics) {
  SourcePlace place = {path, 0, 0};
  if (error == ENOENT)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "films are made by the program ffmpeg, which is not installed (Debian: apt install ffmpeg); "
                    "-o with a folder name that ends in '/' writes single pictures without it");
  else
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "cannot start ffmpeg: %s", strerror(error));
  return STATUS_IO;
}

/* ffmpeg writes beside the name; only a whole film gets the name. */
Status render_film(const char* path, RenderSubjects subjects, const RenderOptions* options, int* count,
                   Diagnostics* diagnostics) {
  *count = 0;
  Text temporary = {0};
  text_add(&temporary, "%s~", path);
  RenderSheet sheet;
  sheet_create(&sheet, subjects, options);
  Encoder encoder = {.input = -1};
  int error = encoder_start(&encoder, temporary.data, &sheet), frames = frame_count(&sheet);
  if (error != 0) {
    sheet_destroy(&sheet);
    text_free(&temporary);
    return report_start(path, error, diagnostics);
  }
  bool sent = encode_run(&sheet, &encoder, frames), finished = encoder_finish(&encoder);
  bool good = sent && finished && rename(temporary.data, path) == 0;
  if (!good) {
    unlink(temporary.data);
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, 0, 0}, "ffmpeg could not make the film");
  }
  sheet_destroy(&sheet);
  text_free(&temporary);
  if (good) *count = frames;
  return good ? STATUS_OK : STATUS_IO;
}
