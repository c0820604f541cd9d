/* ask FILE: its questions, answered by the library. Exit code and words as of `sdrs query -q FILE`. */
#include <sdrs.h>
#include <stdio.h>
#include <stdlib.h>

static char* read_all(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 1 << 22);
  if (file && text) text[fread(text, 1, (1 << 22) - 1, file)] = '\0';
  if (file) fclose(file);
  return text;
}

int main(int count, char** words) {
  if (count < 2) return 2;
  char *questions = read_all(words[1]), *out = NULL;
  sdrs_status status = sdrs_query_text(questions, words[1], &out);
  if (out && *out) fprintf(status == SDRS_OK ? stdout : stderr, "%s%s", out, status == SDRS_OK ? "" : "\n");
  sdrs_free_text(out);
  free(questions);
  return status == SDRS_OK ? 0 : status == SDRS_BAD_INPUT ? 3 : 5;
}
