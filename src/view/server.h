/* HTTP/1.1 server on the loopback interface. Private to view/. */
#ifndef SDRS_VIEW_SERVER_H
#define SDRS_VIEW_SERVER_H

#include "base/base.h"

/* A request of the page in a browser: /moments?version=V&from=K. */
typedef struct {
  const char* path;  /* without the query */
  int version, from; /* 0 if not given */
} ServerRequest;

/* Callback that appends the response body for a path and sets *type to its media type (static text). Returns false if
 * the path does not exist. The server's thread calls it. */
typedef bool (*ServerAnswer)(void* context, const ServerRequest* request, Text* body, const char** type);

typedef struct Server Server;

/* Starts a server. port 0 selects any free port. The caller owns the server and ends it with server_stop. `context`
 * must outlive the server. On failure returns NULL and appends one line to `problem`. */
Server* server_start(int port, ServerAnswer answer, void* context, Text* problem);
/* Returns the port of the server, also if port 0 was requested. */
int server_port(const Server* server);
/* Stops the server's thread and frees the server. */
void server_stop(Server* server); /* accepts NULL */

#endif
