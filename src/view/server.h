/* HTTP/1.1 server on the loopback interface. Private to view/. */
#ifndef SDRS_VIEW_SERVER_H
#define SDRS_VIEW_SERVER_H

#include "base/base.h"

/* A request of a view's page: /moments?version=V&from=K. */
typedef struct {
  const char* path;  /* without the query */
  int version, from; /* 0 = not given */
} ServerRequest;

/* Appends the body at a path and sets its media type (static text). False: nothing at this path. Called in the server's
 * thread. */
typedef bool (*ServerAnswer)(void* context, const ServerRequest* request, Text* body, const char** type);

typedef struct Server Server;

/* Starts a server; port 0 = any free port. The caller owns it and ends it with server_stop; context must outlive it. On
 * failure returns NULL and appends one line to `problem`. */
Server* server_start(int port, ServerAnswer answer, void* context, Text* problem);
/* Port of the server, also if any free one was requested. */
int server_port(const Server* server);
/* Stops the server's thread and frees it. */
void server_stop(Server* server); /* accepts NULL */

#endif
