#include <cjson/cJSON.h>
#include <expat.h>
#include <glpk.h>
#include <libqhull_r/libqhull_r.h>
#include <string.h>
#include <suitesparse/cholmod.h>
#include <yaml.h>
#include <zip.h>
#include <zlib.h>
#include "app/command.h"
#include "version.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define CHOLMOD_TEXT TEXT(CHOLMOD_MAIN_VERSION) "." TEXT(CHOLMOD_SUB_VERSION) "." TEXT(CHOLMOD_SUBSUB_VERSION)

#ifdef __clang__
#define COMPILER_TEXT __VERSION__
#else
#define COMPILER_TEXT "gcc " __VERSION__
#endif

/* OpenBLAS only: absent when another BLAS is linked. */
extern char* openblas_get_config(void) __attribute__((weak));
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int blas_thread_shutdown_(void) __attribute__((weak));

/* Its threads begin before main and spin for some 30 ms before they sleep: a short run's whole time, on another core.
 */
void version_single_thread_blas(void) {
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  if (blas_thread_shutdown_) blas_thread_shutdown_();
}

RunProgram version_program(void) {
  return (RunProgram){
      .version = SDRS_VERSION,
      .commit = SDRS_COMMIT,
      .build_flags = SDRS_BUILD_FLAGS,
      .compiler = COMPILER_TEXT,
      .libraries = {{"libyaml", yaml_get_version_string()},
                    {"cJSON", cJSON_Version()},
                    {"expat", XML_ExpatVersion() + strlen("expat_")},
                    {"zlib", zlibVersion()},
                    {"libzip", zip_libzip_version()},
                    {"qhull", qh_version},
                    {"CHOLMOD", CHOLMOD_TEXT},
                    {"GLPK", glp_version()},
                    {"BLAS", openblas_get_config ? openblas_get_config() : "unknown"}},
  };
}

void version_print(FILE* stream) {
  RunProgram program = version_program();
  fprintf(stream, "sdrs %s\ncommit    %s\nflags     %s\ncompiler  %s\n", program.version, program.commit,
          program.build_flags, program.compiler);
  for (int i = 0; program.libraries[i].name; i++)
    fprintf(stream, "%-9s %s\n", program.libraries[i].name, program.libraries[i].version);
  const char* three;
  int length = page_library_version(&three);
  if (length > 0)
    fprintf(stream, "page      three.js %.*s\n", length, three);
  else
    fprintf(stream, "page      not in this build (make page)\n");
}
