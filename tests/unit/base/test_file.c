#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

/* A fresh folder for each test; *state is its name. */
static int make_scratch(void** state) {
  char* folder = memory_copy_text("/tmp/sdrs-test-XXXXXX");
  *state = folder;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_scratch(void** state) {
  Text command = {0};
  text_add(&command, "rm -rf '%s'", (char*)*state);
  int result = system(command.data);
  text_free(&command);
  memory_free(*state);
  return result;
}

static char* in_scratch(void** state, const char* name) {
  Text path = {0};
  text_add(&path, "%s/%s", (char*)*state, name);
  return path.data;
}

static void expect_content(const char* path, const char* expected, size_t expected_length) {
  char* data;
  size_t length;
  assert_int_equal(file_read(path, &data, &length), STATUS_OK);
  assert_int_equal(length, expected_length);
  if (length > 0) assert_memory_equal(data, expected, length);
  assert_int_equal(data[length], 0);
  memory_free(data);
}

/* A link that waits under the temporary name would choose which file is overwritten. */
static void a_link_under_the_temporary_name_is_not_followed(void** state) {
  char *path = in_scratch(state, "link.csv"), *temporary = in_scratch(state, "link.csv~");
  char* victim = in_scratch(state, "victim");
  assert_int_equal(file_write(victim, "keep", 4), STATUS_OK);
  assert_int_equal(symlink(victim, temporary), 0);
  assert_int_equal(file_write(path, "new", 3), STATUS_OK);
  expect_content(victim, "keep", 4);
  expect_content(path, "new", 3);
  memory_free(path);
  memory_free(temporary);
  memory_free(victim);
}

static void written_files_read_back(void** state) {
  char *path = in_scratch(state, "file.txt"), *temporary = in_scratch(state, "file.txt~");
  assert_int_equal(file_write(path, "one\0two", 7), STATUS_OK);
  expect_content(path, "one\0two", 7);
  assert_int_equal(file_write(path, "", 0), STATUS_OK);
  expect_content(path, "", 0);
  char* large = memory_alloc(300000);
  memset(large, 'x', 300000);
  assert_int_equal(file_write(path, large, 300000), STATUS_OK);
  expect_content(path, large, 300000);
  assert_false(file_exists(temporary));
  memory_free(large);
  memory_free(path);
  memory_free(temporary);
}

static void files_without_a_size_are_read(void** state) {
  (void)state;
  char* data;
  size_t length;
  assert_int_equal(file_read("/proc/self/status", &data, &length), STATUS_OK); /* reports size 0 */
  assert_true(length > 100);
  assert_non_null(strstr(data, "Pid:"));
  memory_free(data);
}

static void what_cannot_be_read_says_why(void** state) {
  char* data;
  size_t length;
  char* path = in_scratch(state, "absent");
  assert_int_equal(file_read(path, &data, &length), STATUS_IO);
  assert_int_equal(errno, ENOENT);
  assert_null(data);
  assert_int_equal(file_read(*state, &data, &length), STATUS_IO);
  assert_int_equal(errno, EISDIR);
  assert_null(data);
  memory_free(path);
}

/* Only the size is looked at: nothing of it is on the disk, and nothing comes into memory. */
static void what_is_too_large_is_not_read(void** state) {
  char *path = in_scratch(state, "large"), *data;
  size_t length;
  assert_int_equal(file_write(path, "x", 1), STATUS_OK);
  assert_int_equal(truncate(path, (off_t)3 << 30), 0);
  assert_int_equal(file_read(path, &data, &length), STATUS_IO);
  assert_null(data);
  assert_non_null(strstr(file_error_text(errno), "too large: at most 2 GiB"));
  memory_free(path);
}

static void devices_are_read_to_their_end_if_they_have_one(void** state) {
  (void)state;
  char* data;
  size_t length;
  expect_content("/dev/null", "", 0);
  assert_int_equal(file_read("/dev/zero", &data, &length), STATUS_IO);
  assert_null(data);
  assert_non_null(strstr(file_error_text(errno), "longer than 1 MiB"));
}

/* A child that opens the pipe after a while and writes this in pieces, with pauses. */
static void write_slowly(const char* path, const char* text, int pieces) {
  if (fork() != 0) return;
  usleep(100000);
  FILE* pipe = fopen(path, "we");
  for (int k = 0; pipe && k < pieces; k++) {
    usleep(20000);
    fputs(text, pipe);
    fflush(pipe);
  }
  if (pipe) fclose(pipe);
  _exit(pipe ? 0 : 1);
}

static void pipes_wait_for_their_writer(void** state) {
  char* path = in_scratch(state, "pipe");
  assert_int_equal(mkfifo(path, 0600), 0);
  write_slowly(path, "abc", 3);
  expect_content(path, "abcabcabc", 9);
  write_slowly(path, "", 1); /* opens and closes: the end */
  expect_content(path, "", 0);
  memory_free(path);
}

/* Of process substitution: the writer may have gone before. */
static void pipes_that_have_ended_are_read(void** state) {
  (void)state;
  for (int written = 0; written < 2; written++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (written) assert_int_equal(write(ends[1], "text", 4), 4);
    close(ends[1]);
    Text name = {0};
    text_add(&name, "/dev/fd/%d", ends[0]);
    expect_content(name.data, "text", written ? 4 : 0);
    close(ends[0]);
    text_free(&name);
  }
}

static void regular_files_can_be_read_again(void** state) {
  char *path = in_scratch(state, "file"), *fifo = in_scratch(state, "pipe");
  assert_int_equal(file_write(path, "x", 1), STATUS_OK);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  assert_true(file_is_regular(path));
  assert_false(file_is_regular(fifo));
  assert_false(file_is_regular("/dev/zero"));
  assert_false(file_is_regular(*state));
  assert_false(file_is_regular("/nowhere"));
  memory_free(path);
  memory_free(fifo);
}

static void a_stream_appears_only_when_closed(void** state) {
  char* path = in_scratch(state, "table.csv");
  assert_int_equal(file_write(path, "old", 3), STATUS_OK);
  FileStream out = {0};
  assert_int_equal(file_stream_open(&out, path), STATUS_OK);
  fputs("new content", out.stream);
  fflush(out.stream);
  expect_content(path, "old", 3);
  assert_int_equal(file_stream_close(&out), STATUS_OK);
  expect_content(path, "new content", 11);
  assert_null(out.stream);
  memory_free(path);
}

static void a_discarded_stream_leaves_nothing(void** state) {
  char *path = in_scratch(state, "table.csv"), *temporary = in_scratch(state, "table.csv~");
  FileStream out = {0};
  file_stream_discard(&out);
  assert_int_equal(file_stream_open(&out, path), STATUS_OK);
  fputs("half", out.stream);
  file_stream_discard(&out);
  file_stream_discard(&out);
  assert_false(file_exists(path));
  assert_false(file_exists(temporary));
  memory_free(path);
  memory_free(temporary);
}

static void writing_into_nowhere_fails(void** state) {
  char* path = in_scratch(state, "absent/file");
  assert_int_equal(file_write(path, "x", 1), STATUS_IO);
  assert_int_equal(errno, ENOENT);
  FileStream out = {0};
  assert_int_equal(file_stream_open(&out, path), STATUS_IO);
  assert_null(out.stream);
  assert_int_equal(file_stream_close(&out), STATUS_IO);
  memory_free(path);
}

/* Devices are written through, never replaced by a file; a full one is an error. */
static void devices_stay_devices(void** state) {
  (void)state;
  struct stat info;
  assert_int_equal(file_write("/dev/null", "x", 1), STATUS_OK);
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
  assert_int_equal(file_write("/dev/full", "x", 1), STATUS_IO);
  assert_int_equal(errno, ENOSPC);
  assert_int_equal(stat("/dev/full", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

static void folders_are_made_with_parents(void** state) {
  char *path = in_scratch(state, "a/b//c/"), *file = in_scratch(state, "a/b/c/file");
  assert_int_equal(file_make_folder(path), STATUS_OK);
  assert_int_equal(file_make_folder(path), STATUS_OK);
  assert_true(file_exists(path));
  assert_int_equal(file_write(file, "x", 1), STATUS_OK);
  assert_int_equal(file_make_folder(file), STATUS_IO);
  assert_int_equal(errno, ENOTDIR);
  assert_int_equal(file_make_folder("."), STATUS_OK);
  assert_int_equal(file_make_folder("/"), STATUS_OK);
  assert_int_equal(file_make_folder(""), STATUS_IO);
  memory_free(path);
  memory_free(file);
}

static void check_name(char* got, const char* expected) {
  assert_string_equal(got, expected);
  memory_free(got);
}

static void names_are_resolved_beside_the_base(void** state) {
  (void)state;
  check_name(file_resolve("scenes/slide.yaml", "box.obj"), "scenes/box.obj");
  check_name(file_resolve("slide.yaml", "../box.obj"), "../box.obj");
  check_name(file_resolve("/a/b.yaml", "c/d.obj"), "/a/c/d.obj");
  check_name(file_resolve("/b.yaml", "d.obj"), "/d.obj");
  check_name(file_resolve("a/b.yaml", "/abs.obj"), "/abs.obj");
}

static void paths_are_seen_from_a_folder(void** state) {
  (void)state;
  check_name(file_relative_path("no/such", "/abs.obj"), "/abs.obj");
  check_name(file_relative_path("no/such", "m.obj"), "../../m.obj");
  check_name(file_relative_path("no/such/", "./no/./m.obj"), "../m.obj");
  check_name(file_relative_path(".", "no/m.obj"), "no/m.obj");
  check_name(file_relative_path("", "m.obj"), "m.obj");
  check_name(file_relative_path("no", "no/such/m.obj"), "such/m.obj");
  check_name(file_relative_path("nob", "no/m.obj"), "../no/m.obj");
  check_name(file_relative_path("no", "nob/m.obj"), "../nob/m.obj");
  check_name(file_relative_path("no/a/../b", "no/c/../m.obj"), "../m.obj");
}

static void paths_inside_a_folder(void** state) {
  (void)state;
  check_name(file_relative_if_inside("no", "no/such/m.obj"), "such/m.obj");
  check_name(file_relative_if_inside("/no", "/no/m.obj"), "m.obj");
  assert_null(file_relative_if_inside("/no", "/nob/m.obj"));
  assert_null(file_relative_if_inside("no/such", "no/m.obj"));
  assert_null(file_relative_if_inside("no", "nob/m.obj"));
  char* here = getcwd(NULL, 0);
  check_name(file_relative_if_inside(here, "no/m.obj"), "no/m.obj");
  free(here);
}

/* Behind a symbolic link `..` is another folder. The path must nevertheless lead to the file. */
static void links_of_folders_are_followed(void** state) {
  char *there = in_scratch(state, "a/b/c"), *link = in_scratch(state, "link"), *file = in_scratch(state, "m.obj");
  assert_int_equal(file_make_folder(there), STATUS_OK);
  assert_int_equal(symlink(there, link), 0);
  assert_int_equal(file_write(file, "x", 1), STATUS_OK);
  char* start = getcwd(NULL, 0);
  assert_int_equal(chdir(*state), 0);
  check_name(file_relative_path("link", "m.obj"), "../../../m.obj");
  assert_true(file_exists("link/../../../m.obj"));
  assert_int_equal(chdir(start), 0);
  free(start);
  memory_free(there);
  memory_free(link);
  memory_free(file);
}

static void stems(void** state) {
  (void)state;
  check_name(file_stem("scenes/slide.yaml"), "slide");
  check_name(file_stem("slide"), "slide");
  check_name(file_stem("a.b/slide"), "slide");
  check_name(file_stem("best.scene.yaml"), "best.scene");
  check_name(file_stem(".hidden"), ".hidden");
  check_name(file_stem(".hidden.yaml"), ".hidden");
  check_name(file_stem("out/slide/"), "slide");
  check_name(file_stem(""), "");
}

#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, make_scratch, remove_scratch)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRATCH_TEST(a_link_under_the_temporary_name_is_not_followed),
      SCRATCH_TEST(written_files_read_back),
      cmocka_unit_test(files_without_a_size_are_read),
      SCRATCH_TEST(what_cannot_be_read_says_why),
      SCRATCH_TEST(a_stream_appears_only_when_closed),
      SCRATCH_TEST(a_discarded_stream_leaves_nothing),
      SCRATCH_TEST(writing_into_nowhere_fails),
      cmocka_unit_test(devices_stay_devices),
      SCRATCH_TEST(what_is_too_large_is_not_read),
      cmocka_unit_test(devices_are_read_to_their_end_if_they_have_one),
      SCRATCH_TEST(pipes_wait_for_their_writer),
      cmocka_unit_test(pipes_that_have_ended_are_read),
      SCRATCH_TEST(regular_files_can_be_read_again),
      SCRATCH_TEST(folders_are_made_with_parents),
      cmocka_unit_test(names_are_resolved_beside_the_base),
      cmocka_unit_test(paths_are_seen_from_a_folder),
      cmocka_unit_test(paths_inside_a_folder),
      SCRATCH_TEST(links_of_folders_are_followed),
      cmocka_unit_test(stems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
