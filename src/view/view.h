/* view: serves a page on the loopback interface while a command runs (option --view). The page shows moments, the
 * states of the simulation at single times, as they are computed. Data flow only from the command to the page. */
#ifndef SDRS_VIEW_H
#define SDRS_VIEW_H

#include "base/base.h"

/* A server with a page and its moments. The functions may be called while requests are answered. */
typedef struct View View;

/* Starts a server on 127.0.0.1, without a page. port 0 selects any free port. The caller closes *result with
 * view_close. Returns STATUS_IO with an error, and sets *result to NULL, if the port is taken, libmicrohttpd cannot be
 * loaded, or the build lacks the header of libmicrohttpd. */
Status view_open(View** result, int port, Diagnostics* diagnostics);
/* Returns the port of the server, 1 ... 65535. */
int view_port(const View* view);
/* Returns the version number, from 1, that the next page must contain. A page requests only moments of its own
 * version. */
int view_next_version(const View* view);
/* Shows a copy of a page from now on, without moments. The new page replaces earlier pages in open browsers. */
void view_show(View* view, const Text* page);
/* Adds a moment to the current page. numbers (count) are copied and must be in the order that the page expects. Numbers
 * that are not finite become null. Does nothing if there is no page. */
void view_add_moment(View* view, const double* numbers, int count);
/* Returns true if a request arrived within the last WATCH_SECONDS. */
bool view_is_watched(View* view);
/* Reports to the open pages how the run ended. Waits at most three seconds until the pages have received the report.
 * `how` is copied. Pages keep their content. */
void view_end(View* view, const char* how);
/* Ends the server after pending answers and frees the view. Accepts NULL. */
void view_close(View* view);

#endif
