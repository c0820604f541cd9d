/* HTTP/1.1 server on the loopback interface. Private to view/. */
#ifndef SDRS_VIEW_SERVER_H
#define SDRS_VIEW_SERVER_H

#include "base/base.h"

/* A request of a page in a browser: /moments?version=V&from=K. */
typedef struct {
  const char* path;  /* without the query */
  int version, from; /* 0 if not given */
} ServerRequest;

/* Callback that appends the response to a request and sets *type to its media type, a static text. Returns false if the
 * path does not exist. The server's thread calls it. */
typedef bool (*ServerAnswer)(void* context, const ServerRequest* request, Text* body, const char** type);

typedef struct Server Server;

/* Starts a server. port: 0 selects any free port. context: argument of `answer`, which must outlive the server. Returns
 * NULL on failure, and appends one line to `problem`. The caller owns the server and ends it with server_stop. */
Server* server_start(int port, ServerAnswer answer, void* context, Text* problem);
/* Returns the port of the server, also if port 0 was requested. */
int server_port(const Server* server);
/* Stops the server's thread and frees the server. Accepts NULL. */
void server_stop(Server* server);

#endif
