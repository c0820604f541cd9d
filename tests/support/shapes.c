#include "support/shapes.h"
#include <math.h>
#include <string.h>

const Wildness WILD_NOT = {0.3, 0.5, 20, 8};
const Wildness WILD_MOST = {3, 3, 1000, 32};

static double ten_to(Random* random, double low, double high) { return pow(10, random_uniform(random, low, high)); }

/* Faces all round: a regular start, tilted and shifted. */
static void draw_faces(TestForm* out, Random* random, double size, double aspect) {
  double stretch[3];
  for (int k = 0; k < 3; k++) stretch[k] = ten_to(random, -0.5 * aspect, 0.5 * aspect);
  for (int i = 0; i < TEST_FACES; i++) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
      double side = i < 6 && k == i / 2 ? (i % 2 ? -1 : 1) : 0;
      out->faces[i][k] = side + random_normal(random) * (i < 6 ? 0.2 : 1);
      square += out->faces[i][k] * out->faces[i][k];
    }
    for (int k = 0; k < 3; k++) out->faces[i][k] /= sqrt(square) * stretch[k];
    out->faces[i][3] = size * random_uniform(random, 0.7, 1.3);
  }
}

static void draw(TestForm* out, Random* random, SmoothKind kind, const Wildness* wild) {
  *out = (TestForm){.form = {.kind = kind}};
  double size = ten_to(random, -wild->size, wild->size);
  out->form.beta = pow(10, random_uniform(random, log10(8), log10(wild->beta)));
  out->form.exponent = random_uniform(random, 1, wild->exponent);
  if (random_bits(random) & 1) out->form.exponent = floor(out->form.exponent);
  for (int k = 0; k < 2; k++) out->form.exponents[k] = 1 / random_uniform(random, 1, wild->exponent);
  for (int k = 0; k < 4; k++) out->form.size[k] = size * ten_to(random, -0.5 * wild->aspect, 0.5 * wild->aspect);
  draw_faces(out, random, size, wild->aspect);
  if (kind == SMOOTH_POLYTOPE) out->form.face_count = 6 + (int)(random_bits(random) % (TEST_FACES - 5));
}

void test_form(TestForm* out, Random* random, SmoothKind kind, const Wildness* wild) {
  for (int attempt = 0; attempt < 1000; attempt++) {
    draw(out, random, kind, wild);
    out->form.faces = (const double(*)[4])out->faces;
    Shape shape;
    bool stands = shape_create(&shape, &out->form) == NULL;
    shape_free(&shape);
    if (stands) return;
  }
  fail_msg("no %s is accepted", shape_kind_name(kind));
}

static int own_count(const ShapeDefinition* form, double* own[5]) {
  ShapeDefinition* f = (ShapeDefinition*)form; /* the caller's own; only written through by test_form_set */
  static const int sizes[SMOOTH_KINDS] = {0, 4, 3, 2, 3};
  int count = 0;
  if (form->kind == SMOOTH_SUPERQUADRIC) {
    own[count++] = &f->exponents[0];
    own[count++] = &f->exponents[1];
  } else {
    own[count++] = form->kind == SMOOTH_POLYTOPE || form->kind == SMOOTH_CONE ? &f->beta : &f->exponent;
  }
  for (int k = 0; k < sizes[form->kind]; k++) own[count++] = &f->size[k];
  return count;
}

void test_form_set(TestForm* form, const double* values) {
  double* own[5];
  int count = own_count(&form->form, own);
  for (int k = 0; k < count; k++) *own[k] = values[k];
  for (int k = 0; k < 4 * form->form.face_count; k++) form->faces[k / 4][k % 4] = values[count + k];
  form->form.faces = (const double(*)[4])form->faces;
}

void test_form_get(const TestForm* form, double* values) {
  double* own[5];
  int count = own_count(&form->form, own);
  for (int k = 0; k < count; k++) values[k] = *own[k];
  for (int k = 0; k < 4 * form->form.face_count; k++) values[count + k] = form->faces[k / 4][k % 4];
}

static long double plain_polytope(const ShapeDefinition* form, const long double z[3]) {
  long double length = 0, sum = 0, top = -HUGE_VALL, height[TEST_FACES];
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < form->face_count; i++) {
      const double* f = form->faces[i];
      long double norm = sqrtl((long double)f[0] * f[0] + (long double)f[1] * f[1] + (long double)f[2] * f[2]);
      if (pass == 0) length = fmaxl(length, f[3] / norm);
      height[i] = form->beta * (f[0] * z[0] + f[1] * z[1] + f[2] * z[2] - f[3]) / norm / length;
      if (pass == 1) top = fmaxl(top, height[i]);
    }
  for (int i = 0; i < form->face_count; i++) sum += expl(height[i] - top);
  return (top + logl(sum)) / form->beta;
}

static long double plain_cone(const ShapeDefinition* form, const long double z[3]) {
  long double bottom = form->size[0], top = form->size[1], below = form->size[2], above = form->size[3];
  long double radius = bottom + (top - bottom) * (z[0] + below) / (below + above);
  long double f[3] = {(z[1] * z[1] + z[2] * z[2]) / (radius * radius) - 1, -z[0] / below - 1, z[0] / above - 1};
  long double most = fmaxl(f[0], fmaxl(f[1], f[2])), sum = 0;
  for (int k = 0; k < 3; k++) sum += expl(form->beta * (f[k] - most));
  return most + logl(sum) / form->beta;
}

static long double plain_super(const ShapeDefinition* form, const long double z[3]) {
  long double n = form->exponent, u[3] = {z[0], z[1], z[2]};
  bool round = form->kind == SMOOTH_CYLINDER;
  if (round) {
    u[0] = hypotl(z[1], z[2]);
    u[1] = z[0];
    u[2] = 0;
  }
  long double sum = 0;
  for (int k = 0; k < (round ? 2 : 3); k++) sum += powl(fabsl(u[k]) / form->size[k], 2 * n);
  return powl(sum, 1 / (2 * n)) - 1;
}

static long double plain_quadric(const ShapeDefinition* form, const long double z[3]) {
  long double e1 = form->exponents[0], e2 = form->exponents[1], u[3];
  for (int k = 0; k < 3; k++) u[k] = fabsl(z[k]) / form->size[k];
  long double f = powl(powl(u[0], 2 / e2) + powl(u[1], 2 / e2), e2 / e1) + powl(u[2], 2 / e1);
  return powl(f, e1 / 2) - 1;
}

long double plain_phi(const ShapeDefinition* form, const long double z[3]) {
  if (form->kind == SMOOTH_SUPERQUADRIC) return plain_quadric(form, z);
  if (form->kind == SMOOTH_POLYTOPE) return plain_polytope(form, z);
  return form->kind == SMOOTH_CONE ? plain_cone(form, z) : plain_super(form, z);
}

static bool plain_inside(const ShapeDefinition* form, const long double y[3], long double s) {
  const long double z[3] = {y[0] * s, y[1] * s, y[2] * s};
  return plain_phi(form, z) < 0;
}

/* From inside outwards: beyond its tip a cone's level function makes no sense. */
long double plain_gauge(const ShapeDefinition* form, const long double y[3]) {
  long double low = 1e-3L * (form->kind == SMOOTH_POLYTOPE ? form->faces[0][3] : form->size[0]);
  low /= sqrtl(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
  while (!plain_inside(form, y, low)) low /= 16;
  while (plain_inside(form, y, 1.1L * low)) low *= 1.1L;
  long double high = 1.1L * low;
  for (int k = 0; k < 64; k++) {
    long double middle = 0.5L * (low + high);
    *(plain_inside(form, y, middle) ? &low : &high) = middle;
  }
  return 1 / high;
}
