/* HTTP/1.1 server by libmicrohttpd, which is loaded only when a view is requested. Listens on 127.0.0.1 only and
 * answers GET and HEAD only. Answers only requests whose Host header names this machine, because foreign pages could
 * otherwise reach it by DNS rebinding. The library rejects requests larger than REQUEST_BYTES. */
#include "view/server.h"

#if __has_include(<microhttpd.h>)

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_FILE "libmicrohttpd.so.12"
/* Memory per connection for request line and headers [bytes]. */
#define REQUEST_BYTES ((size_t)16384)
#define CONNECTIONS_MAX 16U
#define IDLE_SECONDS 30U

typedef struct {
  __typeof__(MHD_start_daemon)* start;
  __typeof__(MHD_stop_daemon)* stop;
  __typeof__(MHD_get_daemon_info)* info;
  __typeof__(MHD_create_response_from_buffer)* create_response;
  __typeof__(MHD_add_response_header)* add_header;
  __typeof__(MHD_queue_response)* queue_response;
  __typeof__(MHD_destroy_response)* destroy_response;
  __typeof__(MHD_lookup_connection_value)* look_up_value;
} Library;

struct Server {
  Library library;
  struct MHD_Daemon* daemon;
  ServerAnswer answer;
  void* context;
};

/* Loads the library for the rest of the process. Returns false if it is not found or lacks a function. */
static bool library_load(Library* library) {
  void* file = dlopen(LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
  if (!file) return false;
  *(void**)&library->start = dlsym(file, "MHD_start_daemon");
  *(void**)&library->stop = dlsym(file, "MHD_stop_daemon");
  *(void**)&library->info = dlsym(file, "MHD_get_daemon_info");
  *(void**)&library->create_response = dlsym(file, "MHD_create_response_from_buffer");
  *(void**)&library->add_header = dlsym(file, "MHD_add_response_header");
  *(void**)&library->queue_response = dlsym(file, "MHD_queue_response");
  *(void**)&library->destroy_response = dlsym(file, "MHD_destroy_response");
  *(void**)&library->look_up_value = dlsym(file, "MHD_lookup_connection_value");
  return library->start && library->stop && library->info && library->create_response && library->add_header &&
         library->queue_response && library->destroy_response && library->look_up_value;
}

static enum MHD_Result send_text(const Server* server, struct MHD_Connection* connection, unsigned code,
                                 const char* type, const char* text, size_t length) {
  const Library* library = &server->library;
  struct MHD_Response* response = library->create_response(length, (void*)text, MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  library->add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  library->add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  library->add_header(response, "X-Content-Type-Options", "nosniff");
  if (code == MHD_HTTP_METHOD_NOT_ALLOWED) library->add_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  enum MHD_Result result = library->queue_response(connection, code, response);
  library->destroy_response(response);
  return result;
}

static enum MHD_Result send_error(const Server* server, struct MHD_Connection* connection, unsigned code,
                                  const char* text) {
  return send_text(server, connection, code, "text/plain; charset=utf-8", text, strlen(text));
}

/* Returns true if the Host header names this machine. Ignores the port, because a tunnel may use another one. */
static bool names_this_machine(const char* host) {
  static const char* const NAMES[] = {"127.0.0.1", "localhost"};
  size_t length = host ? strcspn(host, ":") : 0;
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
    if (length == strlen(NAMES[k]) && strncmp(host, NAMES[k], length) == 0) return true;
  return false;
}

static int query_number(const Server* server, struct MHD_Connection* connection, const char* key) {
  const char* text = server->library.look_up_value(connection, MHD_GET_ARGUMENT_KIND, key);
  long value = text ? strtol(text, NULL, 10) : 0;
  return value > 0 && value < INT32_MAX ? (int)value : 0;
}

static enum MHD_Result on_request(void* context, struct MHD_Connection* connection, const char* path,
                                  const char* method, const char* version, const char* upload, size_t* upload_size,
                                  void** state) {
  (void)version;
  (void)upload;
  *upload_size = 0; /* the request body is ignored */
  (void)state;
  const Server* server = context;
  if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
    return send_error(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "the method must be GET or HEAD\n");
  if (!names_this_machine(server->library.look_up_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
    return send_error(
        server, connection, MHD_HTTP_FORBIDDEN,
        "the request's Host header must be 127.0.0.1 or localhost: open the page under one of these names\n");
  ServerRequest request = {path, query_number(server, connection, "version"), query_number(server, connection, "from")};
  Text body = {0};
  const char* type;
  bool found = server->answer(server->context, &request, &body, &type);
  enum MHD_Result result =
      found ? send_text(server, connection, MHD_HTTP_OK, type, body.data, body.length)
            : send_error(server, connection, MHD_HTTP_NOT_FOUND, "no such path: the live view is at /\n");
  text_free(&body);
  return result;
}

Server* server_start(int port, ServerAnswer answer, void* context, Text* problem) {
  Server* server = MEMORY_NEW(Server, 1);
  *server = (Server){.answer = answer, .context = context};
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!library_load(&server->library)) {
    text_add(problem, LIBRARY_FILE " cannot be loaded (Debian: libmicrohttpd12)");
  } else {
    errno = 0;
    server->daemon = server->library.start(
        MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr*)&place, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        REQUEST_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
    if (!server->daemon)
      text_add(problem, "cannot listen on 127.0.0.1:%d: %s", port, errno ? strerror(errno) : "it is refused");
  }
  if (server->daemon) return server;
  memory_free(server);
  return NULL;
}

int server_port(const Server* server) { return server->library.info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port; }

void server_stop(Server* server) {
  if (!server) return;
  server->library.stop(server->daemon);
  memory_free(server);
}

#else

struct Server {
  int nothing;
};

Server* server_start(int port, ServerAnswer answer, void* context, Text* problem) {
  (void)port;
  (void)answer;
  (void)context;
  text_add(problem, "this program was built without libmicrohttpd (Debian: install libmicrohttpd-dev and build again)");
  return NULL;
}

int server_port(const Server* server) { return server->nothing; }

void server_stop(Server* server) { (void)server; }

#endif
