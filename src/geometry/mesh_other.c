/* Reads Collada and other formats by the Open Asset Import Library. The library runs in a separate process, which
 * returns OBJ text, so that a crash or endless loop on a file is reported as an error. */
#include <assert.h>
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "geometry/geometry.h"

#define LIBRARY_FILE "libassimp.so.5"
/* Limits of the separate process: processor time [s], memory [bytes], length of the OBJ text [bytes]. */
#define PROCESS_SECONDS_MAX 120
#define PROCESS_MEMORY_MAX ((rlim_t)16 << 30)
#define TEXT_LENGTH_MAX ((size_t)1 << 30)
/* Deeper nodes are ignored, because the tree may have a cycle. */
#define NODE_DEPTH_MAX 200

static const char* const EXTENSIONS[] = {"dae", "ply", "off", "gltf", "glb", "3ds", "fbx", "3mf", "x3d"};

bool mesh_is_foreign(const char* path) {
  assert(path);
  const char* dot = strrchr(path, '.');
  for (size_t k = 0; dot && k < sizeof EXTENSIONS / sizeof *EXTENSIONS; k++)
    if (strcasecmp(dot + 1, EXTENSIONS[k]) == 0) return true;
  return false;
}

/* ---------------------------------------------------------------- in the separate process */

typedef struct {
  __typeof__(aiImportFileExWithProperties)* import;
  __typeof__(aiCreatePropertyStore)* create_settings;
  __typeof__(aiSetImportPropertyInteger)* set_integer;
  __typeof__(aiGetErrorString)* error;
} Importer;

static bool load_importer(Importer* importer) {
  void* library = dlopen(LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  *(void**)&importer->import = dlsym(library, "aiImportFileExWithProperties");
  *(void**)&importer->create_settings = dlsym(library, "aiCreatePropertyStore");
  *(void**)&importer->set_integer = dlsym(library, "aiSetImportPropertyInteger");
  *(void**)&importer->error = dlsym(library, "aiGetErrorString");
  return importer->import && importer->create_settings && importer->set_integer && importer->error;
}

/* Pose and scale of a node: three rows of a matrix that acts on (x, y, z, 1). */
typedef struct {
  double row[3][4];
} NodeTransform;

static NodeTransform compose_transforms(const NodeTransform* outer, const struct aiMatrix4x4* inner) {
  const ai_real* b = &inner->a1;
  NodeTransform out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      out.row[i][j] = j == 3 ? outer->row[i][3] : 0;
      for (int k = 0; k < 3; k++) out.row[i][j] += outer->row[i][k] * (double)b[4 * k + j];
    }
  return out;
}

static bool is_mirroring(const NodeTransform* transform) {
  const double(*m)[4] = transform->row;
  Vec3 x = vec3(m[0][0], m[0][1], m[0][2]), y = vec3(m[1][0], m[1][1], m[1][2]), z = vec3(m[2][0], m[2][1], m[2][2]);
  return vec3_dot(x, vec3_cross(y, z)) < 0;
}

/* Writes a mesh as an OBJ group. *points: number of points written before. A mirroring transform reverses the
 * orientation of faces, so that their corners are written in reverse order. */
static void write_mesh(FILE* out, const struct aiMesh* mesh, const NodeTransform* transform, int number, long* points) {
  fprintf(out, "o part_%d\n", number);
  for (unsigned i = 0; i < mesh->mNumVertices; i++) {
    const double p[4] = {(double)mesh->mVertices[i].x, (double)mesh->mVertices[i].y, (double)mesh->mVertices[i].z, 1};
    fprintf(out, "v");
    for (int axis = 0; axis < 3; axis++) {
      const double* row = transform->row[axis];
      fprintf(out, " %.9g", row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
    }
    fprintf(out, "\n");
  }
  bool backwards = is_mirroring(transform);
  for (unsigned f = 0; f < mesh->mNumFaces; f++) {
    const struct aiFace* face = &mesh->mFaces[f];
    if (face->mNumIndices < 3) continue;
    fprintf(out, "f");
    for (unsigned k = 0; k < face->mNumIndices; k++)
      fprintf(out, " %ld", *points + 1 + (long)face->mIndices[backwards ? face->mNumIndices - 1 - k : k]);
    fprintf(out, "\n");
  }
  *points += (long)mesh->mNumVertices;
}

static void write_node(FILE* out, const struct aiScene* scene, const struct aiNode* node, const NodeTransform* outer,
                       int depth, int* meshes, long* points) {
  if (depth > NODE_DEPTH_MAX) return;
  NodeTransform transform = compose_transforms(outer, &node->mTransformation);
  for (unsigned k = 0; k < node->mNumMeshes; k++)
    write_mesh(out, scene->mMeshes[node->mMeshes[k]], &transform, (*meshes)++, points);
  for (unsigned k = 0; k < node->mNumChildren; k++)
    write_node(out, scene, node->mChildren[k], &transform, depth + 1, meshes, points);
}

/* Writes the meshes of a file as OBJ text, or `!` and an error text, in the axes of the file. Coordinates are in metres
 * if the file names its unit. */
static void write_obj(const char* path, FILE* out) {
  Importer importer;
  if (!load_importer(&importer)) {
    fprintf(out, "!" LIBRARY_FILE " cannot be loaded (Debian: libassimp5)");
    return;
  }
  struct aiPropertyStore* settings = importer.create_settings();
  importer.set_integer(settings, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
  const struct aiScene* scene = importer.import(path, aiProcess_JoinIdenticalVertices, NULL, settings);
  if (!scene || !scene->mRootNode) {
    fprintf(out, "!%s", importer.error());
    return;
  }
  const NodeTransform identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  int meshes = 0;
  long points = 0;
  write_node(out, scene, scene->mRootNode, &identity, 0, &meshes, &points);
  if (points == 0) fprintf(out, "!it has no triangles");
}

/* Runs the conversion and ends the process. Memory is not freed. */
static void run_conversion(const char* path, int channel) {
  setrlimit(RLIMIT_CPU, &(struct rlimit){PROCESS_SECONDS_MAX, PROCESS_SECONDS_MAX});
  setrlimit(RLIMIT_AS, &(struct rlimit){PROCESS_MEMORY_MAX, PROCESS_MEMORY_MAX});
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  const int fatal[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGINT, SIGTERM};
  for (size_t k = 0; k < sizeof fatal / sizeof *fatal; k++) signal(fatal[k], SIG_DFL);
  int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  FILE* out = fdopen(channel, "w");
  if (out) write_obj(path, out);
  _exit(out && fclose(out) == 0 ? 0 : 1);
}

/* ---------------------------------------------------------------- in the calling process */

/* Appends the data of the channel to the text, up to the end or to TEXT_LENGTH_MAX bytes. */
static void read_channel(int channel, Text* text) {
  static const size_t AT_ONCE = 1 << 16;
  char* buffer = memory_alloc(AT_ONCE);
  for (;;) {
    ssize_t got = read(channel, buffer, AT_ONCE);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || text->length > TEXT_LENGTH_MAX) break;
    text_add_bytes(text, buffer, (size_t)got);
  }
  memory_free(buffer);
}

static int wait_for_exit(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

static Status report_error(Diagnostics* diagnostics, const char* path, const char* reason) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot be read as a mesh: %s", reason);
  return STATUS_BAD_INPUT;
}

Status mesh_read_foreign(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics) {
  int ends[2];
  *mesh = (Mesh){0};
  if (!file_is_regular(path)) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot read: %s",
                    access(path, R_OK) == 0 ? "not a regular file" : strerror(errno));
    return STATUS_IO;
  }
  char* data;
  size_t length;
  Status readable = file_read_reported(path, &data, &length, diagnostics); /* reports a pointer of Git LFS */
  memory_free(data);
  if (readable != STATUS_OK) return readable;
  if (pipe(ends) != 0) return report_error(diagnostics, path, strerror(errno));
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_conversion(path, ends[1]);
  }
  close(ends[1]);
  Text text = {0};
  if (child > 0) read_channel(ends[0], &text);
  close(ends[0]);
  int end = child > 0 ? wait_for_exit(child) : -1;
  Status status;
  if (end < 0 || (WIFSIGNALED(end) && WTERMSIG(end) == SIGXCPU) || text.length > TEXT_LENGTH_MAX)
    status = report_error(diagnostics, path,
                          "reading takes more than 120 s, 16 GiB of memory or 1 GiB of OBJ text: simplify the mesh, or "
                          "convert the file to OBJ or STL");
  else if (!WIFEXITED(end) || WEXITSTATUS(end) != 0)
    status = report_error(diagnostics, path,
                          "the library for the format (assimp) crashed on the file: convert the file to OBJ or STL");
  else if (!text.data || *text.data == '!')
    status = report_error(diagnostics, path,
                          text.data && text.data[1] ? text_excerpt(text.data + 1).text : "the file has no mesh");
  else
    status = mesh_parse_obj(mesh, path, text.data, text.length, scale, diagnostics);
  text_free(&text);
  return status;
}
