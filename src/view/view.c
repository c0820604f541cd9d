/* State of a view, protected by one lock: its page, the received moments, and how the run ended. */
#include "view/view.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "view/server.h"

/* Largest number of moments in one answer. A page that needs more sends its next request immediately. */
enum { MOMENTS_PER_ANSWER = 200 };
/* A page counts as open if it sent a request within OPEN_PAGE_SECONDS [s]. At the end of a run the command waits at
 * most END_WAIT_SECONDS [s] for open pages. */
#define OPEN_PAGE_SECONDS 5.0
#define END_WAIT_SECONDS 3.0

/* HTML page that a browser gets before the first state is available. */
static const char WAITING[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">"
    "<link rel=\"icon\" href=\"data:,\"><title>sdrs</title><p>The first state is being computed.</p></html>\n";

struct View {
  pthread_mutex_t lock; /* protects all members except `server` */
  Text page;            /* empty until the first page is shown */
  int version;
  Text moments; /* JSON lists of the recorded states, one after the other */
  size_t* ends; /* position in `moments` at which the list of each state ends (count); owned */
  int count, capacity;
  Text end_text;            /* how the run ended; empty while it runs */
  double last_request_time; /* time of the last request [s]; -infinity if there was none */
  bool is_complete;         /* true if the answer to the last request had all states and the end of the run */
  Server* server;
};

/* Appends the moments from index `from` on, at most MOMENTS_PER_ANSWER. */
static void add_moments(const View* view, int from, Text* body) {
  int end = view->count - from > MOMENTS_PER_ANSWER ? from + MOMENTS_PER_ANSWER : view->count;
  for (int k = from; k < end; k++) {
    size_t start = k > 0 ? view->ends[k - 1] : 0;
    if (k > from) text_add(body, ",");
    text_add_bytes(body, view->moments.data + start, view->ends[k] - start);
  }
  text_add(body, "]");
}

/* Appends the answer to a request for moments: {"version": 1, "count": 57, "ended": null, "moments": [[...], ...]}. The
 * list is empty if the page has another version. */
static void answer_moments(View* view, const ServerRequest* request, Text* body) {
  bool same = request->version == view->version;
  text_add(body, "{\"version\": %d, \"count\": %d, \"ended\": ", view->version, view->count);
  if (view->end_text.length > 0)
    text_add_json_string(body, view->end_text.data);
  else
    text_add(body, "null");
  text_add(body, ", \"moments\": [");
  add_moments(view, same && request->from < view->count ? request->from : view->count, body);
  text_add(body, "}\n");
  view->last_request_time = timer_now();
  view->is_complete = view->end_text.length > 0 && same && request->from >= view->count - MOMENTS_PER_ANSWER;
}

static bool answer(void* context, const ServerRequest* request, Text* body, const char** type) {
  View* view = context;
  bool found = true;
  pthread_mutex_lock(&view->lock);
  if (strcmp(request->path, "/") == 0) {
    *type = "text/html; charset=utf-8";
    text_add(body, "%s", view->page.length > 0 ? view->page.data : WAITING);
    view->last_request_time = timer_now();
    view->is_complete = false;
  } else if (strcmp(request->path, "/moments") == 0) {
    *type = "application/json";
    answer_moments(view, request, body);
  } else {
    found = false;
  }
  pthread_mutex_unlock(&view->lock);
  return found;
}

Status view_open(View** result, int port, Diagnostics* diagnostics) {
  assert(port >= 0 && port <= 65535);
  View* view = MEMORY_NEW(View, 1);
  *view = (View){.last_request_time = -HUGE_VAL};
  *result = NULL;
  Text problem = {0};
  bool locked = pthread_mutex_init(&view->lock, NULL) == 0;
  if (locked) view->server = server_start(port, answer, view, &problem);
  if (view->server) {
    *result = view;
    return STATUS_OK;
  }
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){NULL, 0, 0}, "--view: %s",
                  locked ? problem.data : "the system has no mutex left");
  text_free(&problem);
  if (locked) pthread_mutex_destroy(&view->lock);
  memory_free(view);
  return STATUS_IO;
}

int view_port(const View* view) { return server_port(view->server); }

int view_next_version(const View* view) { return view->version + 1; }

void view_show(View* view, const Text* page) {
  pthread_mutex_lock(&view->lock);
  view->page.length = view->moments.length = 0;
  view->count = 0;
  view->version++;
  text_add_bytes(&view->page, page->data, page->length);
  pthread_mutex_unlock(&view->lock);
}

static void add_number(Text* out, double number) {
  if (isfinite(number))
    text_add(out, "%.9g", number);
  else
    text_add(out, "null");
}

void view_add_moment(View* view, const double* numbers, int count) {
  assert(count >= 0);
  pthread_mutex_lock(&view->lock);
  if (view->page.length > 0) {
    for (int k = 0; k < count; k++) {
      text_add(&view->moments, k > 0 ? "," : "[");
      add_number(&view->moments, numbers[k]);
    }
    text_add(&view->moments, "]");
    view->ends = memory_grow_array(view->ends, sizeof(size_t), view->count, &view->capacity);
    view->ends[view->count++] = view->moments.length;
  }
  pthread_mutex_unlock(&view->lock);
}

bool view_is_watched(View* view) {
  pthread_mutex_lock(&view->lock);
  bool watched = timer_now() - view->last_request_time < OPEN_PAGE_SECONDS;
  pthread_mutex_unlock(&view->lock);
  return watched;
}

static bool are_pages_complete(View* view) {
  pthread_mutex_lock(&view->lock);
  bool is_complete = view->is_complete;
  pthread_mutex_unlock(&view->lock);
  return is_complete;
}

void view_end(View* view, const char* reason) {
  pthread_mutex_lock(&view->lock);
  view->end_text.length = 0;
  text_add(&view->end_text, "%s", reason);
  view->is_complete = false;
  pthread_mutex_unlock(&view->lock);
  double end = timer_now() + END_WAIT_SECONDS;
  while (view_is_watched(view) && !are_pages_complete(view) && timer_now() < end) usleep(10000);
}

void view_close(View* view) {
  if (!view) return;
  server_stop(view->server);
  pthread_mutex_destroy(&view->lock);
  text_free(&view->page);
  text_free(&view->moments);
  text_free(&view->end_text);
  memory_free(view->ends);
  memory_free(view);
}
