#include <assert.h>
#include <unistd.h>
#include "app/command.h"

/* Periods of redrawing a bar and of printing a plain line [s]. */
#define BAR_PERIOD 0.1
#define LINE_PERIOD 10.0
#define BAR_WIDTH 30

void progress_start(Progress* progress, FILE* stream, const char* name, int steps, double now) {
  assert(steps >= 0);
  *progress = (Progress){.stream = stream, .name = name, .steps = steps, .start = now, .last_display = now};
  if (!stream) return;
  progress->color = stream_has_color(stream);
  progress->bar = isatty(fileno(stream)) == 1;
}

/* Writes a duration to out[size] as text, such as `12.3 s`, `4 min 5 s` or `3 h 20 min`. */
static void format_seconds(char* out, size_t size, double seconds) {
  assert(size > 0);
  if (seconds < 60.0)
    snprintf(out, size, "%.1f s", seconds);
  else if (seconds < 3600.0)
    snprintf(out, size, "%d min %d s", (int)(seconds / 60.0), (int)seconds % 60);
  else
    snprintf(out, size, "%d h %d min", (int)(seconds / 3600.0), (int)(seconds / 60.0) % 60);
}

static void draw_bar(const Progress* progress, int step, const char* numbers) {
  assert(progress->stream);
  char bar[BAR_WIDTH + 1];
  int full = (int)((double)step / progress->steps * BAR_WIDTH);
  for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < full ? '=' : ' ';
  bar[BAR_WIDTH] = '\0';
  fprintf(progress->stream, "\r%s %s[%s]%s %s\033[K", progress->name, progress->color ? "\033[32m" : "", bar,
          progress->color ? "\033[0m" : "", numbers);
}

void progress_report(Progress* progress, int step, const char* numbers, double now, bool force) {
  assert(step >= 1);
  if (!progress->stream || (!force && now - progress->last_display < (progress->bar ? BAR_PERIOD : LINE_PERIOD)))
    return;
  progress->last_display = now;
  char left[32], line[320];
  format_seconds(left, sizeof left, (now - progress->start) / step * (progress->steps - step));
  snprintf(line, sizeof line, "%3d %%  %s  %s left", (int)(100.0 * step / progress->steps), numbers, left);
  if (progress->bar)
    draw_bar(progress, step, line);
  else
    fprintf(progress->stream, "%s: %s\n", progress->name, line);
  fflush(progress->stream);
  progress->bar_is_drawn = true;
}

void progress_update(Progress* progress, int step, double time, double iterations_per_step, double now) {
  assert(step >= 1);
  char numbers[160];
  snprintf(numbers, sizeof numbers, "step %d/%d  t = %.4g s  %.1f iterations/step", step, progress->steps, time,
           iterations_per_step);
  progress_report(progress, step, numbers, now, false);
}

/* Erasing the bar lets later output begin on an empty line. */
void progress_end(Progress* progress) {
  if (!progress->stream || !progress->bar || !progress->bar_is_drawn) return;
  fprintf(progress->stream, "\r\033[K");
  fflush(progress->stream);
}
