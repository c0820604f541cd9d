/* Delayed measurements of drives, interpolated linearly between states. A time before the start gives the value at the
 * start (feedback.md, E6). */
#include "simulate/delay.h"

#include <assert.h>
#include <string.h>

#include "linalg/arrays.h"

/* A time counts as the time of a state if it is closer to the state than this fraction of the step. The time derivative
 * at a state is the mean of the time derivatives on both sides. */
#define EQUAL_TIME_TOLERANCE 1e-9

static double delay_of(const Model* m, int controller) { return m->controllers[controller].source->delay; }

DelayHistory* delays_create(const Model* model) {
  if (model->delayed_count == 0) return NULL;
  DelayHistory* h = MEMORY_NEW(DelayHistory, 1);
  h->columns = model->delayed_count;
  return h;
}

void delays_destroy(DelayHistory* h) {
  if (!h) return;
  memory_free(h->time);
  memory_free(h->value);
  memory_free(h);
}

static void grow(DelayHistory* h, int needed) {
  if (needed <= h->capacity) return;
  size_t old = (size_t)h->capacity, new = 2 * (size_t)needed + 16, row = sizeof(double) * (size_t)h->columns;
  h->time = memory_resize(h->time, sizeof(double) * old, sizeof(double) * new);
  h->value = memory_resize(h->value, row * old, row * new);
  h->capacity = (int)new;
}

static double stored_measurement(const DelayHistory* h, int i, int column) { return h->value[i * h->columns + column]; }

/* Returns the time derivative of a measurement between the states i and i + 1; 0 before the first state. */
static double measurement_rate(const DelayHistory* h, int i, int column) {
  if (i < 0 || h->count < 2) return 0;
  if (i > h->count - 2) i = h->count - 2;
  return (stored_measurement(h, i + 1, column) - stored_measurement(h, i, column)) / (h->time[i + 1] - h->time[i]);
}

/* Returns the index of the last state at or before time t, or -1 if t is before all states. */
static int find_state_at_or_before(const DelayHistory* h, double t) {
  int i = h->count - 1;
  while (i >= 0 && h->time[i] > t) i--;
  return i;
}

static void interpolate_delayed(const DelayHistory* h, double t, int column, double* value, double* slope) {
  int i = find_state_at_or_before(h, t), last = h->count - 1;
  int from = i < 0 ? 0 : i, piece = i, other = i;
  double length = last < 1 ? 1 : h->time[from < last ? from + 1 : last] - h->time[from < last ? from : last - 1];
  if (i >= 0 && t - h->time[i] <= EQUAL_TIME_TOLERANCE * length) other = i - 1;
  if (i < last && h->time[i + 1] - t <= EQUAL_TIME_TOLERANCE * length) other = i + 1;
  *value = stored_measurement(h, from, column) + (i < 0 ? 0 : (t - h->time[from]) * measurement_rate(h, piece, column));
  *slope = 0.5 * (measurement_rate(h, piece, column) + measurement_rate(h, other, column));
}

/* Sets s->state.delayed: for each drive with a delay, the delayed measurements, followed by their time derivatives. */
static void set_delayed_measurements(Sim* s) {
  const Model* m = s->model;
  for (int c = 0; c < m->controller_count; c++) {
    int first = m->controllers[c].delayed_first, count = m->controllers[c].source->measure_count;
    if (first < 0) continue;
    double* to = s->state.delayed + 2 * first;
    for (int k = 0; k < count; k++)
      interpolate_delayed(s->delays, s->reached.time - delay_of(m, c), first + k, &to[k], &to[count + k]);
  }
}

void delays_append_state(Sim* s) {
  DelayHistory* h = s->delays;
  const Model* m = s->model;
  if (!h) return;
  grow(h, h->count + 1);
  h->time[h->count] = s->reached.time;
  double* row = h->value + (size_t)h->count * (size_t)h->columns;
  for (int c = 0; c < m->controller_count; c++) {
    const ModelController* one = &m->controllers[c];
    for (int k = 0; one->delayed_first >= 0 && k < one->source->measure_count; k++)
      row[one->delayed_first + k] = sensor_value(s, &one->source->measures[k]);
  }
  h->count++;
  set_delayed_measurements(s);
}

/* Drops the states older than the longest delay, except those needed for the time derivative at this delay. Moves the
 * arrays only if at least eight states, and at least half of all, are dropped. */
static void drop_old_states(Sim* s) {
  DelayHistory* h = s->delays;
  double longest = 0;
  for (int c = 0; c < s->model->controller_count; c++)
    if (s->model->controllers[c].delayed_first >= 0) longest = fmax(longest, delay_of(s->model, c));
  int drop = find_state_at_or_before(h, s->reached.time - longest) - 2;
  if (drop < 8 || 2 * drop < h->count) return;
  size_t left = (size_t)(h->count - drop), columns = (size_t)h->columns;
  memmove(h->time, h->time + drop, sizeof(double) * left);
  memmove(h->value, h->value + (size_t)drop * columns, sizeof(double) * left * columns);
  h->count = (int)left;
}

void delays_save(Sim* s) {
  if (!s->delays) return;
  drop_old_states(s);
  s->delays->saved = s->delays->count;
}

void delays_restore(Sim* s) {
  assert(!s->delays || s->delays->saved <= s->delays->count);
  if (!s->delays) return;
  s->delays->count = s->delays->saved;
  set_delayed_measurements(s);
}

void delays_serialize_state(Sim* s, StateBlock* block) {
  DelayHistory* h = s->delays;
  if (!h) return;
  int count = h->count, most = INT32_MAX / 4;
  size_t row = (size_t)h->columns + 1;
  if (block->pass == BLOCK_READ) most = (int)((block->count - block->at) / row);
  state_block_int(block, &count, 1, most);
  if (block->failed) return;
  if (block->pass == BLOCK_READ) grow(h, count);
  h->count = count;
  state_block_doubles(block, h->time, (size_t)count);
  state_block_doubles(block, h->value, (size_t)count * (size_t)h->columns);
  if (block->pass == BLOCK_READ) set_delayed_measurements(s);
}

/* Derivatives of a scalar with respect to the measurements of one drive. Some are pending at times between states; the
 * others are already assigned to a state of the adjoint. */
typedef struct {
  int controller, measures;
  int count, capacity;
  double* time;   /* times of the pending derivatives [s] (size: capacity) */
  double* bar;    /* pending derivatives (capacity * measures) */
  double* slope;  /* time derivatives of the measurements at these times (capacity * measures) */
  int old_count;  /* number of pending derivatives that steps after the present one have added */
  double* carry;  /* derivatives assigned to the state that the adjoint reaches next (size: measures) */
  double* sum;    /* derivatives with respect to the state that the adjoint reaches now (size: measures) */
  double* stored; /* copy of `carry` while the adjoint processes other solves of the same step (size: measures) */
} PendingDrive;

struct DelayPending {
  const Model* model;
  int count;
  PendingDrive* drives;
};

DelayPending* delay_pending_create(const Model* model) {
  if (model->delayed_count == 0) return NULL;
  DelayPending* p = MEMORY_NEW(DelayPending, 1);
  p->model = model;
  p->drives = MEMORY_NEW(PendingDrive, model->controller_count);
  for (int c = 0; c < model->controller_count; c++) {
    int measures = model->controllers[c].source->measure_count;
    if (model->controllers[c].delayed_first >= 0)
      p->drives[p->count++] = (PendingDrive){.controller = c,
                                             .measures = measures,
                                             .carry = MEMORY_NEW(double, measures),
                                             .sum = MEMORY_NEW(double, measures),
                                             .stored = MEMORY_NEW(double, measures)};
  }
  return p;
}

void delay_pending_destroy(DelayPending* p) {
  if (!p) return;
  for (int k = 0; k < p->count; k++) {
    void* owned[] = {p->drives[k].time,  p->drives[k].bar, p->drives[k].slope,
                     p->drives[k].carry, p->drives[k].sum, p->drives[k].stored};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) memory_free(owned[i]);
  }
  memory_free(p->drives);
  memory_free(p);
}

void delay_pending_begin(DelayPending* p) {
  for (int k = 0; p && k < p->count; k++) {
    p->drives[k].count = p->drives[k].old_count = 0;
    memset(p->drives[k].carry, 0, sizeof(double) * (size_t)p->drives[k].measures);
  }
}

void delay_pending_discount(DelayPending* p, double factor) {
  for (int k = 0; p && k < p->count; k++) {
    PendingDrive* d = &p->drives[k];
    for (int i = 0; i < d->count * d->measures; i++) d->bar[i] *= factor;
    for (int i = 0; i < d->measures; i++) d->carry[i] *= factor;
  }
}

void delay_pending_move_to_store(DelayPending* p) {
  for (int k = 0; p && k < p->count; k++) {
    PendingDrive* d = &p->drives[k];
    memcpy(d->stored, d->carry, sizeof(double) * (size_t)d->measures);
    memset(d->carry, 0, sizeof(double) * (size_t)d->measures);
  }
}

void delay_pending_add_store(DelayPending* p) {
  for (int k = 0; p && k < p->count; k++)
    for (int i = 0; i < p->drives[k].measures; i++) p->drives[k].carry[i] += p->drives[k].stored[i];
}

static double step_start_time(const Sim* s) { return s->clock.time - s->clock.dt; }

double* delay_pending_add(DelayPending* p, const Sim* s, int controller) {
  assert(controller >= 0 && controller < s->model->controller_count);
  PendingDrive* d = p->drives;
  while (d->controller != controller) d++;
  if (d->count == d->capacity) {
    size_t old = (size_t)d->capacity, new = 2 * old + 16, row = sizeof(double) * (size_t)d->measures;
    d->time = memory_resize(d->time, sizeof(double) * old, sizeof(double) * new);
    d->bar = memory_resize(d->bar, row * old, row * new);
    d->slope = memory_resize(d->slope, row * old, row * new);
    d->capacity = (int)new;
  }
  d->time[d->count] = step_start_time(s) - delay_of(p->model, controller);
  size_t at = (size_t)d->count++ * (size_t)d->measures,
         first = 2 * (size_t)p->model->controllers[controller].delayed_first;
  memcpy(d->slope + at, s->state.delayed + first + d->measures, sizeof(double) * (size_t)d->measures);
  return d->bar + at;
}

/* Distributes the pending derivatives whose times lie between t - length and t to the state at t (d->sum) and the state
 * at t - length (d->carry). If length is 0, t is the first state and receives all of them. Adds the derivatives with
 * respect to the times t and t - length of both states to *times. */
static void distribute_to_states(PendingDrive* d, double t, double length, DelayTimeBars* times) {
  int kept = 0;
  memcpy(d->sum, d->carry, sizeof(double) * (size_t)d->measures);
  memset(d->carry, 0, sizeof(double) * (size_t)d->measures);
  for (int i = 0; i < d->count; i++) {
    double* bar = d->bar + (size_t)i * (size_t)d->measures;
    double share = length > 0 ? (d->time[i] - (t - length)) / length : 1;
    for (int k = 0; share > 0 && k < d->measures; k++) {
      d->sum[k] += share * bar[k];
      d->carry[k] += (1 - share) * bar[k];
    }
    double by_time = array_dot(d->measures, bar, d->slope + (size_t)i * (size_t)d->measures);
    if (share > 0 && length > 0) {
      times->start -= by_time;
      times->before += (1 - share) * by_time;
    }
    if (share > 0) continue;
    d->time[kept] = d->time[i];
    memmove(d->bar + (size_t)kept * (size_t)d->measures, bar, sizeof(double) * (size_t)d->measures);
    memmove(d->slope + (size_t)kept * (size_t)d->measures, d->slope + (size_t)i * (size_t)d->measures,
            sizeof(double) * (size_t)d->measures);
    kept++;
  }
  d->count = d->old_count = kept;
}

DelayTimeBars delay_pending_propagate(DelayPending* p, const Sim* s, const FeedbackBars* out) {
  DelayTimeBars times = {0, 0};
  for (int k = 0; p && k < p->count; k++) {
    PendingDrive* d = &p->drives[k];
    const SceneController* source = p->model->controllers[d->controller].source;
    for (int i = d->old_count * d->measures; i < d->count * d->measures; i++) times.start += d->bar[i] * d->slope[i];
    distribute_to_states(d, step_start_time(s), s->clock.dt_before, &times);
    for (int i = 0; i < d->measures; i++)
      if (d->sum[i] != 0) {
        sensor_adjoint(s, &source->measures[i], d->sum[i], out);
        times.before += d->sum[i] * sensor_length_slope(s, &source->measures[i]);
      }
  }
  return times;
}
