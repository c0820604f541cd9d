/* view: a page that is served on the loopback while a command runs, and the moments that it asks for (--view).
 * The command writes, the page only reads: nothing here goes back into a run. */
#ifndef SDRS_VIEW_H
#define SDRS_VIEW_H

#include "base/base.h"

/* A server with a page and its moments. Its functions may be called while requests are answered. */
typedef struct View View;

/* Begin to listen on 127.0.0.1, at any free port when `port` is 0, with nothing to show yet. *result is the caller's,
 * for view_close. STATUS_IO with a diagnostic where the port is taken, where libmicrohttpd cannot be loaded, or where
 * the build was made without its header; then *result is NULL. */
Status view_open(View** result, int port, Diagnostics* diagnostics);
/* The port that it listens on, 1 ... 65535. */
int view_port(const View* view);
/* The number, from 1, that the next page goes by, which it has to carry: it asks for moments of that number only. */
int view_next_version(const View* view);
/* Show this page (copied) from now on, without any moment. Who looks at an earlier one gets it in its place. */
void view_show(View* view, const Text* page);
/* One more moment of the page that is shown: numbers[count] as the page expects them. Nothing happens without a page.
 * They are copied; what is not finite is written as null. */
void view_add_moment(View* view, const double* numbers, int count);
/* Has somebody asked within the last WATCH_SECONDS? */
bool view_is_watched(View* view);
/* Say how the run has ended; who looks keeps what there is. Waits until they know, at most three
 * seconds. `how` is copied. */
void view_end(View* view, const char* how);
/* End the server, after requests that are being answered, and free it. Accepts NULL. */
void view_close(View* view);

#endif
