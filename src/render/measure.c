/* Measures the computing time of images, for `sdrs bench render`. */
#include "render/picture.h"

static RenderTimes measure_moment(const RenderRun* render, int row, RenderImage* image) {
  int threads = render->options->threads;
  double start = timer_now();
  render_run_bodies(render, row, threads, image);
  double drawn = timer_now();
  render_run_marks(render, row, image);
  double marked = timer_now();
  render_run_labels(render, row, true, image);
  double written = timer_now();
  Text png = {0};
  (void)image_append_png(image, &png);
  RenderTimes times = {drawn - start, marked - drawn, written - marked, timer_now() - written, png.length};
  text_free(&png);
  return times;
}

double render_measure(const RenderSubject* subject, const RenderOptions* options, int count, RenderTimes* times) {
  RenderRun render;
  RenderImage image;
  const RunPoses* run = subject->run;
  double start = timer_now();
  render_run_create(&render, subject, options);
  double seconds = timer_now() - start, span = run->time[run->row_count - 1] - run->time[0];
  image_create(&image, options->width, options->height);
  for (int i = 0; i < count; i++) {
    double share = count > 1 ? (double)i / (count - 1) : 1.0;
    times[i] = measure_moment(&render, run_find_row(run, run->time[0] + share * span), &image);
  }
  image_destroy(&image);
  render_run_destroy(&render);
  return seconds;
}
