/* view: serves a page on the loopback interface while a command runs, with its moments as they are computed (--view).
 * Data flow only from the command to the page. */
#ifndef SDRS_VIEW_H
#define SDRS_VIEW_H

#include "base/base.h"

/* A server with a page and its moments. Thread-safe against requests. */
typedef struct View View;

/* Starts listening on 127.0.0.1, on any free port if `port` is 0, without a page. *result is closed by view_close.
 * STATUS_IO with an error, and *result NULL: the port is taken, libmicrohttpd cannot be loaded, or the build lacks its
 * header. */
Status view_open(View** result, int port, Diagnostics* diagnostics);
/* Port of the server, 1 ... 65535. */
int view_port(const View* view);
/* Version number (from 1) of the next page, which must contain it: a page requests only moments of its version. */
int view_next_version(const View* view);
/* Shows a page (copied) from now on, without moments. Earlier pages in browsers are replaced. */
void view_show(View* view, const Text* page);
/* Adds a moment of the present page: numbers (count), copied, as the page expects them; non-finite ones become null.
 * Ignored without a page. */
void view_add_moment(View* view, const double* numbers, int count);
/* True if a request arrived within the last WATCH_SECONDS. */
bool view_is_watched(View* view);
/* Reports how the run ended (copied) and waits at most three seconds until open pages have received it. Pages keep
 * their content. */
void view_end(View* view, const char* how);
/* Ends the server after pending answers and frees it. Accepts NULL. */
void view_close(View* view);

#endif
