#include <assert.h>
#include <string.h>

#include "scene/parts.h"

static const ValueRange ANY = {0};

void signal_free_arrays(SceneSignal* signal) {
  assert(signal);
  memory_free(signal->times);
  memory_free(signal->values);
  memory_free(signal->amplitude);
  memory_free(signal->frequency);
  memory_free(signal->phase);
  memory_free(signal->file);
}

/* ---------------------------------------------------------------- tables of numbers */

/* Reads one row of a signal: a list with one number per channel, or a number for one channel. */
static void read_row(Reader* reader, const Node* node, int channels, double* values) {
  assert(channels > 0);
  if (channels == 1 && node->kind == NODE_SCALAR)
    reader_number(reader, node, &ANY, NULL, values);
  else if (node->kind == NODE_LIST && node->count != channels)
    reader_error(reader, node->place, "expected %d number%s, one per degree of freedom, got %d", channels,
                 channels == 1 ? "" : "s", node->count);
  else
    reader_numbers(reader, node, &ANY, NULL, channels, values);
}

static void read_table(Reader* reader, const Node* list, SceneSignal* signal) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "values");
  if (list->count == 0) reader_error(reader, list->place, "must not be empty");
  int64_t size = (int64_t)list->count * signal->channels;
  if (reader_count_values(reader, list->place, size)) signal->values = MEMORY_NEW(double, size);
  for (const Node* item = list->first; item && !reader->exhausted; item = item->next) {
    size_t below = reader_enter_index(reader, signal->rows);
    read_row(reader, item, signal->channels, signal->values + signal->rows * signal->channels);
    signal->rows++;
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

/* Extends a signal to `rows` rows by repeating its last row. */
static void repeat_last_row(Reader* reader, const Node* map, int rows, SceneSignal* signal) {
  assert(rows >= 0);
  if (!node_has_key(map, "rows") || signal->rows == 0) return;
  size_t mark = reader_enter_key(reader, "rows"), row = sizeof(double) * (size_t)signal->channels;
  SourcePosition place = node_find(map, "rows")->place;
  if (rows < signal->rows)
    reader_error(reader, place, "must be at least %d, the number of rows of 'values', got %d", signal->rows, rows);
  else if (reader_count_values(reader, place, (int64_t)rows * signal->channels)) {
    signal->values = memory_resize(signal->values, row * (size_t)signal->rows, row * (size_t)rows);
    for (; signal->rows < rows; signal->rows++)
      memcpy(signal->values + signal->rows * signal->channels, signal->values + (signal->rows - 1) * signal->channels,
             row);
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- knots */

static void read_times(Reader* reader, const Node* list, SceneSignal* signal) {
  size_t mark = reader_enter_key(reader, "times");
  if (signal->rows > 0 && signal->rows != list->count)
    reader_error(reader, list->place, "expected %d times, one per row of 'values', got %d", signal->rows, list->count);
  int size = list->count > signal->rows ? list->count : signal->rows;
  if (reader_count_values(reader, list->place, size)) signal->times = MEMORY_NEW(double, size);
  int index = 0;
  for (const Node* item = list->first; item && !reader->exhausted; item = item->next, index++) {
    size_t below = reader_enter_index(reader, index);
    bool good = reader_number(reader, item, &ANY, "s", &signal->times[index]);
    if (good && index > 0 && !(signal->times[index] > signal->times[index - 1]))
      reader_error(reader, item->place, "times must increase, got %s after %.10g", text_excerpt(item->text).text,
                   signal->times[index - 1]);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

static void read_knots(Reader* reader, const Node* map, const SignalForm* form, SceneSignal* signal) {
  read_table(reader, form->values, signal);
  if (form->times) {
    read_times(reader, form->times, signal);
  } else if (node_has_key(map, "duration") && signal->rows > 1) {
    signal->times = MEMORY_NEW(double, signal->rows);
    for (int k = 0; k < signal->rows; k++) signal->times[k] = form->duration * k / (signal->rows - 1);
  } else if (!node_has_key(map, "duration") && !node_has_key(map, "times")) {
    reader_error(reader, map->place, "'times' is missing: give a list of numbers [s]%s",
                 signal->type == SIGNAL_SPLINE ? ", or 'duration'" : "");
  }
  if (signal->type == SIGNAL_SPLINE && signal->rows == 1)
    reader_error(reader, map->place, "a spline needs at least two knots: add rows to 'values'");
}

/* ---------------------------------------------------------------- sines */

static void read_sine(Reader* reader, const Node* node, SceneSignal* signal, int slot) {
  assert(slot >= 0 && slot < signal->terms * signal->channels);
  SineForm form;
  if (!schema_read(reader, node, "sine", &form)) return;
  signal->amplitude[slot] = form.amplitude;
  signal->frequency[slot] = form.frequency;
  signal->phase[slot] = form.phase;
}

static void read_channel(Reader* reader, const Node* list, SceneSignal* signal, int channel) {
  int term = 0;
  for (const Node* item = list->first; item && !reader->exhausted; item = item->next, term++) {
    size_t mark = reader_enter_index(reader, term);
    read_sine(reader, item, signal, channel * signal->terms + term);
    reader_leave(reader, mark);
  }
}

/* Reads the sine terms of a signal: a list for a single channel, or one list per channel. Shorter channels are padded
 * with zeros. */
static void read_terms(Reader* reader, const Node* list, SceneSignal* signal) {
  bool nested = list->first && list->first->kind == NODE_LIST;
  int channels = nested ? list->count : 1;
  if (channels != signal->channels) {
    reader_error(reader, list->place, "expected %d lists of sines, one per degree of freedom, got %d", signal->channels,
                 channels);
    return;
  }
  signal->terms = nested ? 0 : list->count;
  for (const Node* item = list->first; item && nested; item = item->next) {
    if (item->kind != NODE_LIST) {
      reader_report_wrong_kind(reader, item, "a list of sines");
      return;
    }
    if (item->count > signal->terms) signal->terms = item->count;
  }
  int64_t size = (int64_t)signal->terms * channels;
  if (!reader_count_values(reader, list->place, 3 * size)) return;
  signal->amplitude = MEMORY_NEW(double, size);
  signal->frequency = MEMORY_NEW(double, size);
  signal->phase = MEMORY_NEW(double, size);
  if (!nested) read_channel(reader, list, signal, 0);
  int channel = 0;
  for (const Node* item = list->first; item && nested; item = item->next, channel++) {
    size_t mark = reader_enter_index(reader, channel);
    read_channel(reader, item, signal, channel);
    reader_leave(reader, mark);
  }
}

/* ---------------------------------------------------------------- the signal */

static void set_constant(Reader* reader, const NumberList* list, const char* key, SceneSignal* signal) {
  signal->rows = 1;
  signal->values = MEMORY_NEW(double, signal->channels);
  expand_per_dof(reader, list, key, signal->channels, signal->values);
}

/* Index of the word `csv`, which follows the words of the signal types. A CSV file becomes keyframes or a spline. */
enum { CSV_WORD = SIGNAL_SEQUENCE + 1 };

static void read_signal_map(Reader* reader, const Node* node, SceneSignal* signal) {
  SignalForm form;
  if (!schema_read(reader, node, "signal", &form) || !node_has_key(node, "type")) return;
  if (form.type == CSV_WORD) {
    read_csv_signal(reader, node, &form, signal);
    return;
  }
  signal->type = (SignalType)form.type;
  switch (signal->type) {
    case SIGNAL_CONSTANT:
      set_constant(reader, &form.value, "value", signal);
      break;
    case SIGNAL_KEYFRAMES:
    case SIGNAL_SPLINE:
      read_knots(reader, node, &form, signal);
      break;
    case SIGNAL_SINES: {
      set_constant(reader, &form.offset, "offset", signal);
      signal->ramp = form.ramp;
      size_t mark = reader_enter_key(reader, "terms");
      if (form.terms) read_terms(reader, form.terms, signal);
      reader_leave(reader, mark);
      break;
    }
    case SIGNAL_SEQUENCE:
      read_table(reader, form.values, signal);
      repeat_last_row(reader, node, form.rows, signal);
      signal->interval = form.interval;
      break;
    case SIGNAL_ZERO_ORDER_HOLD: /* set by programs only, not by files */
      break;
  }
}

void read_signal(Reader* reader, const Node* node, int channels, SceneSignal* signal) {
  assert(node && channels >= 0);
  *signal = (SceneSignal){.type = SIGNAL_CONSTANT, .place = node->place, .channels = channels};
  if (node->kind == NODE_MAP) {
    read_signal_map(reader, node, signal);
    return;
  }
  signal->rows = 1;
  signal->values = MEMORY_NEW(double, channels);
  if (node->kind == NODE_LIST) {
    read_row(reader, node, channels, signal->values);
    return;
  }
  double value = 0;
  reader_number(reader, node, &ANY, NULL, &value);
  for (int i = 0; i < channels; i++) signal->values[i] = value;
}
