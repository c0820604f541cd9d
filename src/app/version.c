#include <cjson/cJSON.h>
#include <expat.h>
#include <glpk.h>
#include <libqhull_r/libqhull_r.h>
#include <string.h>
#include <suitesparse/amd.h>
#include <yaml.h>
#include <zlib.h>
#include "app/command.h"
#include "linalg/dense.h"
#include "version.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define AMD_TEXT TEXT(AMD_MAIN_VERSION) "." TEXT(AMD_SUB_VERSION) "." TEXT(AMD_SUBSUB_VERSION)

#ifdef __clang__
#define COMPILER_TEXT __VERSION__
#else
#define COMPILER_TEXT "gcc " __VERSION__
#endif

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
                    {"qhull", qh_version},
                    {"AMD", AMD_TEXT},
                    {"GLPK", glp_version()},
                    {"LAPACK", dense_version()}},
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
