/* HTTP/1.1 on the loopback. Private to view/. */
#ifndef SDRS_VIEW_SERVER_H
#define SDRS_VIEW_SERVER_H

#include "base/base.h"

/* The numbers that a page of the view may ask with: /moments?version=V&from=K. */
typedef struct {
  const char* path;  /* without what follows '?' */
  int version, from; /* 0 = not given */
} ServerRequest;

/* Appends the body of what stands at a path, and sets its media type (constant); false: there is nothing. Called by the
 * server's own thread. */
typedef bool (*ServerAnswer)(void* context, const ServerRequest* request, Text* body, const char** type);

typedef struct Server Server;

/* NULL with one line in `problem`. port 0 = any free one. The server is the caller's, for server_stop; context must
 * outlive it. */
Server* server_start(int port, ServerAnswer answer, void* context, Text* problem);
/* The port that it listens on, also where any free one was asked for. */
int server_port(const Server* server);
/* Waits for its thread and frees it. */
void server_stop(Server* server); /* accepts NULL */

#endif
