/* slopes TASK X: the gradient of the task's loss at the variables in the file X, from the library, a number with 17
 * digits a line. */
#include <sdrs.h>
#include <stdio.h>

enum { MOST = 1000 };

int main(int count, char** words) {
  static double x[MOST];
  size_t known = 0;
  double loss;
  sdrs* s = NULL;
  sdrs_info about = SDRS_INIT(sdrs_info);
  sdrs_array slope = SDRS_INIT(sdrs_array);
  FILE* file = count == 3 ? fopen(words[2], "r") : NULL;
  if (!file) return 2;
  while (known < MOST && fscanf(file, "%lf", &x[known]) == 1) known++;
  fclose(file);
  int good = sdrs_load(&s, words[1], NULL) == SDRS_OK && sdrs_describe(s, &about) == SDRS_OK &&
             sdrs_set(s, SDRS_DESIGN, x, known) == SDRS_OK && sdrs_run(s, about.steps) == SDRS_OK &&
             sdrs_loss(s, NULL, NULL, &loss) == SDRS_OK && sdrs_gradient_view(s, SDRS_DESIGN, &slope) == SDRS_OK;
  for (size_t k = 0; good && k < slope.columns; k++) printf("%.17g\n", slope.data[k]);
  if (!good) fprintf(stderr, "%s: %s\n", words[1], sdrs_error(s));
  sdrs_free(s);
  return good ? 0 : 3;
}
