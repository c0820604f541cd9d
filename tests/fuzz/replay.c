/* A fuzz target without a fuzzer: runs it once on no bytes, then on every file of the folders that are named. Options
 * of libFuzzer are left out. Each name is printed before its run, so the last one is what stopped the target. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz/fuzzing.h"

static int by_name(const struct dirent** a, const struct dirent** b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void replay_file(const char* path) {
  FILE* file = fopen(path, "rb");
  struct stat about;
  require(file && fstat(fileno(file), &about) == 0);
  uint8_t* bytes = memory_alloc((size_t)about.st_size + 1);
  require(fread(bytes, 1, (size_t)about.st_size, file) == (size_t)about.st_size);
  fclose(file);
  (void)LLVMFuzzerTestOneInput(bytes, (size_t)about.st_size);
  memory_free(bytes);
}

static int replay_folder(const char* folder) {
  struct dirent** items = NULL;
  int count = scandir(folder, &items, NULL, by_name), files = 0;
  for (int k = 0; k < count; k++) {
    char* path = file_join(folder, items[k]->d_name);
    struct stat about;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
      printf("%s\n", path);
      fflush(stdout);
      replay_file(path);
      files++;
    }
    memory_free(path);
    free(items[k]);
  }
  free(items);
  return files;
}

int main(int count, char** words) {
  int files = 0;
  printf("no bytes\n");
  fflush(stdout);
  (void)LLVMFuzzerTestOneInput((const uint8_t*)"", 0);
  for (int k = 1; k < count; k++)
    if (words[k][0] != '-') files += replay_folder(words[k]);
  printf("%d files\n", files);
  return files > 0 ? 0 : 1;
}
