/* view: serves a page on the loopback interface while a command runs (option --view). The page shows moments, states of
 * the simulation, when they are computed. Data flow only from the command to the page. */
#ifndef SDRS_VIEW_H
#define SDRS_VIEW_H

#include "base/base.h"

/* A server with a page and its moments. All functions may be called while requests are answered. */
typedef struct View View;

/* Starts a server on 127.0.0.1 without a page. port: 0 selects any free port. Returns STATUS_IO with an error, and sets
 * *result to NULL, if the port is in use, libmicrohttpd cannot be loaded, or the build lacks its header. The caller
 * closes *result with view_close. */
Status view_open(View** result, int port, Diagnostics* diagnostics);
/* Returns the port of the server, 1 ... 65535. */
int view_port(const View* view);
/* Returns the version number, from 1, of the next page. A page requests only moments of its own version. */
int view_next_version(const View* view);
/* Displays a copy of `page`, without moments, from the present time on. Open browsers replace their page by it. */
void view_show(View* view, const Text* page);
/* Adds a moment to the present page. numbers[count] are copied, in the order that the page expects; infinite numbers
 * and NaN become null. Does nothing if there is no page. */
void view_add_moment(View* view, const double* numbers, int count);
/* Returns true if a request arrived within the last OPEN_PAGE_SECONDS. */
bool view_is_watched(View* view);
/* Reports to the open pages how the run ended, and waits at most END_WAIT_SECONDS until they have received it. Copies
 * `reason`. Pages keep their content. */
void view_end(View* view, const char* reason);
/* Ends the server after pending answers and frees the view. Accepts NULL. */
void view_close(View* view);

#endif
